"""Comparison of integrators: error, energy error and cost of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from saltus.record.table.trajectory_table import TrajectoryTable
from saltus.terminal.display import notebook_html

HEADERS = ("integrator", "order", "kind", "error", "energy error", "cost", "steps/s")
MEANING = (
    "error: the largest of a position (rad, m); energy error: the largest change of the energy without a cause, of the "
    "energy in play; cost: computing time per simulated second"
)


@dataclass(frozen=True)
class Reference:
    """Reference of the errors, and how far it can itself be trusted.

    Attributes:
        trajectory: the converged run, or None where there is none.
        error [T]: its own error, estimated by the difference to a run with other tolerances (rad, m); nan if unknown.
        horizon: s into the run, up to where it is trusted and errors are counted.
        text: the reference and its accuracy in words.
    """

    trajectory: TrajectoryTable | None
    error: NDArray[np.float64]
    horizon: float
    text: str


@dataclass(frozen=True)
class ComparisonRow:
    """One integrator under one contact law.

    Attributes:
        name: of the integrator.
        contact: of the contact law.
        order: the integrator's order.
        kind: "explicit", "semi-implicit", "implicit", "symplectic" or "adaptive".
        error: largest error of a position up to the reference's horizon (rad, m); inf if diverged, nan if unknown.
        energy_drift: largest change of the energy, less the work of what changes it on purpose, relative to the energy
            in play; inf if diverged, nan if unknown.
        cost: seconds of compute per simulated second, the median of several timed repeats; nan if it did not run.
        steps_per_second: steps per second of compute; nan if it did not run.
        note: reason why it did not finish, or its warnings.
    """

    name: str
    contact: str
    order: int
    kind: str
    error: float = math.nan
    energy_drift: float = math.nan
    cost: float = math.nan
    steps_per_second: float = math.nan
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonTable:
    """One model under several integrators from the same start; made by `saltus.compare`.

    Attributes:
        model_name, contacts, timestep (s), duration (s), sample (s): settings of the runs.
        rows: one per integrator (and contact law), the most accurate first, unfinished ones last.
        trajectories: the runs by label: the integrator's name, followed by the contact law where there are several.
        errors: [T] the position error at each sample (rad, m), by label.
        precision: [k, 3] timestep (s) or relative tolerance, error (rad, m) and cost (s/s) with finer steps, by label.
        references: references of the errors, by contact law.
        differences: [T] how far the positions of the references under two contact laws are apart (rad, m), by
            "soft and hard".
    """

    model_name: str
    contacts: tuple[str, ...]
    timestep: float
    duration: float
    sample: float
    rows: list[ComparisonRow] = field(default_factory=list)
    trajectories: dict[str, TrajectoryTable] = field(default_factory=dict)
    errors: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    precision: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    differences: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def best(self) -> ComparisonRow | None:
        """The most accurate row; None where nothing ran or no error is known."""
        return self.rows[0] if self.rows and math.isfinite(self.rows[0].error) else None

    @property
    def title(self) -> str:
        """The compared model, timestep and duration, in one line."""
        return f"{self.model_name}, timestep {self.timestep:.4g} s, {self.duration:g} s"

    def label(self, name: str, contact: str) -> str:
        """The key of an integrator under a contact law in `trajectories`, `errors` and `precision`."""
        return name if len(self.contacts) < 2 else f"{name}, {contact}"

    def labels(self) -> list[str]:
        """The labels of all rows, in their order."""
        return [self.label(row.name, row.contact) for row in self.rows]

    def __getitem__(self, label: str) -> ComparisonRow:
        for row in self.rows:
            if self.label(row.name, row.contact) == label:
                return row
        raise KeyError(f"{label!r} was not compared; there are: {', '.join(self.labels())}")

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self) -> list[list[str]]:
        """The table's rows as text, in the order of `HEADERS`."""
        return [
            [
                self.label(row.name, row.contact),
                str(row.order),
                row.kind,
                _number(row.error),
                _number(row.energy_drift),
                _prefixed(row.cost, "s"),
                _prefixed(row.steps_per_second),
            ]
            for row in self.rows
        ]

    def footer(self) -> list[str]:
        """Lines below the table: meaning of its columns, the rows' notes, and the references of the errors."""
        notes = [f"{label}: {row.note}" for label, row in zip(self.labels(), self.rows, strict=True) if row.note]
        several = len(self.references) > 1
        references = [f"{law}: {r.text}" if several else r.text for law, r in self.references.items()]
        return [MEANING, *notes, *references, *(self._apart(pair) for pair in self.differences)]

    def _apart(self, pair: str) -> str:
        """Difference between two contact laws, in words."""
        difference = self.differences[pair]
        last, largest = float(difference[-1]), float(difference.max())
        return f"{pair}: positions differ by up to {largest:.3g} (rad, m), by {last:.3g} at the end"

    def table(self) -> str:
        """The ranking as text."""
        return "\n".join([self.title, *_aligned([list(HEADERS), *self.cells()]), *self.footer()])

    def __repr__(self) -> str:
        return self.table()

    _repr_html_ = notebook_html


def rank(row: ComparisonRow) -> tuple[bool, bool, float, float, float]:
    """Sort key: error, then energy drift, then cost; diverged runs after these, runs that did not start last."""

    def place(value: float) -> float:
        return math.inf if math.isnan(value) else value

    refused = math.isnan(row.energy_drift)
    return math.isinf(row.error) or refused, refused, place(row.error), place(row.energy_drift), place(row.cost)


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "diverged" if math.isinf(value) else f"{value:.3g}"


def _prefixed(value: float, unit: str = "") -> str:
    """A number with an SI prefix: 2.8e-5 s is 28.0 µs."""
    if not (math.isfinite(value) and value > 0):
        return "-"
    power = min(max(math.floor(math.log10(value) / 3), -4), 3)
    return f"{value / 1000.0**power:.3g} {('p', 'n', 'µ', 'm', '', 'k', 'M', 'G')[power + 4]}{unit}".rstrip()


def _aligned(table: list[list[str]]) -> list[str]:
    """Columns of text, left aligned, two blanks between."""
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
