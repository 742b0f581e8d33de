"""Videos of recordings, written to a file or displayed in a notebook."""

from __future__ import annotations

import base64
import io
import os
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from saltus.errors import OptionError, RecordError, SaltusWarning
from saltus.record.files.atomic_write import reason_of, write_whole, written_whole
from saltus.record.film.encode import DEFAULT_RATE, MIME, check_size, encoder, film_suffix
from saltus.record.film.frames import Film
from saltus.terminal.progress import DRAWN, Progress

if TYPE_CHECKING:
    from saltus.record.table.trajectory_table import TrajectoryTable

SHORTEST_GIF = 0.02  # s, shorter frames are shown for 0.1 s by browsers
PALETTE_FRAMES = 6


@dataclass(frozen=True, eq=False)
class Video:
    """A film in memory: shown by notebooks, written by `save`.

    Attributes:
        data: the file's bytes.
        suffix: its kind, ".mp4", ".webm" or ".gif".
        width, height: pixels.
        frames: number of frames.
    """

    data: bytes = field(repr=False)
    suffix: str
    width: int
    height: int
    frames: int

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the film to a file, whole or not at all; the suffix must be the film's own."""
        if film_suffix(path) != self.suffix:
            raise OptionError(f"this video is {self.suffix}, but '{os.fspath(path)}' has another suffix")
        write_whole(path, self.data, what="video")

    def html(self) -> str:
        """HTML element that contains the whole film."""
        source = f"data:{MIME[self.suffix]};base64,{base64.b64encode(self.data).decode()}"
        size = f'width="{self.width}" height="{self.height}" style="max-width:100%;height:auto"'
        if self.suffix == ".gif":
            return f'<img src="{source}" {size} alt="film of the run">'
        return f'<video src="{source}" {size} preload="auto" controls loop muted playsinline></video>'

    def _repr_html_(self) -> str:
        return self.html()


def write_video(trajectory: TrajectoryTable, path: str | os.PathLike[str], fps: Any, **options: Any) -> None:
    """See `Trajectory.video`."""
    suffix = film_suffix(path)
    progress = options.pop("progress", None)
    film = _film(trajectory, suffix, fps, options)
    with written_whole(path, what="video") as temporary:
        try:
            _encode(film, temporary, suffix, progress)
        except OSError as error:  # PyAV's file errors are among these
            raise RecordError(path, reason_of(error), what="video") from error


def make_video(
    trajectory: TrajectoryTable, fps: Any, *, suffix: str = ".mp4", progress: Any = None, **options: Any
) -> Video:
    """See `Trajectory.show`."""
    film = _film(trajectory, film_suffix(f"film{suffix}"), fps, options)
    buffer = io.BytesIO()
    _encode(film, buffer, suffix, progress)
    return Video(buffer.getvalue(), suffix, film.view.width, film.view.height, film.count)


def _film(trajectory: TrajectoryTable, suffix: str, fps: Any, options: dict[str, Any]) -> Film:
    film = Film.of(trajectory, DEFAULT_RATE[suffix] if fps is None else fps, **options)
    check_size(suffix, film.view.width, film.view.height)
    if suffix == ".gif" and film.rate * SHORTEST_GIF > 1:
        text = f"a GIF with {float(film.rate):g} frames per second: browsers slow down GIFs with more than 50"
        warnings.warn(text, SaltusWarning, stacklevel=4)
    return film


def _encode(film: Film, target: Any, suffix: str, progress: Any) -> None:
    width, height = film.view.width, film.view.height
    palette = _palette(film) if suffix == ".gif" else None
    with (
        Progress(progress, film.count, DRAWN) as bar,
        encoder(target, suffix, film.rate, width, height, palette) as output,
    ):
        for k, picture in enumerate(film.pictures(), 1):
            output.add(picture)
            bar.update(k)


def _palette(film: Film) -> Any:
    """The colours of a few frames across the film."""
    from saltus.record.film.gif import palette_of

    chosen = range(0, film.count, max(film.count // PALETTE_FRAMES, 1))
    return palette_of(list(film.pictures(film.times(chosen))))
