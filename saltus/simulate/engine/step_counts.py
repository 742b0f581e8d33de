"""Counts over the steps of a run: restarts of the integrator, and iterations of the constraint solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.integrate.adaptive.step_bounds import BREAKS
from saltus.simulate.engine.constraint_rows import iterations
from saltus.simulate.engine.engine import Engine

KINDS = 2  # warm, cold


def restart_kinds(engine: Engine) -> int:
    """Number of kinds of restarts: 0 where no events are located."""
    return KINDS if engine.locates_events else 0


def solver_count(engine: Engine) -> int:
    """1 where steps of one length solve for constraint forces by iteration, else 0."""
    iterates = "constraint" in engine.m.layout.features
    return int(iterates and not engine.locates_events and not engine.integrator.adaptive)


class StepCounts:
    """Counts of a run from the present state of its engine on.

    A located event ends a step, and the next one begins with new contact modes, slopes and event functions: a restart.
    It is warm where the method goes on with what it remembers, as `dopri5` with its step size, and cold where it begins
    from nothing: methods of fixed steps, which keep no memory over events, and `dopri5` at declared breaks. Events that
    come too densely to be located restart nothing, until the steps over them are done.
    """

    def __init__(self, engine: Engine):
        self._engine, self._since = engine, engine.time
        self._before = np.zeros(KINDS, np.int32)  # restarts before `since`
        self._iterations = 0
        self._known: tuple[Any, NDArray[np.float64]] = (None, np.zeros(0))  # an engine's events, times of restarts

    def after_steps(self) -> None:
        """Note the iterations of the last step, before anything else is computed."""
        self._iterations = iterations(self._engine.d)

    def columns(self) -> dict[str, NDArray[np.int32]]:
        """The columns `restarts` and `solver_niter` of a recording, at the present state."""
        found: dict[str, NDArray[np.int32]] = {}
        if restart_kinds(self._engine):
            found["restarts"] = self._restarts()
        if solver_count(self._engine):
            found["solver_niter"] = np.array([self._iterations], np.int32)
        return found

    def _restarts(self) -> NDArray[np.int32]:
        engine, now = self._engine, self._engine.time
        at_events = int(np.searchsorted(self._times(), now, side="right"))
        if not engine.integrator.adaptive:
            return self._before + np.array([0, at_events], np.int32)
        breaks = engine.integrator.parameters[-1][BREAKS:]
        at_breaks = int(((breaks > self._since) & (breaks <= now)).sum())
        return self._before + np.array([at_events, at_breaks], np.int32)

    def _times(self) -> NDArray[np.float64]:
        """Times (s) of the located events since the start, each once."""
        events = self._engine.events
        if self._known[0] is not events:
            times = events["time"]
            located = times > self._since
            for since, until in events[events["kind"] == "dense"][["since", "time"]].tolist():
                located &= (times < since) | (times >= until)
            self._known = events, np.unique(times[located])
        return self._known[1]

    def position(self) -> dict[str, Any]:
        """Numbers that `resume` takes to go on from the present state."""
        restarts = self._restarts().tolist() if restart_kinds(self._engine) else []
        return {"restarts": restarts, "solver_niter": self._iterations}

    def resume(self, position: Mapping[str, Any]) -> None:
        """Go on from a position that another run has stored; the engine holds the state."""
        self._since, self._iterations = self._engine.time, position.get("solver_niter", 0)
        if before := position.get("restarts"):
            self._before = np.array(before, np.int32)
