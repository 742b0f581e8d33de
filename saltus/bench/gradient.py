"""`saltus bench gradient`: derivatives of a step against MuJoCo's, MJX's and Pinocchio's, in one process, in turn.

Under constraints, `linearize` and `Batch.linearize` beside `mjd_transitionFD` from the same settled states. Without
them, `linearize` beside Pinocchio's `computeABADerivatives`, which gives the derivatives of the accelerations alone.
Of models in files, `linearize` also beside `jax.jacfwd` of a step in MJX.
The gradient of a run in reverse mode, by all parameters that need no directions, beside the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from saltus.bench import mjx_step
from saltus.bench.contact import STICKS
from saltus.bench.harness import found_models
from saltus.bench.harness.report import QUICK, Benchmark, Case, Effort, Row, compared
from saltus.bench.run_gradient import ReverseGradient, reverse_gradient

FOOTNOTES = (
    "CPU times of A and B of a step; MuJoCo's by forward differences (mjd_transitionFD), also beside batches",
    "difference: the largest of an entry of A or B from MuJoCo's differences with a step of 1e-6",
)
STEPS, QUICK_STEPS = 1000, 50  # of runs whose gradients are taken
MISSING = "Pinocchio: not measured, it is not installed; pip install pin"


@dataclass(frozen=True)
class Details:
    """Derivatives beside Pinocchio's, of a model without constraints, and MJX's; the gradient of a run.

    None stands for what is missing.
    """

    without_constraints: AbaDerivatives | None
    of_run: ReverseGradient
    mjx: mjx_step.MjxDerivative | None = None


@dataclass(frozen=True)
class AbaDerivatives:
    """Derivatives of motion without constraints: `pinocchio`, `saltus` in s, `ratio` the speed relative to it."""

    model: str
    version: str
    pinocchio: float
    saltus: float
    ratio: float


def bench_gradient(*, quick: bool, threads: int | None, json_path: Path | None, extra: list[str]) -> None:
    """Run the benchmark: measure, print tables, write them as JSON."""
    title = "derivatives of a step with contacts, limits and dry friction, semi-implicit Euler"
    benchmark = Benchmark(title, partial(_cases, extra=extra), _measure, FOOTNOTES, _tell)
    benchmark.run(quick=quick, threads=threads, json_path=json_path)


def _cases(quick: bool, extra: list[str]) -> tuple[list[Case], list[str]]:
    """Cases to measure, and notes on them."""
    cases, notes = [Case("sticks", STICKS, 1, settle=0.4)], [] if find_spec("pinocchio") else [MISSING]
    notes += [] if mjx_step.is_installed() else [mjx_step.MISSING]
    if not quick:
        path, note = found_models.find("humanoid", found_models.HUMANOIDS)
        notes.append(note)
        cases += [Case("humanoid", str(path), 1)] if path else []
    return cases + [Case(Path(m).stem, m, 1) for m in extra], notes


def _measure(case: Case, effort: Effort, threads: int, show: Callable[[float], None]) -> tuple[list[Row], Details]:
    from saltus.bench.harness import peers
    from saltus.bench.harness.timing import in_turn

    n = effort.simulations * threads
    setup = peers.Constrained(case.model, n, spread=case.spread, settle=case.settle)
    nv = setup.model.nv
    timed = {"repeats": effort.repeats, "least": effort.seconds, "clock": time.process_time}
    (mujoco, saltus), apart = peers.derivatives(setup)
    show(0.2)
    found = in_turn([mujoco, saltus], **timed)
    rows = [compared(case, nv, "linearize", found, "saltus", apart)]
    show(0.5)
    for precision in peers.PRECISIONS:
        found = in_turn([mujoco, peers.batch_derivatives(setup, n, threads, precision)], **timed)
        rows.append(compared(case, nv, f"batch {precision}", found, f"saltus {precision}"))
    show(0.8)
    in_file = Path(str(case.model)).is_file()
    of_run = reverse_gradient(setup, STEPS if effort.repeats > QUICK.repeats else QUICK_STEPS, timed)
    aba = _aba_derivatives(case, timed) if in_file and find_spec("pinocchio") else None
    mjx = mjx_step.mjx_derivative(case.name, setup, timed) if in_file and mjx_step.is_installed() else None
    return rows, Details(aba, of_run, mjx)


def _aba_derivatives(case: Case, timed: Any) -> AbaDerivatives:
    """`linearize` without constraints beside Pinocchio's derivatives of the same tree, at some state."""
    import numpy as np
    import pinocchio  # pyright: ignore[reportMissingImports]

    from saltus.bench.harness import peers
    from saltus.bench.harness.timing import Contender, in_turn
    from saltus.errors import SaltusError

    setup = peers.Free(case.model)
    _, saltus = peers.derivatives(setup)[0]
    model = pinocchio.buildModelFromMJCF(str(case.model))
    if model.nv != setup.model.nv:
        raise SaltusError(f"{case.name}: Pinocchio has {model.nv} degrees of freedom, Saltus {setup.model.nv}")
    data, rng = model.createData(), np.random.default_rng(peers.SEED)
    v, tau = rng.normal(size=(2, model.nv))
    q = pinocchio.integrate(model, pinocchio.neutral(model), 0.3 * rng.normal(size=model.nv))
    work = partial(pinocchio.computeABADerivatives, model, data, q, v, tau)
    peer = Contender("pinocchio", lambda: None, work, 1)
    found = in_turn([peer, saltus], **timed)
    peer, own = found["pinocchio"], found["saltus"]
    return AbaDerivatives(case.name, pinocchio.__version__, peer.median, own.median, own.ratio_to(peer))


def _tell(details: list[Details]) -> None:
    """Print the costs of gradients of runs, and the comparisons with MJX and Pinocchio."""
    for r in (detail.of_run for detail in details):
        print(
            f"{r.model}: reverse gradient of {r.steps} steps by start, controls and all {r.parameters} parameters "
            f"without directions, cost in runs {r.cost:.1f}, memory {r.memory:.0f} MB"
        )
    for line in (line for detail in details if detail.mjx for line in mjx_step.told(detail.mjx)):
        print(line)
    for d in (detail.without_constraints for detail in details):
        if d is None:
            continue
        print(
            f"{d.model} without constraints: computeABADerivatives of Pinocchio {d.version} {d.pinocchio * 1e6:.3g} µs,"
        )
        print(f"  linearize {d.saltus * 1e6:.3g} µs, {d.ratio:.2f} x")
