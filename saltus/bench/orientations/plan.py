"""Plan and results of the benchmark of orientations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Plan:
    """Amount of measurement.

    1 to `links` links, `naive_links` in the naive way, and in the engine also those of `engine_links` that are more.
    `limit`: seconds for one measurement; a case that exceeds it is not tried with more links. `processes`: how many
    times everything but the naive way and a cold start is measured, of which the least counts. `cold`: also how long
    the engine takes where nothing is compiled.
    """

    links: int
    steps: int
    option: str
    naive_links: int
    engine_links: tuple[int, ...]
    limit: float
    seed: int
    processes: int
    cold: bool


@dataclass(frozen=True)
class Row:
    """One way of taking the steps.

    `method`: "naive", "equations" or "engine"; `way`: "SymPy", "Python", "Numba" or "kernels". `modelling`: seconds
    of each thing to do before the first step; `simulation`: seconds for all steps. `operations`: of M and bias, after
    common subexpressions, where they are known. `difference`: largest of the last angles from the engine's (rad).
    `right`: it moved as the engine did. `processes`: their number; times are the least of theirs. `stabilised`: see
    `saltus.bench.orientations.case.Way`.
    """

    method: str
    orientation: str
    links: int
    way: str
    modelling: dict[str, float]
    simulation: float
    operations: dict[str, int] | None
    angles: list[float]
    rates: list[float]
    difference: float
    right: bool
    processes: int
    stabilised: dict[str, Any] | None = None

    @property
    def modelling_time(self) -> float:
        """Seconds before the first step."""
        return sum(self.modelling.values())

    @property
    def total(self) -> float:
        """Seconds in total."""
        return self.modelling_time + self.simulation


@dataclass
class Found:
    """Results: `rows`, and `notes` on cases that were not measured. `cold`: seconds until the engine has compiled."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    cold: dict[str, float] | None = None
