"""The lecture's pendulum with a motor and a servo, with one or two joints, and its keys.

Behaviour, with deliberate differences from the lecture's program:

- Time is real time; the lecture takes one step of 0.05 s per frame, three times real time: choose speed 3 for that.
- Integrator "none" turns the pendulum by π/180 per frame of 1/60 s, the second link the other way, without dynamics and
  with zero velocity. Verlet takes its initial step when it is chosen, and whenever the state was changed.
- The keys a and d push whether the servo is on or off; each press of c or x switches it. Targets move by 0.05 rad per
  frame. Errors and displayed angles are wrapped into (-π, π].
- With two joints the keys 1 to 4 move the targets, as in the lecture; the integrator is chosen from the list. Both
  angles are joint angles: the second is measured from the first link.

The ghosts are copies of the pendulum under the lecture's four integrators, with its pushes and servo.

Source: O. C. Jenkins, "Dynamics and Numerical Integration", EECS 367 / ROB 510, University of Michigan, 2019.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from saltus.lab.controls.sliders import wrapped
from saltus.lab.data.recording import Downloads
from saltus.lab.data.signal_sources import present_controls
from saltus.lab.data.signals import Signal, Source
from saltus.lab.making.setup import LabStart
from saltus.lab.scene.servo import FRAME, ServoSession, action, pid_servo
from saltus.model.load import load
from saltus.simulate.laws.control import PID

INTEGRATORS = {  # by the lecture's keys: Saltus's name, the lecture's name
    "0": ("none", "none"),
    "1": ("explicit_euler", "euler"),
    "2": ("verlet", "verlet"),
    "3": ("velocity_verlet", "velocity verlet"),
    "4": ("rk4", "runge-kutta"),
}
GHOSTS = tuple(name for name, _ in INTEGRATORS.values() if name != "none")
LABELS = dict(INTEGRATORS.values()) | {"euler": "semi-implicit euler"}
TIMESTEP = 0.05  # s
TURN = math.pi / 180.0  # rad a frame, without dynamics
FORCE = 50.0  # N m
TARGET_CHANGE = 0.05  # rad a frame
TARGETS = {1: (-math.pi / 2.5,), 2: (-math.pi / 2.5, 0.6)}
GAINS: dict[int, dict[str, Any]] = {1: dict(kp=1500.0, ki=150.10, kd=15.0), 2: dict(kp=300.0, ki=60.0, kd=60.0)}
LIMITS = {"kp": (0.0, 3000.0), "ki": (0.0, 500.0), "kd": (0.0, 200.0), "target": (-math.pi, math.pi)}
KEYS = {  # target and its change by key, for each number of joints
    1: {"q": ("target", -TARGET_CHANGE), "e": ("target", TARGET_CHANGE)},
    2: {f"{k + 1}": (f"target {k // 2 + 1}", (-1) ** (k + 1) * TARGET_CHANGE) for k in range(4)},
}


def setup(joints: int, name: str, title: str, **more: Any) -> LabStart:
    """Make the scene's setup with one or two joints."""
    model = load("pendulum" if joints == 1 else "double_pendulum")
    control = PID(target=list(TARGETS[joints]), **GAINS[joints])
    given = dict(integrator="velocity_verlet", timestep=TIMESTEP, ghosts=GHOSTS, control=control)
    return LabStart(name, title, model, **{**given, **more})


class Pendularm(ServoSession):
    """Session of the lecture's pendulum. `joints`: 1 or 2. `on`: whether the servo starts active."""

    def __init__(self, joints: int, setup: LabStart, downloads: Downloads, on: bool = False, ghosts: bool = False):
        self._joints = joints
        self._kinematic = False
        servo = pid_servo(setup.model, LIMITS, push=(0, FORCE), targets=KEYS[joints])
        super().__init__(setup, downloads, servo, on)
        if ghosts:
            self.do_ghosts(True)

    # ------------------------------------------------------------ integrators, "none" included

    def integrators(self) -> list[str]:
        own = [name for name, _ in INTEGRATORS.values()]
        return own + [name for name in super().integrators() if name not in own]

    def integrator_name(self) -> str:
        return "none" if self._kinematic else super().integrator_name()

    def feedback(self) -> bool:
        return super().feedback() and not self._kinematic

    def do_integrator(self, name: str) -> None:
        """Choose an integrator; "none" stops the dynamics, and any other then starts from rest."""
        if name == "none":
            self._kinematic = True
            self.sim.qvel[:] = 0.0
            self.after_jump()
            return
        super().do_integrator(name)
        self._kinematic = False

    def play(self, elapsed: float) -> float:
        if not self._kinematic:
            return super().play(elapsed)
        self._turn(elapsed / FRAME, elapsed * self.speed)
        return 0.0

    def do_step(self, n: int) -> None:
        if self._kinematic:
            self.playing = False
            self._turn(n, n * self.sim.timestep)
        else:
            super().do_step(n)

    def _turn(self, frames: float, seconds: float) -> None:
        """Turn the links in opposite directions, without dynamics."""
        self.sim.qpos[:] += TURN * frames * np.array([1.0, -1.0][: self._joints])
        self.sim.time += seconds
        self.after_jump(smooth=True)

    def page_data(self) -> dict[str, Any]:
        mine = {"kind": "pendularm", "joints": self._joints, "turn": TURN, "labels": LABELS, "integrators": INTEGRATORS}
        return {**super().page_data(), **mine, "pendulum": self._pendulum()}

    # ------------------------------------------------------------ plots

    def own_sources(self) -> list[Source]:
        """Sources under the lecture's names: angles, targets, and torques including the user's push."""
        numbers = ["", "2"] if self._joints == 1 else ["1", "2"]
        joints = self.sim.model.names("joint")
        names = {f"qpos[{joint}]": f"x{i}" for joint, i in zip(joints, numbers, strict=False)}
        names |= {f"qvel[{joint}]": f"x{i}_dot" for joint, i in zip(joints, numbers, strict=False)}
        names |= {f"target{' ' * bool(i)}{i}": f"x{i}_desired" for i in numbers}
        found = [replace(x, signals=[_named(s, names) for s in x.signals]) for x in super().own_sources()]
        torques = [Signal(f"u{i}", f"u{i}", "N m", "Servo") for i, _ in zip(numbers, joints, strict=False)]
        return [*found, Source(torques, lambda sim: present_controls(sim) + sim.qfrc_applied, True, field="torques")]

    def preset(self) -> list[str]:
        """Ids of the signals for angles, targets and torques."""
        own = [signal.id for source in self.own_sources() for signal in source.signals if signal.label[0] in "xu"]
        return [id for id in own if not id.startswith("qvel")]

    # ------------------------------------------------------------ keys and text

    def keyboard(self) -> list[str]:
        chosen = list(INTEGRATORS) if self._joints == 1 else []
        return [*chosen, *super().keyboard()]

    def actions(self) -> list[dict[str, Any]]:
        chosen = INTEGRATORS.items() if self._joints == 1 else ()
        integrators = [
            action("Integrator", key, name.capitalize(), when=("integrator", own)) for key, (own, name) in chosen
        ]
        return [*super().actions(), *integrators]

    def pressed(self, key: str) -> None:
        if self._joints == 1 and key in INTEGRATORS:
            self.do_integrator(INTEGRATORS[key][0])
        else:
            super().pressed(key)

    def hud(self) -> list[list[Any]]:
        return [self._system(), self.servo_block(), self._pendulum(), ["Keys", self.key_lines()]]

    def _system(self) -> list[Any]:
        sim, name = self.sim, self.integrator_name()
        lines = [
            f"t = {sim.time:.2f} dt = {sim.timestep:.3g}",
            f"integrator = {LABELS.get(name, name.replace('_', ' '))}",
        ]
        numbers = [""] if self._joints == 1 else ["1", "2"]
        for k, i in enumerate(numbers):
            lines += [f"x{i} = {wrapped(float(sim.qpos[k])):.2f}", f"x{i}_dot = {sim.qvel[k]:.2f}"]
        lines += [] if self._joints == 1 else ["x2 is relative to the first link"]
        lines += [f"x{i}_desired = {self.knob(f'target {i}'.strip()):.2f}" for i in numbers]
        return ["System", lines]

    def servo_block(self) -> list[Any]:
        title = f"Servo: {'active' if self.servo() else 'disabled'}"
        torque = self.sim.ctrl.copy()
        torque[0] += self.pushing()
        if self._joints == 1:
            gains = [f"{gain} = {self.knob(gain):.2f}" for gain in ("kp", "kd", "ki")]
            return [title, [f"u = {torque[0]:.2f}", *gains]]
        gains = [f"{gain} = {self.knob(f'{gain} 1'):.2f}, {self.knob(f'{gain} 2'):.2f}" for gain in ("kp", "kd", "ki")]
        return [title, [f"u1 = {torque[0]:.2f}", f"u2 = {torque[1]:.2f}", *gains]]

    def _pendulum(self) -> list[Any]:
        m = self.sim.model
        length = float(np.linalg.norm(m.body_ipos[1]))
        gravity = float(np.linalg.norm(m.opt.gravity))
        return ["Pendulum", [f"mass = {m.body_mass[1]:.2f}", f"length = {length:.2f}", f"gravity = {gravity:.2f}"]]

    def key_lines(self) -> list[str]:
        if self._joints == 1:
            lines = ["[0-4] - select integrator", "a/d - apply user force", "q/e - adjust desired angle"]
            return [*lines, "c - toggle servo", "s - disable servo"]
        lines = ["a/d - apply user force", "1/2 - adjust desired angle 1", "3/4 - adjust desired angle 2"]
        return [*lines, "c/x - toggle servo", "s - disable servo"]


def _named(signal: Signal, names: dict[str, str]) -> Signal:
    """The signal with its label in `names`, if it has one."""
    return replace(signal, label=names.get(signal.id, signal.label))
