"""Two recordings of one motion, one after the other, as one recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from saltus.errors import OptionError
from saltus.record.table.columns import COLUMNS
from saltus.record.table.ledger import ENERGIES
from saltus.record.table.trajectory_table import TrajectoryTable

SAME = 1e-9  # times nearer than this, relative to 1 s and to the time, are equal
OF_PARTS = ("duration", "sample", "integrator", "timestep", "contact", "created")  # attributes kept for each part


def joined(first: TrajectoryTable, second: TrajectoryTable) -> dict[str, Any]:
    """Arguments of the `Trajectory` of both; see `Trajectory.__add__`."""
    _check(first, second)
    columns = {}
    # where a sample of the first lies at the join, the second begins with the same state
    count = len(first) - int(bool(len(first)) and _near(float(first.time[-1]), float(second.time[0])))
    for name in COLUMNS:
        after = getattr(second, name)
        if name == "ledger" and after.shape[1]:
            after = after + _work_before(first)
        elif name == "restarts":
            after = after + _last(first, name)
        columns[name] = np.concatenate([getattr(first, name)[:count], after])
    end = None if second.end is None else dict(second.end)
    if end is not None and second.ledger.shape[1]:
        end["ledger"] = end["ledger"] + _work_before(first)
    if end is not None:
        end["restarts"] = end["restarts"] + _last(first, "restarts")
    before = first.events[first.events["time"] <= _end_of(first)]
    return {
        **columns,
        "end": end,
        "events": np.concatenate([np.asarray(before), np.asarray(second.events)]),
        "names": first.names,
        "units": first.units,
        "attrs": _attributes(first, second),
        "model": first.stored_model,
    }


def _check(first: TrajectoryTable, second: TrajectoryTable) -> None:
    """Raise OptionError unless the second recording continues the first."""
    if not len(first) or not len(second):
        raise OptionError("recordings without samples cannot be joined")
    stored, model = first.stored_model, second.model
    if (stored is None) != (model is None) or (stored is not None and model is not None and not stored.same_as(model)):
        raise OptionError("recordings of different models cannot be joined; plot(others=[...]) draws them together")
    for name in COLUMNS:
        shapes = first.row_shape(name), second.row_shape(name)
        if shapes[0] != shapes[1]:
            raise OptionError(f"recordings with different columns cannot be joined: {name} {shapes[0]}, {shapes[1]}")
    if first.names != second.names or first.attrs.get("signals") != second.attrs.get("signals"):
        raise OptionError("recordings whose columns have different names cannot be joined")
    if first.events.dtype.names != second.events.dtype.names:
        raise OptionError("recordings whose events have different fields cannot be joined")
    end, start = _end_of(first), float(second.time[0])
    if not _near(end, start):
        raise OptionError(
            f"recordings are joined where times continue: the first ends at {end:g} s, {start:g} s follows"
        )


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * (1.0 + abs(a))


def _end_of(table: TrajectoryTable) -> float:
    """Time (s) of the last row."""
    return float(table.time[-1] if table.end is None else table.end["time"])


def _last(table: TrajectoryTable, column: str) -> np.ndarray:
    """The last row of a column."""
    return getattr(table, column)[-1] if table.end is None else table.end[column]


def _work_before(first: TrajectoryTable) -> np.ndarray:
    """Accounts at the end of the first recording, J; 0 for energies, which do not add up."""
    accounts = np.array(_last(first, "ledger"))
    accounts[: len(ENERGIES)] = 0.0
    return accounts


def _attributes(first: TrajectoryTable, second: TrajectoryTable) -> dict[str, Any]:
    """Attributes that both have, the whole duration, and in `parts` those in which the recordings may differ."""
    attrs = {name: value for name, value in first.attrs.items() if second.attrs.get(name) == value}
    parts: list[Any] = []
    for table in (first, second):
        own = {name: table.attrs[name] for name in OF_PARTS if name in table.attrs}
        found: Any = table.attrs.get("parts") or [own]
        parts += found
    total = sum(float(part.get("duration", 0.0)) for part in parts)
    return attrs | {"duration": total, "parts": parts}
