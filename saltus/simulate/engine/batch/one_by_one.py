"""Many states of one mechanism under hard contact or with located events, each moved by itself, on several threads."""

import time as clock
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from saltus.contact.counts import NUNSOLVED
from saltus.errors import OptionError, warn
from saltus.integrate.integrator import Integrator
from saltus.model.compile.constraints.hard import law_numbers
from saltus.model.event_enums import KIND
from saltus.model.layout import DATA
from saltus.number.structs import aligned_zeros
from saltus.record.table.events import EventTable, event_table
from saltus.simulate.engine import loops, movers
from saltus.simulate.engine.batch.log import COLUMNS, BatchLog
from saltus.simulate.engine.batch.loops import advance_each, least_gaps, look_at, look_each
from saltus.simulate.engine.batch.states import FIELDS, BatchStates, Result, numbered
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.events.located import has_leftovers, warn_of_leftovers, warn_of_lost, warn_of_unproved
from saltus.simulate.engine.events.start import points, start_faults
from saltus.simulate.engine.events.stepped import MOST_EVENTS
from saltus.simulate.engine.switches import check_actions
from saltus.simulate.laws.coefficients import Coefficients
from saltus.simulate.laws.contact import Hard, Law
from saltus.simulate.laws.hard_contact import check_static_friction
from saltus.solve.status import CONTACTS_FULL, DIVERGED, ENDED, EVENTS_FULL, OK, STEP_TOO_SMALL

LOG_ROOM = 16_384  # rows that a thread logs between two readings


class OneByOne(BatchStates):
    """n states of a model, moved one after the other by the compiled loop of a single simulation.

    Each thread has an Engine, into which it loads one state after the other. A group is a single state, as
    `Engine.state`. `law`: contact law, whose restitution and friction may vary between simulations.
    """

    precision = "float64"
    width = 1

    def __init__(self, engines: Sequence[Engine], n: int, law: Hard, parameters: int):
        super().__init__(n, len(engines))
        self.engines, self.engine = engines, engines[0]
        self.model, self.m, self.sizes = self.engine.model, self.engine.m, self.engine.d.sizes
        self.workspaces = [engine.d for engine in engines]
        self._parameters = parameters
        self._spans = {field: self._span(field) for field in (*FIELDS, "qacc_warmstart")}
        self.groups, self._rows = n, aligned_zeros((n, self.engine.state.size), np.float64)
        self.states, self.clock = self._rows[:, :, None], self._rows[:, self._spans["time"]]
        self.remembered = np.zeros(0, int)  # `advance` detects changes itself
        self._past = self.engine.rows_of("time", "act")  # rows that are compared to detect changes from outside
        self._left = np.zeros((n, self._past.stop - self._past.start))  # values that the last steps left
        self._fresh = np.ones(n, bool)  # states without steps since their restart
        self._status = np.zeros(n, int)  # of states that cannot continue
        self._starts: dict[int, str] = {}  # faults of invalid initial states
        self._failed: dict[int, np.ndarray] = {}  # states after the steps that failed, of those that diverged
        self._ended = np.zeros(n, bool)
        self._log = BatchLog(n, None if self.engine.locates_events else MOST_EVENTS)
        self._said: set[str] = set()  # warnings of starts
        self._leftovers = self._told = False  # whether impacts were cut off; whether a warning was given
        self._address = 0
        self.set_law(law)

    def _span(self, field: str) -> slice:
        first = self.engine.rows_of(field).start
        return slice(first, first + int(np.prod(self.shape(field))))

    # ------------------------------------------------------------ state

    def shape(self, field: str) -> tuple[int, ...]:
        """The shape of a field in one state, without the engine's spare room for a controller."""
        own = {"act": self.m.nact, "control_prm": self._parameters}
        return (own[field],) if field in own else super().shape(field)

    def span(self, field: str) -> slice:
        """The rows of a state that hold a field."""
        return self._spans[field]

    def restart(self, index: np.ndarray) -> None:
        """Restart the states with the given numbers from the fields that have been written."""
        given = [np.arange(span.start, span.stop) for span in (self._spans[field] for field in FIELDS)]
        past = np.setdiff1d(np.arange(self._rows.shape[1]), np.concatenate(given))
        self._rows[index[:, None], past] = 0.0
        self._rows[index, self._spans["actuation_state"]] = self.engine.start_values
        self._fresh[index], self._status[index], self._ended[index] = True, OK, False
        for i in index:
            self._starts.pop(int(i), None)
            self._failed.pop(int(i), None)
        self._log.forget(index)
        self._place_new()

    def diverged(self) -> NDArray[np.bool_]:
        """Mask of states that have diverged or could not continue [n]: a copy."""
        found = self._status > OK
        found[list(self._starts)] = True
        return found

    def stuck(self, i: int) -> bool:
        """Whether state i stopped because step control asked for too small steps."""
        return bool(self._status[i] == STEP_TOO_SMALL)

    def fault(self, i: int) -> int | str:
        """Status of the event that could not be handled in state i, or the fault of its start; 0: none."""
        return self._starts.get(i) or int(self._status[i])

    def take_integrator(self, integrator: Integrator) -> None:
        """Take an integrator of the same kind with other parameters."""
        for engine in self.engines:
            engine.integrator = integrator

    def kept(self) -> dict[str, Any]:
        """A copy of all that further steps depend on, for `go_to` of states made in the same way."""
        arrays = {name: getattr(self, name).copy() for name in ("_rows", "_left", "_fresh", "_status", "_ended")}
        return arrays | {"starts": dict(self._starts), "log": self._log.rows()}

    def go_to(self, kept: dict[str, Any]) -> None:
        """Restore what `kept` returned."""
        for name in ("_rows", "_left", "_fresh", "_status", "_ended"):
            getattr(self, name)[...] = kept[name]
        self._starts = dict(kept["starts"])
        self._log.add(kept["log"])

    # ------------------------------------------------------------ contact law

    def set_law(self, law: Law) -> None:
        """Take other coefficients of the contact law; OptionError if it differs in anything else."""
        own = self.engine.law
        if not isinstance(law, Hard) or not isinstance(own, Hard):
            raise OptionError("law: hard contact stays hard; make another Batch")
        if name := own.differs(law):
            raise OptionError(f"law: {name} cannot be changed, only restitution and friction; make another Batch")
        given = law.coefficients(self.engine.model, self.n)
        check_static_friction(self.engine.model, given.friction)
        self._own = self._own_numbers(given)

    def _own_numbers(self, given: Coefficients) -> tuple[np.ndarray, ...]:
        """Places in the Model's buffers and the numbers of each simulation there, real numbers first."""
        base = self.engine.model.struct(timestep=self.engine.law_timestep, listed="hard contact")
        numbers = (given.restitution, given.friction, given.limits)
        fields = law_numbers(base, *numbers, self.engine.locates_events, given.tangential)
        found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"real": [], "int": []}
        for name, values in fields.items():
            flat = values.reshape(self.n, -1)
            present = [engine.m.views[name].reshape(-1) for engine in self.engines]
            differing = np.flatnonzero(np.any([(flat != own).any(axis=0) for own in present], axis=0))
            places = self.m.ints[self.m.layout.slot[name]] + differing
            found[self.m.layout.fields[name].kind].append((places, flat[:, differing]))
        out: list[np.ndarray] = []
        for pairs in found.values():
            places, values = zip(*pairs, strict=True)
            out += [np.concatenate(places), np.ascontiguousarray(np.concatenate(values, axis=1))]
        return tuple(out)

    def _simulations(self) -> tuple[np.ndarray, ...]:
        """Arguments of the compiled loops for all simulations; see `saltus.simulate.engine.batch.loops`."""
        forces = self._rows[:, self._spans["xfrc_applied"]]
        forced = (forces.view(np.int64) != 0).any(axis=1)  # as `Engine.note_forces`
        return self._rows, forced.astype(np.int64), *self._own

    # ------------------------------------------------------------ motion

    def advance(self, n: int, h: float, chosen: NDArray[np.int64] | None = None) -> int:
        """Take n steps of h seconds; returns the worst status of the states that have not diverged.

        `chosen`: numbers of the states that take steps; None for all.
        """
        if not n:
            return OK
        engine = self.engine
        for each in self.engines:
            if not engine.integrator.adaptive:
                each.d.views["timestep"][...] = h
        steps = np.ones(self.n, bool) if chosen is None else np.isin(self.everyone, chosen)
        self._prepare(n * h, steps)
        going = ~self.diverged() & steps
        status, taken = np.where(going, EVENTS_FULL, OK), np.zeros(self.n, int)
        switches = self._rows[:, engine.rows_of("eq_active")]
        before = switches.copy()
        begun, mark = self._rows.copy(), self._log.mark()
        lost = self._take_steps(status, taken, n, h)
        if (diverged := status == DIVERGED).any():
            self._return_to(begun, mark, np.flatnonzero(diverged), taken, n, h)
        check_actions(engine.model, before, switches)
        self._left[going] = self._rows[going, self._past]
        self._fresh[going] = False
        if engine.guidance.has_movers:
            for i in np.flatnonzero(steps):
                movers.advance(self._views(int(i)))
        for each in self.engines:
            if each.passed_reader is not None:
                each.passed_reader.read(h)
        self._ended = status == ENDED
        failed = (status >= STEP_TOO_SMALL) & ~self._ended
        self._status[failed] = status[failed]
        if engine.locates_events:
            warn_of_lost(lost)
            for each in self.engines:
                warn_of_unproved(each.d)
            if self._leftovers and not self._told:
                self._told = True
                warn_of_leftovers()
        return int(status[status <= CONTACTS_FULL].max(initial=OK))

    def _return_to(self, begun: np.ndarray, mark: int, index: np.ndarray, taken: np.ndarray, n: int, h: float) -> None:
        """Bring states that have diverged to their last valid state: again, from the call's start, all steps but one.

        `begun` [n, rows], `mark`: states and log at the start of the call; `taken` [n]: steps that each has taken.
        """
        self._failed |= {int(i): self._rows[i].copy() for i in index}
        self._log.forget_since(mark, index)
        self._rows[index] = begun[index]
        status, done = np.full(self.n, OK), np.full(self.n, n)
        status[index], done[index] = EVENTS_FULL, n - np.maximum(taken[index] - 1, 0)
        with self.uncounted():
            self._take_steps(status, done, n, h)

    def stop(self, index: NDArray[np.int64]) -> None:
        """Mark the states with these numbers as diverged, so that they take no steps until `restart`."""
        self._status[index] = DIVERGED

    def failed_step(self, i: int, h: float) -> dict[str, NDArray[np.floating]]:
        """qvel, qpos, act and time (s) after the step of h seconds in which state i diverged."""
        row = self._failed[i] if i in self._failed else self._rows[i]
        return {name: row[self._spans[name]] for name in ("qvel", "qpos", "act")} | {"time": row[self._spans["time"]]}

    def _take_steps(self, status: np.ndarray, taken: np.ndarray, n: int, h: float) -> int:
        """Take up to n steps of h seconds of the states with status EVENTS_FULL; returns the number of lost events."""
        parameters = self.engine.integrator.parameters
        if not self._address:
            call = (self.engine.step_m, self.engine.d, n, h, *parameters)
            self._address = self.engine.loop.address(*call, result=types.UniTuple(types.int64, 2))
        simulations, loop = self._simulations(), advance_each(len(parameters))

        def work(worker: int, first: int, last: int) -> int:
            engine, lost, going = self.engines[worker], 0, False
            room = len(engine.d.views["event_log"])
            log = np.empty((max(LOG_ROOM, room), COLUMNS))
            while True:
                how = (self._address, simulations, (status, taken), log, room, (first, last, going), n, h)
                first, rows, missed = loop(engine.d, (engine.m.real, engine.m.ints), *how, *parameters)
                self._log.add(log[:rows].copy())
                self._leftovers = self._leftovers or has_leftovers(log[:rows, 1 + KIND])
                lost += missed
                if first == last:
                    return lost
                going = True

        began = clock.perf_counter()
        expected = self.pace * int((status == EVENTS_FULL).sum()) * n
        lost = sum(self.share(work, expected))
        self.pace = (clock.perf_counter() - began) * self._worth(expected) / (self.n * n)
        return lost

    def _changed(self) -> tuple[np.ndarray, np.ndarray]:
        """Masks of states whose positions or velocities [n], or anything [n], differ from what the last steps left."""
        differs = self._rows[:, self._past] != self._left
        motion = self.engine.rows_of("qpos", "eq_active")
        return self._fresh | differs[:, motion].any(axis=1), self._fresh | differs.any(axis=1)

    def _views(self, i: int) -> dict[str, np.ndarray]:
        """Views of the fields of mocap bodies, and the time, in state i."""
        fields = ("time", *(name for name in DATA.fields if name.startswith(("mocap_", "mover_"))))
        shapes = {name: DATA.shape(name, self.sizes) for name in fields}
        return {name: self._rows[i, self.engine.rows_of(name)].reshape(shapes[name]) for name in fields}

    def _place_new(self) -> None:
        """Move mocap bodies to their poses instantly, in states that no step has left."""
        if self.engine.guidance.has_movers:
            time_too = (self._rows[:, self._past] != self._left)[:, self.engine.rows_of("time", "qvel")].any(axis=1)
            for i in np.flatnonzero(self._fresh | time_too):
                movers.place(self._views(int(i)))

    def _move_mocap(self, duration: float, steps: np.ndarray) -> None:
        """Set velocities of mocap bodies for the next `duration` s of the states that step, as in `Engine.prepare`."""
        self._place_new()
        for i in np.flatnonzero(steps):
            if any(movers.set_out(self._views(int(i)), duration)):
                self._rows[i, self.engine.rows_of("modes_known")] = 0.0

    def _prepare(self, duration: float, steps: np.ndarray) -> None:
        """Prepare steps as `Engine.prepare` does: discard what is remembered of states changed from outside."""
        if self.engine.guidance.has_movers:
            self._move_mocap(duration, steps)
        moved, changed = self._changed()
        engine = self.engine
        if engine.remembers:
            self._rows[changed, engine.rows_of("memory")] = 0.0
        if engine.steps_over_events:
            self._rows[moved, engine.rows_of("past_known")] = 0.0
        if engine.locates_events:
            known = engine.rows_of("modes_known")
            self._rows[moved, known] = 0.0
            self._check_starts(np.flatnonzero((self._rows[:, known.start] < 0.5) & ~self.diverged() & steps))

    def _check_starts(self, index: np.ndarray) -> None:
        """Find which of these initial states are invalid, and warn of corrections to others."""
        warned: list[str] = []
        for i in self._suspects(index):
            engine = self.engine
            engine.state[:] = self._rows[i]
            for fault, refused in start_faults(engine.model, engine.m, engine.d):
                if refused:
                    self._starts.setdefault(i, fault)
                else:
                    warned.append(f"simulation {i}: {fault}")
                    self._rows[i] = engine.state
        if warned and warned[0] not in self._said:
            self._said.add(warned[0])
            warn(warned[0] + (f" (and {len(warned) - 1} more like this)" if len(warned) > 1 else ""))

    def _suspects(self, index: np.ndarray) -> Iterator[int]:
        """Simulations, of those given, whose start needs a check: something overlaps, or there are equalities."""
        engine, least = self.engine, np.full(len(index), np.inf)
        if len(index) and not engine.m.neq:
            address = loops.gaps.address(engine.m, engine.d, result=types.none)
            buffers = (engine.m.real, engine.m.ints)
            least_gaps(engine.d, buffers, address, self._simulations(), index, points(engine.m), least)
            index = index[least < -float(engine.m.opt_gap_tolerance)]
        yield from index.tolist()

    def take_unsolved(self) -> int:
        """Number of solves that did not converge since the last call."""
        counts = [engine.d.views["count"] for engine in self.engines]
        failed = sum(int(count[NUNSOLVED]) for count in counts)
        for count in counts:
            count[NUNSOLVED] = 0
        return failed

    def look_each(self, places: NDArray[np.int64], extra: int = 0) -> tuple[NDArray[np.float64], int]:
        """Numbers [n, places] of each simulation's Data after `Engine.forward`, and the worst status.

        `extra`: the address of a further entry to be called after it, 0 for none.
        """
        out = np.zeros((self.n, len(places)))
        unknown, simulations = self._unknown_modes(), self._simulations()
        addresses = (*self._addresses_of_looks(), extra)

        def work(worker: int, first: int, last: int) -> int:
            each = self.engines[worker]
            model, looked = (each.m.real, each.m.ints), (addresses, simulations, unknown)
            with self.looking(each.d):
                return look_each(each.d, model, looked, (first, last), places, out)

        return out, max(self.share(work, self.pace * self.n))

    def look_at(self, i: int) -> int:
        """Compute everything at state i in the Data of the first engine; returns a status."""
        engine = self.engine
        looked = (self._addresses_of_looks(), self._simulations(), self._unknown_modes())
        with self.looking(engine.d):
            return look_at(engine.d, (engine.m.real, engine.m.ints), looked, i)

    def _addresses_of_looks(self) -> tuple[int, int]:
        engine = self.engine
        settle = loops.settle.address(engine.step_m, engine.d, result=types.int64) if engine.locates_events else 0
        return settle, loops.forward.address(engine.m, engine.d, result=types.int64)

    def _unknown_modes(self) -> np.ndarray:
        """Ones for states whose modes must be found before quantities are computed, else zeros [n]."""
        self._place_new()
        if not self.engine.locates_events:
            return np.zeros(self.n, np.int64)
        known = self._rows[:, self.engine.rows_of("modes_known").start] > 0.5
        return (self._changed()[0] | ~known).astype(np.int64)

    def share(self, work: Callable[[int, int, int], Result], seconds: float) -> list[Result]:
        """Results of `work(worker, first, last)`, on all threads if it takes about so many seconds."""
        return self.share_among(work, self.n, seconds)

    def ended(self) -> NDArray[np.bool_]:
        """Mask of states whose last steps a terminal event ended [n]."""
        return self._ended.copy()

    # ------------------------------------------------------------ events

    def events(self, simulation: int | None = None) -> EventTable:
        """The event log of all, with the number of each in the field `simulation`, or of one without this field."""
        reader = self.engine.event_reader
        assert reader is not None
        if simulation is not None:
            return event_table(reader.table(self._log.of(simulation)[:, 1:]))
        rows = self._log.rows()
        plain = event_table(reader.table(rows[:, 1:]))
        out = np.zeros(len(rows), numbered(plain.dtype))
        out["simulation"] = rows[:, 0]
        for name in plain.dtype.names or ():
            out[name] = plain[name]
        return out.view(EventTable)

    def forget_events(self, index: np.ndarray) -> None:
        """Empty the logs of the states with the given numbers."""
        self._log.forget(index)
