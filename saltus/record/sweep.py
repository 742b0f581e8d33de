"""The table of a sweep, with its figure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from saltus.record.table.sweep_table import SweepTable

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


class Sweep(SweepTable):
    """Measures of runs with varied values; its attributes are those of `SweepTable`. Made by `saltus.sweep`."""

    def to_xarray(self) -> xarray.Dataset:
        """Return the table as a dataset: the measures, with units, `status` and `note` of each run.

        Where the runs are all combinations of the values, each path is a dimension with its values in order
        (`ds["height[ball].apex"].sel({"body_mass[ball]": 2.0})`); otherwise all lie along `run`.
        """
        from saltus.record.io.sweep_dataset import sweep_dataset

        return sweep_dataset(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the measures over the values; to `path` too (.png, .svg, .pdf) where given.

        Raises:
            OptionError: `path` has another suffix.
            RecordError: the file cannot be written.
        """
        from saltus.record.plot.sweep import plot

        return plot(self, path)
