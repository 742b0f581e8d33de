"""Motions of markers from .trc files, as motion capture and OpenSim write them."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import path_of
from saltus.errors import OptionError, RecordError
from saltus.files.opening import open_regular

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
HEADER = 5  # lines before the samples


class Markers(NamedTuple):
    """Times [T] (s) and positions [T, 3] (m) by marker; NaN where a marker was not seen."""

    time: NDArray[np.float64]
    positions: dict[str, NDArray[np.float64]]


def read_trc(path: str | os.PathLike[str], *, up: str = "z") -> Markers:
    """Read the positions of markers from a .trc file: `saltus.ik(model, read_trc(path).positions, follow=True)`.

    Args:
        path: the file, text with columns that are separated by tabs.
        up: the file's axis that points upwards, "y" as in OpenSim or "z"; y is turned to z.

    Raises:
        RecordError: the file cannot be read, or is no .trc file.
        OptionError: `up` is neither "y" nor "z".
    """
    if up not in ("y", "z"):
        raise OptionError(f'up must be "y" or "z", got {up!r}')
    file = os.fspath(path_of("path", path))
    of_file = dict(action="read", what="marker file")
    try:
        with open_regular(file) as stream:
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except (OSError, ValueError) as error:
        raise RecordError(file, getattr(error, "strerror", None) or str(error), **of_file) from error
    try:
        scale, names = _header(lines)
        rows = [_row(line, len(names)) for line in lines[HEADER:] if line.strip()]
    except (ValueError, IndexError, KeyError) as error:
        raise RecordError(file, f"this is not the .trc format: {error}", **of_file) from error
    table = np.array(rows, float).reshape(len(rows), 1 + 3 * len(names))
    places = scale * table[:, 1:].reshape(len(rows), len(names), 3)
    if up == "y":
        places = places[..., [0, 2, 1]] * [1.0, -1.0, 1.0]
    return Markers(table[:, 0], {name: np.ascontiguousarray(places[:, k]) for k, name in enumerate(names)})


def _header(lines: list[str]) -> tuple[float, list[str]]:
    """Metres per unit, and the names of the markers."""
    about = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    unit = about["Units"].strip()
    if unit not in UNITS:
        raise ValueError(f"its unit {unit!r} is none of {', '.join(UNITS)}")
    names = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    if len(names) != int(about["NumMarkers"]):
        raise ValueError(f"it names {len(names)} markers, and says that there are {about['NumMarkers']}")
    return UNITS[unit], names


def _row(line: str, count: int) -> list[float]:
    """Time and coordinates of a frame; NaN for those that are missing."""
    cells = line.split("\t")[1:]
    cells += [""] * (1 + 3 * count - len(cells))
    return [float(cell) if cell.strip() else np.nan for cell in cells[: 1 + 3 * count]]
