"""The table of a sweep, with its figure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from saltus.record.table.sweep_table import SweepTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Sweep(SweepTable):
    """Measures of runs with varied values; its attributes are those of `SweepTable`. Made by `saltus.sweep`."""

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the measures over the values; to `path` too (.png, .svg, .pdf) where given.

        Raises:
            OptionError: `path` has another suffix.
            RecordError: the file cannot be written.
        """
        from saltus.record.plot.sweep import plot

        return plot(self, path)
