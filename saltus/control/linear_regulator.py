"""Linear-quadratic regulators: the linear feedback that costs least, from exact derivatives of a step.

    x' = A x + B u,   cost Σ xᵀ Q x + uᵀ R u + 2 xᵀ N u,   u = -K x

K = (R + Bᵀ P B)⁻¹ (Bᵀ P A + Nᵀ), with P from the discrete algebraic Riccati equation, or over a horizon by its
recursion (Anderson & Moore, Optimal Control: Linear Quadratic Methods (1990), 2.4 and 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.control.horizon import steps_of
from saltus.control.tangent_states import State, check_simulation, difference, state_names, state_of
from saltus.errors import OptionError, warn
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
STABLE = 1e-8  # a mode whose eigenvalue is within this of the unit circle must be controlled
CONTROLLED = 1e-9  # of |wᵀ B| / |w| |B|: below this a mode is not controlled
STILL = 1e-6  # rad/s², m/s²: accelerations below this count as none


@dataclass(frozen=True, eq=False)
class LinearRegulator:
    """A feedback law u = u0 - K (x - x0) about a state, which is a control function: `sim.run(5, control=regulator)`.

    K [nu, 2 nv + na]: gains; over a horizon [steps, nu, 2 nv + na]. P [2 nv + na]²: cost to go xᵀ P x; over a horizon
    [steps + 1, ...]. eigenvalues: of A - B K, largest first (not over a horizon). A, B: derivatives of the step. The
    model clips controls to their range.
    """

    K: Array
    P: Array
    eigenvalues: NDArray[np.complex128]
    A: Array
    B: Array
    qpos: Array
    ctrl: Array
    _model: Model
    _state: State
    _time: float
    _timestep: float

    def __call__(self, sim: Simulation) -> Array:
        """Controls [nu] at the present state of a simulation of the same model."""
        gains = self.K
        if gains.ndim == 3:
            step = round((sim.time - self._time) / self._timestep)
            if not 0 <= step < len(gains):
                raise OptionError(f"the regulator's horizon of {len(gains)} steps does not reach to t = {sim.time:g} s")
            gains = gains[step]
        return self.ctrl - gains @ difference(self._model, self._state, state_of(sim))

    def __repr__(self) -> str:
        about = (
            f"largest eigenvalue {abs(self.eigenvalues[0]):.6g}" if len(self.eigenvalues) else f"{len(self.K)} steps"
        )
        return f"LinearRegulator({self.K.shape[-2]} controls, {self.K.shape[-1]} states, {about})"


def lqr(
    sim: Simulation,
    Q: ArrayLike,
    R: ArrayLike,
    *,
    N: ArrayLike | None = None,
    horizon: int | float | None = None,
    final: ArrayLike | None = None,
) -> LinearRegulator:
    """The linear-quadratic regulator about the present state and controls of a simulation, for its own steps.

    `Q` [2 nv + na]², `R` [nu]²: weights of states (dq, dv, dw) and controls, as matrices, as diagonals, or as a number
    for all; `N` [2 nv + na, nu]: of their products. `horizon`: steps (int) or s (float), with gains for each step;
    `final`: weight at its end, by default Q. Contacts count as staying as they are. The simulation is not changed.

    Raises:
        OptionError: weights have the wrong shape or sign, or no feedback stabilises the state; names the mode.
    """
    check_simulation(sim)
    check_chain(sim.engine, "lqr")
    A, B = sim.linearize()
    n, nu = B.shape
    if not nu:
        raise OptionError("lqr: the model has no controls")
    q, r = _weight("Q", Q, n), _weight("R", R, nu)
    cross = np.zeros((n, nu)) if N is None else numbers("N", N)
    if cross.shape != (n, nu):
        raise OptionError(f"lqr: N must have shape {(n, nu)}, not {cross.shape}")
    if not np.isfinite(cross).all():
        raise OptionError("lqr: N must be finite")
    if np.linalg.eigvalsh(r).min() <= 0:
        raise OptionError("lqr: R must be positive definite")
    _check_semidefinite("Q", q)
    if cross.any():  # of all weights together, by what is left of Q at the best controls
        _check_semidefinite("Q - N R⁻¹ Nᵀ", q - cross @ np.linalg.solve(r, cross.T))
    _warn_of_motion(sim)
    if horizon is None:
        K, P = _stationary(sim, A, B, q, r, cross)
        eigenvalues = np.linalg.eigvals(A - B @ K).astype(complex)
        eigenvalues = eigenvalues[np.argsort(-abs(eigenvalues))]
    else:
        steps = steps_of("lqr", sim, horizon)
        end = q if final is None else _weight("final", final, n)
        _check_semidefinite("final", end)
        K, P = _over_horizon(A, B, q, r, cross, end, steps)
        eigenvalues = np.zeros(0, complex)
    state, ctrl = state_of(sim), sim.ctrl.copy()
    about = (state[0], ctrl, sim.model, state, sim.time, sim.timestep)
    return LinearRegulator(K, P, eigenvalues, A, B, *about)


def _weight(name: str, value: ArrayLike, n: int) -> Array:
    """A weight as a symmetric matrix [n, n]."""
    given = numbers(name, value)
    if not np.isfinite(given).all():
        raise OptionError(f"lqr: {name} must be finite")
    if given.ndim == 0:
        given = np.full(n, float(given))
    if given.shape == (n,):
        return np.diag(given)
    if given.shape != (n, n):
        raise OptionError(f"lqr: {name} must be a number, {n} numbers or a matrix {(n, n)}, not {given.shape}")
    if not np.allclose(given, given.T, rtol=1e-12, atol=1e-12 * max(abs(given).max(), 1e-300)):
        raise OptionError(f"lqr: {name} must be symmetric")
    return given


def _check_semidefinite(name: str, weight: Array) -> None:
    """OptionError for a weight by which some deviation would be worth a reward."""
    if np.linalg.eigvalsh(weight).min(initial=0.0) < -1e-12 * abs(weight).max(initial=0.0):
        raise OptionError(f"lqr: {name} must be positive semidefinite")


def _stationary(sim: Simulation, A: Array, B: Array, q: Array, r: Array, cross: Array) -> tuple[Array, Array]:
    """Gains and cost to go of an infinite horizon."""
    from scipy.linalg import LinAlgError, solve_discrete_are

    _check_controlled(sim, A, B)
    try:
        P = solve_discrete_are(A, B, q, r, s=cross)
    except (LinAlgError, ValueError) as error:
        raise OptionError(
            f"lqr: the Riccati equation has no stabilising solution ({error}); weigh in Q each mode that does not decay"
        ) from error
    return np.linalg.solve(r + B.T @ P @ B, B.T @ P @ A + cross.T), P


def _over_horizon(A: Array, B: Array, q: Array, r: Array, cross: Array, end: Array, steps: int) -> tuple[Array, Array]:
    """Gains [steps, nu, n] and costs to go [steps + 1, n, n], backward from the end."""
    P, K = np.empty((steps + 1, *q.shape)), np.empty((steps, B.shape[1], len(A)))
    P[-1] = end
    for k in reversed(range(steps)):
        K[k] = np.linalg.solve(r + B.T @ P[k + 1] @ B, B.T @ P[k + 1] @ A + cross.T)
        P[k] = q + A.T @ P[k + 1] @ A - (A.T @ P[k + 1] @ B + cross) @ K[k]
        P[k] = 0.5 * (P[k] + P[k].T)
    return K, P


def _check_controlled(sim: Simulation, A: Array, B: Array) -> None:
    """OptionError that names a mode which does not decay and which no control reaches (Hautus's test)."""
    values, left = np.linalg.eig(A.T)
    for value, w in zip(values, left.T, strict=True):
        if abs(value) >= 1.0 - STABLE and np.linalg.norm(w @ B) <= CONTROLLED * max(np.linalg.norm(B), 1e-300):
            names = state_names(sim.model, len(A))
            k = int(np.argmax(abs(w)))
            raise OptionError(
                f"lqr: no control reaches a mode that does not decay (eigenvalue {abs(value):.6g}, mostly the "
                f"{names[k]}); leave such a degree of freedom out, or give it an actuator or a spring"
            )


def _warn_of_motion(sim: Simulation) -> None:
    """Warn if the present state does not stay: the law is about an equilibrium."""
    sim.forward()
    qacc = sim.data.qacc
    moving = np.concatenate([qacc, sim.qvel])
    if abs(moving).max() > STILL:
        warn(
            f"lqr: the present state is no equilibrium (accelerations up to {abs(qacc).max():.3g}, velocities up to "
            f"{abs(sim.qvel).max():.3g}); the law is for deviations from its motion. saltus.equilibrium finds one"
        )
