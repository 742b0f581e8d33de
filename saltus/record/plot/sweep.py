"""The figure of a sweep: a panel per measure, over the path with most values, lines for the others."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.trajectory import COLOURS, GREY, figure_format, rendered
from saltus.record.table.labels import literal, with_unit
from saltus.record.table.sweep_table import named, text_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.record.table.sweep_table import SweepTable

WIDE = 30.0  # ratio of values to the least beyond which an axis is logarithmic
LINES = 14  # lines with a label of their own
COLUMNS = 3  # columns of panels with bars
STYLES = ("-", "--", ":", "-.")


def plot(sweep: SweepTable, path: str | os.PathLike[str] | None = None) -> Figure:
    """See `Sweep.plot`."""
    file_format = None if path is None else figure_format(path)
    figure = draw(sweep)
    if path is not None:
        write_whole(path, rendered(figure, file_format), what="figure")
    return figure


def draw(sweep: SweepTable) -> Figure:
    """Draw the figure: lines over a path, or a bar per case."""
    from matplotlib.figure import Figure

    count = len(sweep.measures)
    if sweep.cases:
        columns, rows = min(count, COLUMNS), -(-count // COLUMNS)
        size = (1.8 + 2.9 * columns, 0.5 + (0.8 + 0.27 * len(sweep)) * rows)
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        panels = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
        for axes, name, unit in zip(panels, sweep.measures, sweep.units, strict=False):
            _bars(axes, sweep, name, unit)
        for axes in panels[count:]:
            axes.set_visible(False)
    else:
        figure = Figure(figsize=(9.0, 0.9 + 2.6 * count), dpi=150, layout="constrained")
        panels = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        lines = _lines(sweep)
        for axes, name, unit in zip(panels, sweep.measures, sweep.units, strict=True):
            _curves(axes, sweep, lines, name, unit)
        panels[-1].set_xlabel(literal(_across(sweep)))
        handles, labels = panels[0].get_legend_handles_labels()
        if len(lines) > 1:
            figure.legend(handles, labels, loc="outside right upper", fontsize=8, frameon=False, alignment="left")
    figure.suptitle(literal(sweep.title), fontsize=12)
    # lets a notebook show a figure that belongs to no plotting backend
    vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
    return figure


def _across(sweep: SweepTable) -> str:
    """The path along the axis: the one with most values, numbers before text."""
    columns = {path: sweep.array()[path] for path in sweep.paths}
    return max(columns, key=lambda path: (columns[path].dtype.kind == "f", len(np.unique(columns[path]))))


def _lines(sweep: SweepTable) -> dict[str, list[int]]:
    """Runs of each line by its label: those that differ only in the path along the axis."""
    across, lines = _across(sweep), {}
    several = {path for path in sweep.paths if len({text_of(p.get(path)) for p in sweep.points}) > 1}
    for k, point in enumerate(sweep.points):
        others = {path: value for path, value in point.items() if path != across and path in several}
        lines.setdefault(named(others) if others else "", []).append(k)
    return lines


def _curves(axes: Axes, sweep: SweepTable, lines: dict[str, list[int]], name: str, unit: str) -> None:
    across = sweep.array()[_across(sweep)]
    numbers = across.dtype.kind == "f"
    places = across if numbers else np.array([list(dict.fromkeys(across)).index(value) for value in across])
    for i, (label, runs) in enumerate(lines.items()):
        order = np.array(runs)[np.argsort(places[runs], kind="stable")]
        look: dict[str, Any] = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": STYLES[i // len(COLOURS) % len(STYLES)],
        }
        if i >= LINES:
            look = {"color": GREY, "zorder": 1}
        marker = {"marker": "o", "markersize": 3.5, "linewidth": 1.3 if numbers else 0.6}
        axes.plot(places[order], sweep[name][order], **look, **marker, label=literal(label) if i < LINES else None)
    if numbers and _wide(places):
        axes.set_xscale("log")
    if not numbers:
        axes.set_xticks(range(len(set(across))), [literal(value) for value in dict.fromkeys(across)])
    if _wide(sweep[name]):
        axes.set_yscale("log")
    axes.set_ylabel(_wrapped(name, unit))
    _furnish(axes, "both")


def _bars(axes: Axes, sweep: SweepTable, name: str, unit: str) -> None:
    """Draw a bar per case, the first at the top; runs that did not finish have a text instead."""
    values, places = sweep[name], np.arange(len(sweep))
    axes.barh(places, np.nan_to_num(values), height=0.65, color=COLOURS[0])
    largest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    for k, value in enumerate(values):
        text = sweep.status[k] if np.isnan(value) else f"{value:.4g}"
        axes.text(max(np.nan_to_num(value), 0.0) + 0.02 * largest, k, text, va="center", fontsize=8, color="0.25")
    axes.set_yticks(places, [literal(case) for case in sweep.cases])
    if not axes.yaxis_inverted():
        axes.invert_yaxis()
    axes.margins(x=0.22)
    axes.set_title(literal(with_unit(name, unit)), fontsize=10)
    _furnish(axes, "x")


def _wide(values: Any) -> bool:
    good = np.asarray(values)[np.isfinite(values)]
    return bool(good.size and good.min() > 0 and good.max() > WIDE * good.min())


def _wrapped(name: str, unit: str) -> str:
    return literal(with_unit(name, unit).replace("].", "]\n."))


def _furnish(axes: Axes, grid: Any) -> None:
    axes.grid(True, axis=grid, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
