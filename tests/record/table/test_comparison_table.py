"""The ranking of integrators. Reference: the order by hand."""

import math

from saltus.record.table.comparison_table import ComparisonRow, rank


def row(name, error, drift=0.0, cost=1.0):
    return ComparisonRow(name, "soft", 1, "explicit", error, drift, cost)


def test_the_order_of_rows():
    rows = [
        row("refused", math.nan, math.nan, math.nan),
        row("diverged", math.inf, math.inf, math.nan),
        row("dear", 1e-3, 0.1, 2.0),
        row("without reference", math.nan, 0.2),
        row("best", 1e-6),
        row("cheap", 1e-3, 0.1, 1.0),
    ]
    names = [r.name for r in sorted(rows, key=rank)]
    assert names == ["best", "cheap", "dear", "without reference", "diverged", "refused"]
