"""Random configurations from which a search begins anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.inverse.kinematics.problem import Problem
from saltus.model.enums import BALL, FREE, HINGE

SPREAD = 1.0  # m: half the interval of slides without a range


def random_starts(problem: Problem, count: int, seed: int) -> NDArray[np.float64]:
    """Starts [count, nq] within the ranges; NaN where coordinates keep the first start: free and fixed joints.

    Hinges are uniform in their range, or in a turn about qpos0; balls are random rotations within their largest angle.
    """
    key = count, seed
    if key not in problem.starts:
        problem.starts = {key: _drawn(problem, count, seed)}
    return problem.starts[key]


def _drawn(problem: Problem, count: int, seed: int) -> NDArray[np.float64]:
    model, random = problem.model, np.random.default_rng(seed)
    out = np.full((count, model.nq), np.nan)
    for j in range(model.njnt):
        a, i, kind = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j]), int(model.jnt_type[j])
        if not problem.moving[i] or kind == FREE:
            continue
        limited = problem.ranges and bool(model.jnt_limited[j])
        low, high = model.jnt_range[j]
        if kind == BALL:
            out[:, a : a + 4] = _rotations(random, count, float(high) if limited else np.pi)
            continue
        if not limited:
            half = np.pi if kind == HINGE else SPREAD
            low, high = model.qpos0[a] - half, model.qpos0[a] + half
        out[:, a] = random.uniform(low, high, count)
    return out


def _rotations(random: np.random.Generator, count: int, largest: float) -> NDArray[np.float64]:
    """Quaternions [count, 4] of random axes and angles up to the largest one (rad)."""
    axes = random.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    half = 0.5 * random.uniform(0.0, largest, (count, 1))
    return np.hstack([np.cos(half), np.sin(half) * axes])
