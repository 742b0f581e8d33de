"""Contacts and events over time: bars coloured by mode, and event markers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.model.event_enums import SLIP, STICK
from saltus.record.table.events import contact_labels
from saltus.record.table.labels import literal, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from saltus.record.table.trajectory_table import TrajectoryTable

SHOWN = 24  # contacts that get a row each
FEW = 60  # events drawn as lines across a panel; more are ticks at its foot
TICK = 0.05  # share of the panel's height
SEEN = 1500  # places along a panel that can be told apart

LINE: dict[str, Any] = {"color": "0.6", "linewidth": 0.8, "linestyle": ":", "zorder": 1}
TICKS: dict[str, Any] = {"color": "0.6", "linewidth": 0.6, "zorder": 1}

# Okabe and Ito's blue and orange
MODES = {STICK: ("sticking", "#0072B2"), SLIP: ("slipping", "#E69F00")}
CLOSED = MODES[STICK][1]
IMPACT: dict[str, Any] = {"marker": "d", "markersize": 4.5, "color": "#000000", "linestyle": "", "markeredgewidth": 0}


def mark_events(axes: Axes, trajectory: TrajectoryTable) -> None:
    """Mark the times of events: lines across the panel where they are few, otherwise ticks at its foot."""
    times = _distinct(trajectory.events["time"])
    if len(times) <= FEW:
        for time in times:
            axes.axvline(time, **LINE)
    else:
        axes.vlines(times, 0.0, TICK, transform=axes.get_xaxis_transform(), **TICKS)


def event_handle() -> Any:
    """Legend entry of the event marks."""
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="|", markersize=9, markeredgewidth=1.0, color=LINE["color"], linestyle="")


def _distinct(times: NDArray[Any]) -> NDArray[np.float64]:
    """Sorted times, without those that cannot be told apart in a picture of them all."""
    times = np.unique(times[np.isfinite(times)])
    if len(times) <= SEEN:
        return times
    _, first = np.unique(np.round((times - times[0]) / (times[-1] - times[0]) * SEEN), return_index=True)
    return times[first]


def rows_of(trajectory: TrajectoryTable) -> list[int]:
    """Contacts worth drawing: closed at a sample, or part of an impact."""
    t = trajectory
    hit = set(contact_labels(t.events[t.events["kind"] == "impact"])) if t.contact_mode.shape[1] else set()
    closed = set(np.flatnonzero(t.contact_state.any(axis=0)).tolist())
    return [k for k, name in enumerate(t.names["contact"]) if k in closed or name in hit]


def draw_contacts(axes: Axes, trajectory: TrajectoryTable) -> tuple[list[Any], list[str]]:
    """A row for each contact, with a bar for each time that it is closed and a mark for each impact.

    Colours tell sticking from slipping where modes are recorded. Returns the legend's entries.
    """
    t, rows = trajectory, rows_of(trajectory)[:SHOWN]
    handles: dict[str, Any] = {}
    for row, contact in enumerate(rows):
        for label, colour, on in _kinds_of(t, contact):
            spans = _spans(t.time, on)
            if spans:
                handles[label] = axes.broken_barh(spans, (row - 0.35, 0.7), color=colour, linewidth=0)
        if (times := _impacts(t, contact)).size:
            handles["impact"] = axes.plot(times, np.full(len(times), row), **IMPACT)[0]
    axes.set_yticks(range(len(rows)), [literal(readable(t.names["contact"][k], "geom")) for k in rows], fontsize=8)
    if len(t) > 1:
        axes.set_xlim(t.time[0], t.time[-1])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    order = [name for name in ("sticking", "slipping", "impact") if name in handles]
    return [handles[name] for name in order], order


def _kinds_of(t: TrajectoryTable, contact: int) -> list[tuple[str, str, NDArray[np.bool_]]]:
    """Label, colour, and mask of samples of each kind."""
    if not t.contact_mode.shape[1]:
        return [("", CLOSED, t.contact_state[:, contact])]
    mode = t.contact_mode[:, contact]
    return [(label, colour, mode == value) for value, (label, colour) in MODES.items()]


def _spans(time: NDArray[Any], on: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Begin and length of the times in which a condition holds, each until the next sample."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8)))
    ends = np.minimum(edges[1::2], len(time) - 1)
    return [(float(time[a]), float(time[b] - time[a])) for a, b in zip(edges[::2], ends, strict=True)]


def _impacts(t: TrajectoryTable, contact: int) -> NDArray[np.float64]:
    """Times of a contact's impacts, as far as they can be told apart."""
    if not t.contact_mode.shape[1]:
        return np.empty(0)
    events = t.events[t.events["kind"] == "impact"]
    own = np.array(contact_labels(events), dtype=np.str_) == t.names["contact"][contact]
    return _distinct(events["time"][own])
