"""The figure of the benchmark of worlds: growth of the time of a step with the number of bodies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from saltus.bench.worlds.rows import HEAP, WorldRow
from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.trajectory import figure_format, rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDES = (("peer", "MuJoCo", "s", "tab:orange"), ("saltus", "Saltus", "o", "tab:blue"))


def plot(rows: Sequence[WorldRow], path: str | os.PathLike[str]) -> None:
    """Write the figure (.png, .svg, .pdf)."""
    file_format = figure_format(path)
    write_whole(path, rendered(draw(rows), file_format), what="figure")


def draw(rows: Sequence[WorldRow]) -> Figure:
    """Draw the time of a step per body against the number of bodies: heaps as lines, other worlds as points."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter, NullLocator

    figure = Figure(figsize=(7.0, 4.5), dpi=150, layout="constrained")
    axes = figure.subplots()
    measured = [row for row in rows if row.ratio is not None]
    heaps = sorted((row for row in measured if row.world == HEAP), key=lambda row: row.bodies)
    others = [row for row in measured if row.world != HEAP]
    for side, label, marker, colour in SIDES:
        sizes, each = [r.bodies for r in heaps], [r.facts[side] / r.bodies * 1e6 for r in heaps]
        axes.plot(sizes, each, f"-{marker}", color=colour, label=f"{label}, heaps")
        for row in others:
            axes.plot(row.bodies, row.facts[side] / row.bodies * 1e6, marker, color=colour, fillstyle="none")
    for row in others:
        highest = max(row.facts[side] for side, *_ in SIDES) / row.bodies * 1e6
        axes.annotate(row.name, (row.bodies, highest), (0, 6), textcoords="offset points", ha="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([row.bodies for row in heaps or others])
    axes.xaxis.set_minor_locator(NullLocator())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1.0, 0.5)))
    axes.set_xlabel("number of bodies")
    axes.set_ylabel("time of a step for each body (µs)")
    axes.grid(True, which="both", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(frameon=False)
    return figure
