"""The energy balance of a run, with its figure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from saltus.record.table.energy_balance import EnergyBalance

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class EnergyReport(EnergyBalance):
    """Energy balance of a run that kept a ledger; its attributes are those of `EnergyBalance`."""

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw energies and work over time; written to `path` too (.png, .svg, .pdf) where given.

        Raises:
            OptionError: `path` has another suffix.
            RecordError: the file cannot be written.
        """
        from saltus.record.plot.energy import plot_energy

        return plot_energy(self, path)
