"""Stability of a controlled or deformable mechanism with an integrator and timestep: growth of small deviations."""

import time

import numpy as np

from saltus.contact.counts import NROW
from saltus.dynamics.tree.manifold import difference, displace
from saltus.number.kernels import entry
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking

PERTURBATION = 1e-6  # rad, m, and rates: size of the deviations whose growth is measured
GROWS = 1e-3  # per step: less growth than this counts as none
MARGINAL = 2e-5  # per step: the same for a step that is proposed; differences of steps leave less than this
ITERATIONS = 60  # of one deviation in systems of many freedoms; growth is measured over the second half
PATIENCE = 3.0  # s: a diagnosis takes little longer than this
CLEARLY = 1e-2  # per step: growth that so many iterations can establish


@entry(name="displace")
def _displace(m, d, origin, v, target):
    displace(m, origin, 1.0, v, target)


@entry(name="tangent")
def _difference(m, d, origin, target, out):
    difference(m, origin, target, out)


def growth(engine: Engine, h: float) -> float:
    """Growth of the fastest growing small deviation over one step of h seconds from the present state.

    The largest magnitude of the eigenvalues of the step's Jacobian, by central differences of the step itself.
    """
    nv, m, d = engine.model.nv, engine.m, engine.d
    here = engine.state.copy()
    n = 2 * nv + len(engine.act)
    ends = np.zeros((2, n, n))
    base: tuple[np.ndarray, ...] | None = None
    with peeking(engine):
        for column in range(-1, n):
            for side in (0, 1):
                engine.state[:] = here
                d.views["memory"][:] = 0.0
                if column >= 0:
                    _deviate(engine, column, (1 - 2 * side) * PERTURBATION)
                engine.advance(1, h)
                if base is None:
                    base = engine.qpos.copy(), engine.qvel.copy(), engine.act.copy()
                if column >= 0:
                    out = ends[side, column]
                    _difference(m, d, base[0], engine.qpos, out[:nv])
                    out[nv : 2 * nv] = engine.qvel - base[1]
                    out[2 * nv :] = engine.act - base[2]
    jacobian = (ends[0] - ends[1]).T / (2 * PERTURBATION)
    return float(abs(np.linalg.eigvals(jacobian)).max(initial=0.0)) if np.isfinite(jacobian).all() else float("inf")


def _deviate(engine, column, size) -> None:
    """Move the state in one direction of its tangent space."""
    nv = engine.model.nv
    if column < nv:
        v = np.zeros(nv)
        v[column] = size
        _displace(engine.m, engine.d, engine.qpos.copy(), v, engine.qpos)
    elif column < 2 * nv:
        engine.qvel[column - nv] += size
    else:
        engine.act[column - 2 * nv] += size


def is_constrained(engine: Engine) -> bool:
    """Whether constraint rows act at the end of a step from the present state, which is kept."""
    if not engine.m.nblockmax:
        return False
    with peeking(engine):
        engine.d.views["memory"][:] = 0.0
        engine.advance(1, engine.timestep)
    return bool(engine.d.views["count"][NROW])


def stable_step(engine: Engine, h: float) -> float | None:
    """The largest step (s), at most h, to two digits, at which no small deviation grows; None if there is none."""

    def stable(step: float) -> bool:
        return growth(engine, step) <= 1.0 + min(GROWS * step / h, MARGINAL)

    low = h
    while not stable(low):
        low /= 2.0
        if low < 1e-6 * h:
            return None
    high = min(2.0 * low, h)
    while high - low > 0.002 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low


def stable_step_at_start(engine: Engine) -> float:
    """The largest step (s), to 5 %, at which no deviation of a deformable body grows at the model's start; state kept.

    inf if the simulation's own step is stable, is chosen by the integrator, or steps over events. After `PATIENCE` the
    largest step that is known to be stable, inf if there is none.
    """
    if engine.integrator.adaptive or engine.event_reader is not None or not engine.model.nflex:
        return np.inf
    low, high, stable = engine.timestep, np.inf, 0.0
    until = time.monotonic() + PATIENCE
    with peeking(engine):
        engine.place(None)
        while (grown := _fastest_growth(engine, low, until)) > 1.0 + CLEARLY:
            low, high = low / 2.0, low
            if low < PERTURBATION * engine.timestep:
                return 0.0
        while grown > 0.0 and np.isfinite(high) and high - low > 0.05 * low:
            stable, middle = low, 0.5 * (low + high)
            grown = _fastest_growth(engine, middle, until)
            low, high = (low, middle) if grown > 1.0 + CLEARLY else (middle, high)
    if grown == 0.0:  # time was up
        return stable or np.inf
    return low if np.isfinite(high) else np.inf


def _fastest_growth(engine: Engine, h: float, until: float) -> float:
    """Mean growth per step of a deviation in the fastest-growing direction, by iterating on one deviation.

    An estimate of `growth` for systems of many freedoms (Golub & Van Loan, Matrix Computations (2013), 7.3.1). inf if
    a step fails; 0 if the clock passes `until` (s).
    """
    here = engine.state.copy()
    base = _stepped(engine, here, np.zeros(2 * engine.model.nv), h)
    deviation = np.random.default_rng(0).normal(size=2 * engine.model.nv)
    sizes = []
    for _ in range(ITERATIONS):
        if time.monotonic() > until:
            return 0.0
        deviation *= PERTURBATION / np.linalg.norm(deviation)
        end = _stepped(engine, here, deviation, h)
        if end is None or base is None:
            return np.inf
        _difference(engine.m, engine.d, base[0], end[0], deviation[: engine.model.nv])
        deviation[engine.model.nv :] = end[1] - base[1]
        sizes.append(np.linalg.norm(deviation) / PERTURBATION)
    return float(np.exp(np.log(sizes[ITERATIONS // 2 :]).mean()))


def _stepped(engine, here, deviation, h) -> tuple[np.ndarray, np.ndarray] | None:
    """Positions and velocities after a step of h seconds from a deviation of the state `here`; None if not finite."""
    nv = engine.model.nv
    engine.state[:] = here
    engine.d.views["memory"][:] = 0.0
    _displace(engine.m, engine.d, here[engine.rows_of("qpos")], deviation[:nv], engine.qpos)
    engine.qvel[:] += deviation[nv:]
    engine.advance(1, h)
    end = engine.qpos.copy(), engine.qvel.copy()
    engine.state[:] = here
    return end if all(np.isfinite(part).all() for part in end) else None
