"""Output files of `saltus run` and `saltus replay`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saltus.errors import OptionError, RecordError, SaltusError

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.trajectory import Trajectory
    from saltus.terminal.screen import Activity


@dataclass(frozen=True)
class Film:
    """Video options, as on the command line."""

    fps: float | None = None
    renderer: str = "saltus"
    camera: str | None = None
    follow: str | None = None
    contacts: bool = False
    size: str = "640x480"

    def options(self, model: Model | None = None) -> dict[str, Any]:
        """Video options as arguments of `Trajectory.video`; OptionError if invalid or not in the model."""
        from saltus.draw.scene.view import View
        from saltus.record.film.frames import RENDERERS, frame_rate

        if self.fps is not None:
            frame_rate(self.fps)
        if self.renderer not in RENDERERS:
            raise OptionError.unknown("renderer", self.renderer, RENDERERS)
        width, _, height = self.size.partition("x")
        if not (width.isdigit() and height.isdigit()):
            raise OptionError(f"--size must be like 640x480, got {self.size!r}")
        view: dict[str, Any] = {"camera": self.camera, "follow": self.follow, "contacts": self.contacts}
        view |= {"width": int(width), "height": int(height)}
        if model is not None:
            from saltus.draw.scene.camera import Viewpoint
            from saltus.draw.scene.scene import scene

            view["camera"] = self._camera(model)
            Viewpoint(model, scene(model), View.of(**view))
        View.of(**view)
        return {"renderer": self.renderer, **view}

    def _camera(self, model: Model) -> str | int | None:
        """Return the name of the camera, or its number if no camera has that name."""
        if self.camera is None or not self.camera.isdigit():
            return self.camera
        names = [model.mujoco.camera(i).name for i in range(model.ncam)]
        return self.camera if self.camera in names else int(self.camera)


@dataclass(frozen=True)
class Outputs:
    """Output files; None: not written."""

    plot: Path | None = None
    save: Path | None = None
    video: Path | None = None
    report: Path | None = None
    film: Film = field(default_factory=Film)

    def paths(self) -> dict[str, Path]:
        """Requested files by option."""
        found = {"--save": self.save, "--plot": self.plot, "--video": self.video, "--report": self.report}
        return {option: path for option, path in found.items() if path is not None}

    @property
    def store(self) -> Path | None:
        """The Zarr store to which a run is streamed, or None."""
        return self.save if self.save is not None and self.save.suffix == ".zarr" else None

    def check(self) -> None:
        """Raise the errors that writing would raise, before the run."""
        taken: dict[Path, str] = {}
        for option, path in self.paths().items():
            if path.resolve() in taken:
                raise OptionError(f"{taken[path.resolve()]} and {option} name the same file, '{path}'")
            taken[path.resolve()] = option
        if self.plot is not None:
            from saltus.record.plot.trajectory import check_figure

            check_figure(self.plot)
        if self.video is not None:
            self._check_video(self.video)
        if self.report is not None:
            from saltus.record.files.atomic_write import check_writable
            from saltus.record.report.report import check_suffix

            check_suffix(self.report)
            self._check_size(".mp4")
            check_writable(self.report, what="report")
        if self.save is not None:
            from saltus.record.files.atomic_write import check_writable
            from saltus.record.io.file import check_suffix
            from saltus.record.io.stream import check_new

            (check_new if self.store else check_writable)(self.save)
            check_suffix(self.save)

    def _check_video(self, path: Path) -> None:
        from saltus.record.files.atomic_write import check_writable
        from saltus.record.film.encode import film_suffix

        self._check_size(film_suffix(path))
        check_writable(path, what="video")

    def _check_size(self, suffix: str) -> None:
        from saltus.record.film.encode import check_size

        options = self.film.options()
        check_size(suffix, options["width"], options["height"])

    def check_model(self, model: Model) -> None:
        """Raise OptionError if the video's camera or body is not in the model."""
        if self.video is not None or self.report is not None:
            self.film.options(model)

    def write(
        self, trajectory: Trajectory, activity: Activity | None = None, *, saved: bool = False
    ) -> tuple[list[str], list[SaltusError]]:
        """Write all files that can be written; return descriptions of them, and errors. `saved`: a recording exists."""
        written: list[str] = []
        errors: list[SaltusError] = []
        for path, write, what in self._writers(trajectory, activity):
            try:
                if not (what == "recording" and saved):
                    write(path)
                written.append(f"{path} ({what})")
            except SaltusError as error:
                errors.append(error)
            except Exception as error:
                # an error of one output must not prevent the others
                errors.append(RecordError(path, f"{type(error).__name__}: {error}", what=what))
            finally:
                if activity is not None:
                    activity.end(_drawing(path))
        return written, errors

    def _writers(
        self, trajectory: Trajectory, activity: Activity | None
    ) -> list[tuple[Path, Callable[[Path], Any], str]]:
        def progress(path: Path) -> Any:
            return False if activity is None else activity.progress(_drawing(path))

        def video(path: Path) -> None:
            options = self.film.options(trajectory.model)
            trajectory.video(path, self.film.fps, progress=progress(path), **options)

        def report(path: Path) -> None:
            from saltus.record.table.trajectory_table import readable_model

            options = self.film.options(readable_model(trajectory)[0])
            rate = {} if self.film.fps is None else {"fps": self.film.fps}
            trajectory.report(path, progress=progress(path), **rate, **options)

        writers = ((self.save, trajectory.save, "recording"), (self.plot, trajectory.plot, "figure"))
        drawn = ((self.video, video, "video"), (self.report, report, "report"))
        return [(path, write, what) for path, write, what in (*writers, *drawn) if path is not None]


def _drawing(path: Path) -> str:
    return f"drawing {path.name}"
