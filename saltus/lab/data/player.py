"""Playback of a recording: for the lab the same as a simulation, except that the motion cannot be changed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.draw.scene.scene import not_drawn
from saltus.errors import OptionError, SaltusError
from saltus.lab.data.recording import Downloads
from saltus.lab.data.signal_sources import recorded_signals
from saltus.lab.messages.ear import Ear
from saltus.lab.messages.protocol import Command, Frame
from saltus.lab.view.show import Show
from saltus.lab.view.state_text import state_text
from saltus.record.table.interpolate import Interpolator

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory

LONGEST = 0.25  # s that may pass at once: after the machine slept, it goes on where it was


class Player:
    """A trajectory that is played, paused, looked through."""

    kind = "replay"

    def __init__(self, trajectory: Trajectory, downloads: Downloads, speed: float = 1.0, playing: bool = True):
        """Raises OptionError for a recording without samples or without its model."""
        model = trajectory.model
        if model is None:
            raise OptionError("the recording does not contain its model, which playback requires")
        if not len(trajectory):
            raise OptionError("the recording has no samples")
        self.trajectory, self.downloads = trajectory, downloads
        self.notices: deque[tuple[str, str]] = deque(maxlen=100)
        self.ear = Ear(lambda text: self.notices.append(("warning", text)))
        self.show, self._motion = Show(model), Interpolator(trajectory, model)
        if text := not_drawn(model):
            self.notices.append(("warning", text))
        self.playing, self.speed, self.follow = playing, speed, None
        self.time = self._motion.start
        self._changed = True
        self.signals = recorded_signals(trajectory, model)
        downloads.keep(trajectory)

    @property
    def idle(self) -> bool:
        """Whether nothing goes on by itself."""
        return not (self.playing or self._changed)

    def scene(self) -> dict[str, Any]:
        """The `scene` message."""
        duration = self._motion.end - self._motion.start
        title = str(self.trajectory.attrs.get("model_name", "Recording"))
        return self.show.message("recording", title, self.kind, duration=duration)

    def status(self) -> dict[str, Any]:
        """The full `status` message, but for the number of viewers."""
        attrs = self.trajectory.attrs
        step = attrs.get("timestep")
        return {
            "type": "status",
            **{"playing": self.playing, "speed": self.speed, "time": self.elapsed},
            **{"integrator": str(attrs.get("integrator", "")), "timestep": step if isinstance(step, float) else None},
            **{"contact": str(attrs.get("contact", "")), "gravity": [float(g) for g in self.show.model.opt.gravity]},
            **{"building": False, "recording": False, "recorded": self.downloads.seconds},
            **{"servo": None, "hud": self.hud()},
            **{"sliders": {}, "follow": self.follow, "ghosts": False, "can_ghost": False},
            "video": self.downloads.video,
        }

    def boards(self) -> list[Any]:
        """What the page is told whenever its `revision` changes."""
        return [self.signals]

    def drawings(self) -> None:
        """Nobody draws into a recording."""

    @property
    def elapsed(self) -> float:
        """Seconds since the recording's first sample."""
        return self.time - self._motion.start

    def hud(self) -> list[list[Any]]:
        """What is played, and where it is."""
        lines = [f"t = {self.time:.2f}"]
        integrator, step = self.trajectory.attrs.get("integrator"), self.trajectory.attrs.get("timestep")
        lines += [f"integrator = {integrator}"] if integrator else []
        lines += [f"dt = {step:.3g}"] if isinstance(step, float) else []
        return [["Recording", lines]]

    def state_text(self) -> str:
        """The state that is shown as Python text."""
        state = {name: rows[0] for name, rows in self._motion.at([self.time]).items()}
        return state_text(f"recording at t = {self.time:.6g} s", self.time, state)

    def tick(self, elapsed: float) -> None:
        """Let so many seconds of wall time pass."""
        if not self.playing:
            return
        self._go(self.time + min(elapsed, LONGEST) * self.speed)
        if self.time >= self._motion.end:
            self.playing = False

    def _go(self, time: float) -> None:
        self.time = min(max(time, self._motion.start), self._motion.end)
        self._changed = True

    def frame(self) -> Frame | None:
        """What is to be seen now; None if that is what was seen before."""
        if not self._changed:
            return None
        self._changed = False
        state = {name: rows[0] for name, rows in self._motion.at([self.time]).items()}
        k = max(int(np.searchsorted(self.trajectory.time, self.time, side="right")) - 1, 0)
        return Frame(
            time=self.elapsed,
            playing=self.playing,
            replay=True,
            energy=self.trajectory.energy[k],
            dofs=self.show.coordinates(state["qpos"], state["qvel"]),
            **self.show.pose(state["qpos"], state["mocap_pos"], state["mocap_quat"]),
        )

    # ------------------------------------------------------------ commands

    def handle(self, command: Command) -> None:
        """Do what a command says; what cannot be done is told in a notice."""
        act = getattr(self, f"do_{command.type}", None)
        try:
            if act is None:
                raise OptionError(f"{command.type} is not available for a recording")
            act(**command.fields)
        except (SaltusError, KeyError) as error:
            self.notices.append(("error", str(error.args[0] if error.args else error)))

    def do_play(self) -> None:
        if self.time >= self._motion.end:
            self._go(self._motion.start)
        self.playing = True

    def do_pause(self) -> None:
        self.playing, self._changed = False, True

    def do_toggle(self) -> None:
        self.do_pause() if self.playing else self.do_play()

    def do_step(self, n: int) -> None:
        """To the n-th sample after the present time."""
        self.playing = False
        k = int(np.searchsorted(self.trajectory.time, self.time * (1 + 1e-12), side="right"))
        self._go(float(self.trajectory.time[min(k + n - 1, len(self.trajectory) - 1)]))

    def do_speed(self, value: float) -> None:
        self.speed = value

    def do_reset(self, key: str | None) -> None:
        self._go(self._motion.start)

    def do_seek(self, time: float) -> None:
        self._go(self._motion.start + time)

    def do_keydown(self, key: str) -> None:
        """No key means anything here."""

    do_keyup = do_keydown

    def do_blur(self) -> None:
        """No key is held."""

    do_release = do_blur

    def do_follow(self, body: str | None) -> None:
        if body is not None:
            self.show.model.id("body", body)
        self.follow = body

    def do_plot(self, signals: list[str]) -> None:
        self.signals.choose(signals)
        self._changed = True

    def do_video(self) -> None:
        refused = self.downloads.make_video(follow=self.follow)
        if refused:
            raise OptionError(refused)

    def close(self) -> None:
        """The recording stays as it is."""
