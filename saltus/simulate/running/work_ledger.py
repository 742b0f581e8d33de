"""The energy ledger of a run: the work of each kind of force, summed over its steps."""

from itertools import pairwise
from typing import Protocol

import numpy as np

from saltus.contact.counts import NITER
from saltus.integrate.work import CONTACT, DRY, EQUALITIES, LIMITS
from saltus.model.event_enums import LEFT
from saltus.record.table.ledger import ACCOUNTS, ENERGIES, WITHOUT_MOTIONS, WORKS
from saltus.simulate import stepping
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import go_to, peeking

IMPACTS = len(WORKS)  # indices of accounts
EQUATIONS, MOTIONS = IMPACTS + 1, IMPACTS + 2
CONSTRAINTS = (CONTACT, LIMITS, DRY, EQUALITIES)

#: Places in a step and weights of Gauss-Legendre quadrature with three points.
NODES = 0.5 + np.sqrt(0.15) * np.array([-1.0, 0.0, 1.0])
NODE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0

#: Weights of closed Newton-Cotes formulas by their number of parts: Simpson's rule and Boole's.
WEIGHTS = {2: np.array([1, 4, 1]) / 6, 4: np.array([7, 32, 12, 32, 7]) / 90}
RULES = {
    0: "force times displacement, of the forces that moved each step",
    2: "power, by Simpson's rule over each step, whose own error is of fourth order",
    4: "power, by Boole's rule over each step, whose own error is of sixth order",
    3: "power, by Gauss and Legendre's rule with three points over each step, whose own error is of sixth order",
}


class Inside(Protocol):
    """Run that can evaluate states inside the step that it has taken."""

    def take_again(self, times: np.ndarray, target: float) -> np.ndarray:
        """Repeat the step towards a target (s); returns the states at ascending times inside it."""
        ...

    def put(self, row: np.ndarray) -> None:
        """Put the engine into a state that `take_again` returned."""
        ...


def _only_loops(engine: Engine) -> bool:
    """Whether loops that the integrator closes exactly are all that hard contact has, so that steps have no events."""
    sizes = engine.m.sizes
    events = any(sizes[name] for name in ("nslot", "nlimit", "nfriction", "nuserevent"))
    return "loops" in engine.m.layout.features and not events


class Ledger:
    """Work of all kinds of forces since the run's start.

    If a method leaves the forces of a step in Data, their work is force times the step's displacement at its mean
    velocity, which balances the steps as they were taken, whatever their length. For other methods, powers are
    integrated over the step, from its ends and from places between that shorter steps of the same method reach; for
    adaptive methods, from the dense output. Energy changes of impacts come from the log of events. User-defined
    equations of motion are charged with forces beyond those of the bodies' own inertia, at the step's start or where
    the method evaluates them. If motions of joints are prescribed, powers are integrated for all methods.

    `work` [n]: J, in the order of the accounts after `ENERGIES`. `rule`: description of the quadrature.
    """

    def __init__(self, engine: Engine):
        self.engine = engine
        self.work = np.zeros(len(ACCOUNTS) - len(ENERGIES))
        # methods that leave the forces of their steps in Data do not leave those of prescribed motions
        located = engine.locates_events and not _only_loops(engine)
        self._leaves = "" if located or engine.motions.joints else engine.integrator.leaves
        free = engine.integrator.adaptive and not (engine.control is not None and engine.control.hold)
        self._parts = 0 if self._leaves else 3 if free else 2 if engine.integrator.order <= 4 else 4
        self.rule = RULES[self._parts]

    def accounts(self) -> np.ndarray:
        """Energies of the present state, and the work so far (J)."""
        energies = np.zeros(len(ENERGIES))
        loops.energies(self.engine.m, self.engine.d, energies)
        self.engine.computed = None
        found = np.concatenate([energies, self.work])
        return found if self.engine.motions.joints else found[:WITHOUT_MOTIONS]

    def step(self, h: float) -> bool:
        """Take a step of h seconds and add its work; returns whether an event has ended the run."""
        engine = self.engine
        before, start = engine.state.copy(), engine.time
        ended = stepping.take_steps(engine, 1, h)
        iterations = int(engine.d.views["count"][NITER])
        if self._leaves:
            self._forces_of(before, h)
        else:
            self._powers(before, engine.time - start)
        self._add_impacts(start)
        engine.d.views["count"][NITER] = iterations  # those of the step, not of the powers' states
        return ended

    def _add_impacts(self, start: float) -> None:
        """Add the impacts since `start` (s); simultaneous impacts at several contacts are one change of energy."""
        events = self.engine.events
        impacts = events[(events["kind"] == "impact") & (events["time"] > start) & (events["time"] <= self.engine.time)]
        changes = np.unique(impacts[["time", "energy_before", "energy_after"]])
        self.work[IMPACTS] += np.nansum(changes["energy_after"] - changes["energy_before"])

    def free_step(
        self, steps: Inside, before: dict[str, np.ndarray], start: float, target: float, marks: list[float]
    ) -> list[np.ndarray]:
        """Add the work of the step towards `target` (s) that was taken from the state `before` at `start` (s).

        The step is repeated, to evaluate states inside it. If it stepped over dense events, the change of energy that
        smooth forces do not explain is charged to impacts. Returns the work up to each of the times in `marks`, which
        lie inside the step.
        """
        engine = self.engine
        end = engine.time
        if not end > start:
            return [self.work.copy() for _ in marks]
        after = engine.state.copy()
        dense = engine.locates_events and before["state"][engine.rows_of("dense")][LEFT] > 0.0
        edges = [start, *marks, end]
        parts = list(pairwise(edges))
        inside = np.concatenate([a + (b - a) * NODES for a, b in parts])
        works = []
        with peeking(engine):
            go_to(engine, before)
            held, done = self._held(), self.work.copy()
            rows = steps.take_again(np.sort(np.append(inside, marks)), target)
            at = {float(row[0]): row for row in rows}
            for a, b in parts:
                for place, weight in zip(NODES, NODE_WEIGHTS, strict=True):
                    if (row := at.get(float(a + (b - a) * place))) is not None:
                        steps.put(row)
                        self._add((b - a) * weight)
                if dense:
                    if b < end:
                        steps.put(at[b])
                    else:
                        engine.state[:] = after
                    self.work[list(CONSTRAINTS)] = done[list(CONSTRAINTS)]
                    self.work[IMPACTS] = done[IMPACTS]
                    self.work[IMPACTS] += self._held() - held - (self.work - done).sum()
                works.append(self.work.copy())
        self._add_impacts(start)
        return works[:-1]

    def _held(self) -> float:
        """The energy of the present state (J)."""
        return float(self.accounts()[: len(ENERGIES)].sum())

    def _forces_of(self, before: np.ndarray, h: float) -> None:
        """Add the work of the forces that the step left in Data."""
        engine, work = self.engine, self.work[:IMPACTS]
        after, damped = engine.state.copy(), 0.0
        moving = engine.rows_of("qvel")
        velocities = before[moving], after[moving]
        if self._leaves == "middle":
            loops.work_in_middle(engine.m, engine.d, h, work)
            self._equations_of(engine.state.copy(), velocities, h)
        else:
            anew, theta = 0.0, engine.integrator.parameters[0][0] if engine.integrator.parameters else 1.0
            if self._leaves == "damped":
                damped = float(h * engine.m.implicit_damping)
            else:  # forces of actuators belong to their states at the step's start
                anew = float(theta)
                rows = engine.rows_of("act")
                engine.state[rows] = before[rows]
            loops.work_of_step(engine.m, engine.d, h, damped, anew, velocities[0], work)
            self._equations_of(before, velocities, h)
        engine.state[:] = after

    def _equations_of(self, state: np.ndarray, velocities: tuple[np.ndarray, np.ndarray], h: float) -> None:
        """Add the work of user-defined equations over a step between two velocities, with their forces at `state`."""
        if not self.engine.equations:
            return
        first, last = velocities
        self.engine.state[:] = state
        if self._leaves == "implicit":  # implicit in velocities
            self.engine.qvel[:] = last
        self._add_equations(h, (last - first) / h, 0.5 * (first + last))

    def _add_equations(self, weight: float, acceleration: np.ndarray, velocity: np.ndarray) -> None:
        """Add the power of user-defined equations at the present state and given acceleration, times a weight (s)."""
        engine = self.engine
        there = engine.d.views["qacc"]
        qacc = there.copy()
        loops.work_of_equations(engine.m, engine.d, weight, acceleration, velocity, self.work[EQUATIONS:])
        there[:] = qacc
        engine.computed = None

    def _powers(self, before: np.ndarray, h: float) -> None:
        """Add the work from a quadrature of powers from the state `before` to the present one."""
        engine, weights = self.engine, WEIGHTS[self._parts]
        unconverged = engine.unconverged
        ctrl = engine.ctrl.copy()  # constant over the step, possibly set at its start
        with peeking(engine):
            self._add(h * weights[-1])
            engine.state[:] = before
            engine.ctrl[:] = ctrl
            self._add(h * weights[0])
            engine.d.views["memory"][:] = 0.0
            for weight in weights[1:-1]:
                engine.prepare()
                engine.advance(1, h / self._parts)
                engine.keep_left()
                self._add(h * weight)
        engine.unconverged = unconverged

    def _add(self, weight: float) -> None:
        """Add the powers of the present state times a weight (s)."""
        stepping.forward(self.engine)
        loops.add_work(self.engine.m, self.engine.d, weight, self.work[:IMPACTS])
        if self.engine.equations:
            self._add_equations(weight, self.engine.d.views["qacc"].copy(), self.engine.qvel.copy())
        if self.engine.motions.joints:
            self.work[MOTIONS] += weight * float(self.engine.d.views["qfrc_prescribed"] @ self.engine.qvel)
        self.engine.computed = None
