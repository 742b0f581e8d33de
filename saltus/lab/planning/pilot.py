"""A control function or planner in Python that controls a live simulation, in a thread of its own.

As in `Simulation.run`, the function is called with the state at the start of every step, so that a live run and a run
are the same; a planner plans anew at its own rate. The simulation waits for each answer, but the session does not: it
goes on with commands and frames, and takes no step meanwhile.
"""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.control.mppi import SamplingPlanner
from saltus.errors import OptionError
from saltus.lab.planning.preview import PlannedPath, Preview
from saltus.simulate.engine.snapshot import checkpoint, go_to
from saltus.simulate.running.run import control_function
from saltus.simulate.simulation import Simulation

if TYPE_CHECKING:
    from saltus.lab.messages.ear import Ear

#: A function f(sim) -> ctrl [nu], or None if it assigns to the simulation's inputs itself, as for `Simulation.run`.
ControlFunction: TypeAlias = Callable[[Simulation], ArrayLike | None]
Array = NDArray[np.float64]

PACKAGE = Path(__file__).parents[2]
OFTEN = 0.04  # s of wall time between two predictions of the planned motion
SMOOTHING = 0.2  # weight of the last plan in the mean duration of plans


@dataclass(frozen=True, eq=False)
class Answer:
    """Inputs that a control function has set for a state.

    ctrl [nu]: controls. qfrc [nv], xfrc [nbody, 6]: as the simulation's qfrc_applied, xfrc_applied; None: unchanged.
    asked: the state that they are for. planned: seconds that a new plan took; None: the plan is the former one.
    path: its predicted motion; None: no new one.
    """

    ctrl: Array
    qfrc: Array | None
    xfrc: Array | None
    asked: Array
    planned: float | None
    path: PlannedPath | None


class PlanningPilot:
    """A pilot (see `saltus.lab.motion.Pilot`) that asks a control function before each step.

    on: whether the function controls; else all controls are zero. ended: whether no step can be taken now, since the
    answer is not there yet. path: predicted motion of the last plan, None if there is none. plan_time: mean duration of
    a plan or, without a planner, of a call (s). wrench [nbody, 6]: forces on bodies without the spring of the mouse.
    """

    resumable = True

    def __init__(self, control: ControlFunction, preview: Preview | None, ear: Ear):
        self.on, self.ended = True, False
        self.path: PlannedPath | None = None
        self.plan_time: float | None = None
        self.wrench: Array = np.zeros((0, 6))
        self._control, self._preview, self._ear = control, preview, ear
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="saltus lab planner")
        self._copy: Simulation | None = None  # of the running simulation, for the function to read
        self._kind: Simulation | None = None  # the simulation that it is a copy of
        self._asked: Future[Answer] | None = None
        self._known: Array | None = None  # the last plan
        self._predicted = -np.inf  # wall time of the last prediction
        self._anew = self._answered = False

    def begin(self, sim: Simulation) -> None:
        """Take the forces on bodies of a simulation as its own, which dragging is added to; plan from the beginning."""
        self.wrench = sim.xfrc_applied.copy()
        self.path, self._anew = None, True

    def steps_left(self, sim: Simulation) -> int:
        """Number of steps before the next call of `act`: one."""
        return 1

    def act(self, sim: Simulation, patience: float = 0.0) -> None:
        """Set the inputs for the present state once they are known; wait for them at most `patience` seconds.

        OptionError: the function raises an error, or returns something else than controls.
        """
        if not self.on:
            sim.ctrl[:], self.ended = 0.0, False
            return
        until = time.perf_counter() + patience
        while True:
            if self._asked is None:
                self._asked = self._ask(sim)
            wait([self._asked], max(until - time.perf_counter(), 0.0))
            self.ended = not self._asked.done()
            if self.ended:
                return
            asked, self._asked = self._asked, None
            try:
                answer = asked.result()
            except Exception as error:
                raise _failure(error) from error
            if not self._anew and np.array_equal(answer.asked, _state(sim)):
                break  # else the state has jumped meanwhile
        self._take(sim, answer)

    def close(self) -> None:
        """End the thread, after the call in progress."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------ parts

    def _take(self, sim: Simulation, answer: Answer) -> None:
        """Set the inputs of an answer."""
        sim.ctrl[:] = answer.ctrl
        if answer.qfrc is not None:
            sim.qfrc_applied[:] = answer.qfrc
        self.wrench = self.wrench if answer.xfrc is None else answer.xfrc
        first, self._answered = not self._answered, True
        if answer.planned is not None and not first:  # the first one may have been compiled
            before = answer.planned if self.plan_time is None else self.plan_time
            self.plan_time = before + SMOOTHING * (answer.planned - before)
        self.path = answer.path or self.path

    def _ask(self, sim: Simulation) -> Future[Answer]:
        """Begin to find the inputs for the present state."""
        if self._kind is not sim:
            self._kind, self._copy = sim, copy.copy(sim)
        twin, saved, wrench, asked = self._copy, checkpoint(sim.engine), self.wrench, _state(sim)
        assert twin is not None
        anew, self._anew = self._anew, False

        def work() -> Answer:
            go_to(twin.engine, saved)
            twin.xfrc_applied[:] = wrench
            return self._answer(twin, asked, anew)

        return self._thread.submit(self._ear.listening(work))

    def _answer(self, sim: Simulation, asked: Array, anew: bool) -> Answer:
        """Call the control function; in the planner's thread."""
        control, began = self._control, time.perf_counter()
        planner = control if isinstance(control, SamplingPlanner) else None
        if anew and planner is not None:
            planner.reset()
        call = control_function(sim, control, 1)
        assert call is not None
        qfrc, xfrc = sim.qfrc_applied.copy(), sim.xfrc_applied.copy()
        call(0)
        planned: float | None = time.perf_counter() - began
        path = None
        if planner is not None:
            if planner.controls is self._known:
                planned = None
            elif self._preview is not None and (anew or time.perf_counter() > self._predicted + OFTEN):
                path, self._predicted = self._preview.path(sim, planner.controls), time.perf_counter()
            self._known = planner.controls
        return Answer(sim.ctrl.copy(), _new(sim.qfrc_applied, qfrc), _new(sim.xfrc_applied, xfrc), asked, planned, path)


def _state(sim: Simulation) -> Array:
    """Time, positions, velocities and states of actuators, by which a jump of the state is noticed."""
    return np.concatenate([[sim.time], sim.qpos, sim.qvel, sim.act])


def _new(values: Array, before: Array) -> Array | None:
    """A copy of values that are not as before; None if they are."""
    return None if np.array_equal(values, before) else values.copy()


def _failure(error: Exception) -> OptionError:
    """The error of a control function, with the line of the user's program."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if not Path(f.filename).is_relative_to(PACKAGE)]
    own = [f for f in own if "concurrent" not in Path(f.filename).parts]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    return OptionError(f"control: {type(error).__name__}: {text}{where}. The run is paused.")
