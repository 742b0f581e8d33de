"""Recording in the lab, and its downloads: the trajectory, a video, a report."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from saltus.draw.scene.view import ViewOptions
from saltus.errors import SaltusError
from saltus.lab.messages.answers import Refused
from saltus.lab.messages.job import Job
from saltus.record.recorder import TrajectoryBuilder
from saltus.simulate.engine.step_counts import StepCounts
from saltus.simulate.running.fixed_run import sample_row
from saltus.simulate.running.run import about_run
from saltus.simulate.running.run_metadata import names_and_units

if TYPE_CHECKING:
    from saltus.lab.data.ghost import Ghost
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.simulation import Simulation

RATE = 60  # samples per simulated second, unless steps are longer
MOST_SAMPLES = 216_000  # an hour
MOST_BYTES = 256 * 2**20


class Recorder:
    """A running recording: samples the states at the ends of steps, every 1/60 s, or every step if steps are longer."""

    def __init__(self, sim: Simulation, ghosts: list[Ghost]):
        self.began = sim.time
        self._builders = {"": _builder(sim)} | {ghost.name: _builder(ghost.sim) for ghost in ghosts if ghost.alive}
        width = 3 + 7 * sim.model.nmocap + sum(map(len, names_and_units(sim.engine)[0].values()))
        self._most = max(2, min(MOST_SAMPLES, MOST_BYTES // (8 * width * len(self._builders))))
        self._counts = {"": StepCounts(sim.engine)} | {ghost.name: StepCounts(ghost.sim.engine) for ghost in ghosts}
        self._changes: list[str] = []
        self.stopped = False
        self._seen = len(sim.events)  # earlier events are not recorded
        self.restart(sim)
        self._append(sim, ghosts)

    @property
    def limit(self) -> float:
        """Largest length of a recording (simulated s)."""
        return (self._most - 1) * self.period

    @property
    def full(self) -> str:
        """Notice for the user when the recording is full."""
        return f"Recording stopped because it is full: {self._most} samples, {self.limit / 60:.3g} min."

    def restart(self, sim: Simulation) -> None:
        """Adapt to a new time step; the next sample follows one whole period later."""
        self._every = max(1, round(1.0 / (RATE * sim.timestep)))
        self.period = self._every * sim.timestep
        self.steps_left = self._every

    def note(self, sim: Simulation, change: str) -> None:
        """Note a change of the simulation in the recording."""
        self._changes.append(f"t = {sim.time:.6g} s: {change}")
        self._seen = len(sim.events)
        self.restart(sim)

    def after(self, sim: Simulation, ghosts: list[Ghost], steps: int) -> bool:
        """Count steps that were taken and sample if one is due; return whether there is room for more."""
        self._counts[""].after_steps()
        for ghost in ghosts:
            if ghost.name in self._counts:
                self._counts[ghost.name].after_steps()
        self.steps_left -= steps
        if self.steps_left > 0 or self.stopped:
            return True
        self.steps_left = self._every
        self._append(sim, ghosts)
        return len(self._builders[""]) < self._most

    def _append(self, sim: Simulation, ghosts: list[Ghost]) -> None:
        builder = self._builders[""]
        builder.append(**sample_row(sim.engine, self._counts[""]))
        builder.events(sim.events[self._seen :])
        self._seen = len(sim.events)
        for ghost in ghosts:
            if ghost.alive and ghost.name in self._builders:
                self._builders[ghost.name].append(**sample_row(ghost.sim.engine, self._counts[ghost.name]))

    def finish(self, sim: Simulation) -> tuple[Trajectory, list[Trajectory]]:
        """The finished recording, and the ghosts' recordings."""
        for builder in self._builders.values():
            builder.attrs.update(duration=sim.time - self.began, sample=self.period, lab_changes=[*self._changes])
        main, *others = (builder.finish() for builder in self._builders.values())
        return main, others


def _builder(sim: Simulation) -> TrajectoryBuilder:
    sizes, about = about_run(sim.engine, 0.0, 0.0)
    return TrajectoryBuilder(**sizes, **about, expected=1024)


class Downloads:
    """The last recording of a lab and the files made from it. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trajectory: Trajectory | None = None
        self._ghosts: list[Trajectory] = []
        self._made: dict[str, bytes] = {}
        self._making = {what: threading.Lock() for what in ("trajectory", "report")}
        self._video: dict[str, object] = {"state": "none", "done": 0.0, "message": ""}
        self._job: Job[None] | None = None
        self._closing = False

    def keep(self, trajectory: Trajectory, ghosts: list[Trajectory] | None = None) -> None:
        """Store a new recording; the last one and the files made from it are dropped."""
        with self._lock:
            self._trajectory, self._ghosts, self._made = trajectory, ghosts or [], {}
            self._video = {"state": "none", "done": 0.0, "message": ""}

    @property
    def seconds(self) -> float:
        """Length of the stored recording (simulated s)."""
        trajectory = self._trajectory
        return 0.0 if trajectory is None else trajectory.duration

    @property
    def video(self) -> dict[str, object]:
        """State of the video for the `status` message."""
        return dict(self._video)

    def content(self, what: str) -> bytes:
        """Content of the file "trajectory", "video" or "report"; Refused if there is none.

        Waits while the file is being made.
        """
        with self._making.get(what, contextlib.nullcontext()):
            return self._content(what)

    def _content(self, what: str) -> bytes:
        with self._lock:
            trajectory, made = self._trajectory, self._made.get(what)
        if made is not None:
            return made
        if trajectory is None:
            raise Refused(HTTPStatus.CONFLICT, "Nothing was recorded yet. Start and stop a recording first.")
        if what == "video":
            sentence = "There is no video yet. Render one of the recording first."
            raise Refused(HTTPStatus.CONFLICT, sentence)
        try:
            write, suffix = (trajectory.save, ".nc") if what == "trajectory" else (trajectory.report, ".html")
            return self._keep(trajectory, what, written(write, suffix))
        except SaltusError as error:
            raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, f"This file cannot be created: {error}") from error

    def _keep(self, trajectory: Trajectory, what: str, content: bytes) -> bytes:
        with self._lock:
            if trajectory is self._trajectory:
                self._made[what] = content
        return content

    def make_video(self, **view: Unpack[ViewOptions]) -> str | None:
        """Start rendering a video of the recording; return a sentence if that is not possible, else None."""
        with self._lock:
            if self._trajectory is None:
                return "Nothing was recorded yet: record first, then make a video of it."
            if self._job is not None and not self._job.done:
                return "A video is being rendered already."
            trajectory, ghosts = self._trajectory, list(self._ghosts)
            self._video = {"state": "drawing", "done": 0.0, "message": ""}
        self._job = Job(lambda: self._draw(trajectory, ghosts, view), "video")
        return None

    def _draw(self, trajectory: Trajectory, ghosts: list[Trajectory], view: ViewOptions) -> None:
        def progress(fraction: float) -> None:
            if self._closing:
                raise _GivenUp
            self._tell(trajectory, state="drawing", done=fraction)

        try:
            options: dict[str, Any] = dict(ghosts=ghosts, progress=progress, **view)
            content = written(lambda path: trajectory.video(path, RATE, **options), ".mp4")
            self._keep(trajectory, "video", content)
            self._tell(trajectory, state="ready", done=1.0)
        except _GivenUp:
            pass
        except Exception as error:
            self._tell(trajectory, state="failed", message=str(error))

    def _tell(self, trajectory: Trajectory, **news: Any) -> None:
        with self._lock:
            if trajectory is self._trajectory:
                self._video = {**self._video, **news}

    def close(self) -> None:
        """Cancel the rendering of a video."""
        self._closing = True
        if self._job is not None:
            self._job.join(5.0)


class _GivenUp(Exception):
    """The lab was closed while a video was rendered."""


def written(write: Callable[[str], Any], suffix: str) -> bytes:
    """Content of the file that a function writes."""
    with tempfile.TemporaryDirectory(prefix="saltus-lab-") as directory:
        path = Path(directory) / f"recording{suffix}"
        write(str(path))
        return path.read_bytes()
