"""The figure of the benchmark of orientations: the naive way as in the lecture, and all ways beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.trajectory import figure_format, rendered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from saltus.bench.orientations.plan import Found, Plan, Row

# the lecture's colours, and two that go with them
COLOURS = {"absolute": "xkcd:green", "relative": "xkcd:red", "maximal": "xkcd:blue", "engine": "black"}
LABELS = {"absolute": "Absolute", "relative": "Relative", "maximal": "Maximal", "engine": "Numeric engine"}
STYLES = {"SymPy": ":s", "Python": "-o", "Numba": "--^", "kernels": "-d"}  # line styles by way
TITLE = "Time Taken to Simulate for Different Numbers of Links"


def plot(plan: Plan, found: Found, path: str | os.PathLike[str]) -> None:
    """Write the figure (.png, .svg, .pdf)."""
    file_format = figure_format(path)
    write_whole(path, rendered(draw(plan, found), file_format), what="figure")


def draw(plan: Plan, found: Found) -> Figure:
    """Draw the figure: the naive way, modelling and simulation together; all ways, modelling and simulation apart."""
    from matplotlib.figure import Figure

    right = [row for row in found.rows if row.right]
    naive = any(row.method == "naive" for row in right)
    figure = Figure(figsize=(14.0 if naive else 10.0, 5.2), dpi=150, layout="constrained")
    *lecture, modelling, simulation = figure.subplots(1, 3 if naive else 2)
    for axes in lecture:
        _naive_panel(axes, right)
    _log_panel(modelling, plan, right, "Modelling", lambda row: row.modelling_time)
    _log_panel(simulation, plan, right, "Simulation", lambda row: row.simulation)
    simulation.set_title(f"Simulation Alone, {plan.steps} Steps", fontsize=10)
    handles, labels = simulation.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9)
    modelling.sharey(simulation)
    for axes in (*lecture, modelling, simulation):
        axes.set_xlabel("Number of Links")
        axes.grid(True, color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _naive_panel(axes: Axes, rows: list[Row]) -> None:
    """Draw the lecture's figure: one line per kind of angle, modelling and simulation together."""
    for orientation in ("absolute", "relative"):
        line = [row for row in rows if row.method == "naive" and row.orientation == orientation]
        links, seconds = [row.links for row in line], [row.total for row in line]
        axes.plot(links, seconds, "-o", markersize=4, color=COLOURS[orientation], label=LABELS[orientation])
    reached = max((row.links for row in rows if row.method == "naive"), default=1)
    axes.set_xlim(0, reached + 1)
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("Simulation Time (s)")
    axes.set_title(f"{TITLE}\nsolving symbolically at every step, modelling included", fontsize=10)
    axes.legend(frameon=False)


def _log_panel(axes: Axes, plan: Plan, rows: list[Row], title: str, value: Callable[[Row], float]) -> None:
    """Draw all ways, modelling or simulation alone, on a logarithmic scale."""
    lines: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.links <= plan.links:
            lines.setdefault((row.method, row.orientation, row.way), []).append(row)
    for (method, orientation, way), line in lines.items():
        key = "engine" if method == "engine" else orientation
        label = LABELS[key] if method == "engine" else f"{LABELS[key]}, {'naive' if method == 'naive' else way}"
        links, seconds = [row.links for row in line], [value(row) for row in line]
        axes.plot(links, seconds, STYLES[way], markersize=4, linewidth=1.4, color=COLOURS[key], label=label)
    axes.set_yscale("log")
    axes.set_xlim(0, plan.links + 1)
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel(f"{title} Time (s)")
    axes.set_title(f"{title} Alone", fontsize=10)
