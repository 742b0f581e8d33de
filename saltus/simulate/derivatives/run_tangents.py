"""Derivatives of motion over many steps and through located events, by dual numbers that run along.

At an event, the time t of g(x(t), p) = 0 carries its own derivatives, by the implicit function theorem; the steps
before and after it have lengths with derivatives, and impacts map duals to duals. Together these are the saltation
matrices of hybrid systems (Leine & Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems (2004), 7.3),
without a case for each kind of event.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NBLOCK
from saltus.contact.mujoco.collision import attach
from saltus.errors import DivergenceError, EventError, OptionError, warn
from saltus.integrate.event.event_driven import event_driven
from saltus.model.event_enums import GAP, IMPACT, ITEM, KIND, LEFT, LOGGED, LOST, OPEN, SPEED, TIME, UNDONE
from saltus.model.layout import DATA
from saltus.number.kinds import NTANGENT
from saltus.number.structs import Struct
from saltus.simulate.derivatives.dual_model import DualModel
from saltus.simulate.derivatives.parameter_columns import (
    CONSTANT,
    GEOMETRY,
    constant_normal,
    constant_normals,
    touching,
)
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking
from saltus.solve.status import (
    CONTACTS_FULL,
    CROWDED,
    DIVERGED,
    ENDED,
    EVENTS_FULL,
    NOT_CONVERGED,
    TOO_DENSE,
    UNSOLVED,
)

START = ("qpos", "qvel", "act", "ctrl")
DENSE = "events are too dense to be located, and steps over them have no derivatives"
INEXACT = {
    NOT_CONVERGED: "the integrator's iteration did not converge",
    UNSOLVED: "the constraint solver did not converge",
    CONTACTS_FULL: "contacts were lost, since their list is full,",
}
SAME_TIME = 1e-9  # s, relative to 1 s and to the time: impacts this close are at once
POLISH = 12  # Newton iterations after convergence, for the tangents of implicit methods
TANGENTS = slice(0, NTANGENT)


class RunTangents:
    """Steps of an engine with tangents along its state, controls and parameters, and memory for them.

    states: number of directions of the state; directions of controls follow, and those of parameters from
    `first_parameter` on, where a new group begins.
    """

    def __init__(self, engine: Engine, parameters: Sequence[str] = ()):
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
        self._model = DualModel(engine, parameters, engine.step_m.layout.features) if parameters else None
        self._m = engine.step_m if self._model is None else self._model.m
        self.names = () if self._model is None else self._model.names
        self.states = 2 * engine.model.nv + engine.m.nact
        self._state_directions = self.states + engine.model.nu
        self.first_parameter = -(-self._state_directions // NTANGENT) * NTANGENT
        self.directions = self.first_parameter + len(self.names) if self.names else self._state_directions
        self.ended = False  # whether a terminal event has ended the steps
        self._asked: list[int] = []  # directions of the present group that must have derivatives
        self._column = 0  # the first direction of the present group

    def linearize(self, steps: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """A [states, states], B [states, nu] and P [states, parameters] of a number of steps, at the present state."""
        found = np.zeros((self.states, self.directions))
        for column in self.columns():
            self.advance(steps)
            self.read(found, column)
        A, B = found[:, : self.states], found[:, self.states : self._state_directions]
        P = found[:, self.first_parameter :] if self.names else np.zeros((self.states, 0))
        self.check_parameters(P)
        check_tangents(A, B, P)
        return A.copy(), B.copy(), P.copy()

    def columns(self, directions: Collection[int] | None = None) -> Iterator[int]:
        """First columns of groups of directions; at each, the data is at the present state with their tangents.

        `directions`: numbers of those whose derivatives must exist; None: all. Groups without any are left out.
        """
        asked = range(max(self.directions, 1)) if directions is None else directions
        engine = self._engine
        engine.prepare()
        with peeking(engine):
            if engine.locates_events and not engine.modes_are_known():
                check_start(engine.settle(), engine.time)
            if engine.locates_events and engine.d.views["dense"][LEFT] > 0:
                raise EventError(f"{DENSE}; let the simulation go on until they are over", time=engine.time)
            start = [engine.d.views[name].copy().reshape(-1) for name in START]
            for column in range(0, max(self.directions, 1), NTANGENT):
                self._asked = [k - column for k in asked if column <= k < column + NTANGENT]
                if not self._asked:
                    continue
                self._column = column
                self._take_over()
                loops.seed_run(self._m, self._d, *start, column)
                if self._model is not None:
                    group = (column - self.first_parameter) // NTANGENT
                    self._model.seed(self._d, group if group >= 0 else None)
                yield column

    def _take_over(self) -> None:
        """Copy the engine's data, without tangents."""
        own = self._d.views
        for name, values in self._engine.d.views.items():
            if np.size(values) and own[name].shape[: np.ndim(values)] == np.shape(values):  # scratch may differ
                self._d.fill(name, values)
        has_xfrc = DATA.slot["has_xfrc"]
        self._d.ints[has_xfrc] = self._engine.d.ints[has_xfrc]
        if own["event_count"].size:
            own["event_count"][[LOGGED, LOST, UNDONE]] = 0
        self.ended = False

    def values(self, name: str) -> NDArray[np.float64]:
        """A field of the data without its tangents."""
        return self._d.views[name][..., 0, 0].copy()

    def tangents(self, name: str) -> NDArray[np.float64]:
        """Tangents of a field [..., NTANGENT]."""
        return self._d.views[name][..., 1, TANGENTS].copy()

    def read(self, found: NDArray[np.float64], column: int) -> None:
        """Write the state's derivatives along a group of directions to its columns of `found` [states, directions]."""
        loops.read_run(self._m, self._d, self.values("qpos"), found, column)

    @property
    def blocks(self) -> int:
        """Number of constraints of the last step."""
        return int(self._d.views["count"][NBLOCK])

    def set_ctrl(self, values: NDArray[np.float64], slopes: NDArray[np.float64] | None = None) -> None:
        """Set the controls [nu], whose tangents stay; `slopes` [nu]: by what each changes along its own direction."""
        ctrl = self._d.views["ctrl"]
        ctrl[: len(values), 0, 0] = values
        for k, slope in enumerate(() if slopes is None else slopes):
            if 0 <= (place := self.states + k - self._column) < NTANGENT:
                ctrl[k, 1, place] = slope

    def advance(self, steps: int) -> list[NDArray[np.float64]]:
        """Take steps with tangents; returns for each event its row of the log and the tangents [1 + NTANGENT, fields].

        EventError, DivergenceError for steps that cannot be taken with tangents.
        """
        found: list[NDArray[np.float64]] = []
        taken, status = 0, EVENTS_FULL
        while status == EVENTS_FULL and taken < steps:
            more, status, rows = self._steps(steps - taken, self._engine.timestep)
            taken, found = taken + more, found + rows
        self._check(status, found)
        return found

    def instants(self, steps: int, h: float) -> Iterator[list[NDArray[np.float64]]]:
        """Take steps of h seconds, with a stop behind each instant with events: the rows of these, as of `advance`.

        At a stop the data is at the instant, with the tangents of its time, and behind all that happens there.
        EventError, DivergenceError as for `advance`.
        """
        count = self._d.views["event_count"]
        before: list[NDArray[np.float64]] = []
        taken, status = 0, EVENTS_FULL
        while status == EVENTS_FULL and taken < steps:
            # one event more than half of its room, and the log must be read
            count[LOGGED] = first = self._d.views["event_log"].shape[0] // 2
            more, status, rows = self._steps(steps - taken, h, first)
            taken += more
            self._check(status, before[-1:] + rows)
            before = rows or before
            if rows:
                yield rows

    def _steps(self, steps: int, h: float, first: int = 0) -> tuple[int, int, list[NDArray[np.float64]]]:
        """Take steps until the log is full; returns their number, a status, and the rows of the log from `first` on."""
        found = []
        count = self._d.views["event_count"]
        taken, status = self._loop(self._m, self._d, steps, h, *self._parameters)
        if count.size:
            for row in self._d.views["event_log"][first : count[LOGGED]]:
                found.append(np.concatenate([row[:, 0, :1], row[:, 1, TANGENTS]], axis=1).T.copy())
            count[LOGGED] = count[LOST] = 0
        return taken, status, found

    def check_parameters(self, P: NDArray[np.float64]) -> None:
        """OptionError if derivatives [rows, parameters] by parameters that have none are among these."""
        if self._model is not None:
            self._model.check(P)

    def _check(self, status: int, events: list[NDArray[Any]]) -> None:
        """Raise for steps that could not be taken with tangents; warn of events whose order matters."""
        time = float(self.values("time"))
        if status == DIVERGED:
            raise DivergenceError(time)
        if status in (TOO_DENSE, CROWDED):
            raise EventError(f"{DENSE}; ask for a shorter time", time=time)
        self._check_normals(events)
        self.ended = status == ENDED
        if status in INEXACT:
            warn(f"derivatives of a run: {INEXACT[status]} in some steps, where they are inexact")
        elif status and status not in (ENDED, EVENTS_FULL):
            raise EventError("the motion could not be continued with derivatives", time=time)
        self._check_order(events)

    def _check_order(self, events: list[NDArray[Any]]) -> None:
        """EventError if contacts that meet at once would not after a small change; else a warning.

        The time of all is that of one of them. A gap that does not stay zero at that time, along a direction, closes at
        another time, for which the steps have no tangents.
        """
        impacts = [row for row in events if row[0, KIND] == IMPACT]
        together = [
            (before, after)
            for before, after in pairwise(impacts)
            if before[0, ITEM] != after[0, ITEM]
            and abs(after[0, TIME] - before[0, TIME]) <= SAME_TIME * (1.0 + abs(after[0, TIME]))
        ]
        for rows in together:
            for row in rows:
                apart = np.abs(row[1:, GAP][self._asked])
                scale = 1.0 + np.abs(row[1:, TIME][self._asked] * row[0, SPEED])
                if (apart > SAME_TIME * scale).any():
                    raise EventError(
                        "the motion has no derivatives here: several contacts meet at once, and after a small change "
                        "one after the other; let them meet at different times",
                        time=float(row[0, TIME]),
                    )
        if together:
            warn(
                f"at t = {together[0][0][0, TIME]:g} s several contacts meet at once: the derivatives hold only where "
                "their order does not matter"
            )

    def _check_normals(self, events: list[NDArray[Any]]) -> None:
        """OptionError if contacts that met or lasted have normals that do not turn in derivatives."""
        engine = self._engine
        if not engine.locates_events:
            self._check_touching()
            return
        pairs, m = engine.m.views["slot_pair"], engine.m
        met = {int(row[0, ITEM]) for row in events} | set(np.flatnonzero(self.values("mode") != OPEN).tolist())
        geom1, geom2 = m.views["collision_geom1"], m.views["collision_geom2"]
        collisions = [int(pairs[k]) for k in sorted(met) if 0 <= k < len(pairs)]
        geoms = constant_normals(engine.model.mj_model, [(int(geom1[c]), int(geom2[c])) for c in collisions])
        if geoms:
            raise OptionError(f"the motion has no derivatives here: {CONSTANT.format(geoms)}")

    def _check_touching(self) -> None:
        """OptionError if normals of present contacts count as constant; it names a parameter that turns them."""
        if geoms := constant_normals(self._engine.model.mj_model, touching(self._m, self._d)):
            turned = [] if self._model is None else [c.name for c in self._model.columns if c.field in GEOMETRY]
            if turned:
                raise constant_normal(turned[0], geoms)
            raise OptionError(f"the motion has no derivatives here: {CONSTANT.format(geoms)}")


def check_start(kinds: NDArray[np.str_], time: float) -> None:
    """EventError if velocities jump at the start itself, by kinds of the events there."""
    if "impact" in kinds:
        raise EventError(
            "the motion has no derivatives here: it begins at an impact, which a small change of the start moves in "
            "time; begin before it, or behind it",
            time=time,
        )


def check_methods(engine: Engine) -> None:
    """OptionError for motions, solvers and integrators through which duals cannot go."""
    if engine.motions:
        raise OptionError("linearize does not support prescribed motions; make the joints free, with servos on them")
    if "noslip" in engine.m.layout.features:
        raise OptionError("linearize does not support the noslip solver; leave noslip_iterations at 0")
    solved = engine.integrator.needs.get("pcg", False)
    if engine.integrator.doubles_only or solved is True or (solved and "flex" in engine.m.layout.features):
        of = "" if engine.integrator.doubles_only or solved is True else " of deformable bodies"
        raise OptionError(f"linearize does not support {engine.integrator.name}{of}; choose euler or implicit_midpoint")


def check_differentiable(engine: Engine) -> None:
    """OptionError for an engine whose motion has no derivatives, or none that duals can follow."""
    check_methods(engine)
    if engine.steps_over_events:
        raise OptionError(
            f"{engine.integrator.name} steps over impacts, so its steps have no derivatives; choose an integrator that "
            "locates them, such as dopri5"
        )
    if engine.hard is None and engine.integrator.adaptive and (engine.m.nlimit or engine.m.nconmax):
        raise OptionError(
            f"soft contacts and limits begin and end inside the steps of {engine.integrator.name}, whose "
            "derivatives would leave out when; choose hard contact, or a fixed-step integrator for those of its steps"
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
