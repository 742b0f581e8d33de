"""The ledger of a run: the work of all kinds of forces, summed up over its steps."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from saltus.record.ledger import ACCOUNTS, ENERGIES, WORKS
from saltus.simulate import loops

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

IMPACTS = len(WORKS)  # places of the accounts
EQUATIONS = IMPACTS + 1

#: Weights of closed Newton-Cotes formulas by their number of parts: Simpson's rule and Boole's.
WEIGHTS = {2: np.array([1, 4, 1]) / 6, 4: np.array([7, 32, 12, 32, 7]) / 90}
RULES = {
    0: "force times displacement, of the forces that moved each step",
    2: "power, by Simpson's rule over each step, whose own error is of fourth order",
    4: "power, by Boole's rule over each step, whose own error is of sixth order",
}


class Ledger:
    """Work of all kinds of forces since the run's start.

    Methods that leave the forces of a step behind are charged with the work of just these, force times the step's
    displacement at its mean velocity: a balance of the steps as they were taken, whatever their length. Others are
    asked for their powers at the step's ends and at places between, where shorter steps of the same method go. What
    impacts change is in the log of events. Given equations of motion are charged with what they do beyond the bodies'
    own: the forces of a step at its start, or where the method has them.

    `work` [n]: J, in the order of the accounts after `ENERGIES`. `rule`: how it is found, in words.
    """

    def __init__(self, sim: "Simulation"):
        self.sim = sim
        self.work = np.zeros(len(ACCOUNTS) - len(ENERGIES))
        self._leaves = "" if sim._located else sim.integrator.leaves
        self._parts = 0 if self._leaves else 2 if sim.integrator.order <= 4 else 4
        self.rule = RULES[self._parts]

    def accounts(self) -> np.ndarray:
        """The present state's energies, and the work so far (J)."""
        energies = np.zeros(len(ENERGIES))
        loops.energies(self.sim._model, self.sim._struct, energies)
        self.sim._computed = None
        return np.concatenate([energies, self.work])

    def step(self, steps: Callable[[int, float], bool], h: float) -> bool:
        """Take a step with `steps` and account for it; returns what that does, whether the run has ended."""
        sim = self.sim
        before, start, seen = sim._state.copy(), sim.time, len(sim.events)
        ended = steps(1, h)
        events = sim.events[seen:]
        if self._leaves:
            self._forces_of(before, h)
        else:
            self._powers(before, sim.time - start)
        # what happens at once to several contacts is one change of energy
        changes = np.unique(events[["time", "energy_before", "energy_after"]])
        self.work[IMPACTS] += np.nansum(changes["energy_after"] - changes["energy_before"])
        return ended

    def _forces_of(self, before: np.ndarray, h: float) -> None:
        """The work of the forces that are in the Data."""
        sim, work = self.sim, self.work[:IMPACTS]
        after, damped = sim._state.copy(), 0.0
        moving = sim._rows_of("qvel")
        velocities = before[moving], after[moving]
        if self._leaves == "middle":
            loops.work_in_middle(sim._model, sim._struct, h, work)
            self._equations_of(sim._state.copy(), velocities, h)
        else:
            anew, theta = 0.0, sim.integrator.parameters[0][0] if sim.integrator.parameters else 1.0
            if self._leaves == "damped":
                damped = float(h * sim._model.implicit_damping)
            else:  # actuators' states are those of the step's start
                anew = float(theta)
                rows = sim._rows_of("act")
                sim._state[rows] = before[rows]
            loops.work_of_step(sim._model, sim._struct, h, damped, anew, velocities[0], work)
            self._equations_of(before, velocities, h)
        sim._state[:] = after

    def _equations_of(self, state: np.ndarray, velocities: tuple[np.ndarray, np.ndarray], h: float) -> None:
        """The work of given equations over a step between two velocities, with their forces at a state of it."""
        if not self.sim._equations:
            return
        first, last = velocities
        self.sim._state[:] = state
        if self._leaves == "implicit":  # in velocities
            self.sim.qvel[:] = last
        self._add_equations(h, (last - first) / h, 0.5 * (first + last))

    def _add_equations(self, weight: float, acceleration: np.ndarray, velocity: np.ndarray) -> None:
        """Add the power of given equations at the present state, with its acceleration, times a weight (s)."""
        sim = self.sim
        there = sim._struct.views["qacc"]
        qacc = there.copy()
        loops.work_of_equations(sim._model, sim._struct, weight, acceleration, velocity, self.work[EQUATIONS:])
        there[:] = qacc
        sim._computed = None

    def _powers(self, before: np.ndarray, h: float) -> None:
        """The work by a quadrature of powers from the state `before` to the present one."""
        sim, weights = self.sim, WEIGHTS[self._parts]
        after, left, events, unconverged = sim._state.copy(), sim._left, sim.events, sim.unconverged
        ctrl = sim.ctrl.copy()  # held over the step, and perhaps chosen at its start
        self._add(h * weights[-1])
        sim._state[:] = before
        sim.ctrl[:] = ctrl
        self._add(h * weights[0])
        sim._struct.views["memory"][:] = 0.0
        for weight in weights[1:-1]:
            sim._prepare()
            sim._advance(1, h / self._parts)
            sim._finish()
            self._add(h * weight)
        sim._state[:] = after
        sim._left, sim.events, sim.unconverged = left, events, unconverged

    def _add(self, weight: float) -> None:
        """Add the powers of the present state times a weight (s)."""
        self.sim.forward()
        loops.add_work(self.sim._model, self.sim._struct, weight, self.work[:IMPACTS])
        if self.sim._equations:
            self._add_equations(weight, self.sim._struct.views["qacc"].copy(), self.sim.qvel.copy())
        self.sim._computed = None
