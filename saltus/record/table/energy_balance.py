"""The energy balance of a run: energies, work, and the residual, which is the integrator's error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.record.table.certificate import energy_in_play
from saltus.record.table.ledger import ACCOUNTS, ATTRIBUTE, ENERGIES
from saltus.record.table.trajectory_table import TrajectoryTable
from saltus.terminal.display import notebook_html

ROUNDING = 1e-13  # share of the largest account that counts as rounding


class EnergyBalance:
    """Energy balance of a run that kept a ledger: energy = energy at the start + work + residual.

    Attributes:
        time [T]: s.
        table [T, n]: the accounts, in the order of `names` (J).
        names: `ACCOUNTS`.
        total [T]: stored energy (J).
        work [T]: energy added since the start, less energy removed (J).
        residual [T]: energy that no work explains, made by the integrator's error; negative: lost (J).
        scale: the energy in play, J (see `saltus.record.table.certificate.energy_in_play`).

    `balance["contact"]` [T] is one account; `print(balance)` shows the balance at the end.
    """

    def __init__(self, trajectory: TrajectoryTable) -> None:
        """Raises OptionError for a recording without a ledger, or without samples."""
        if not trajectory.ledger.shape[1] or not len(trajectory):
            raise OptionError("this run has no ledger; use sim.run(duration, ledger=True)")
        self.names = list(ACCOUNTS)
        self.time: NDArray[np.float64] = trajectory.time
        self.table: NDArray[np.float64] = trajectory.ledger
        if trajectory.end is not None:
            self.time = np.append(self.time, trajectory.end["time"])
            self.table = np.vstack([self.table, trajectory.end["ledger"]])
        missing = len(ACCOUNTS) - self.table.shape[1]
        self.table = np.pad(self.table, ((0, 0), (0, missing)))  # accounts newer than the recording
        self.rule = str(trajectory.attrs.get(ATTRIBUTE, ""))
        held = self.table[:, : len(ENERGIES)]
        self.total: NDArray[np.float64] = held.sum(axis=1)
        self.work: NDArray[np.float64] = self.table[:, len(ENERGIES) :].sum(axis=1)
        self.residual: NDArray[np.float64] = self.total - self.total[0] - (self.work - self.work[0])
        self.scale = energy_in_play(np.column_stack([held[:, 1:].sum(axis=1), held[:, 0]]))
        self.title = ", ".join(str(trajectory.attrs[k]) for k in ("model_name", "integrator") if k in trajectory.attrs)

    _repr_html_ = notebook_html

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in ACCOUNTS:
            raise OptionError.unknown("account", name, ACCOUNTS)
        return self.table[:, ACCOUNTS.index(name)]

    def used(self, names: tuple[str, ...]) -> list[str]:
        """Accounts that differ from zero, beyond rounding, at some time."""
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
        """A number with five digits; 0 where it is rounding."""
        return f"{value if abs(value) > ROUNDING * np.max(np.abs(self.table)) else 0.0:.5g}"
