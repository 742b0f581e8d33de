"""Extended Kalman filter on steps of a simulation, with orientations on their manifold.

    predict:  x ← step(x, u),  P ← A P Aᵀ + Q          update:  x ← x ⊕ K ν,  ν = y ⊖ h(x),  K = P Hᵀ (H P Hᵀ + R)⁻¹

A and H are exact, from `Simulation.linearize` and `linearize_sensors`; where the latter refuses, H comes from central
differences of the readings. The covariance is that of errors (dq, dv, dw) in the tangent space of the estimate
(Bar-Shalom, Li & Kirubarajan (2001), 10.3; Solà, Deray & Atchuthan (2018), section V).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, whole_number
from saltus.control.tangent_states import check_simulation, displaced, put_state, state_names, state_of, take_whole_step
from saltus.errors import OptionError
from saltus.inverse.estimation.estimates import Filtered, Innovation, Passage
from saltus.inverse.estimation.measurement import Measurement
from saltus.inverse.estimation.tangents import symmetric, transport
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]


class KalmanFilter:
    """An extended Kalman filter, made by `saltus.kalman`; it has a simulation of its own.

    Call `predict` for each step and `update` with each measurement, or `run` with all of them.
    """

    def __init__(
        self,
        sim: Simulation,
        process_noise: ArrayLike,
        measurement_noise: ArrayLike,
        covariance: ArrayLike | None,
        sensors: Sequence[str] | None,
    ):
        self._sim = copy.deepcopy(sim)
        n = len(self._sim.linearize()[0])
        self.names = tuple(state_names(sim.model, n))
        self._measurement = Measurement(self._sim, sensors, "kalman")
        self.measured = tuple(self._measurement.names)
        self._Q = covariance_matrix("process_noise", process_noise, n, definite=False)
        self._R = covariance_matrix("measurement_noise", measurement_noise, self._measurement.size, definite=True)
        start = self._Q if covariance is None else covariance_matrix("covariance", covariance, n, definite=False)
        self._P = start.copy()

    @property
    def time(self) -> float:
        """Time of the estimate, s."""
        return float(self._sim.time)

    @property
    def qpos(self) -> Array:
        """Estimated positions [nq] (m, rad, quaternions)."""
        return self._sim.qpos.copy()

    @property
    def qvel(self) -> Array:
        """Estimated velocities [nv] (m/s, rad/s)."""
        return self._sim.qvel.copy()

    @property
    def act(self) -> Array:
        """Estimated states of actuators and of a controller in the time loop [na]."""
        return self._sim.act.copy()

    @property
    def state(self) -> Array:
        """Estimated state [nq + nv + na]: qpos, qvel, act."""
        return np.concatenate(state_of(self._sim))

    @property
    def covariance(self) -> Array:
        """Covariance [n, n] of errors (dq, dv, dw), n = 2 nv + na; orientations as rotation vectors in body axes."""
        return self._P.copy()

    def __repr__(self) -> str:
        return f"KalmanFilter({len(self._P)} components of the state, {len(self._R)} measured, t = {self.time:g} s)"

    def predict(self, ctrl: ArrayLike | None = None, steps: int = 1) -> None:
        """Move the estimate by steps under controls [nu], by default the present ones.

        Raises:
            OptionError: controls have the wrong shape, or steps have no derivatives.
            EventError: an event ends the motion within the steps.
            DivergenceError: the motion diverges.
        """
        count = whole_number("predict: steps", steps)
        if ctrl is not None:
            self._sim.ctrl[:] = _rows("ctrl", ctrl, (self._sim.model.nu,))
        self._predict(count)

    def update(self, y: ArrayLike) -> Innovation:
        """Take a measurement [m] at the estimate's time: readings of the sensors in order, NaN where one is missing.

        States of actuators stay in their ranges (actrange).

        Raises:
            OptionError: y has the wrong shape.
        """
        measurement = self._measurement
        reading = measurement.taken(y)
        predicted, H = measurement.derivatives(len(self._P))
        values = measurement.error(reading, predicted)
        there = np.flatnonzero(np.isfinite(values))
        return self._take(values[there], H[there], self._R[np.ix_(there, there)], [self.measured[k] for k in there])

    def run(self, measurements: ArrayLike, controls: ArrayLike | None = None, *, steps: int = 1) -> Filtered:
        """Take measurements [T, m], the first at the present time and one after each `steps` steps.

        `controls` [T - 1, nu] or [T, nu]: row k acts from measurement k on; by default the present ones act. The result
        holds the estimate after each measurement; `saltus.smooth` improves it by the measurements that follow.

        Raises:
            As `predict` and `update`.
        """
        y, u = self._measurement.series(measurements, controls)
        count = whole_number("run: steps", steps, 1)
        kept, passages = [], []
        for k, reading in enumerate(y):
            innovation = self.update(reading)
            kept.append((self.time, *state_of(self._sim), self.covariance, innovation.nis, innovation.dof))
            if k + 1 < len(y):
                if u is not None:
                    self._sim.ctrl[:] = _rows("controls", u[k], self._sim.ctrl.shape)
                A = self._predict(count)
                passages.append(Passage(state_of(self._sim), self.covariance, A))
        columns = [np.array(column) for column in zip(*kept, strict=True)]
        return Filtered(*columns, self.names, tuple(passages), self._sim.model)

    def _predict(self, steps: int) -> Array:
        """Take steps; derivatives A of the state at their end by that at their start."""
        sim, whole = self._sim, np.eye(len(self._P))
        for _ in range(steps):
            A, _ = sim.linearize()
            take_whole_step(sim, "the filter")
            self._P = symmetric(A @ self._P @ A.T + self._Q)
            whole = A @ whole
        return whole

    def _take(self, values: Array, H: Array, R: Array, names: list[str]) -> Innovation:
        """Correct state and covariance by an innovation; Joseph's form keeps the covariance semidefinite."""
        P, sim = self._P, self._sim
        S = symmetric(H @ P @ H.T + R)
        if not len(values):
            return Innovation(values, S, 0.0, 0, ())
        K = np.linalg.solve(S, H @ P).T
        nis = float(values @ np.linalg.solve(S, values))
        change, rest = K @ values, np.eye(len(P)) - K @ H
        put_state(sim, self._within(displaced(sim.model, state_of(sim), change)))
        J = transport(sim.model, change)
        self._P = symmetric(J @ (rest @ P @ rest.T + K @ R @ K.T) @ J.T)
        return Innovation(values, S, nis, len(values), tuple(names))

    def _within(self, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """The state with states of actuators in their ranges."""
        model = self._sim.model
        for k in np.flatnonzero(np.asarray(model.actuator_actlimited)):
            first, count = int(model.actuator_actadr[k]), int(model.actuator_actnum[k])
            if first >= 0:
                span = slice(first + count - 1, first + count)  # the range is that of the last state
                state[2][span] = np.clip(state[2][span], *model.actuator_actrange[k])
        return state


def kalman(
    sim: Simulation,
    process_noise: ArrayLike,
    measurement_noise: ArrayLike,
    *,
    covariance: ArrayLike | None = None,
    sensors: Sequence[str] | None = None,
) -> KalmanFilter:
    """An extended Kalman filter of the state of a simulation, from its present state and with its steps.

    `process_noise` [n]², n = 2 nv + na: covariance of what each step adds to (dq, dv, dw), as a matrix, as a diagonal,
    or as a number for all; `measurement_noise` [m]²: of the readings' errors, likewise; a quaternion has three, a
    rotation vector (rad). `covariance` [n]²: of the start, by default the process noise of one step. `sensors`: names
    of the sensors that are measured, in order; by default all. Derivatives of steps and readings are exact, contacts
    included; where `Simulation.linearize_sensors` refuses, those of readings are central differences, of relative error
    1e-9 (1e-4 for forces and accelerations at soft contacts). The simulation is not changed.

    Raises:
        OptionError: noise has the wrong shape or sign, the model has no sensors, a sensor's readings jump, or steps
            have no derivatives or remember more than the state.
    """
    check_simulation(sim)
    check_chain(sim.engine, "kalman")
    return KalmanFilter(sim, process_noise, measurement_noise, covariance, sensors)


def covariance_matrix(name: str, value: ArrayLike, n: int, definite: bool, who: str = "kalman") -> Array:
    """A covariance as a matrix [n, n]."""
    given = numbers(name, value)
    full = np.full(n, float(given)) if given.ndim == 0 else given
    full = np.diag(full) if full.shape == (n,) else full
    if full.shape != (n, n) or not np.isfinite(full).all():
        raise OptionError(f"{who}: {name} must be a number, {n} finite numbers or a matrix {(n, n)}, not {given.shape}")
    if not np.allclose(full, full.T, rtol=1e-12, atol=1e-12 * abs(full).max(initial=0.0)):
        raise OptionError(f"{who}: {name} must be symmetric")
    least = np.linalg.eigvalsh(full).min(initial=np.inf)
    if least <= 0.0 if definite else least < -1e-12 * abs(full).max(initial=0.0):
        raise OptionError(f"{who}: {name} must be positive {'definite' if definite else 'semidefinite'}")
    return symmetric(full)


def _rows(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a shape."""
    given = numbers(name, value)
    if given.shape != shape or not np.isfinite(given).all():
        raise OptionError(f"kalman: {name} must be {shape} finite numbers, got {given.shape}")
    return given
