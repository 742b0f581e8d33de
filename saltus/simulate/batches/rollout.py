"""Rollouts: all simulations of a batch under given controls, with chosen fields recorded after each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import several
from saltus.errors import OptionError, UnknownAttribute
from saltus.integrate.adaptive.memory import STUCK
from saltus.record.io.memory_room import check_arrays
from saltus.simulate.batches import stages
from saltus.simulate.batches.arrays import SupportsDLPack, given
from saltus.simulate.batches.fields import MOTION_SENSORS, SENSORS, STATE, STATES, check_name, passes
from saltus.simulate.batches.memory import COLUMNS, table_of
from saltus.simulate.batches.reading import Reader, with_features
from saltus.simulate.batches.rollout_loop import AFTER, BEFORE, PASSES, roll_out
from saltus.simulate.batches.writing import write
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.data import dense_moment
from saltus.simulate.engine.sensing import attach_sensing
from saltus.solve.status import OK

RECORDED = ("time", "qpos", "qvel", "act", "sensordata")


@dataclass(frozen=True, eq=False)
class Rollout(Mapping[str, NDArray[np.floating]]):
    """Recorded fields of all simulations of a batch [n, T, ...] after each of T steps, from `Batch.rollout`.

    `rollout["qpos"]` and `rollout.qpos` [n, T, nq] are the same array. Rows after the last whole step of a simulation,
    which diverged or was ended by an event, are nan.

    Attributes:
        fields: the arrays by name, in the batch's precision; times are always float64.
        controls: [n, T, nu] that were applied; one array for all simulations if one was given.
        taken: [n] whole steps of each simulation.
        diverged: [n] whether a simulation diverged.
    """

    fields: Mapping[str, NDArray[np.floating]]
    controls: NDArray[np.floating]
    taken: NDArray[np.int64]
    diverged: NDArray[np.bool_]

    def __getitem__(self, name: str) -> NDArray[np.floating]:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __getattr__(self, name: str) -> NDArray[np.floating]:
        fields = vars(self).get("fields", {})
        if name in fields:
            return fields[name]
        if name == "ctrl" and "controls" in vars(self):
            return self.controls
        raise UnknownAttribute.unknown("recorded field", name, fields)

    def __repr__(self) -> str:
        n, steps = self.controls.shape[:2]
        return f"Rollout({n} simulations, {steps} steps, {', '.join(self.fields)})"


class Plan(NamedTuple):
    """Work of a rollout.

    `controls` [n, T, nu]; `arrays` [n, T, ...] of fields by name, those of the state one after the other in `record`;
    `taken`: whole steps [n], to be counted; `when`: whether computed fields are those BEFORE or AFTER each step.
    """

    controls: np.ndarray
    arrays: dict[str, np.ndarray]
    record: np.ndarray
    taken: np.ndarray
    when: int = AFTER


def plan_of(
    reader: Reader, controls: ArrayLike | SupportsDLPack, record: Sequence[str] | str, when: int = AFTER
) -> Plan:
    """The controls of a rollout, checked, and new arrays for the fields that it records."""
    lanes = reader.lanes
    array, (nu,) = given("controls", controls), lanes.shape("ctrl")
    if array.ndim not in (2, 3) or array.shape[-1] != nu or array.shape[:-2] not in ((), (1,), (lanes.n,)):
        raise OptionError(f"controls must have shape [{lanes.n}, T, {nu}] or [T, {nu}], not {array.shape}")
    if not array.shape[-2]:
        raise OptionError("controls must hold at least one step")
    controls_of_all = np.broadcast_to(array, (lanes.n, *array.shape[-2:]))
    names = [record] if isinstance(record, str) else several("record", record)
    shapes = {check_name(name): reader.shape(name) for name in names}
    steps = controls_of_all.shape[1]
    check_arrays(8 * lanes.n * steps * sum(int(np.prod(shape)) for shape in shapes.values()), "the rollout", "steps")
    of_state = {name: shape for name, shape in shapes.items() if name in STATES and name != "time"}
    of_all = np.empty(lanes.n * steps * sum(int(np.prod(shape)) for shape in of_state.values()), lanes.states.dtype)
    arrays, first = {}, 0
    for name, shape in shapes.items():
        whole = (lanes.n, steps, *shape)
        if name in of_state:
            last = first + int(np.prod(whole))
            arrays[name], first = of_all[first:last].reshape(whole), last
        else:
            arrays[name] = np.empty(whole, np.float64 if name == "time" else lanes.states.dtype)
    return Plan(controls_of_all, arrays, of_all, np.zeros(lanes.n, np.int64), when)


def take_rollout(reader: Reader, plan: Plan, h: float) -> int:
    """Take the steps of h seconds and record the fields; returns the worst status of the steps."""
    lanes = reader.lanes
    loop = _InLanes(reader, lanes, plan, h).run if isinstance(lanes, Lanes) else lambda: _singly(reader, plan, h)
    status = loop()
    for i in np.flatnonzero(plan.taken < plan.controls.shape[1]):
        for array in plan.arrays.values():
            array[i, plan.taken[i] :] = np.nan
    return status


def _singly(reader: Reader, plan: Plan, h: float) -> int:
    """Steps of simulations that go from event to event, a call for each step."""
    lanes, status = reader.lanes, OK
    live = ~lanes.diverged()
    for k in range(plan.controls.shape[1]):
        moving = np.flatnonzero(live)
        if not len(moving):
            break
        write(lanes, "ctrl", plan.controls[moving, k], moving)
        if plan.when == BEFORE:
            _read(reader, plan, k, [name for name in plan.arrays if name not in STATES])
        status = max(status, lanes.advance(1, h, moving))
        live &= ~(lanes.ended() | lanes.diverged())
        plan.taken[live] = k + 1
        _read(reader, plan, k, [name for name in plan.arrays if plan.when == AFTER or name in STATES])
    return status


def _read(reader: Reader, plan: Plan, k: int, names: list[str]) -> None:
    """Record fields of the present states as those of step k."""
    for name, values in zip(names, reader.read(names, [None] * len(names)), strict=True):
        plan.arrays[name][:, k] = values


class _InLanes:
    """A rollout in the compiled loop, on the threads of `lanes`."""

    def __init__(self, reader: Reader, lanes: Lanes, plan: Plan, h: float):
        self._reader, self._lanes, self._plan, self._h = reader, lanes, plan, h
        of_state = [name for name in plan.arrays if name in STATES and name != "time"]
        sizes = [int(np.prod(plan.arrays[name].shape[2:])) for name in of_state]
        bases = lanes.n * plan.controls.shape[1] * np.cumsum([0, *sizes])[:-1]
        firsts = [lanes.span(name).start for name in of_state]
        self._fields = np.array([firsts, sizes, bases], np.int64).T.reshape(-1, 3).copy()
        own = plan.controls if plan.controls.strides[0] else plan.controls[:1]  # one array may be that of all
        self._controls = np.require(own, lanes.states.dtype, ("C", "W", "A"))
        self._computed = [name for name in plan.arrays if name not in STATES]
        # moment arms are computed by their nonzero entries
        self._targets = dict(plan.arrays)
        if "actuator_moment" in plan.arrays:
            room = (*plan.controls.shape[:2], *reader.place("actuator_moment").shape)
            self._targets["actuator_moment"] = np.empty(room, lanes.states.dtype)

    def run(self) -> int:
        lanes, plan = self._lanes, self._plan
        for name in self._computed:
            if not len(self._reader.place(name).rows):
                plan.arrays[name][...] = 0.0
        steps = plan.controls.shape[1]
        status = max(lanes.share_steps(self._work, steps), default=OK)
        lanes.flags.reshape(-1)[lanes.n :] = False
        if "actuator_moment" in plan.arrays:
            sparse, dense = self._targets["actuator_moment"], plan.arrays["actuator_moment"]
            dense_moment(lanes.m, sparse, dense)
        return status

    def _work(self, worker: int, first: int, last: int) -> int:
        """Roll out the groups from first up to last (exclusive) on one thread; returns the worst status."""
        lanes, plan, parameters = self._lanes, self._plan, self._lanes.integrator.parameters
        workspace, m = lanes.prepared(worker), lanes.models[worker]
        shape = (first, last, 0, lanes.width, lanes.n)  # no rows are loaded: the state stays in the workspace
        inputs = (lanes.span("ctrl").start, self._controls)
        times = plan.arrays.get("time", np.zeros((0, 0)))
        stuck = lanes.span("memory").start + STUCK if lanes.integrator.adaptive else -1
        flat = workspace.real[: lanes.present_rows()].reshape(-1)
        marks = (np.zeros(lanes.width, bool), (np.zeros(lanes.width), np.zeros(lanes.width)))
        work = (workspace.views["count"], flat, np.zeros_like(flat), *marks, stuck)
        arrays = (lanes.states, lanes.clock, lanes.flags, *lanes.varied())
        computed = [self._pass(worker, *each) for each in passes(self._computed, lanes.m)]
        computed = [each for each in computed if each[0]]
        computed += [(0, 0, *self._table([]))] * (PASSES - len(computed))
        return roll_out(len(parameters))(
            *(m.real, m.ints, workspace.real, workspace.ints, lanes.step_address(), arrays, shape, inputs),
            *((plan.record, self._fields), times, tuple(computed), plan.when, work, plan.taken),
            *(plan.controls.shape[1], 1, self._h),
            *parameters,
        )

    def _table(self, names: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Table, places and strides from step to step of the arrays of fields; a thread moves its own."""
        targets = [self._targets[name] for name in names]
        rows = [self._reader.place(name).rows for name in names]
        firsts = np.cumsum([0, *map(len, rows)])[:-1]
        table = table_of([target[:, 0] for target in targets], firsts.tolist()).reshape(-1, COLUMNS)
        strides = np.array([target.strides[1] for target in targets], np.int64)
        return table, np.concatenate([np.zeros(0, np.int64), *rows]), strides

    def _pass(self, worker: int, stage: int, members: list[int]) -> tuple[int, int, np.ndarray, np.ndarray, np.ndarray]:
        """A loop that computes fields: its address, whether it takes a second model, and where they go."""
        reader, lanes = self._reader, self._lanes
        names = [self._computed[k] for k in members]
        names = [name for name in names if len(reader.place(name).rows)]
        if not names or stage == STATE:
            return (0, 0, *self._table([]))
        m, workspace = lanes.models[worker], lanes.workspaces[worker]
        if stage in (SENSORS, MOTION_SENSORS):
            attach_sensing(reader.model, workspace)
        words = reader.words(stage, set(names))
        found = self._table(names)
        key = stage, words, m.layout.name, workspace.layout.name
        if key not in reader.addresses:
            structs = (m,) if words is None else (m, with_features(m, words))
            groups = (0, 0, lanes.present_rows(), lanes.width, lanes.n)
            call = (*structs, workspace, (lanes.states, *lanes.varied()), groups, found[:2])
            reader.addresses[key] = stages.LOOPS[stage].address(*call, result=types.int64)
        return reader.addresses[key], int(words is not None), *found
