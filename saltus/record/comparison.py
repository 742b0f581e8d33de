"""A comparison of integrators, with its figure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from saltus.record.table.comparison_table import ComparisonTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(ComparisonTable):
    """One model under several integrators; its attributes are those of `ComparisonTable`. Made by `saltus.compare`."""

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw error and energy over time and error against cost; to `path` too (.png, .svg, .pdf) where given.

        Raises:
            OptionError: `path` has another suffix.
            RecordError: the file cannot be written.
        """
        from saltus.record.plot.comparison import plot

        return plot(self, path)
