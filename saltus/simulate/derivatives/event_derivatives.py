"""Derivatives of the located events of a run, from a second run along dual numbers.

At each instant with events the dual state has the tangents of that instant, whose time moves as well: they are the
total derivatives of the state there (see `saltus.simulate.derivatives.run_tangents`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import numbers, positive
from saltus.errors import EventError, OptionError
from saltus.model.event_enums import IMPACT, ITEM, KIND, NORMAL, NOTHING, SPEED, TANGENT2, TIME
from saltus.number.kinds import NTANGENT
from saltus.record.table.event_sensitivity import EventDerivatives, EventSensitivity
from saltus.record.table.events import EventTable
from saltus.simulate.derivatives.linearize import run_tangents
from saltus.simulate.derivatives.parameter_columns import LAW
from saltus.simulate.derivatives.run_directions import STATE, Directions
from saltus.simulate.diagnosis import divergence
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.events.located import EventReader
from saltus.simulate.engine.snapshot import checkpoint, go_to, peeking
from saltus.simulate.laws.control import Controller
from saltus.simulate.running.run import controlled_by
from saltus.simulate.running.schedule import Plan

if TYPE_CHECKING:
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.derivatives.run_tangents import RunTangents

Array = NDArray[np.float64]
SAME = 1e-6  # s, relative to 1 s and to the time: the recorded event and that with derivatives are one
GRAZES = "a gap, force or speed touches zero there without crossing it (it grazes)"


class _Rows(NamedTuple):
    """Rows of the log [E, fields], their tangents [E, fields, K], and those of the states there [E, states, K].

    at: the states there [E, nq + nv + na].
    """

    values: Array
    tangents: Array
    states: Array
    at: Array


class EventRun:
    """The run that an engine begins at its present state, as far as derivatives of its events need it.

    `names`: what to differentiate by. `duration` (s), `control`: as of `Simulation.run`.
    """

    def __init__(self, engine: Engine, names: Sequence[str], duration: float, control: Any):
        if not engine.locates_events:
            raise OptionError(
                "sensitivity: only located events have derivatives; choose hard contact, saltus.Hard(), and an "
                "integrator that locates them, such as dopri5"
            )
        divergence.check_given(engine)
        self._engine, self._names, self._control = engine, list(names), control
        self._plan = Plan(engine.time, positive("duration", duration), duration, engine.timestep)
        self._rows_of_control = _held(engine, control, self._plan.steps)
        engine.prepare()
        engine.place_mocap()
        with controlled_by(engine, control):  # whose numbers are part of the state
            self._start = checkpoint(engine)
            self._made()  # what has no derivatives is refused before the run

    def _made(self) -> tuple[RunTangents, Directions]:
        """Steps with tangents, and their directions; OptionError where there are none."""
        parameters = [name for name in self._names if name not in STATE]
        running = run_tangents(self._engine, tuple(parameters))
        return running, Directions(self._engine, running, self._names, parameters)

    def attach_to(self, trajectory: Trajectory) -> None:
        """Give the recorded events their derivatives; EventError, with the `trajectory`, where one has none."""
        try:
            trajectory.events.attach(self.derivatives(trajectory.events))
        except EventError as error:
            error.trajectory = trajectory
            raise

    def derivatives(self, events: EventTable) -> EventSensitivity:
        """Derivatives of the run's events, which were recorded as `events`; the engine stays where it is.

        Raises:
            EventError: an event has no derivatives, or the motion has none.
            OptionError: a parameter has none.
        """
        engine = self._engine
        with controlled_by(engine, self._control), peeking(engine):
            go_to(engine, self._start)
            running, directions = self._made()
            groups, columns = [], []
            for column in running.columns(directions.wanted.tolist() or [0]):
                columns.append(column + np.arange(NTANGENT))
                groups.append(self._along(running, column))
            chosen = np.searchsorted(np.concatenate(columns), directions.wanted)
            tangents, states = (_joined([g[k] for g in groups])[..., chosen] for k in (1, 2))
            found = _Rows(groups[0].values, tangents, states, groups[0].at)
            still = self._at_start(running, directions.wanted)
        found = self._matched(found, events, still)
        running.check_parameters(found.states.reshape(-1, found.states.shape[-1])[:, directions.of_parameters])
        self._check(found, events)
        parts = {name: self._part(found, name, here) for name, here in directions.of_wrt.items()}
        model = engine.model
        return EventSensitivity(parts, *np.split(found.at, [model.nq, model.nq + model.nv], axis=1))

    # ------------------------------------------------------------ the run

    def _along(self, running: RunTangents, column: int) -> _Rows:
        """Events with the tangents of the group of directions at `column`, at whose start `running` is."""
        values, tangents, states, at = [], [], [], []
        for rows in self._instants(running):
            state = np.zeros((running.states, running.directions + NTANGENT))
            running.read(state[:, : running.directions], column)
            here = self._values(running.values)
            for row in rows:
                values.append(row[0])
                tangents.append(row[1:].T)
                states.append(state[:, column : column + NTANGENT])
                at.append(here)
        width = len(self._engine.d.views["event_log"][0])
        return _Rows(
            np.reshape(values, (-1, width)),
            np.reshape(tangents, (-1, width, NTANGENT)),
            np.reshape(states, (-1, running.states, NTANGENT)),
            np.reshape(at, (-1, len(self._values(running.values)))),
        )

    def _values(self, read: Callable[[str], Array]) -> Array:
        """The state [nq + nv + na] by a function that reads its fields."""
        model = self._engine.model
        sizes = {"qpos": model.nq, "qvel": model.nv, "act": self._engine.m.nact}
        return np.concatenate([read(name)[:size] for name, size in sizes.items()])

    def _instants(self, running: RunTangents) -> Iterator[list[Array]]:
        """Rows of the events of each instant, over the whole run."""
        plan, rows = self._plan, self._rows_of_control
        if rows is None:
            parts = [(plan.whole, plan.h), (1, plan.rest)]
        else:
            parts = [(1, plan.h)] * plan.whole + [(1, plan.rest)]
        for k, (steps, h) in enumerate(parts):
            if not (steps and h) or running.ended:
                continue
            if rows is not None:
                running.set_ctrl(rows[k])
            yield from running.instants(steps, h)

    def _at_start(self, running: RunTangents, wanted: NDArray[np.int64]) -> _Rows:
        """An event at the start, whose time is given, by the directions `wanted`."""
        width, count = len(self._engine.d.views["event_log"][0]), len(wanted)
        row = np.zeros((1, width))
        row[:, KIND], row[:, ITEM] = -1, NOTHING
        states = np.eye(running.states, max(running.directions, running.states))[:, wanted]
        at = self._values(lambda name: self._engine.d.views[name])
        return _Rows(row, np.zeros((1, width, count)), states[None], at[None])

    # ------------------------------------------------------------ beside the recording

    def _matched(self, found: _Rows, events: EventTable, still: _Rows) -> _Rows:
        """The rows of the recorded events: those before the run with derivatives begins, and those found by it.

        The former are at the start: `still`.
        """
        at_start = events["time"] <= self._plan.start, found.values[:, TIME] <= self._plan.start
        first = max(int(at_start[0].sum() - at_start[1].sum()), 0)
        if len(found.values) > len(events) - first:  # an event at the end, but for rounding
            found = _Rows(*(part[: len(events) - first] for part in found))
        engine = self._engine
        own = EventReader(engine.model, engine.m, engine.d, engine.user_events.names).table(found.values)
        for here, there in zip(own, events[first:], strict=False):
            same = all(here[field] == there[field] for field in ("kind", "name", "other"))
            if not same or abs(here["time"] - there["time"]) > SAME * (1.0 + abs(there["time"])):
                self._refuse(there)
        if len(own) < len(events) - first:
            self._refuse(events[first + len(own)])
        return _Rows(*(np.concatenate([*[a] * first, b]) for a, b in zip(still, found, strict=True)))

    def _refuse(self, event: np.void) -> None:
        raise EventError(
            f"sensitivity: {_called(event)} is not met by the run with derivatives; choose a smaller tolerance or "
            "timestep",
            time=float(event["time"]),
        )

    def _check(self, found: _Rows, events: EventTable) -> None:
        """EventError for the first event without derivatives."""
        exist = np.isfinite(found.tangents).all(axis=(1, 2)) & np.isfinite(found.states).all(axis=(1, 2))
        if not exist.all():
            event = events[int(np.argmin(exist))]
            raise EventError(f"sensitivity: {_called(event)} has no derivatives: {GRAZES}", time=float(event["time"]))

    def _part(self, found: _Rows, name: str, here: NDArray[np.int64]) -> EventDerivatives:
        """Derivatives by the directions `here`."""
        single = len(here) == 1 and (name.endswith("]") or name.startswith(LAW))
        rows, states = found.tangents[..., here], found.states[..., here]
        if single:
            rows, states = rows[..., 0], states[..., 0]
        velocity, impulse = rows[:, SPEED].copy(), rows[:, NORMAL : TANGENT2 + 1].copy()
        velocity[found.values[:, ITEM] == NOTHING] = np.nan
        impulse[found.values[:, KIND] != IMPACT] = np.nan
        nv = self._engine.model.nv
        return EventDerivatives(
            rows[:, TIME].copy(), states[:, :nv], states[:, nv : 2 * nv], states[:, 2 * nv :], velocity, impulse
        )


def _joined(parts: list[Array]) -> Array:
    """Tangents of all groups; EventError where these met other events."""
    if any(a.shape[0] != b.shape[0] for a, b in pairwise(parts)):
        raise EventError("sensitivity: directions met different events; choose a smaller tolerance", time=float("nan"))
    return np.concatenate(parts, axis=-1)


def _called(event: np.void) -> str:
    name = f" of {event['name']}" if event["name"] else ""
    return f"the event {event['kind']!r}{name} at t = {event['time']:g} s"


def _held(engine: Engine, control: Any, steps: int) -> Array | None:
    """Controls [steps, nu] of a run; None where they are those of the engine, or of a controller in the time loop."""
    if control is None or isinstance(control, Controller):
        return None
    if callable(control):
        raise OptionError(
            "sensitivity: a control function in Python has no derivatives; give an array of controls, or a controller "
            "in the time loop (saltus.controller)"
        )
    given = numbers("control", control)
    if given.shape == (engine.model.nu,):
        return np.tile(given, (steps, 1))
    if given.ndim != 2 or given.shape[1] != engine.model.nu or len(given) < steps:
        return None  # the run says what is wrong
    return given
