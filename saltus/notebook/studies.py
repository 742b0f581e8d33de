"""Displays of comparisons and sweeps: tables and figures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from saltus.notebook.html import Html, attempt, display, folded, image, table, title
from saltus.notebook.picture import figure_image
from saltus.record.plot import comparison as comparisons
from saltus.record.plot import sweep as sweeps
from saltus.record.plot.trajectory import COLOURS
from saltus.record.table.comparison_table import HEADERS, ComparisonTable
from saltus.record.table.labels import literal
from saltus.record.table.sweep_table import SweepTable
from saltus.study.tally import SweepSoFar
from saltus.terminal.display import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = (4.4, 2.1)  # size of a live figure, inches
DOTS = 80  # dots per inch of a live figure


def comparison_html(comparison: ComparisonTable) -> Html:
    """Display the ranking, the meanings of its columns, and a figure of error, energy and cost."""
    made = attempt("figure", lambda: figure_image(comparisons.plot(comparison), "errors, energy and cost"))
    return display(
        title("Comparison", comparison.title),
        table(HEADERS, comparison.cells(), comparison.footer()),
        folded("figure", made if comparison.trajectories else "", unfolded=True),
    )


def sweep_html(sweep: SweepTable) -> Html:
    """Display the runs' values and measures, and a figure of them."""
    return display(
        title(f"Sweep, {count(len(sweep), 'run')}", sweep.title),
        table(sweep.headers(), sweep.cells(), sweep.footer()),
        folded("figure", attempt("figure", lambda: figure_image(sweeps.plot(sweep), sweep.title)), unfolded=True),
    )


def so_far_html(sweep: SweepSoFar) -> Html:
    """Display a small figure of the finished runs."""
    return display(attempt("figure", lambda: _small_image(_small(sweep), f"{sweep.measure} so far")))


def _small(sweep: SweepSoFar) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=SMALL, dpi=DOTS)  # a computed layout would double the time
    axes = figure.add_axes((0.17, 0.24, 0.8, 0.71))
    axes.plot(sweep.x, sweep.y, ".", markersize=4, color=COLOURS[0])
    if len(sweep.x):
        axes.set_xlim(*_with_margin(sweep.x))
    axes.set_xlabel(literal(sweep.across), fontsize=8)
    axes.set_ylabel(literal(sweep.measure), fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(True, color="0.9", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _with_margin(x: np.ndarray) -> tuple[float, float]:
    """The range of all runs with a margin, so that the axis is fixed while runs finish."""
    margin = 0.03 * float(np.ptp(x)) or 0.5
    return float(x.min()) - margin, float(x.max()) + margin


def _small_image(figure: Figure, alt: str) -> Html:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return image(buffer.getvalue(), round(SMALL[0] * DOTS), alt)
