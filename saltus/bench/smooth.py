"""`saltus bench smooth`: motion without constraints against MuJoCo 4.0, both in this process, in turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from saltus.bench.harness import found_models
from saltus.bench.harness.report import Benchmark, Case, Effort, Row, compared


def bench_smooth(*, quick: bool, threads: int | None, json_path: Path | None, extra: list[str]) -> None:
    """Run the benchmark: measure, print a table, write it as JSON."""
    benchmark = Benchmark(
        "motion without constraints, semi-implicit Euler",
        partial(_cases, extra=extra),
        _measure,
        (
            "linearize: time of A and B",
            "difference: of positions and velocities after 10 steps; linearize: of A and B, from finite differences",
        ),
    )
    benchmark.run(quick=quick, threads=threads, json_path=json_path)


def _cases(quick: bool, extra: list[str]) -> tuple[list[Case], list[str]]:
    """Cases to measure, and notes on them."""
    from saltus.model.load import n_link

    cases = [Case("pendulum", "pendulum", 10_000)]
    notes = []
    if quick:
        cases.append(Case("3 links", n_link(3), 1000, linearize=True))
    else:
        cases.append(Case("10 links", n_link(10), 1000))
        path, note = found_models.find("humanoid", found_models.HUMANOIDS)
        notes.append(note)
        cases += [Case("humanoid", str(path), 1000, linearize=True)] if path else []
        cases.append(Case("100 links", n_link(100), 200, spread=0.02))
    return cases + [Case(Path(m).stem, m, 500, linearize=True) for m in extra], notes


def _measure(case: Case, effort: Effort, threads: int, show: Callable[[float], None]) -> tuple[list[Row], None]:
    from saltus.bench.harness import peers
    from saltus.bench.harness.timing import in_turn

    setup = peers.Free(case.model, spread=case.spread)
    nv = setup.model.nv
    timed = {"repeats": effort.repeats, "least": effort.seconds}
    difference = setup.difference()
    rows = [compared(case, nv, "step", in_turn(peers.single(setup, case.steps), **timed), "saltus", difference)]
    show(0.3)
    steps = min(effort.batch_steps, case.steps)
    found = in_turn(peers.batches(setup, effort.simulations * threads, steps, threads), **timed)
    rows += [compared(case, nv, f"batch {p}", found, f"saltus {p}") for p in peers.PRECISIONS]
    show(0.8)
    if case.linearize:
        contenders, apart = peers.derivatives(setup)
        rows.append(compared(case, nv, "linearize", in_turn(contenders, **timed), "saltus", apart))
    return rows, None
