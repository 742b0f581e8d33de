"""Single pictures: of a state, or of a recording at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import number, path_of
from saltus.errors import OptionError
from saltus.record.files.atomic_write import write_whole
from saltus.record.film.frames import Film

if TYPE_CHECKING:
    from PIL.Image import Image

    from saltus.record.table.trajectory_table import TrajectoryTable

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}


def trajectory_picture(
    trajectory: TrajectoryTable,
    path: str | os.PathLike[str] | None,
    time: float | None,
    *,
    renderer: str,
    text: bool | str,
    ghosts: Sequence[TrajectoryTable],
    **view: Any,
) -> Image:
    """See `Trajectory.picture`."""
    file_format = None if path is None else picture_format(path)
    film = Film.of(trajectory, renderer=renderer, text=text, ghosts=ghosts, **view)
    last = trajectory.time[-1] if trajectory.end is None else trajectory.end["time"]
    first, last = float(trajectory.time[0]), float(last)
    when = last if time is None else number("time", time)
    slack = 1e-9 * max(1.0, abs(last))
    if not first - slack <= when <= last + slack:
        raise OptionError(f"time must be within the recording, {first:g} to {last:g} s, got {when:g} s")
    (pixels,) = film.pictures(np.array([when - first]))
    return finished(pixels, path, file_format)


def picture_format(path: str | os.PathLike[str]) -> str:
    """Pillow's name of a picture file's format; OptionError for another suffix."""
    suffix = os.path.splitext(os.fspath(path_of("path", path)))[1].lower()
    if suffix not in FORMATS:
        raise OptionError(f"the suffix of a picture must be one of {', '.join(FORMATS)}, got '{os.fspath(path)}'")
    return FORMATS[suffix]


def finished(pixels: NDArray[np.uint8], path: str | os.PathLike[str] | None, file_format: str | None) -> Image:
    """Pixels [height, width, 3] as a Pillow image, written to a file where a path is given."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels))
    if path is not None:
        buffer = io.BytesIO()
        image.save(buffer, format=file_format)
        write_whole(path, buffer.getvalue(), what="picture")
    return image
