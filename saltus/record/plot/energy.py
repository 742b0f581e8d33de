"""The figure of an energy balance: energies and work over time."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from saltus.record.files.atomic_write import write_whole
from saltus.record.plot.trajectory import GREY, curves, figure_format, legend, rendered
from saltus.record.table.energy_balance import EnergyBalance
from saltus.record.table.labels import literal
from saltus.record.table.ledger import ACCOUNTS, ENERGIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_energy(balance: EnergyBalance, path: str | os.PathLike[str] | None) -> Figure:
    """See `EnergyReport.plot`."""
    from matplotlib.figure import Figure

    file_format = None if path is None else figure_format(path)
    figure = Figure(figsize=(9.0, 6.0), dpi=150, layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    sums = (("in all", balance.total), ("residual", balance.residual))
    kinds = (("energy (J)", ENERGIES), ("work since the start (J)", ACCOUNTS[len(ENERGIES) :]))
    for axes, (title, names), (label, total) in zip(panels, kinds, sums, strict=True):
        used = balance.used(names)
        columns = np.column_stack([balance[name] for name in used] or [np.zeros((len(balance.time), 0))])
        handles, labels = curves(axes, balance.time, columns, used)
        handles += axes.plot(balance.time, total, color="black", linewidth=1.4)
        legend(axes, handles, [*labels, label])
        axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
        axes.set_ylabel(title)
        axes.grid(True, color="0.9", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.0)
    panels[-1].set_xlabel("time (s)")
    figure.suptitle(literal(balance.title) or "energy", fontsize=12)
    vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
    if path is not None:
        write_whole(path, rendered(figure, file_format), what="figure")
    return figure
