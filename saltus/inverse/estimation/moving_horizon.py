"""Moving horizon estimation: the states of the last steps that explain the measurements best, within bounds.

    min  |x₀ ⊖ x̄|²_P + Σ |x_{k+1} ⊖ step(x_k, u_k)|²_Q + Σ |y_k ⊖ h(x_k)|²_R,   low ≤ x_k ≤ high

over the states of a window (Rao, Rawlings & Mayne, Constrained state estimation for nonlinear discrete-time systems,
IEEE Transactions on Automatic Control 48 (2003) 246-258). The arrival cost, x̄ and P, is the prediction of an extended
Kalman filter that goes with the window's start, so that a linear system without active bounds has the Kalman filter's
estimates. Gauss-Newton steps with exact derivatives of steps; orientations on their manifold.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import mapping, numbers, whole_number
from saltus.control.tangent_states import (
    State,
    check_simulation,
    difference,
    displaced,
    put_state,
    state_names,
    state_of,
    take_whole_step,
)
from saltus.errors import OptionError, warn
from saltus.inverse.estimation.kalman import KalmanFilter, covariance_matrix
from saltus.inverse.estimation.measurement import Measurement
from saltus.inverse.estimation.tangents import symmetric, transport
from saltus.model.enums import BALL, FREE
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
#: Least and greatest values of positions (by degree of freedom), velocities and activations, by name; None for none.
StateBounds: TypeAlias = Mapping[str, tuple[float | None, float | None]]
WHO = "moving_horizon"
CONVERGED = 1e-10  # change of the states, in their standard deviations, that counts as none
MOST, HALVINGS = 20, 10  # Gauss-Newton steps at most, and halvings of one


@dataclass(frozen=True, eq=False)
class WindowEstimates:
    """Estimates at T times, each from the measurements until then.

    time [T] (s), qpos [T, nq], qvel [T, nv], act [T, na];
    covariance [T, n, n] of errors (dq, dv, dw) where no bound is active, n = 2 nv + na; `names` [n].
    """

    time: Array
    qpos: Array
    qvel: Array
    act: Array
    covariance: Array
    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"WindowEstimates({len(self.time)} times, {len(self.names)} components of the state)"


@dataclass
class _Node:
    """A time of the window: its state, its reading if there is one, and the controls of the step after it."""

    time: float
    state: State
    reading: Array | None
    ctrl: Array


class MovingHorizonEstimator:
    """An estimator over a window of steps, made by `saltus.moving_horizon`; it has simulations of its own.

    Call `predict` for each step and `update` with each measurement, or `run` with all of them.
    """

    def __init__(
        self,
        sim: Simulation,
        noises: tuple[ArrayLike, ArrayLike, ArrayLike],
        horizon: int,
        bounds: StateBounds,
        sensors: Sequence[str] | None,
    ):
        self._sim = copy.deepcopy(sim)
        n = len(self._sim.linearize()[0])
        self.names = tuple(state_names(sim.model, n))
        self.horizon = horizon
        self._measurement = Measurement(self._sim, sensors, WHO)
        process, measured, start = noises
        Q = covariance_matrix("process_noise", process, n, definite=True, who=WHO)
        R = covariance_matrix("measurement_noise", measured, self._measurement.size, definite=True, who=WHO)
        P = covariance_matrix("covariance", start, n, definite=True, who=WHO)
        self._arrival = KalmanFilter(sim, Q, R, P, sensors)
        self._process, self._R = _root(Q), R
        self._low, self._high = _bounds_of(sim.model, self.names, bounds)
        values = self._values(state_of(self._sim))
        for name, out in zip(self.names, (values < self._low) | (values > self._high), strict=True):
            if out:
                raise OptionError(f"{WHO}: the start is outside the bounds of {name!r}")
        self._nodes = [_Node(float(sim.time), state_of(self._sim), None, self._sim.ctrl.copy())]
        self._covariance = P
        self.iterations, self.converged = 0, True  # of the last solution

    @property
    def time(self) -> float:
        """Time of the estimate, s."""
        return self._nodes[-1].time

    @property
    def qpos(self) -> Array:
        """Estimated positions [nq] (m, rad, quaternions)."""
        return self._nodes[-1].state[0].copy()

    @property
    def qvel(self) -> Array:
        """Estimated velocities [nv] (m/s, rad/s)."""
        return self._nodes[-1].state[1].copy()

    @property
    def act(self) -> Array:
        """Estimated states of actuators and of a controller in the time loop [na]."""
        return self._nodes[-1].state[2].copy()

    @property
    def covariance(self) -> Array:
        """Covariance [n, n] of errors (dq, dv, dw) after the last measurement, where no bound is active."""
        return self._covariance.copy()

    def __repr__(self) -> str:
        size = f"{len(self.names)} components of the state, {self.horizon} steps"
        return f"MovingHorizonEstimator({size}, t = {self.time:g} s)"

    def predict(self, ctrl: ArrayLike | None = None, steps: int = 1) -> None:
        """Move the window by steps under controls [nu], by default those before.

        Raises:
            OptionError: controls have the wrong shape, or steps have no derivatives.
            EventError: an event ends the motion within the steps.
            DivergenceError: the motion diverges.
        """
        count = whole_number("predict: steps", steps)
        if ctrl is not None:
            given = numbers("ctrl", ctrl)
            if given.shape != self._nodes[-1].ctrl.shape or not np.isfinite(given).all():
                raise OptionError(f"{WHO}: ctrl must be {self._nodes[-1].ctrl.shape} finite numbers, got {given.shape}")
            self._nodes[-1].ctrl = np.array(given)
        for _ in range(count):
            last = self._nodes[-1]
            _, state, time = self._stepped(last, derivatives=False)
            self._nodes.append(_Node(time, self._within(state), None, last.ctrl.copy()))
            if len(self._nodes) > self.horizon + 1:
                gone = self._nodes.pop(0)
                if gone.reading is not None:
                    self._arrival.update(gone.reading)
                self._arrival.predict(gone.ctrl)

    def update(self, y: ArrayLike) -> None:
        """Take a measurement [m] at the estimate's time, NaN where a reading is missing, and solve for the window.

        Raises:
            OptionError: y has the wrong shape.
        """
        self._nodes[-1].reading = self._measurement.taken(y)
        self._solve()

    def run(self, measurements: ArrayLike, controls: ArrayLike | None = None, *, steps: int = 1) -> WindowEstimates:
        """Take measurements [T, m], the first at the present time and one after each `steps` steps.

        `controls` [T - 1, nu] or [T, nu]: row k acts from measurement k on; by default the present ones act.

        Raises:
            As `predict` and `update`.
        """
        y, u = self._measurement.series(measurements, controls)
        count = whole_number("run: steps", steps, 1)
        kept = []
        for k, reading in enumerate(y):
            self.update(reading)
            kept.append((self.time, self.qpos, self.qvel, self.act, self.covariance))
            if k + 1 < len(y):
                self.predict(None if u is None else u[k], count)
        columns = [np.array(column) for column in zip(*kept, strict=True)]
        return WindowEstimates(columns[0], columns[1], columns[2], columns[3], columns[4], self.names)

    # ------------------------------------------------------------ Gauss-Newton

    def _solve(self) -> None:
        """States of the window that cost least."""
        from scipy.optimize import lsq_linear

        n, count = len(self.names), len(self._nodes)
        states = [node.state for node in self._nodes]
        J, r = self._linearized(states)
        self.converged = False
        for done in range(1, MOST + 1):
            self.iterations = done
            low = np.concatenate([self._low - self._values(state) for state in states])
            high = np.concatenate([self._high - self._values(state) for state in states])
            change = np.linalg.lstsq(J, -r, rcond=None)[0]
            if (change < low).any() or (change > high).any():
                span = np.minimum(low, 0.0), np.maximum(high, 0.0)
                change = lsq_linear(J, -r, span, method="bvls", tol=1e-14).x
            gain = float(np.linalg.norm(J @ change))
            states, J, r, lower = self._moved(states, (J, r), np.asarray(change, float).reshape(count, n))
            self.converged = gain <= CONVERGED * max(1.0, float(np.linalg.norm(r)))
            if self.converged or not lower:
                break
        if not self.converged:
            warn(f"{WHO}: the states at t = {self.time:g} s are not converged; take a nearer start or larger noise")
        for node, state in zip(self._nodes, states, strict=True):
            node.state = state
        triangle = np.asarray(np.linalg.qr(J)[1])
        last = np.linalg.solve(triangle[-n:, -n:], np.eye(n))  # states in order: the last block stands alone
        self._covariance = symmetric(last @ last.T)

    def _moved(
        self, states: list[State], linear: tuple[Array, Array], change: Array
    ) -> tuple[list[State], Array, Array, bool]:
        """States after as much of a change as lowers the cost, their rows and residuals, and whether it is lower."""
        before = float(linear[1] @ linear[1])
        for halved in range(HALVINGS):
            share = 0.5**halved
            moved = [displaced(self._sim.model, x, share * dx) for x, dx in zip(states, change, strict=True)]
            J, r = self._linearized(moved)
            if r @ r <= before * (1.0 + 1e-12):
                return moved, J, r, True
        return states, *linear, False

    def _linearized(self, states: list[State]) -> tuple[Array, Array]:
        """Rows J [m, n T] and residuals r [m] of the cost |r + J dx|², each in its standard deviations."""
        model, n, count = self._sim.model, len(self.names), len(states)
        arrived = (self._arrival.qpos, self._arrival.qvel, self._arrival.act)
        off, root = difference(model, arrived, states[0]), _root(self._arrival.covariance)
        first = np.zeros((n, n * count))
        first[:, :n] = root @ np.linalg.inv(transport(model, off))
        rows, residuals = [first], [root @ off]
        for k, (node, state) in enumerate(zip(self._nodes, states, strict=True)):
            here = slice(n * k, n * k + n)
            if node.reading is not None:
                put_state(self._sim, state)
                self._sim.time = node.time
                self._sim.ctrl[:] = node.ctrl
                predicted, H = self._measurement.derivatives(n)
                error = self._measurement.error(node.reading, predicted)
                there = np.flatnonzero(np.isfinite(error))
                weight = _root(self._R[np.ix_(there, there)])
                row = np.zeros((len(there), n * count))
                row[:, here] = -weight @ H[there]
                rows.append(row)
                residuals.append(weight @ error[there])
            if k + 1 < count:
                A, after, _ = self._stepped(_Node(node.time, state, None, node.ctrl), derivatives=True)
                gap = difference(model, after, states[k + 1])
                row = np.zeros((n, n * count))
                row[:, here] = -self._process @ np.linalg.inv(transport(model, -gap)) @ A
                row[:, n * (k + 1) : n * (k + 2)] = self._process @ np.linalg.inv(transport(model, gap))
                rows.append(row)
                residuals.append(self._process @ gap)
        return np.vstack(rows), np.concatenate(residuals)

    def _stepped(self, node: _Node, *, derivatives: bool) -> tuple[Array, State, float]:
        """Derivatives of a step from a node, if wanted, the state after it and its time."""
        sim = self._sim
        put_state(sim, node.state)
        sim.time = node.time
        sim.ctrl[:] = node.ctrl
        A = sim.linearize()[0] if derivatives else np.zeros((0, 0))
        take_whole_step(sim, WHO)
        return A, state_of(sim), float(sim.time)

    def _values(self, state: State) -> Array:
        """Components [n] that bounds are of: positions of hinges and slides, velocities, activations."""
        m = self._sim.model.mj_model
        found = np.zeros(len(self.names))
        for joint, kind in enumerate(m.jnt_type):
            if kind not in (BALL, FREE):
                found[m.jnt_dofadr[joint]] = state[0][m.jnt_qposadr[joint]]
            elif kind == FREE:
                found[m.jnt_dofadr[joint] :][:3] = state[0][m.jnt_qposadr[joint] :][:3]
        found[m.nv :] = np.concatenate([state[1], state[2]])
        return found

    def _within(self, state: State) -> State:
        """The state with components moved into their bounds."""
        values = self._values(state)
        return displaced(self._sim.model, state, np.clip(values, self._low, self._high) - values)


def moving_horizon(
    sim: Simulation,
    process_noise: ArrayLike,
    measurement_noise: ArrayLike,
    *,
    covariance: ArrayLike | None = None,
    horizon: int = 10,
    bounds: StateBounds | None = None,
    sensors: Sequence[str] | None = None,
) -> MovingHorizonEstimator:
    """A moving horizon estimator of the state of a simulation, from its present state and with its steps.

    After each measurement it finds the states of the last `horizon` steps that explain all readings in them best,
    where a Kalman filter corrects the last one alone: better where steps bend much, and with `bounds` on what cannot
    be, such as a negative length. Without these a linear system has the estimates of `saltus.kalman`, whose arguments
    the others are; the process noise and the covariance must be positive definite. `bounds`: (least, greatest) by
    degree of freedom (of hinges, slides, places of free joints: rad, m) or component, such as "velocity of knee"; None
    for no bound. The simulation is not changed.

    Raises:
        OptionError: as of `saltus.kalman`; no such component, a bound of an orientation, a least above the greatest, or
            a start outside.
    """
    check_simulation(sim)
    check_chain(sim.engine, WHO)
    steps = whole_number("horizon", horizon, 1)
    given = {} if bounds is None else mapping("bounds", bounds)
    noises = (process_noise, measurement_noise, process_noise if covariance is None else covariance)
    return MovingHorizonEstimator(sim, noises, steps, given, sensors)


def _root(covariance: Array) -> Array:
    """Matrix W with Wᵀ W the inverse of a covariance."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)), float)


def _bounds_of(model: Model, names: tuple[str, ...], bounds: StateBounds) -> tuple[Array, Array]:
    """Least and greatest values [n] of the components of the state."""
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    m, dofs = model.mj_model, model.dof_names()
    for name, span in bounds.items():
        if name not in dofs and name not in names:
            raise OptionError.unknown(f"{WHO}: component in bounds", name, [*dofs, *names])
        place = dofs.index(name) if name in dofs else names.index(name)
        if place < model.nv:
            kind, first = m.jnt_type[m.dof_jntid[place]], m.jnt_dofadr[m.dof_jntid[place]]
            if kind == BALL or (kind == FREE and place >= first + 3):
                raise OptionError(f"{WHO}: {name!r} is an orientation, which has no bounds; bound its velocity")
        try:
            least, greatest = span
            ends = [-np.inf if least is None else float(least), np.inf if greatest is None else float(greatest)]
        except (TypeError, ValueError):
            raise OptionError(f"{WHO}: bounds of {name!r} must be (least, greatest), got {span!r}") from None
        if not ends[0] < ends[1]:
            raise OptionError(f"{WHO}: bounds of {name!r} must rise, got {span!r}")
        low[place], high[place] = ends
    return low, high
