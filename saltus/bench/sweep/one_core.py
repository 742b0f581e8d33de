"""Runs on one core: in the lanes of a batch and by themselves, in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from saltus.bench.sweep.runs import DURATION, MEASURES, MODEL, RANGES, SAMPLE, STEP, points
from saltus.errors import SaltusError

REPEATS = 5
ALIKE = 1e-12  # rounding of the same operations compiled for lanes, relative to the largest value


@dataclass(frozen=True)
class Runs:
    """Seconds per run on one core, by itself and side by side with others; the ratio of the two.

    `difference`: of the measures, relative to the largest; `work`: steps, samples, paths of values, measures of a run.
    """

    alone: float
    together: float
    ratio: float
    difference: float
    work: dict[str, int]


def measure_runs(one_by_one: int, side_by_side: int) -> Runs:
    """Time runs by themselves and in a batch, in turn. SaltusError: the two give different measures."""
    import numpy as np

    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.simulate.setup import Sampling, Setup
    from saltus.study.jobs import Task, run_one
    from saltus.study.measures.measure import parse
    from saltus.study.settings import Start
    from saltus.study.side_by_side import run_side_by_side

    start, sampling = Start(Setup(MODEL, timestep=STEP)), Sampling(DURATION, SAMPLE)
    task = Task(start, sampling, tuple(map(parse, MEASURES)), together=True)
    many = points(side_by_side)
    few = many[:one_by_one]

    def alone() -> list[Any]:
        return [run_one(task, values) for values in few]

    def together() -> list[Any]:
        return run_side_by_side(task, many)

    one, other = (
        np.array([[(row.measures or {})[name] for name in MEASURES] for row in rows])
        for rows in (alone(), together()[:one_by_one])
    )
    difference = float((abs(one - other) / abs(one).max(axis=0)).max())
    if not difference < ALIKE:
        raise SaltusError(f"side by side and one by one differ by {difference:.1e}, not timed")
    contenders = [
        Contender("alone", lambda: None, alone, len(few)),
        Contender("together", lambda: None, together, len(many)),
    ]
    found = in_turn(contenders, repeats=REPEATS, least=0.0)
    work = {"steps": round(DURATION / STEP), "samples": round(DURATION / SAMPLE) + 1}
    work |= {"paths": len(RANGES), "measures": len(MEASURES)}
    ratio = found["together"].ratio_to(found["alone"])
    return Runs(found["alone"].median, found["together"].median, ratio, difference, work)
