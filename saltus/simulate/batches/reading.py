"""Quantities of all simulations of a batch at their present states, written into given or new arrays."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from saltus.errors import ModelError
from saltus.model.layout import model_layout
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.simulate.batches import stages
from saltus.simulate.batches.arrays import WritableArray, writable
from saltus.simulate.batches.copying import gather
from saltus.simulate.batches.fields import (
    BODIES,
    MOTION_SENSORS,
    SENSORS,
    STATE,
    Place,
    passes,
    place_of,
)
from saltus.simulate.batches.memory import table_of
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.batch.states import BatchStates
from saltus.simulate.engine.constraint_rows import most_at_once
from saltus.simulate.engine.data import dense_moment
from saltus.simulate.engine.sensing import attach_sensing, sensor_place
from saltus.solve.status import CONTACTS_FULL

COPIED = 1e-9  # s, about the time to copy a number
OF_BODIES = frozenset({"sense_body", "sense_subtree"})  # features that forces and momenta of bodies need


class Wanted(NamedTuple):
    """A field to be read: its place in memory, and the array [n, ...] that takes it."""

    name: str
    place: Place
    array: np.ndarray


class Reader:
    """Reads quantities of the simulations that `lanes` hold."""

    def __init__(self, model: Model, lanes: BatchStates):
        self.model, self.lanes = model, lanes
        self._places: dict[str, Place] = {}
        self.addresses: dict[tuple[object, ...], int] = {}
        """Of loops that rollouts call, by stage, further features and layouts."""

    def read(self, names: Sequence[str], outs: Sequence[WritableArray | None]) -> list[np.ndarray]:
        """Fields [n, ...] of these names, each written to its `out`, or to a new array if that is None."""
        wanted = [
            Wanted(name, self.place(name), self._target(name, self.shape(name), out))
            for name, out in zip(names, outs, strict=True)
        ]
        for stage, members in passes(names, self.lanes.m):
            self._read(stage, [wanted[k] for k in members])
        return [each.array for each in wanted]

    def sensor(self, name: str, out: WritableArray | None) -> np.ndarray:
        """Readings [n, dim] of a sensor."""
        span = sensor_place(self.model, name)
        rows = self.place("sensordata").rows[span]
        array = self._target(name, rows.shape, out)
        ((stage, _),) = passes(["sensordata"], self.lanes.m)
        self._read(stage, [Wanted("sensordata", Place(rows, rows.shape), array)])
        return array

    def place(self, name: str) -> Place:
        """The rows of a field in the state or in a workspace, and its shape."""
        if name not in self._places:
            self._places[name] = place_of(name, self.model, self.lanes.m, self.lanes.workspaces[0])
        return self._places[name]

    def shape(self, name: str) -> tuple[int, ...]:
        """MuJoCo's shape of a field of one simulation; moment arms are dense."""
        if name == "qfrc_constraint":  # without constraints there is no room for their forces
            return (self.model.nv,)
        return (self.lanes.m.nout, self.model.nv) if name == "actuator_moment" else self.place(name).shape

    def _target(self, name: str, shape: tuple[int, ...], out: WritableArray | None) -> np.ndarray:
        """The array that a field is written to: `out`, or a new one."""
        if out is not None:
            return writable(name, out, (self.lanes.n, *shape))
        return np.empty((self.lanes.n, *shape), np.float64 if name == "time" else self.lanes.states.dtype)

    def _read(self, stage: int, wanted: list[Wanted]) -> None:
        """Compute everything up to a stage, and write the fields to their arrays."""
        lanes, moments, copied = self.lanes, [], []
        for each in wanted:
            if each.name == "time":  # in double precision
                each.array[...] = lanes.clock.reshape(-1)[: lanes.n]
            elif each.name == "actuator_moment":
                sparse = np.empty((lanes.n, *each.place.shape), each.array.dtype)
                moments.append((sparse, each.array))
                copied.append(each._replace(array=sparse))
            elif each.array.size and not len(each.place.rows):
                each.array[...] = 0.0
            else:
                copied.append(each)
        if not copied:
            return
        rows = np.concatenate([each.place.rows for each in copied])
        firsts = np.cumsum([0, *(len(each.place.rows) for each in copied[:-1])])
        table = table_of([each.array for each in copied], firsts.tolist())
        if stage == STATE:
            self._gather(table, rows)
        else:
            self._compute(stage, copied, table, rows)
        for sparse, array in moments:
            dense_moment(lanes.m, sparse, array)

    def _gather(self, table: np.ndarray, rows: np.ndarray) -> None:
        lanes = self.lanes

        def work(worker: int, first: int, last: int) -> None:
            gather(lanes.states, first, last, lanes.width, lanes.n, table, rows)

        lanes.share(work, COPIED * lanes.n * len(rows))

    def _compute(self, stage: int, wanted: list[Wanted], table: np.ndarray, rows: np.ndarray) -> None:
        lanes, loop = self.lanes, stages.LOOPS[stage]
        assert isinstance(lanes, Lanes)
        words = self.words(stage, {each.name for each in wanted})

        def work(worker: int, first: int, last: int) -> int:
            workspace = lanes.prepared(worker)
            if stage in (SENSORS, MOTION_SENSORS):
                attach_sensing(self.model, workspace)
            m = lanes.models[worker]
            structs = (m,) if words is None else (m, with_features(m, words))
            memory = (lanes.states, *lanes.varied())
            groups = (first, last, lanes.present_rows(), lanes.width, lanes.n)
            with lanes.looking(workspace):
                return loop(*structs, workspace, memory, groups, (table, rows))

        status = max(lanes.share(work, lanes.pace * lanes.groups))
        if status == CONTACTS_FULL:
            raise contacts_full(lanes.m)

    def words(self, stage: int, names: set[str]) -> frozenset[str] | None:
        """Features that a second Model needs for the fields of a stage; None if no second Model is needed."""
        if stage not in (BODIES, SENSORS, MOTION_SENSORS):
            return None
        words: frozenset[str] = frozenset()
        if stage != BODIES:
            words = self.model.sensing_struct(self.lanes.precision).layout.features
        return words if names <= {"sensordata"} else words | OF_BODIES


def with_features(m: Struct, words: frozenset[str]) -> Struct:
    """A copy of a Model with further features; pairs of geoms stay listed or found at run time."""
    again = copy.copy(m)
    again.layout = model_layout(m.layout.features | (words - {"broad"}))
    return again


def contacts_full(m: Struct) -> ModelError:
    """The error for more contacts than there is memory for."""
    return ModelError(f"{most_at_once(m)} at once, which is the limit")
