"""Displays of comparisons and sweeps: the table and the figure."""

from __future__ import annotations

from saltus.notebook.html import Html, attempt, display, folded, table, title
from saltus.notebook.picture import figure_image
from saltus.record.plot import comparison as comparisons
from saltus.record.plot import sweep as sweeps
from saltus.record.table.comparison_table import HEADERS, ComparisonTable
from saltus.record.table.sweep_table import SweepTable
from saltus.terminal.display import count


def comparison_html(comparison: ComparisonTable) -> Html:
    """The ranking, what its columns mean, and error, energy and cost as a figure."""
    made = attempt("figure", lambda: figure_image(comparisons.plot(comparison), "errors, energy and cost"))
    return display(
        title("Comparison", comparison.title),
        table(HEADERS, comparison.cells(), comparison.footer()),
        folded("figure", made if comparison.trajectories else "", unfolded=True),
    )


def sweep_html(sweep: SweepTable) -> Html:
    """The runs' values and measures, and a figure of them."""
    return display(
        title(f"Sweep, {count(len(sweep), 'run')}", sweep.title),
        table(sweep.headers(), sweep.cells(), sweep.footer()),
        folded("figure", attempt("figure", lambda: figure_image(sweeps.plot(sweep), sweep.title)), unfolded=True),
    )
