"""Where the energy of a run is, and where it went: the accounts of a ledger, their balance, and the residual."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.record.certificate import energy_in_play
from saltus.record.labels import literal
from saltus.record.whole import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from saltus.record.trajectory import Trajectory

#: Energies that are held (J): of motion, of weights, of springs of joints and tendons, of deformable bodies.
ENERGIES = ("kinetic", "gravity", "springs", "stretch", "bending")

#: Kinds of work of forces, in the order of `saltus.integrate.work`.
WORKS = (
    *("actuators", "applied", "dampers", "elastic damping", "medium", "gravity compensation"),
    *("contact", "limits", "dry friction", "equalities"),
)

#: Columns of a ledger: these energies, and the work since the run's start (J), positive where it brought energy in.
#: Impacts are those whose events are located; equations those of the user's (see `saltus.Dynamics`), beside the inertia
#: and the weights of the bodies: damping in their bias, or that they are another mechanism's.
ACCOUNTS = (*ENERGIES, *WORKS, "impacts", "equations")

ROUNDING = 1e-13  # of the largest account

ATTRIBUTE = "ledger"  # of the recording: how work was found


class EnergyReport:
    """The balance of a run whose ledger was kept: energy = energy at the start + work + residual.

    Attributes:
        time [T]: s.
        table [T, n]: the accounts, in the order of `names` (J).
        names: `ACCOUNTS`.
        total [T]: energy that is held (J).
        work [T]: what came in since the start, less what went out (J).
        residual [T]: what no work explains: energy that the error of the integrator has made, negative: lost (J).
        scale: the energy in play, J (see `saltus.record.certificate.energy_in_play`).

    `report["contact"]` [T] is one account. `print(report)` shows the balance at the end, `plot` all over time.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        """Raises OptionError where no ledger was kept, or without samples."""
        if not trajectory.ledger.shape[1] or not len(trajectory):
            raise OptionError("no ledger was kept of this run; keep one: sim.run(duration, ledger=True)")
        self.names = list(ACCOUNTS)
        self.time: NDArray[np.float64] = trajectory.time
        self.table: NDArray[np.float64] = trajectory.ledger
        if trajectory.end is not None:
            self.time = np.append(self.time, trajectory.end["time"])
            self.table = np.vstack([self.table, trajectory.end["ledger"]])
        missing = len(ACCOUNTS) - self.table.shape[1]
        self.table = np.pad(self.table, ((0, 0), (0, missing)))  # accounts that a recording is older than
        self.rule = str(trajectory.attrs.get(ATTRIBUTE, ""))
        held = self.table[:, : len(ENERGIES)]
        self.total: NDArray[np.float64] = held.sum(axis=1)
        self.work: NDArray[np.float64] = self.table[:, len(ENERGIES) :].sum(axis=1)
        self.residual: NDArray[np.float64] = self.total - self.total[0] - (self.work - self.work[0])
        self.scale = energy_in_play(np.column_stack([held[:, 1:].sum(axis=1), held[:, 0]]))
        self._title = ", ".join(str(trajectory.attrs[k]) for k in ("model_name", "integrator") if k in trajectory.attrs)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in ACCOUNTS:
            raise OptionError.unknown("account", name, ACCOUNTS)
        return self.table[:, ACCOUNTS.index(name)]

    def used(self, names: tuple[str, ...]) -> list[str]:
        """Those of the accounts that are not zero all the time, but for rounding."""
        least = ROUNDING * float(np.max(np.abs(self.table)))
        return [name for name in names if np.any(np.abs(self[name]) > least)]

    def __str__(self) -> str:
        held = self.used(ENERGIES)
        flows = self.used(ACCOUNTS[len(ENERGIES) :])
        rows = [("energy (J)", "start", "end", "change")]
        rows += [(name, *self._ends(self[name])) for name in held] + [("in all", *self._ends(self.total))]
        rows += [("", "", "", ""), ("work since the start (J)", "", "", "")]
        rows += [(name, "", "", self._short(self[name][-1])) for name in flows]
        rows += [("in all", "", "", self._short(self.work[-1])), ("", "", "", "")]
        worst = float(np.max(np.abs(self.residual)))
        rows += [("residual (J)", "", "", f"{self.residual[-1]:.5g}")]
        rows += [("its largest at a sample", "", "", f"{worst:.5g}")]
        lines = [f"{name:26}{a:>12}{b:>12}{c:>12}".rstrip() for name, a, b, c in rows]
        if self.scale > 0:
            lines[-1] += f"  {100 * worst / self.scale:.2g} % of the energy in play"
        lines += ["", "The residual is the error of the integrator: energy that it has made, or lost where negative."]
        lines += [f"Work is {self.rule}."] if self.rule else []
        return "\n".join(lines)

    def _ends(self, values: NDArray[np.float64]) -> tuple[str, str, str]:
        return self._short(values[0]), self._short(values[-1]), self._short(values[-1] - values[0])

    def _short(self, value: float) -> str:
        """Five digits; 0 where it is rounding."""
        return f"{value if abs(value) > ROUNDING * np.max(np.abs(self.table)) else 0.0:.5g}"

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw energies and work over time; written to `path` too (.png, .svg, .pdf) where given.

        Raises:
            OptionError: another suffix.
            RecordError: the file cannot be written.
        """
        from matplotlib.figure import Figure

        from saltus.record.plot import GREY, curves, figure_format, legend, rendered

        file_format = None if path is None else figure_format(path)
        figure = Figure(figsize=(9.0, 6.0), dpi=150, layout="constrained")
        panels = figure.subplots(2, 1, sharex=True)
        sums = (("in all", self.total), ("residual", self.residual))
        kinds = (("energy (J)", ENERGIES), ("work since the start (J)", ACCOUNTS[len(ENERGIES) :]))
        for axes, (title, names), (label, total) in zip(panels, kinds, sums, strict=True):
            used = self.used(names)
            columns = np.column_stack([self[name] for name in used] or [np.zeros((len(self.time), 0))])
            handles, labels = curves(axes, self.time, columns, used)
            handles += axes.plot(self.time, total, color="black", linewidth=1.4)
            legend(axes, handles, [*labels, label])
            axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
            axes.set_ylabel(title)
            axes.grid(True, color="0.9", linewidth=0.8)
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.0)
        panels[-1].set_xlabel("time (s)")
        figure.suptitle(literal(self._title) or "energy", fontsize=12)
        vars(figure)["_repr_png_"] = partial(rendered, figure, "png")
        if path is not None:
            write_whole(path, rendered(figure, file_format), what="figure")
        return figure
