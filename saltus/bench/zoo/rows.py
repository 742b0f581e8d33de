"""Results for each file of a zoo, and their totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from saltus.bench.harness.fresh import Outcome

COLUMNS = ("single", "float64", "float32")
TITLES = {"single": "single", "float64": "batch float64", "float32": "batch float32"}
MEASURED, LATE, FAILED, REFUSED, NOT_LOADED = "measured", "late", "failed", "refused", "not loaded"
STILL, PART, NO_MODEL = "still", "part", "no model"
#: Outcomes of a file, in words; those of the first line have comparisons, or may have.
OUTCOMES = {
    MEASURED: "measured",
    LATE: "stopped at the time limit",
    FAILED: "failed",
    REFUSED: "refused by Saltus",
    NOT_LOADED: "not loaded by MuJoCo",
    STILL: "nothing that moves",
    NO_MODEL: "no MJCF model",
    PART: "part of other files",
}


@dataclass
class ZooRow:
    """Row of a file: `outcome`, a key of OUTCOMES, and the `reason` if it was not measured, or not to the end.

    `facts`: the process's messages on the model, as `saltus.bench.zoo.model_run` names it; a comparison under the name
    of each column: seconds of a step of MuJoCo (`peer`) and of Saltus, their `ratio`, seconds of `compiling`.
    """

    name: str
    path: str
    outcome: str
    reason: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def ratio(self, column: str) -> float | None:
        """Speed of Saltus relative to MuJoCo in a column; None if it was not measured."""
        found = self.facts.get(column)
        return None if found is None else float(found["ratio"])

    def least(self) -> float | None:
        """Least of the ratios."""
        ratios = [ratio for column in COLUMNS if (ratio := self.ratio(column)) is not None]
        return min(ratios, default=None)


def row_of(name: str, path: str, outcome: Outcome, limit: float) -> ZooRow:
    """The row of a model whose process has ended."""
    facts = dict(outcome.facts)
    said, reason = facts.pop("outcome", None), facts.pop("reason", "")
    if outcome.late:
        ready = [TITLES[column] for column in COLUMNS if column in facts]
        so_far = f"; measured until then: {', '.join(ready)}" if ready else ""
        return ZooRow(name, path, LATE, f"took longer than {limit:g} s{so_far}", facts)
    if outcome.error or said is None:
        return ZooRow(name, path, FAILED, outcome.error or "its process ended without a result", facts)
    return ZooRow(name, path, said, reason, facts)


@dataclass(frozen=True)
class Total:
    """Totals of a column: number of models, the median and least ratio, and the number of models below 1."""

    models: int
    median: float
    least: float
    below_one: int


def totals(rows: Sequence[ZooRow]) -> dict[str, Total]:
    """Totals of each column that has a ratio."""
    found = {}
    for column in COLUMNS:
        ratios = [ratio for row in rows if (ratio := row.ratio(column)) is not None]
        if ratios:
            found[column] = Total(len(ratios), median(ratios), min(ratios), sum(r < 1.0 for r in ratios))
    return found


def slowest(rows: Sequence[ZooRow], most: int = 10) -> list[ZooRow]:
    """Models with the least ratios, in whichever column."""
    measured = [row for row in rows if row.least() is not None]
    return sorted(measured, key=lambda row: row.least() or 0.0)[:most]


def as_json(rows: Sequence[ZooRow], about: Mapping[str, Any], effort: Mapping[str, Any]) -> dict[str, Any]:
    """All results, as the JSON file holds them."""
    counts = {outcome: sum(row.outcome == outcome for row in rows) for outcome in OUTCOMES}
    return {
        "machine": dict(about),
        "effort": dict(effort),
        "outcomes": {outcome: number for outcome, number in counts.items() if number},
        "totals": {column: asdict(total) for column, total in totals(rows).items()},
        "slowest": [row.name for row in slowest(rows)],
        "rows": [asdict(row) for row in rows],
    }
