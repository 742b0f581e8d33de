"""`PolicySession`: an environment in the lab, controlled by a policy, with its inputs as sliders and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.env.live.pilot import Pilot
from saltus.lab.controls.sliders import Handle, joint_sliders, slider
from saltus.lab.data.recording import Downloads
from saltus.lab.data.signals import Signal, Source
from saltus.lab.making.setup import Built, LabStart
from saltus.lab.scene.servo import FRAME, action
from saltus.lab.session import LiveSession

if TYPE_CHECKING:
    from saltus.env.inputs import Input
    from saltus.simulate.simulation import Simulation

KEYS = (("w", "s"), ("a", "d"), ("q", "e"))  # keys that raise and lower the first inputs
SWEEP = 100  # frames in which a held key moves an input through its range
MOST_ACTIONS = 50  # most actions that can be plotted


@dataclass(frozen=True)
class InputHandle(Handle):
    """The slider of an input."""

    pilot: Pilot | None = None

    def read(self, sim: Simulation) -> float:
        """The present value of the input."""
        assert self.pilot is not None
        return self.pilot.set[self.slider.id]

    def write(self, sim: Simulation, value: float) -> None:
        """Set the value of the input."""
        assert self.pilot is not None
        self.pilot.set[self.slider.id] = value


class PolicySession(LiveSession):
    """An environment's simulation under a policy. c switches it on or off; w and s, a and d, q and e move inputs."""

    def __init__(self, setup: LabStart, downloads: Downloads, pilot: Pilot):
        self.pilot = pilot
        self._held: dict[str, float] = {}  # seconds since each pressed key went down
        self._moves: dict[str, tuple[Input, int]] = {}
        for one, keys in zip(pilot.inputs.values(), KEYS, strict=False):
            self._moves |= {keys[0]: (one, 1), keys[1]: (one, -1)}
        super().__init__(setup, downloads)
        pilot.begin(self.sim)
        self.motion.pilot = pilot
        self.motion.snap()

    # ------------------------------------------------------------ sliders, plots and text

    def make_handles(self) -> list[Handle]:
        handles: list[Handle] = []
        for one in self.pilot.inputs.values():
            what = slider(one.id, one.label, "input", one.low, one.high, one.unit)
            handles.append(InputHandle(what, one.field, one.index, pilot=self.pilot))
        return [*handles, *joint_sliders(self.sim.model)]

    def own_sources(self) -> list[Source]:
        return [self._episode_source(), *super().own_sources()]

    def _episode_source(self) -> Source:
        """Source of the reward and its terms, the inputs and the actions, constant during steps of the environment."""
        pilot, group = self.pilot, "Episode"
        what = pilot.task.declaration
        parts = {name: at for name, at in what.spans.items() if name in what.rewards and not name.startswith("_")}
        names = ["reward", *(f"reward[{name}]" for name in parts)]
        signals = [Signal(name, name, "", group) for name in names]
        signals += [Signal(f"input[{x.label}]", f"input[{x.label}]", x.unit, group) for x in pilot.inputs.values()]
        count = min(len(pilot.action), MOST_ACTIONS)
        signals += [Signal(f"action[{k}]", f"action[{k}]", "", group) for k in range(count)]

        def read(sim: Simulation) -> NDArray[np.float64]:
            results = pilot.task.results
            rewards = [results.rewards[0], *(results.values[at, 0] for at in parts.values())]
            return np.array([*rewards, *pilot.set.values(), *pilot.action[:count]])

        return Source(signals, read)

    def preset(self) -> list[str]:
        inputs = [f"input[{one.label}]" for one in self.pilot.inputs.values()]
        return ["reward", *inputs, *(id for id in super().preset() if not id.startswith("ctrl["))]

    def hud(self) -> list[list[Any]]:
        pilot = self.pilot
        lines = [f"episode {pilot.episode}, step {pilot.steps}", f"rewards = {pilot.total:.2f}"]
        if pilot.last is not None:
            lines.append(f"last episode = {pilot.last[0]:.2f} in {pilot.last[1]} steps")
        blocks = [*super().hud(), [f"Policy: {'active' if pilot.on else 'disabled'}", lines]]
        return [*blocks, ["Keys", self._key_lines()]]

    def _key_lines(self) -> list[str]:
        found = [f"{up}/{down} - {self._moves[up][0].label}" for up, down in KEYS if up in self._moves]
        return [*found, *(["x - reset inputs"] if found else []), "c - toggle policy"]

    # ------------------------------------------------------------ keys

    def keyboard(self) -> list[str]:
        return [*self._moves, *(["x"] if self._moves else []), "c"]

    def actions(self) -> list[dict[str, Any]]:
        made = [action("Policy", "c", "Policy", when=("servo", True))]
        for key, (one, sign) in self._moves.items():
            made.append(action(one.label, key, f"{one.label.capitalize()} {'+' if sign > 0 else '−'}", hold=True))
        return made

    def servo(self) -> bool:
        return self.pilot.on

    def feedback(self) -> bool:
        return self.sim.control is not None

    def do_keydown(self, key: str) -> None:
        key = key.lower()
        if key == "c":
            self.pilot.on = not self.pilot.on
        elif key == "x":
            self.pilot.set.update(self.pilot.first)
        elif key in self._moves and key not in self._held:
            self._held[key] = 0.0
        self._changed = True

    def do_keyup(self, key: str) -> None:
        if self._held.pop(key.lower(), None) == 0.0:
            self._move(key.lower(), 1.0)  # shorter than a frame

    def do_blur(self) -> None:
        self._held.clear()

    def before_steps(self, elapsed: float) -> None:
        for key in self._held:
            self._held[key] += elapsed
            self._move(key, elapsed / FRAME)

    def _move(self, key: str, frames: float) -> None:
        one, sign = self._moves[key]
        handle = self.handles[one.id]
        change = sign * frames * (one.high - one.low) / SWEEP
        handle.write(self.sim, handle.slider.clipped(handle.read(self.sim) + change))
        self._changed = True

    # ------------------------------------------------------------ episodes

    def tick(self, elapsed: float) -> None:
        super().tick(elapsed)
        if self.pilot.ended:
            self.do_reset(None)

    def reset_simulation(self, key: str | None) -> None:
        super().reset_simulation(key)
        self.pilot.begin(self.sim, elsewhere=key is not None)

    def _take_over(self, built: Built) -> None:
        super()._take_over(built)
        self.pilot.follow(self.sim)
