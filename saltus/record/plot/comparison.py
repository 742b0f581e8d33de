"""The figure of a comparison: errors and energies over time, and accuracy against cost."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.trajectory import COLOURS, DISTINCT, GREY, STYLES, figure_format, rendered
from saltus.record.table.certificate import energy_in_play
from saltus.record.table.labels import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.record.table.comparison_table import ComparisonTable

LEAST = 1e-16  # smallest error drawn: a logarithm has no zero
APART = 1e-6  # share of their largest distance at which the scale of the laws' difference begins
MARKERS = ("o", "s", "^")


def plot(comparison: ComparisonTable, path: str | os.PathLike[str] | None = None) -> Figure:
    """See `Comparison.plot`."""
    file_format = None if path is None else figure_format(path)
    figure = draw(comparison)
    if path is not None:
        write_whole(path, rendered(figure, file_format), what="figure")
    return figure


def draw(comparison: ComparisonTable) -> Figure:
    """Draw the figure, with one colour and line style per run; each of several contact laws has its line style.

    A fourth panel shows the difference between contact laws, where there are several.
    """
    from matplotlib.figure import Figure

    laws = [1.0] if comparison.differences else []
    figure = Figure(figsize=(10.0, 9.5 + 3.0 * len(laws)), dpi=150, layout="constrained")
    panels = figure.subplots(3 + len(laws), 1, height_ratios=(1.0, 1.0, 1.15, *laws))
    looks = _looks(comparison)
    _error_panel(panels[0], comparison, looks)
    _energy_panel(panels[1], comparison, looks)
    _precision_panel(panels[2], comparison, looks)
    if laws:
        _law_panel(panels[3], comparison)
    for axes in panels:
        axes.grid(True, color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.align_ylabels()
    figure.suptitle(literal(comparison.title), fontsize=12)
    handles = [_handle(look) for look in looks.values()]
    labels = [literal(label) for label in looks]
    if handles:
        figure.legend(handles, labels, loc="outside right upper", fontsize=9, frameon=False, alignment="left")
    # lets a notebook show a figure that belongs to no plotting backend
    vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
    return figure


def _looks(comparison: ComparisonTable) -> dict[str, dict[str, Any]]:
    """Line style by label, for each trajectory: colours first, then dashes; or a colour per integrator."""
    drawn = [
        (label, row)
        for label, row in zip(comparison.labels(), comparison.rows, strict=True)
        if label in comparison.trajectories
    ]
    names = list(dict.fromkeys(row.name for _, row in drawn))
    looks = {}
    for i, (label, row) in enumerate(drawn):
        colour, style = i, i // len(COLOURS)
        if len(comparison.contacts) > 1:
            colour, style = names.index(row.name), comparison.contacts.index(row.contact)
        looks[label] = {
            "color": DISTINCT[colour % len(DISTINCT)],
            "linestyle": STYLES[style % len(STYLES)],
            "marker": MARKERS[style % len(MARKERS)],
        }
    return looks


def _handle(look: dict[str, Any]) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linewidth=1.6, markersize=5, **look)


def _line(look: dict[str, Any]) -> dict[str, Any]:
    return {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.3}


def _error_panel(axes: Axes, comparison: ComparisonTable, looks: dict[str, dict[str, Any]]) -> None:
    axes.set_ylabel("position error (rad, m)")
    axes.set_xlabel("time (s)")
    for law, reference in comparison.references.items():
        if reference.trajectory is None:
            continue
        time = reference.trajectory.time
        if np.isfinite(reference.error).all():
            name = "the reference's own error" if len(comparison.references) == 1 else f"the reference's own, {law}"
            axes.fill_between(time, LEAST, np.maximum(reference.error, LEAST), color=GREY, alpha=0.5, lw=0, label=name)
        if reference.horizon < (time[-1] - time[0]) * (1 - 1e-9):
            name = "measured up to here" + (f", {law}" if len(comparison.references) > 1 else "")
            axes.axvline(time[0] + reference.horizon, color="0.4", linewidth=0.9, linestyle=":", label=name)
    for label, look in looks.items():
        if label in comparison.errors:
            time = comparison.trajectories[label].time
            axes.plot(time[1:], np.maximum(comparison.errors[label][1:], LEAST), **_line(look))
    axes.set_yscale("log")
    _fit_logarithm(axes, list(comparison.errors.values()))
    axes.margins(x=0.0)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="lower right", fontsize=8, framealpha=0.8, edgecolor="none")
    if not axes.lines:
        _say(axes, "no reference, no errors")


def _fit_logarithm(axes: Axes, curves: list[NDArray[np.float64]]) -> None:
    """Set the range from the smallest values after the start to the largest, without dips at zero crossings."""
    good = [c[np.isfinite(c) & (c > 0)] for c in curves]
    good = [c for c in good if c.size]
    if good:
        low, high = min(float(np.percentile(c, 3)) for c in good), max(float(c.max()) for c in good)
        axes.set_ylim(max(low / 3, LEAST), high * 3)


def _energy_panel(axes: Axes, comparison: ComparisonTable, looks: dict[str, dict[str, Any]]) -> None:
    axes.set_ylabel("|energy change| / energy in play")
    axes.set_xlabel("time (s)")
    scale = _energy_scale(comparison)
    changes = []
    for label, look in looks.items():
        trajectory = comparison.trajectories[label]
        if len(trajectory) < 2 or not np.isfinite(trajectory.energy).all():
            continue
        changes.append(abs(trajectory.total_energy - trajectory.total_energy[0])[1:] / scale)
        axes.plot(trajectory.time[1:], np.maximum(changes[-1], LEAST), **_line(look))
    if not changes:
        _say(axes, "not recorded")
        return
    axes.set_yscale("log")
    _fit_logarithm(axes, changes)
    axes.margins(x=0.0)


def _energy_scale(comparison: ComparisonTable) -> float:
    """Energy scale shared by all curves, so that they compare: from the reference where there is one."""
    candidates = [r.trajectory for r in comparison.references.values() if r.trajectory is not None]
    for trajectory in [*candidates, *comparison.trajectories.values()]:
        if len(trajectory) and np.isfinite(trajectory.energy).all():
            scale = energy_in_play(trajectory.energy)
            if scale > 0:
                return scale
    return 1.0


def _precision_panel(axes: Axes, comparison: ComparisonTable, looks: dict[str, dict[str, Any]]) -> None:
    axes.set_xlabel("compute per simulated second (s)")
    axes.set_ylabel("largest position error (rad, m)")
    drawn = False
    for label, look in looks.items():
        table = comparison.precision.get(label)
        if table is None or not np.isfinite(table).all():
            continue
        drawn = True
        axes.plot(
            table[:, 2], np.maximum(table[:, 1], LEAST), markersize=4.5, **{**_line(look), "marker": look["marker"]}
        )
    if not drawn:
        _say(axes, "no reference, no errors")
        return
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title("accuracy against cost, with finer steps or tolerances", fontsize=9, color="0.3")


def _law_panel(axes: Axes, comparison: ComparisonTable) -> None:
    axes.set_ylabel("difference of contact laws (rad, m)")
    axes.set_xlabel("time (s)")
    for k, (pair, difference) in enumerate(comparison.differences.items()):
        reference = comparison.references[pair.split(" and ")[0]].trajectory
        assert reference is not None
        axes.plot(
            reference.time[1:],
            np.maximum(difference[1:], LEAST),
            color="0.2",
            linestyle=STYLES[k % 3],
            label=literal(pair),
        )
    axes.set_yscale("log")
    largest = max(float(difference.max()) for difference in comparison.differences.values())
    axes.set_ylim(max(largest * APART, LEAST), max(largest * 3, 10 * LEAST))
    axes.margins(x=0.0)
    axes.legend(loc="lower right", fontsize=8, framealpha=0.8, edgecolor="none")


def _say(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="0.4")
