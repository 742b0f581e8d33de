"""Derivatives of motion over many steps and through located events, by dual numbers that run along.

At an event, the time t of g(x(t), p) = 0 carries its own derivatives, by the implicit function theorem; the steps
before and after it have lengths with derivatives, and impacts map duals to duals. Together these are the saltation
matrices of hybrid systems (Leine & Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems (2004), 7.3),
without a case for each kind of event.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.mujoco.collision import attach
from saltus.errors import DivergenceError, EventError, OptionError, warn
from saltus.integrate.event.event_driven import event_driven
from saltus.model.event_enums import IMPACT, ITEM, KIND, LOGGED, LOST, TIME, UNDONE
from saltus.model.layout import DATA
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking
from saltus.solve.status import CROWDED, DIVERGED, ENDED, EVENTS_FULL, TOO_DENSE, UNSOLVED

START = ("qpos", "qvel", "act", "ctrl")
SAME_TIME = 1e-9  # s, relative to 1 s and to the time: impacts this close are at once
POLISH = 12  # Newton iterations after convergence, for the tangents of implicit methods
TANGENTS = slice(0, NTANGENT)


class RunTangents:
    """Steps of an engine with tangents along its state and controls, and memory for them."""

    def __init__(self, engine: Engine):
        check_differentiable(engine)
        self._engine, integrator = engine, engine.integrator
        stepped = event_driven(integrator) if engine.locates_events else integrator
        sizes = engine.d.sizes
        room = {"control_states": sizes["nact_room"] - sizes["nact"], "control_prm": sizes["ncontrol_prm"]}
        self._d = Struct(DATA, stepped.data_sizes(engine.m.sizes, tangents=True, **room), "dual")
        attach(engine.model, self._d)
        self._parameters: list[Any] = list(integrator.parameters)
        if integrator.needs.get("newton"):
            self._parameters[1] = np.int64(POLISH)
        self._loop = loops.advance(stepped)
        self.states = 2 * engine.model.nv + engine.m.nact
        self.directions = self.states + engine.model.nu

    def linearize(self, steps: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A [states, states] and B [states, nu] of the motion over a number of steps, at the present state."""
        A, B = np.zeros((self.states, self.states)), np.zeros((self.states, self._engine.model.nu))
        for column in self.columns():
            self.advance(steps)
            loops.read_run(self._engine.step_m, self._d, self.values("qpos"), A, B, column)
        check_tangents(A, B)
        return A, B

    def columns(self, groups: Collection[int] | None = None) -> Iterator[int]:
        """First columns of groups of directions; at each, the data is at the present state with their tangents.

        `groups`: numbers of those wanted; None: all.
        """
        engine = self._engine
        engine.prepare()
        with peeking(engine):
            if engine.locates_events and not engine.modes_are_known():
                engine.settle()
            start = [engine.d.views[name].copy().reshape(-1) for name in START]
            for column in range(0, max(self.directions, 1), NTANGENT):
                if groups is not None and column // NTANGENT not in groups:
                    continue
                self._take_over()
                loops.seed_run(engine.step_m, self._d, *start, column)
                yield column

    def _take_over(self) -> None:
        """Copy the engine's data, without tangents."""
        own = self._d.views
        for name, values in self._engine.d.views.items():
            if np.size(values) and own[name].shape[: np.ndim(values)] == np.shape(values):  # scratch may differ
                self._d.fill(name, values)
        if own["event_count"].size:
            own["event_count"][[LOGGED, LOST, UNDONE]] = 0

    def values(self, name: str) -> NDArray[np.float64]:
        """A field of the data without its tangents."""
        return self._d.views[name][..., 0, 0].copy()

    def tangents(self, name: str) -> NDArray[np.float64]:
        """Tangents of a field [..., NTANGENT]."""
        return self._d.views[name][..., 1, TANGENTS].copy()

    def advance(self, steps: int) -> list[NDArray[np.float64]]:
        """Take steps with tangents; returns for each event its row of the log and the tangents [1 + NTANGENT, fields].

        EventError, DivergenceError for steps that cannot be taken with tangents.
        """
        found = []
        count = self._d.views["event_count"]
        taken, status = 0, EVENTS_FULL
        while status == EVENTS_FULL and taken < steps:
            given = steps - taken, self._engine.timestep, *self._parameters
            more, status = self._loop(self._engine.step_m, self._d, *given)
            taken += more
            if not count.size:
                break
            for row in self._d.views["event_log"][: count[LOGGED]]:
                found.append(np.concatenate([row[:, 0, :1], row[:, 1, TANGENTS]], axis=1).T.copy())
            count[LOGGED] = count[LOST] = 0
        self._check(status, found)
        return found

    def _check(self, status: int, events: list[NDArray[Any]]) -> None:
        """Raise for steps that could not be taken with tangents; warn of events whose order matters."""
        time = float(self.values("time"))
        if status == DIVERGED:
            raise DivergenceError(time)
        if status in (TOO_DENSE, CROWDED):
            raise EventError(
                "events are too dense to be located, and steps over them have no derivatives; ask for a shorter time",
                time=time,
            )
        if status > UNSOLVED and status not in (ENDED, EVENTS_FULL):
            raise EventError("the motion could not be continued with derivatives", time=time)
        impacts = [row[0] for row in events if row[0, KIND] == IMPACT]
        for before, after in pairwise(impacts):
            near = abs(after[TIME] - before[TIME]) <= SAME_TIME * (1.0 + abs(after[TIME]))
            if near and before[ITEM] != after[ITEM]:
                warn(
                    f"at t = {before[TIME]:g} s several contacts meet at once: the derivatives hold only where their "
                    "order does not matter"
                )
                break


def check_differentiable(engine: Engine) -> None:
    """OptionError for an engine whose motion has no derivatives, or none that duals can follow."""
    if engine.motions:
        raise OptionError("derivatives do not support prescribed motions; make the joints free, with servos on them")
    if engine.steps_over_events:
        raise OptionError(
            f"{engine.integrator.name} steps over impacts, so its steps have no derivatives; choose an integrator that "
            "locates them, such as dopri5"
        )
    if engine.sleeps:
        raise OptionError("derivatives of motion do not support bodies that sleep; leave the sleep flag off")


def check_tangents(*matrices: NDArray[np.float64]) -> None:
    """EventError for derivatives that do not exist."""
    if not all(np.isfinite(matrix).all() for matrix in matrices):
        raise EventError(
            "the motion has no derivatives here: at an event a gap, force or speed touches zero without crossing it "
            "(a grazing contact), or a direction of friction is not defined"
        )
