"""Chosen quantities of one or several recordings over time, a panel for each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from saltus.arguments import words
from saltus.errors import OptionError
from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.contacts import mark_events
from saltus.record.plot.trajectory import COLOURS, STYLES, figure_format, furnish, legend, rendered
from saltus.record.table.columns import COLUMNS, HELD
from saltus.record.table.labels import literal, with_unit
from saltus.record.table.lookup import find, labels_of, locate, units_of
from saltus.record.table.trajectory_table import TrajectoryTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 24
USUAL = ("qpos", "ctrl")  # drawn where several recordings are compared and nothing is asked for


def plot_signals(
    tables: Sequence[TrajectoryTable],
    signals: str | Iterable[str] | None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """See `Trajectory.plot`."""
    from matplotlib.figure import Figure

    file_format = None if path is None else figure_format(path)
    if wrong := [table for table in tables if not isinstance(table, TrajectoryTable)]:
        raise OptionError(f"others must be recordings, got {type(wrong[0]).__name__}")
    if signals is None:
        signals = [name for name in USUAL if 0 not in tables[0].row_shape(name)]
    names = words("signals", signals)
    if not 0 < len(names) <= MOST_PANELS:
        raise OptionError(f"signals must be 1 to {MOST_PANELS} names, got {len(names)}")
    for table in tables:
        for name in names:
            locate(table, name)
    figure = Figure(figsize=(9.0, 0.8 + 2.4 * len(names)), dpi=150, layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        _draw(axes, tables, name)
        furnish(axes, tables[0])
        for table in tables[1:]:
            mark_events(axes, table)
    panels[-1].set_xlabel("time (s)")
    figure.align_ylabels(list(panels))
    vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
    if path is not None:
        write_whole(path, rendered(figure, file_format), what="figure")
    return figure


def _draw(axes: Axes, tables: Sequence[TrajectoryTable], name: str) -> None:
    """Draw one quantity of all recordings: a style for each recording; colours tell numbers apart, or runs."""
    handles, labels, units = [], [], []
    for run, table in enumerate(tables):
        column, places, _ = locate(table, name)
        own, of_unit = labels_of(table, column), units_of(table, column)
        values = find(table, name).reshape(len(table), -1)
        units += [of_unit[k] for k in places]
        for number, k in enumerate(places):
            look: dict[str, Any] = {
                "color": COLOURS[(number if len(places) > 1 else run) % len(COLOURS)],
                "linestyle": STYLES[run % len(STYLES)],
                "linewidth": 1.4,
            }
            if COLUMNS[column].between == HELD:
                look["drawstyle"] = "steps-post"
            marker = "o" if len(table) == 1 else ""
            handles += axes.plot(table.time, values[:, number], marker=marker, **look)
            labels.append(own[k] if len(tables) == 1 else f"{own[k]}, {_called(table, run)}")
    axes.set_ylabel(literal(with_unit(name, ", ".join(dict.fromkeys(unit for unit in units if unit)))))
    shown = 12  # lines that the legend names
    legend(axes, handles[:shown], labels[:shown], f"{shown} of {len(labels)}" if len(labels) > shown else "")


def _called(table: TrajectoryTable, run: int) -> str:
    """Label of a recording among others: its number, integrator and timestep."""
    parts = [f"run {run + 1}", str(table.attrs.get("integrator") or "")]
    if isinstance(table.attrs.get("timestep"), float):
        parts.append(f"{table.attrs['timestep']:.4g} s")
    return ", ".join(part for part in parts if part)
