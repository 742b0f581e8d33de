"""Motions of markers from .trc and .c3d files, as motion capture and OpenSim write them."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any, NamedTuple

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
    file, content = _read(path, up)
    lines = content.decode("utf-8", "replace").splitlines()
    try:
        scale, names = _header(lines)
        rows = [_row(line, len(names)) for line in lines[HEADER:] if line.strip()]
        table = np.array(rows, float).reshape(len(rows), 1 + 3 * len(names))
        places = scale * table[:, 1:].reshape(len(rows), len(names), 3)
        return Markers(table[:, 0], _by_name(names, places, up))
    except (ValueError, IndexError, KeyError) as error:
        raise _not_the_format(file, ".trc", error) from error


def read_c3d(path: str | os.PathLike[str], *, up: str = "z") -> Markers:
    """Read the positions of markers from a .c3d file, the binary format of motion capture systems (c3d.org).

    Times begin at the file's first frame, of which frame 1 is at 0 s. Points without a valid residual are gaps.

    Args:
        path: the file, with numbers of any of the format's three processors.
        up: the file's axis that points upwards, "y" or "z"; y is turned to z.

    Raises:
        RecordError: the file cannot be read, is no .c3d file, or names no unit of length.
        OptionError: `up` is neither "y" nor "z".
        ImportError: the package c3d is not installed; pip install 'saltus[c3d]'.
    """
    file, content = _read(path, up)
    try:
        from c3d import Reader  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("read_c3d needs the package c3d: pip install 'saltus[c3d]'", name="c3d") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a file that ends early, which is an error here, or has no analog data
        try:
            reader = Reader(io.BytesIO(content))
            names, scale = _labels(reader), _metres(_parameter(reader, "UNITS").string_value)
            rows = [points[:, :4].copy() for _, points, _ in reader.read_frames()]
        except Exception as error:  # bytes that mean something else may raise anything in the package
            raise _not_the_format(file, ".c3d", error) from error
    count = reader.last_frame - reader.first_frame + 1
    if len(rows) < count or not reader.point_rate > 0:
        raise _not_the_format(file, ".c3d", f"it holds {len(rows)} of {count} frames, at {reader.point_rate:g} Hz")
    table = np.array(rows, float).reshape(count, len(names), 4)
    table[table[..., 3] < 0] = np.nan  # points that were not seen
    time = (np.arange(count) + reader.first_frame - 1) / float(reader.point_rate)
    try:
        return Markers(time, _by_name(names, scale * table[..., :3], up))
    except ValueError as error:
        raise _not_the_format(file, ".c3d", error) from error


def _read(path: str | os.PathLike[str], up: str) -> tuple[str, bytes]:
    """Path and content of a file of markers."""
    if up not in ("y", "z"):
        raise OptionError(f'up must be "y" or "z", got {up!r}')
    file = os.fspath(path_of("path", path))
    try:
        with open_regular(file) as stream:
            return file, stream.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RecordError(file, reason, action="read", what="marker file") from error


def _not_the_format(file: str, kind: str, reason: object) -> RecordError:
    """The error for a file that is not what its name says."""
    return RecordError(file, f"this is not the {kind} format: {reason}", action="read", what="marker file")


def _by_name(names: list[str], places: NDArray[np.float64], up: str) -> dict[str, NDArray[np.float64]]:
    """Positions [T, 3] by marker from places [T, markers, 3] (m), z upwards. ValueError: two have one name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"it names two markers {twice[0]!r}")
    if up == "y":
        places = places[..., [0, 2, 1]] * [1.0, -1.0, 1.0]
    return {name: np.ascontiguousarray(places[:, k]) for k, name in enumerate(names)}


def _metres(unit: str) -> float:
    """Metres per unit, by its name. ValueError: it is none of `UNITS`."""
    if unit.strip() not in UNITS:
        raise ValueError(f"its unit {unit.strip()!r} is none of {', '.join(UNITS)}")
    return UNITS[unit.strip()]


# ---------------------------------------------------------------- .c3d


def _parameter(reader: Any, name: str) -> Any:
    """A parameter of the file's points. ValueError: there is none."""
    found = reader.get(f"POINT:{name}")
    if found is None:
        raise ValueError(f"it has no parameter POINT:{name}")
    return found


def _labels(reader: Any) -> list[str]:
    """Names of the points: of POINT:LABELS, and LABELS2, ... where there are more than a parameter holds."""
    count, parts = int(reader.point_used), [_parameter(reader, "LABELS")]
    while (more := reader.get(f"POINT:LABELS{len(parts) + 1}")) is not None:
        parts.append(more)
    names = [str(name).strip() for part in parts for name in part.string_array]
    if len(names) < count:
        raise ValueError(f"it names {len(names)} of {count} points")
    return names[:count]


# ---------------------------------------------------------------- .trc


def _header(lines: list[str]) -> tuple[float, list[str]]:
    """Metres per unit, and the names of the markers."""
    about = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    scale = _metres(about["Units"])
    names = [name.strip() for name in lines[3].split("\t")[2:] if name.strip()]
    if len(names) != int(about["NumMarkers"]):
        raise ValueError(f"it names {len(names)} markers, and says that there are {about['NumMarkers']}")
    return scale, names


def _row(line: str, count: int) -> list[float]:
    """Time and coordinates of a frame; NaN for those that are missing."""
    cells = line.split("\t")[1:]
    cells += [""] * (1 + 3 * count - len(cells))
    return [float(cell) if cell.strip() else np.nan for cell in cells[: 1 + 3 * count]]
