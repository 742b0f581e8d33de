"""`saltus bench identify-arm`: an arm of seven joints identified from noisy motion, beside the values that made it.

The whole arm: 43 base parameters, friction, damping and delay of each motor, from one long recording. Repeats: the ten
numbers of the last link's mass distribution and all motors, from short recordings of one motion whose noise differs;
intervals of 95 % should hold the true value in 95 % of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from saltus.algorithms import inertial_parameters
from saltus.bench.identify_arm.driven_arm import STEP, driven_arm, noisy, recorded
from saltus.inverse.dynamics.base_parameters import BaseParameters, base_parameters
from saltus.inverse.identification.identification import Identification
from saltus.inverse.identification.identify import identify
from saltus.model.load import load
from saltus.model.model import Model

Array = NDArray[np.float64]
JOINTS = range(7)
INTERVAL = 1.959964  # standard deviations on each side, of 95 % of a normal distribution
SHORT = 5.0  # s, the recordings of repeats
MOTORS = [f"{name}[joint{k}]" for name in ("dof_damping", "dof_frictionloss") for k in JOINTS]
DELAYS = [f"actuator_delay[motor{k}]" for k in JOINTS]
LOAD = [f"body_pseudo_inertia[link6][{i}]" for i in range(10)]


@dataclass(frozen=True)
class WholeArm:
    """A fit of the whole arm. Deviations are those of values from the true ones, over standard deviations: the largest.

    parameters: number of them. unidentified: number of combinations that the data did not tell.
    """

    duration: float
    parameters: int
    rollouts: float
    seconds: float
    converged: bool
    unidentified: int
    base_parameters: float
    friction: float
    delays: float


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the true value: of all, and of the parameters with least and most."""

    repeats: int
    converged: int
    all: float
    least: float
    least_name: str
    most: float
    seconds: float


def bench_identify_arm(*, duration: float, repeats: int, json_path: Path | None) -> None:
    """Run the benchmark: measure, print, write as JSON."""
    from saltus.arguments import positive, whole_number
    from saltus.bench.harness import machine
    from saltus.bench.harness.report import print_table
    from saltus.record.files.atomic_write import check_writable, write_whole

    length, count = positive("duration", duration), whole_number("repeats", repeats)
    if json_path is not None:
        check_writable(json_path, what="benchmark")
    model, about = load(driven_arm()), machine.description(1)
    arm = whole_arm(model, length)
    print(f"{arm.parameters} parameters of an arm of seven joints, from {length:g} s of noisy motion")
    rows = [
        (what, f"{x:.2f}")
        for what, x in (("base", arm.base_parameters), ("friction and damping", arm.friction), ("delays", arm.delays))
    ]
    print_table(("", "largest deviation, in standard deviations"), rows, left=("",))
    end = "" if arm.converged else ", not converged"
    print(f"{arm.rollouts:.0f} rollouts, {arm.seconds:.0f} s of CPU time, {arm.unidentified} not told apart{end}")
    coverage = covered(model, count) if count else None
    if coverage is not None:
        print(
            f"95 % intervals in {coverage.repeats} repeats of {SHORT:g} s, {len(LOAD) + len(MOTORS) + len(DELAYS)} "
            f"parameters: {coverage.all:.1%} hold the value; {coverage.least:.1%} ({coverage.least_name}) to "
            f"{coverage.most:.1%} by parameter; {coverage.seconds:.0f} s of CPU time"
        )
    print(about["cpu"])
    if json_path is not None:
        content = {"machine": about, "arm": asdict(arm), "coverage": None if coverage is None else asdict(coverage)}
        write_whole(json_path, (json.dumps(content, indent=2) + "\n").encode(), what="benchmark")
        print(f"wrote {json_path}")


def whole_arm(model: Model, duration: float) -> WholeArm:
    """Base parameters, friction, damping and delays from one recording."""
    base = base_parameters(model)
    inertial = telling_numbers(model, base)
    began = time.process_time()
    fit = fitted(model, recorded(model, duration), inertial, holdout=0.2)
    seconds = time.process_time() - began
    return WholeArm(
        duration,
        len(fit.names),
        fit.rollouts,
        seconds,
        fit.converged,
        len(fit.unidentified),
        float(abs(base_deviations(fit, base, inertial)).max()),
        largest(fit, model, MOTORS),
        largest(fit, model, DELAYS),
    )


def covered(model: Model, repeats: int, duration: float = SHORT) -> Coverage:
    """Count the intervals that hold the true values, of the last link and of all motors."""
    began, clean = time.process_time(), recorded(model, duration, noise=0.0)
    held, converged = list[list[bool]](), 0
    for seed in range(repeats):
        fit = fitted(model, noisy(clean, seed), LOAD, holdout=0.0)
        converged += fit.converged
        held.append([abs(x - float(model.value(n))) <= INTERVAL * fit.std[n] for n, x in fit.values.items()])
    shares = np.mean(held, axis=0)
    worst = [*LOAD, *MOTORS, *DELAYS][int(shares.argmin())]
    seconds = time.process_time() - began
    least, most = float(shares.min()), float(shares.max())
    return Coverage(repeats, converged, float(shares.mean()), least, worst, most, seconds)


def fitted(model: Model, log: dict[str, Array], inertial: Sequence[str], holdout: float) -> Identification:
    """A fit of numbers of mass distributions and of all motors, from wrong values."""
    random, first = np.random.default_rng(9), dict[str, float]()
    bounds: dict[str, tuple[float, float]] = {}
    for name in inertial:
        value, span = float(model.value(name)), 0.15 if name[-2] in "789" else 1.5  # m, or of logarithms
        first[name] = value + span / 15 * random.uniform(-1, 1)
        bounds[name] = value - span, value + span
    first |= {name: 0.6 * float(model.value(name)) for name in MOTORS} | {name: 2 * STEP for name in DELAYS}
    bounds |= {name: (0.01, 6.0) for name in MOTORS} | {name: (STEP, 4 * STEP) for name in DELAYS}
    return identify(model.changed(first), log, bounds, holdout=holdout)


def slopes(model: Model, names: Sequence[str]) -> Array:
    """Derivatives [parameters, names] of all inertial parameters, by central differences."""
    columns = []
    for name in names:
        value, h = float(model.value(name)), 1e-5
        ends = [inertial_parameters(model.changed({name: value + s * h})).values for s in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.array(columns).T


def telling_numbers(model: Model, base: BaseParameters) -> list[str]:
    """As many numbers of mass distributions as there are base parameters, by which these change independently."""
    names = [f"body_pseudo_inertia[link{k}][{i}]" for k in JOINTS for i in range(10)]
    sizes = abs(base.matrix) @ np.maximum(abs(inertial_parameters(model).values), 0.01)
    factors: tuple[Any, ...] = qr(base.matrix @ slopes(model, names) / sizes[:, None], pivoting=True)
    order = factors[-1]
    return [names[i] for i in sorted(order[: len(base.values)])]


def base_deviations(fit: Identification, base: BaseParameters, inertial: Sequence[str]) -> Array:
    """Differences of base parameters from the true ones, over their standard deviations.

    These have the covariance G C Gᵀ, with G their derivatives by the numbers that were fitted, the first ones, and C
    the covariance of these.
    """
    G, count = base.matrix @ slopes(fit.model, inertial), len(inertial)
    deviations = np.sqrt(np.diag(G @ fit.covariance[:count, :count] @ G.T))
    return (base.matrix @ inertial_parameters(fit.model).values - base.values) / deviations


def largest(fit: Identification, model: Model, names: Sequence[str]) -> float:
    """The largest difference of some values from the true ones, over their standard deviations."""
    return max(abs(fit.values[n] - float(model.value(n))) / fit.std[n] for n in names)
