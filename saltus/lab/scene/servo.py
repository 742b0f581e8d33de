"""Sessions with a controller that keys switch, tune and disturb.

Each press of c or x switches the servo on or off; s switches it off; a and d push while they are held. When the servo
is switched on, its integrals start at zero; when it is off, the controls of its motors are zero. Gains and targets have
sliders: they are parameters of the running controller, so that changing them compiles nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.lab.controls.sliders import Handle, control_sliders, joint_sliders, slider, wrapped
from saltus.lab.data.recording import Downloads
from saltus.lab.data.signals import Signal, Source
from saltus.lab.making.setup import LabStart
from saltus.lab.session import LiveSession
from saltus.model.actuator_enums import PID_KD, PID_KI, PID_KP, PID_ON, PID_PARAMETERS, PID_TARGET

if TYPE_CHECKING:
    from saltus.model.model import Model

FRAME = 1.0 / 60.0  # s: period of the actions that the lecture's program does once a frame
GAINS = {PID_TARGET: "target", PID_KP: "kp", PID_KI: "ki", PID_KD: "kd"}  # parameters of a PID, in slider order


@dataclass(frozen=True)
class Knob:
    """A parameter of the controller with a slider.

    index: index in `Simulation.control_prm`. turns: whether it is an angle, displayed in (-π, π].
    """

    id: str
    index: int
    low: float
    high: float
    unit: str = ""
    turns: bool = False


@dataclass(frozen=True)
class Servo:
    """The user's means of controlling a servo: sliders, switches and keys.

    knobs: parameters with sliders. switches: indices of the parameters that are 1 if the controller is on, else 0.
    controls: indices of the controls that it sets. push: degree of freedom and force (N m, N) of the keys a and d, or
    None. targets: change of a knob per frame while a key is held: {key: (id, change)}.
    angles: knobs that are the target angle of an actuator's joint: {actuator: id}.
    """

    knobs: tuple[Knob, ...]
    switches: tuple[int, ...]
    controls: tuple[int, ...]
    push: tuple[int, float] | None = None
    targets: dict[str, tuple[str, float]] = field(default_factory=dict)
    angles: dict[int, str] = field(default_factory=dict)


def pid_servo(model: Model, limits: dict[str, tuple[float, float]], **more: Any) -> Servo:
    """Make the servo of a `saltus.PID` on all motors.

    limits: bounds of the sliders target, kp, ki and kd. With several motors, the knobs are called "target 1", "kp 1",
    ... . more: the fields `push` and `targets`.
    """
    knobs, angles, several = [], {}, model.nactuator > 1
    for k in range(model.nactuator):
        number = f" {k + 1}" if several else ""
        angles[k] = f"target{number}"
        for place in GAINS:
            low, high = limits[GAINS[place]]
            turns = GAINS[place] == "target"
            unit = "rad" if turns else ""
            knobs.append(Knob(f"{GAINS[place]}{number}", PID_PARAMETERS * k + place, low, high, unit, turns))
    switches = tuple(PID_PARAMETERS * k + PID_ON for k in range(model.nactuator))
    return Servo(tuple(knobs), switches, tuple(range(model.nu)), angles=angles, **more)


class ServoSession(LiveSession):
    """A session with a controller that sliders and keys adjust."""

    def __init__(self, setup: LabStart, downloads: Downloads, servo: Servo, on: bool = True):
        self._servo = servo
        self._held: dict[str, float] = {}  # frames since each pressed key went down
        super().__init__(setup, downloads)
        self.switch(on)

    def make_handles(self) -> list[Handle]:
        knobs = [_handle(knob) for knob in self._servo.knobs]
        return knobs + control_sliders(self.sim, self._servo.controls) + joint_sliders(self.sim.model)

    def own_sources(self) -> list[Source]:
        knobs = self._servo.knobs
        signals = [Signal(knob.id, knob.id, knob.unit, "Servo") for knob in knobs]
        places = [knob.index for knob in knobs]
        read = lambda sim: [_handle(knob).read(sim) for knob in knobs]  # noqa: E731
        servo = Source(signals, read, field="control_prm", places=places)
        return [*super().own_sources(), servo]

    def preset(self) -> list[str]:
        targets = {knob.id for knob in self._servo.knobs if knob.id in self._servo.angles.values()}
        return list(self.setup.plots) or [*super().preset(), *sorted(targets)]

    def page_data(self) -> dict[str, Any]:
        servo = self._servo
        return {
            **{"kind": "servo", "on": self.servo(), "knobs": [knob.id for knob in servo.knobs]},
            **{"switches": servo.switches, "controls": servo.controls, "push": servo.push},
            **{"targets": servo.targets, "angles": {str(k): id for k, id in servo.angles.items()}},
            **{"keyLines": self.key_lines(), "frame": FRAME},
        }

    # ------------------------------------------------------------ the servo

    def servo(self) -> bool:
        return bool(np.all(self.sim.control_prm[list(self._servo.switches)] > 0.5))

    def switch(self, on: bool) -> None:
        """Switch the servo on or off; its integrals and controls become zero."""
        for sim in (self.sim, *(ghost.sim for ghost in self.motion.ghosts)):
            sim.control_prm[list(self._servo.switches)] = float(on)
            sim.ctrl[list(self._servo.controls)] = 0.0
            states = 0 if sim.control is None else sim.control.states_of(sim.model)
            sim.act[len(sim.act) - states :] = 0.0
        self._changed = True

    def desired(self, actuator: int) -> float:
        id = self._servo.angles.get(actuator)
        return math.nan if id is None else self.knob(id)

    def knob(self, id: str) -> float:
        """Present value of a knob."""
        return self.handles[id].read(self.sim)

    # ------------------------------------------------------------ keys

    def keyboard(self) -> list[str]:
        push = ["a", "d"] if self._servo.push else []
        return [*push, *self._servo.targets, "c", "x", "s"]

    def actions(self) -> list[dict[str, Any]]:
        made = [action("Servo", "c", "Servo", when=("servo", True))]
        if self._servo.push:
            made += [action("Push", "a", "Push −", hold=True), action("Push", "d", "Push +", hold=True)]
        for key, (id, change) in self._servo.targets.items():
            made.append(action(id, key, f"{id.capitalize()} {'+' if change > 0 else '−'}", hold=True))
        return made

    def do_keydown(self, key: str) -> None:
        key = key.lower()
        if key in self.keyboard() and key not in self._held:
            self._held[key] = 0.0
            self.pressed(key)

    def pressed(self, key: str) -> None:
        """Act on the first press of a key; a held key does not repeat."""
        if key in ("c", "x"):
            self.switch(not self.servo())
        elif key == "s":
            self.switch(False)
        elif key in self._servo.targets:
            self._move_target(key, 1)

    def do_keyup(self, key: str) -> None:
        self._held.pop(key.lower(), None)

    def do_blur(self) -> None:
        self._held.clear()

    def before_steps(self, elapsed: float) -> None:
        for key, held in list(self._held.items()):
            self._held[key] = held + elapsed / FRAME
            if key in self._servo.targets:
                # the first frame's change was made when the key went down
                self._move_target(key, math.floor(self._held[key]) - math.floor(held))
        self.apply_push()

    def apply_push(self) -> None:
        """Apply the user's force, which is zero unless its key is held."""
        if self._servo.push is not None:
            self.sim.qfrc_applied[self._servo.push[0]] = self.pushing()

    def pushing(self) -> float:
        """Present force of the user's keys (N m or N)."""
        size = 0.0 if self._servo.push is None else self._servo.push[1]
        return size * (("d" in self._held) - ("a" in self._held))

    def _move_target(self, key: str, frames: int) -> None:
        if frames:
            id, change = self._servo.targets[key]
            handle = self.handles[id]
            handle.write(self.sim, handle.slider.clipped(wrapped(handle.read(self.sim) + frames * change)))
            self._changed = True

    # ------------------------------------------------------------ text

    def hud(self) -> list[list[Any]]:
        return [*super().hud(), self.servo_block(), ["Keys", self.key_lines()]]

    def servo_block(self) -> list[Any]:
        """Text block of the display: whether the servo is on, and the values of its knobs."""
        lines = [f"{knob.id} = {self.knob(knob.id):.2f}" for knob in self._servo.knobs]
        return [f"Servo: {'active' if self.servo() else 'disabled'}", lines]

    def key_lines(self) -> list[str]:
        """Lines of the display that explain the keys."""
        lines = ["a/d - apply user force"] if self._servo.push else []
        for id in dict.fromkeys(id for id, _ in self._servo.targets.values()):
            keys = [key for key, (moved, _) in self._servo.targets.items() if moved == id]
            lines.append(f"{'/'.join(keys)} - adjust {id}")
        return [*lines, "c/x - toggle servo", "s - disable servo"]


def action(group: str, key: str, label: str, hold: bool = False, when: tuple[str, Any] | None = None) -> dict[str, Any]:
    """Describe a button for a key; see `LiveSession.actions`."""
    return {"group": group, "key": key, "label": label, "hold": hold, "when": when}


def _handle(knob: Knob) -> Handle:
    what = slider(knob.id, knob.id, "servo", knob.low, knob.high, knob.unit)
    return Handle(what, "control_prm", knob.index, knob.turns)
