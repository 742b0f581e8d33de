"""Whether a mechanism, controlled or deformable, is stable under an integrator with a step: growth of deviations."""

from typing import TYPE_CHECKING

import numpy as np

from saltus.contact.counts import NROW, NUNSOLVED
from saltus.dynamics.tree.manifold import difference, displace
from saltus.number.kernels import Entry

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

PERTURBATION = 1e-6  # rad, m, and rates: deviations whose growth is looked at
GROWS = 1e-3  # a step: less than this counts as none
ITERATIONS = 60  # of one deviation of many freedoms, the second half of which is its growth
CLEARLY = 1e-2  # a step: growth beyond what so many iterations tell

_displace = Entry("displace", "origin, v, target", "displace(m, origin, 1.0, v, target)", displace=displace)
_difference = Entry("tangent", "origin, target, out", "difference(m, origin, target, out)", difference=difference)


def growth(sim: "Simulation", h: float) -> float:
    """Growth of the fastest growing small deviation over one step of h seconds from the present state.

    The largest magnitude of the eigenvalues of the step's Jacobian, by central differences of the step itself.
    """
    nv, struct = sim.model.nv, sim._struct
    here, kernel_model = sim._state.copy(), sim._model
    n = 2 * nv + len(sim.act)
    ends = np.zeros((2, n, n))
    base: tuple[np.ndarray, ...] | None = None
    for column in range(-1, n):
        for side in (0, 1):
            sim._state[:] = here
            struct.views["memory"][:] = 0.0
            if column >= 0:
                _deviate(sim, column, (1 - 2 * side) * PERTURBATION)
            sim._advance(1, h)
            if base is None:
                base = sim.qpos.copy(), sim.qvel.copy(), sim.act.copy()
            if column >= 0:
                out = ends[side, column]
                _difference(kernel_model, struct, base[0], sim.qpos, out[:nv])
                out[nv : 2 * nv] = sim.qvel - base[1]
                out[2 * nv :] = sim.act - base[2]
    sim._state[:] = here
    sim._computed = None
    jacobian = (ends[0] - ends[1]).T / (2 * PERTURBATION)
    return float(abs(np.linalg.eigvals(jacobian)).max(initial=0.0)) if np.isfinite(jacobian).all() else float("inf")


def _deviate(sim, column, size) -> None:
    """Move the state in one direction of its tangent space."""
    nv = sim.model.nv
    if column < nv:
        v = np.zeros(nv)
        v[column] = size
        _displace(sim._model, sim._struct, sim.qpos.copy(), v, sim.qpos)
    elif column < 2 * nv:
        sim.qvel[column - nv] += size
    else:
        sim.act[column - 2 * nv] += size


def is_constrained(sim: "Simulation") -> bool:
    """Whether rows of constraints act at the end of a step from the present state, which is kept."""
    if not sim._model.nblockmax:
        return False
    here = sim._state.copy()
    sim._struct.views["memory"][:] = 0.0
    sim._advance(1, sim.timestep)
    sim._state[:] = here
    return bool(sim._struct.views["count"][NROW])


def stable_step(sim: "Simulation", h: float) -> float | None:
    """The largest step (s), at most h, to two digits, at which no small deviation grows; None if there is none."""
    low = h
    while growth(sim, low) > 1.0 + GROWS * low / h:
        low /= 2.0
        if low < 1e-6 * h:
            return None
    high = min(2.0 * low, h)
    while high - low > 0.005 * low:
        middle = 0.5 * (low + high)
        stable = growth(sim, middle) <= 1.0 + GROWS * middle / h
        low, high = (middle, high) if stable else (low, middle)
    return low


def stable_step_at_start(sim: "Simulation") -> float:
    """The largest step (s) at which no deviation of a deformable body grows at the model's start; the state is kept.

    inf where the simulation's own step is stable, or chosen by the integrator, or goes over events.
    """
    if sim.integrator.adaptive or sim._events is not None or not sim.model.nflex:
        return np.inf
    here, low, high = sim._state.copy(), sim.timestep, np.inf
    sim._place(None)
    try:
        while _fastest_growth(sim, low) > 1.0 + CLEARLY:
            low, high = low / 2.0, low
            if low < PERTURBATION * sim.timestep:
                return 0.0
        while np.isfinite(high) and high - low > 0.01 * low:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if _fastest_growth(sim, middle) > 1.0 + CLEARLY else (middle, high)
    finally:
        sim._state[:] = here
        sim._struct.views["count"][NUNSOLVED] = 0
        sim._computed = None
    return low if np.isfinite(high) else np.inf


def _fastest_growth(sim: "Simulation", h: float) -> float:
    """Mean growth a step of a deviation in the direction of those that grow fastest, by iterating on one of them.

    As `growth`, for systems of many freedoms (Golub & Van Loan, Matrix Computations (2013), 7.3.1). inf where a step
    fails.
    """
    here = sim._state.copy()
    base = _stepped(sim, here, np.zeros(2 * sim.model.nv), h)
    deviation = np.random.default_rng(0).normal(size=2 * sim.model.nv)
    sizes = []
    for _ in range(ITERATIONS):
        deviation *= PERTURBATION / np.linalg.norm(deviation)
        end = _stepped(sim, here, deviation, h)
        if end is None or base is None:
            return np.inf
        _difference(sim._model, sim._struct, base[0], end[0], deviation[: sim.model.nv])
        deviation[sim.model.nv :] = end[1] - base[1]
        sizes.append(np.linalg.norm(deviation) / PERTURBATION)
    return float(np.exp(np.log(sizes[ITERATIONS // 2 :]).mean()))


def _stepped(sim, here, deviation, h) -> tuple[np.ndarray, np.ndarray] | None:
    """Positions and velocities one step of h seconds after a state that deviates from `here`; None without numbers."""
    nv = sim.model.nv
    sim._state[:] = here
    sim._struct.views["memory"][:] = 0.0
    _displace(sim._model, sim._struct, here[sim._rows_of("qpos")], deviation[:nv], sim.qpos)
    sim.qvel[:] += deviation[nv:]
    sim._advance(1, h)
    end = sim.qpos.copy(), sim.qvel.copy()
    sim._state[:] = here
    return end if all(np.isfinite(part).all() for part in end) else None
