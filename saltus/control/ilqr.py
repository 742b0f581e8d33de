"""Trajectories that cost least: iterative LQR with bounds on the controls.

Steps forward with the present policy, a second-order model of the cost and exact derivatives of the steps along the
way, and a backward pass that improves the policy (Li & Todorov, Iterative linear quadratic regulator design (2004);
Tassa, Mansard & Todorov, Control-limited differential dynamic programming (2014), with their regularisation and line
search).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import function, numbers, positive, whole_number
from saltus.control.horizon import steps_of
from saltus.control.tangent_states import check_simulation, difference, state_of
from saltus.control.trajectory.backward_pass import BackwardPass, Expansion, Policy
from saltus.control.trajectory.motions import Motions
from saltus.control.trajectory.stage_costs import Cost, StageCosts
from saltus.control.trajectory.stage_values import StageValues
from saltus.errors import DivergenceError, OptionError
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
LINE = 0.5 ** np.arange(12.0)  # lengths of steps that are tried
LEAST, MOST, FACTOR = 1e-6, 1e10, 1.6  # regularisation


@dataclass(frozen=True, eq=False)
class Plan:
    """A trajectory that costs least, with the feedback along it; a control function: `sim.run(2.0, control=plan)`.

    controls [T, nu], qpos [T + 1, nq], qvel [T + 1, nv], act [T + 1, na] at the steps, time [T + 1] (s). gains
    [T, nu, 2 nv + na]: of u = u_k + K_k (x - x_k). cost: of the whole; costs: after each iteration. converged: whether
    an iteration would change the cost by less than the tolerance. singly: why the cost was evaluated stage by stage,
    which takes longer; "" if it was evaluated at all stages at once.
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
    singly: str = ""

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
    of a `saltus.control.trajectory.stage.Stage`: `stage.qpos`, `qvel`, `act`, `ctrl`, `stage.site("hand")`. It is
    called for all stages at once where it does not look at values, `stage.step` or `stage.time`. `horizon`: steps
    (int) or s (float). `controls` [T, nu]: at the start; by default the present ones, held. They stay in their ranges.
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
    most, small = whole_number("iterations", iterations), positive("tolerance", tolerance, "")
    copied = copy.deepcopy(sim, {id(sim.model): sim.model})  # models never change
    return _Search(copied, f, first).plan(most, small)


class _Search:
    """The present trajectory of a search, with memory for its simulation."""

    def __init__(self, sim: Simulation, cost: Cost, controls: Array):
        self._sim, steps = sim, len(controls)
        self._motions, self._costs = Motions(sim, steps, "ilqr"), StageCosts(sim.model, cost)
        self._backward = BackwardPass(steps, self._motions.size, sim.model.nu)
        self._states = self._motions.held(np.clip(controls, self._motions.low, self._motions.high))
        self._values = StageValues(sim.engine, self._states)
        self._costs.check(self._values)
        self.cost = self._costs.total(self._values)
        self._damping, self._rate = LEAST, FACTOR

    def plan(self, iterations: int, tolerance: float) -> Plan:
        """Improve the controls until the cost decreases no more."""
        costs, converged, gains = [self.cost], False, None
        while not converged and len(costs) <= iterations:
            model = Expansion(*self._motions.linearize(self._states), *self._costs.expand(self._values))
            policy = self._improved(model, tolerance)
            gains = gains if policy is None else policy.K
            converged = policy is None or costs[-1] - self.cost <= tolerance * (abs(self.cost) + 1e-300)
            costs.append(self.cost)
            if policy is None and self._damping > MOST:
                converged = False
                break
        found, controls = self._values, self._controls()
        times = found.time[0] + self._sim.timestep * np.arange(len(self._states))
        if gains is None:
            gains = np.zeros((*controls.shape, self._motions.size))
        about = found.qpos.copy(), found.qvel.copy(), found.act.copy(), times, gains, self.cost, tuple(costs)
        return Plan(controls, *about, converged, self._sim.model, self._costs.singly)

    def _controls(self) -> Array:
        """The present controls [T, nu]."""
        return self._values.ctrl[:-1].copy()

    def _improved(self, model: Expansion, tolerance: float) -> Policy | None:
        """Take the step of a policy that lowers the cost; None if there is none, or none is worth it."""
        controls = self._controls()
        low, high = self._motions.low - controls, self._motions.high - controls
        while self._damping <= MOST:
            policy = self._backward(model, low, high, self._damping)
            if policy is not None:
                if -(policy.dV1 + policy.dV2) <= 1e-2 * tolerance * abs(self.cost):
                    return None
                for size in LINE:
                    expected = -(size * policy.dV1 + size**2 * policy.dV2)
                    tried = self._along(controls, policy, size)
                    if tried is not None and self.cost - tried[2] > 1e-4 * expected:
                        self._states, self._values, self.cost = tried
                        self._rate = min(self._rate / FACTOR, 1 / FACTOR)
                        self._damping = max(self._damping * self._rate, LEAST)
                        return policy
            self._rate = max(self._rate * FACTOR, FACTOR)
            self._damping *= self._rate
        return None

    def _along(self, controls: Array, policy: Policy, size: float) -> tuple[Array, StageValues, float] | None:
        """States, values of stages and cost with a policy's step of a size; None where the motion or cost diverges."""
        try:
            states = self._motions.under(self._states, controls, policy.k, policy.K, size)
        except DivergenceError:
            return None
        values = StageValues(self._sim.engine, states)
        cost = self._costs.total(values)
        return (states, values, cost) if np.isfinite(cost) else None
