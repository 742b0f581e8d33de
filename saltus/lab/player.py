"""Playback of a recording: a session whose motion cannot be changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.draw.scene.framing import motion_camera
from saltus.draw.scene.scene import GROUPS
from saltus.errors import OptionError
from saltus.lab.base_session import Session
from saltus.lab.data.ghost import ghosts_message
from saltus.lab.data.recording import Downloads
from saltus.lab.data.signal_sources import recorded_signals
from saltus.lab.data.track import recorded_track
from saltus.lab.messages.protocol import Frame
from saltus.lab.view.show import stack
from saltus.lab.view.state_text import state_text
from saltus.record.table.contact_forces import upwards
from saltus.record.table.interpolate import Interpolator
from saltus.record.trajectory import Trajectory

if TYPE_CHECKING:
    from saltus.model.model import Model

LONGEST = 0.25  # s that may pass at once, so that playback continues in place after the machine slept


class Player(Session):
    """Session that plays a trajectory, pauses it and seeks in it; others run beside it as ghosts."""

    kind = "replay"
    where = "for a recording"

    def __init__(
        self,
        trajectory: Trajectory,
        downloads: Downloads,
        speed: float = 1.0,
        playing: bool = True,
        ghosts: Sequence[Trajectory] = (),
    ):
        """OptionError: a recording has no samples, is of another mechanism, or does not contain its model."""
        model = trajectory.model
        if model is None:
            raise OptionError("the recording does not contain its model, which playback requires")
        if not len(trajectory):
            raise OptionError("the recording has no samples")
        for ghost in ghosts:
            if not len(ghost) or ghost.qpos.shape[1:] != trajectory.qpos.shape[1:]:
                raise OptionError(
                    "recordings beside each other need samples of one mechanism: "
                    f"one has {ghost.qpos.shape[1]} positions in {len(ghost)} samples, the first "
                    f"{trajectory.qpos.shape[1]}"
                )
        super().__init__(model, downloads, speed, playing)
        self.trajectory = trajectory
        self._motion = Interpolator(trajectory, model)
        self._ghosts = [(ghost, Interpolator(ghost, model)) for ghost in ghosts]
        self._end = self._motion.start + max(m.end - m.start for m in (self._motion, *(m for _, m in self._ghosts)))
        seen = (trajectory, *ghosts)
        states = [s for t in seen for s in zip(t.qpos, t.mocap_pos, t.mocap_quat, strict=True)]
        self._camera = motion_camera(model.mujoco, GROUPS, states)
        self._pressure = _pressure(trajectory, model)
        self.time = self._motion.start
        self.signals = recorded_signals(trajectory, model)
        self.signals.track = recorded_track(trajectory, self.show.coordinates, len(self.show.dofs), self._ghosts)
        downloads.keep(trajectory, list(ghosts))

    @property
    def idle(self) -> bool:
        return not (self.playing or self._changed)

    def scene(self) -> dict[str, Any]:
        duration = self._end - self._motion.start
        title = str(self.trajectory.attrs.get("model_name", "Recording"))
        camera = dataclasses.asdict(self._camera)
        ghosts = ghosts_message(_names([ghost for ghost, _ in self._ghosts]))
        return self.show.message("recording", title, self.kind, duration=duration, camera=camera, ghosts=ghosts)

    def status(self) -> dict[str, Any]:
        attrs = self.trajectory.attrs
        step = attrs.get("timestep")
        return {
            "type": "status",
            **{"playing": self.playing, "speed": self.speed, "time": self.elapsed},
            **{"integrator": str(attrs.get("integrator", "")), "timestep": step if isinstance(step, float) else None},
            **{"contact": str(attrs.get("contact", "")), "gravity": [float(g) for g in self.show.model.opt.gravity]},
            **{"building": False, "recording": False, "recorded": self.downloads.seconds},
            **{"servo": None, "hud": self.hud()},
            **{"sliders": {}, "follow": self.follow, "ghosts": bool(self._ghosts), "can_ghost": False},
            "video": self.downloads.video,
        }

    @property
    def elapsed(self) -> float:
        """Seconds since the recording's first sample."""
        return self.time - self._motion.start

    def hud(self) -> list[list[Any]]:
        """Text blocks of the display: time, integrator and timestep."""
        lines = [f"t = {self.time:.2f}"]
        integrator, step = self.trajectory.attrs.get("integrator"), self.trajectory.attrs.get("timestep")
        lines += [f"integrator = {integrator}"] if integrator else []
        lines += [f"dt = {step:.3g}"] if isinstance(step, float) else []
        return [["Recording", lines]]

    def state_text(self) -> str:
        state = {name: rows[0] for name, rows in self._motion.at([self.time]).items()}
        return state_text(f"recording at t = {self.time:.6g} s", self.time, state)

    def tick(self, elapsed: float) -> None:
        if not self.playing:
            return
        self._go(self.time + min(elapsed, LONGEST) * self.speed)
        if self.time >= self._end:
            self.playing = False

    def _go(self, time: float) -> None:
        self.time = min(max(time, self._motion.start), self._end)
        self._changed = True

    def present_frame(self) -> Frame:
        state = {name: rows[0] for name, rows in self._motion.at([self.time]).items()}
        k = max(int(np.searchsorted(self.trajectory.time, self.time, side="right")) - 1, 0)
        return Frame(
            time=self.elapsed,
            playing=self.playing,
            replay=True,
            energy=self.trajectory.energy[k],
            dofs=self.show.coordinates(state["qpos"], state["qvel"]),
            cop=self._pressure[k],
            **self._beside(),
            **self.show.pose(state["qpos"], state["mocap_pos"], state["mocap_quat"]),
        )

    def _beside(self) -> dict[str, NDArray[np.float64]]:
        """Energies, poses and coordinates of the recordings beside this one, at the same time after their starts."""
        found = []
        for ghost, motion in self._ghosts:
            time = motion.start + self.elapsed
            state = {name: rows[0] for name, rows in motion.at([time]).items()}
            bodies = self.show.pose(state["qpos"], state["mocap_pos"], state["mocap_quat"])["bodies"]
            energy = np.array([np.interp(time, ghost.time, ghost.energy[:, k]) for k in (0, 1)])
            found.append((energy, bodies, self.show.coordinates(state["qpos"], state["qvel"])))
        energies, bodies, dofs = zip(*found, strict=True) if found else ((), (), ())
        nbody, ndof = self.show.model.nbody, len(self.show.dofs)
        return {
            "ghost_energy": stack(energies, (2,)),
            "ghost_bodies": stack(bodies, (nbody, 7)),
            "ghost_dofs": stack(dofs, (ndof, 2)),
        }

    # ------------------------------------------------------------ commands

    def do_play(self) -> None:
        if self.time >= self._end:
            self._go(self._motion.start)
        self.playing = True

    def do_step(self, n: int) -> None:
        """Pause at the n-th sample after the present time."""
        self.playing = False
        k = int(np.searchsorted(self.trajectory.time, self.time * (1 + 1e-12), side="right"))
        self._go(float(self.trajectory.time[min(k + n - 1, len(self.trajectory) - 1)]))

    def do_reset(self, key: str | None) -> None:
        self._go(self._motion.start)

    def do_seek(self, time: float) -> None:
        self._go(self._motion.start + time)

    def close(self) -> None:
        """Do nothing: the recording needs no cleanup."""


def _names(trajectories: Sequence[Trajectory]) -> list[str]:
    """A name for each recording: its integrator, with a number where several have the same."""
    names = [str(t.attrs.get("integrator") or "run") for t in trajectories]
    return [f"{name} {names[:k].count(name) + 1}" if names.count(name) > 1 else name for k, name in enumerate(names)]


def _pressure(trajectory: Trajectory, model: Model) -> NDArray[np.float64]:
    """Centre of pressure at each sample [T, 3], m; nan where it is not known."""
    with suppress(OptionError):
        return trajectory.centre_of_pressure(normal=upwards(model))
    return np.full((len(trajectory), 3), np.nan)
