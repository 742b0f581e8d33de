"""Trajectories that cost least: iterative LQR with bounds on the controls.

Steps forward with the present policy, a second-order model of the cost and exact derivatives of the steps along the
way, and a backward pass that improves the policy (Li & Todorov, Iterative linear quadratic regulator design (2004);
Tassa, Mansard & Todorov, Control-limited differential dynamic programming (2014), with their regularisation and line
search).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import function, numbers, positive, whole_number
from saltus.control.backward_pass import Expansion, Policy, backward_pass
from saltus.control.horizon import steps_of
from saltus.control.quadratic_number import QuadraticNumber
from saltus.control.stage import Stage
from saltus.control.tangent_states import (
    State,
    check_simulation,
    control_ranges,
    difference,
    put_state,
    state_of,
    take_whole_step,
)
from saltus.errors import DivergenceError, OptionError
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
Cost = Callable[[Stage], "QuadraticNumber | np.object_ | float"]
LINE = 0.5 ** np.arange(12.0)  # lengths of steps that are tried
LEAST, MOST, FACTOR = 1e-6, 1e10, 1.6  # regularisation


@dataclass(frozen=True, eq=False)
class Plan:
    """A trajectory that costs least, with the feedback along it; a control function: `sim.run(2.0, control=plan)`.

    controls [T, nu], qpos [T + 1, nq], qvel [T + 1, nv], act [T + 1, na] at the steps, time [T + 1] (s). gains
    [T, nu, 2 nv + na]: of u = u_k + K_k (x - x_k). cost: of the whole; costs: after each iteration. converged: whether
    an iteration would change the cost by less than the tolerance.
    """

    controls: Array
    qpos: Array
    qvel: Array
    act: Array
    time: Array
    gains: Array
    cost: float
    costs: tuple[float, ...]
    converged: bool
    model: Model

    @property
    def states(self) -> Array:
        """Positions, velocities and activations as one array [T + 1, nq + nv + na]."""
        return np.hstack([self.qpos, self.qvel, self.act])

    def __call__(self, sim: Simulation) -> Array:
        """Controls [nu] at the present time and state of a simulation of the same model."""
        k = int(np.floor((sim.time - self.time[0]) / (self.time[1] - self.time[0]) + 1e-6))
        if not 0 <= k < len(self.controls):
            raise OptionError(f"the plan is for {self.time[0]:g} to {self.time[-1]:g} s, not for t = {sim.time:g} s")
        planned = self.qpos[k], self.qvel[k], self.act[k]
        return self.controls[k] + self.gains[k] @ difference(self.model, planned, state_of(sim))

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        return f"Plan({len(self.controls)} steps, cost {self.cost:.6g}, {end} after {len(self.costs) - 1} iterations)"


def ilqr(
    sim: Simulation,
    cost: Cost,
    horizon: int | float,
    *,
    controls: ArrayLike | None = None,
    iterations: int = 200,
    tolerance: float = 1e-7,
) -> Plan:
    """Controls over a horizon that minimise a cost, from the present state of a simulation, which is not changed.

    `cost`: f(stage) -> number, summed over the steps and the end (`stage.final`), by arithmetic and NumPy's functions
    of a `saltus.control.stage.Stage`: `stage.qpos`, `qvel`, `act`, `ctrl`, `stage.site("hand")`. `horizon`: steps (int)
    or s (float). `controls` [T, nu]: at the start; by default the present ones, held. They stay in their ranges.
    `tolerance`: relative decrease of the cost that ends the iterations.

    Raises:
        OptionError: the cost is no number, controls have the wrong shape, or steps have no derivatives.
        EventError: a terminal event ends the motion within the horizon.
        DivergenceError: the motion under the first controls diverges.
    """
    check_simulation(sim)
    steps, f = steps_of("ilqr", sim, horizon), function("cost", cost)
    check_chain(sim.engine, "ilqr")
    if not sim.model.nu:
        raise OptionError("ilqr: the model has no controls")
    first = np.tile(sim.ctrl, (steps, 1)) if controls is None else numbers("controls", controls)
    if first.shape != (steps, sim.model.nu):
        raise OptionError(f"ilqr: controls must have shape {(steps, sim.model.nu)}, not {first.shape}")
    most, small = whole_number("iterations", iterations), positive("tolerance", tolerance)
    return _Search(copy.deepcopy(sim), f, first).plan(most, small)


class _Search:
    """The present trajectory of a search, with memory for its simulation."""

    def __init__(self, sim: Simulation, cost: Cost, controls: Array):
        self._sim, self._cost = sim, cost
        self._start, self._time = sim.snapshot(), sim.time
        self._low, self._high = control_ranges(sim)
        self.controls = np.clip(controls, self._low, self._high)
        self.states, self.cost = self._forward(self.controls, None, 0.0)
        self._damping, self._rate = LEAST, FACTOR

    def plan(self, iterations: int, tolerance: float) -> Plan:
        """Improve the controls until the cost decreases no more."""
        costs, converged, gains = [self.cost], False, None
        while not converged and len(costs) <= iterations:
            model = self._expansion()
            policy = self._improved(model, tolerance)
            gains = gains if policy is None else policy.K
            converged = policy is None or costs[-1] - self.cost <= tolerance * (abs(self.cost) + 1e-300)
            costs.append(self.cost)
            if policy is None and self._damping > MOST:
                converged = False
                break
        qpos, qvel, act = (np.array(parts) for parts in zip(*self.states, strict=True))
        times = self._time + self._sim.timestep * np.arange(len(qpos))
        if gains is None:
            gains = np.zeros((len(self.controls), self._sim.model.nu, 2 * self._sim.model.nv + act.shape[1]))
        about = qpos, qvel, act, times, gains, self.cost, tuple(costs), converged, self._sim.model
        return Plan(self.controls, *about)

    def _improved(self, model: Expansion, tolerance: float) -> Policy | None:
        """Take the step of a policy that lowers the cost; None if there is none, or none is worth it."""
        low, high = self._low - self.controls, self._high - self.controls
        while self._damping <= MOST:
            policy = backward_pass(model, low, high, self._damping)
            if policy is not None:
                if -(policy.dV1 + policy.dV2) <= 1e-2 * tolerance * abs(self.cost):
                    return None
                for size in LINE:
                    expected = -(size * policy.dV1 + size**2 * policy.dV2)
                    states, cost, controls = self._along(policy, size)
                    if np.isfinite(cost) and self.cost - cost > 1e-4 * expected:
                        self.states, self.cost, self.controls = states, cost, controls
                        self._rate = min(self._rate / FACTOR, 1 / FACTOR)
                        self._damping = max(self._damping * self._rate, LEAST)
                        return policy
            self._rate = max(self._rate * FACTOR, FACTOR)
            self._damping *= self._rate
        return None

    def _along(self, policy: Policy, size: float) -> tuple[list[State], float, Array]:
        """States, cost and controls with a policy's step of a size; an infinite cost where the motion diverges."""
        controls = self.controls.copy()
        try:
            states, cost = self._forward(controls, policy, size)
        except DivergenceError:
            return self.states, np.inf, controls
        return states, cost, controls

    def _forward(self, controls: Array, policy: Policy | None, size: float) -> tuple[list[State], float]:
        """States and cost of the controls [T, nu]; with a policy, these are changed in place."""
        sim = self._sim
        sim.restore(self._start)
        states, cost = [state_of(sim)], 0.0
        for k in range(len(controls)):
            if policy is not None:
                apart = difference(sim.model, self.states[k], states[k])
                controls[k] = np.clip(controls[k] + size * policy.k[k] + policy.K[k] @ apart, self._low, self._high)
            sim.ctrl[:] = controls[k]
            cost += float(self._evaluated(Stage(sim, k, False, False)))
            take_whole_step(sim, "ilqr")
            states.append(state_of(sim))
        return states, cost + float(self._evaluated(Stage(sim, len(controls), True, False)))

    def _expansion(self) -> Expansion:
        """Models of cost and steps along the present trajectory."""
        sim, T = self._sim, len(self.controls)
        n, nu = 2 * sim.model.nv + len(sim.act), sim.model.nu
        A, B = np.empty((T, n, n)), np.empty((T, n, nu))
        slopes, curves = np.zeros((T + 1, n + nu)), np.zeros((T + 1, n + nu, n + nu))
        sim.restore(self._start)
        for k in range(T + 1):
            put_state(sim, self.states[k])
            sim.time = self._time + k * sim.timestep
            if k < T:
                sim.ctrl[:] = self.controls[k]
                A[k], B[k] = sim.linearize()
            found = self._evaluated(Stage(sim, k, k == T, True))
            if isinstance(found, QuadraticNumber):
                slopes[k], curves[k] = found.gradient, found.hessian
        x, u = slice(0, n), slice(n, n + nu)
        return Expansion(A, B, slopes[:, x], curves[:, x, x], slopes[:T, u], curves[:T, u, u], curves[:T, u, x])

    def _evaluated(self, stage: Stage) -> Any:
        """The cost of a stage; OptionError for what is no number, or goes through functions without derivatives."""
        try:
            found = self._cost(stage)
        except (TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise OptionError(
                f"cost: {error}; it must consist of arithmetic and NumPy's functions of numbers"
            ) from error
        if isinstance(found, np.ndarray) and found.size == 1:
            found = found.item()
        if not isinstance(found, QuadraticNumber) and not np.isscalar(found):
            raise OptionError(f"cost must return one number, not {type(found).__name__}")
        return found
