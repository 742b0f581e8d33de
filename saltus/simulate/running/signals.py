"""Signals: fields of `Simulation.data` that a run records on request, such as "xpos[hand]" or "qfrc_actuator"."""

import math
import re
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import words
from saltus.errors import EventError, OptionError
from saltus.model.layout import DATA
from saltus.model.model import Model
from saltus.record.table.columns import COLUMNS
from saltus.simulate import stepping
from saltus.simulate.engine.data import CONSTRAINTS, SHOWN, Data
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.sensing import BODY_FIELDS
from saltus.simulate.engine.snapshot import peeking
from saltus.simulate.engine.threads.turn import Turn
from saltus.simulate.running.labels import FORCE_ALONG, output_labels

FIELDS = tuple(sorted({*SHOWN.split(), "actuator_moment"}))
# units of all numbers of a field; of two triples; of those that belong to degrees of freedom, see `_units`
_UNITS = {
    "m": "xpos xipos subtree_com xanchor geom_xpos site_xpos flexvert_xpos mocap_pos ten_length",
    "m/s": "ten_velocity subtree_linvel",
    "kg m²/s": "subtree_angmom",
    "J": "energy",
    "s": "time",
}
_UNIT = {field: unit for unit, fields in _UNITS.items() for field in fields.split()}
_TRIPLES = {
    "cvel": ("rad/s", "m/s"),
    "cacc": ("rad/s²", "m/s²"),
    "xfrc_applied": ("N", "N m"),
    **dict.fromkeys(("cfrc_int", "cfrc_ext", "cfrc_body"), ("N m", "N")),
}
_OBJECTS = {"nbody": "body", "nbody_sense": "body", "njnt": "joint", "ngeom": "geom", "nsite": "site"}


class Signal(NamedTuple):
    """A field of the data, or a part of it, that is recorded.

    `name`: as asked for. `rows`: of the field's first dimension; None: the whole field. `rest`: place in a row, or ().
    """

    name: str
    field: str
    rows: NDArray[np.intp] | None
    rest: tuple[int, ...]
    shape: tuple[int, ...]
    labels: list[str]
    units: list[str]


class Signals:
    """The signals that a run records.

    Attributes:
        names: as asked for, without columns that every recording has.
        labels, units: of all their numbers, one after the other.
        shapes: of each signal, by name.
    """

    def __init__(self, engine: Engine, record: Iterable[str]):
        """Find what is asked for.

        Raises:
            OptionError: a name is unknown, or is no quantity of fixed size.
        """
        self._engine = engine
        self._data: Any = Data(engine, partial(stepping.refresh, engine), Turn("Simulation"))
        asked = [record] if isinstance(record, str) else words("record", record)
        self.asked = list(dict.fromkeys(asked))
        found = [signal for name in self.asked if (signal := _signal(engine, self._data, name)) is not None]
        self.names = [signal.name for signal in found]
        self.labels = [label for signal in found for label in signal.labels]
        self.units = [unit for signal in found for unit in signal.units]
        self.shapes = {signal.name: list(signal.shape) for signal in found}
        sizes = np.cumsum([0, *(len(signal.labels) for signal in found)]).tolist()
        places = [slice(*ends) for ends in pairwise(sizes)]
        # inverse dynamics overwrites what forward dynamics computes, and sums over bodies a part of it
        self._reading = sorted(zip(found, places, strict=True), key=lambda pair: _turn_of(pair[0].field))

    @property
    def parts(self) -> list[tuple[Signal, slice]]:
        """The signals, and the places of their numbers among all."""
        return list(self._reading)

    def read(self) -> NDArray[np.float64]:
        """All numbers at the present state; nan where its forces cannot be computed."""
        engine, values = self._engine, np.full(len(self.labels), np.nan)
        with peeking(engine):
            try:
                if not engine.is_computed() and engine.forward():
                    return values
                for signal, place in self._reading:
                    if signal.field == "qfrc_inverse":
                        engine.forward()  # anew: sums over bodies are in the way
                    values[place] = _part(np.asarray(getattr(self._data, signal.field)), signal).ravel()
            except EventError:
                values[:] = np.nan
        return values


def _turn_of(field: str) -> int:
    return 2 if field == "qfrc_inverse" else int(field in BODY_FIELDS)


def _part(values: NDArray[Any], signal: Signal) -> NDArray[Any]:
    return values if signal.rows is None else values[(signal.rows, *signal.rest)]


def _signal(engine: Engine, data: Any, name: str) -> Signal | None:
    """The signal with a name; None where every recording of the model has it as a column."""
    match = re.fullmatch(r"(\w+)((?:\[[^\]]*\])*)", name)
    field, places = (name, []) if match is None else (match[1], re.findall(r"\[([^\]]*)\]", match[2]))
    if field in ("sensor", "sensordata"):
        _check_sensor(engine.model, name, places)
        return None
    if field in COLUMNS and not places and field not in ("ledger", "signals"):
        return None
    if field in CONSTRAINTS:
        raise OptionError(f"record: {field} differs in size from sample to sample; read sim.data.{field} in a function")
    if field not in FIELDS:
        raise OptionError.unknown("quantity to record", name, {*FIELDS, *COLUMNS} - {"ledger", "signals"})
    shape = _shape(engine, data, field)
    first, units = _names(engine, field, shape), _units(engine, field, shape)
    numbers = np.arange(math.prod(shape)).reshape(shape)
    rows, rest = None, ()
    if places:
        rows, rest = _rows(name, places[0], first), tuple(_places(name, places[1:], shape[1:]))
        numbers = numbers[(rows, *rest)]
        if len(rows) == 1:
            numbers = numbers[0]
    labels = _labels(field, shape, first)
    chosen = numbers.ravel()
    return Signal(name, field, rows, rest, numbers.shape, [labels[k] for k in chosen], [units[k] for k in chosen])


def _check_sensor(model: Model, name: str, places: list[str]) -> None:
    if not model.nsensordata:
        raise OptionError(f"record: {name!r}: the model has no sensors")
    if places:
        model.id("sensor", places[0])


def _shape(engine: Engine, data: Any, field: str) -> tuple[int, ...]:
    """Shape of a field as `Simulation.data` has it, without computing anything."""
    if field == "actuator_moment":
        return (engine.m.nout, engine.model.nv)
    if field in ("act", "act_dot"):
        return (engine.m.nact,)
    if field in ("qfrc_constraint",):
        return (engine.model.nv,)
    if field == "flexvert_xpos":
        return (engine.model.nflexvert, 3)
    if field in ("M", "qLD"):
        return (len(engine.model.M_colind),)
    return tuple(engine.d.views[field].shape)


def _names(engine: Engine, field: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the entries of a field's first dimension; numbers where they have none."""
    model = engine.model
    size = DATA.fields[field].shape[0] if field in DATA.fields and DATA.fields[field].shape else ""
    names: list[str] = []
    if size in _OBJECTS:
        names = model.names(_OBJECTS[str(size)])
    elif field.startswith(("qfrc_", "qacc", "cdof", "qvel", "qLDiag")):
        names = model.dof_names()
    elif field == "qpos":
        names = model.qpos_names()
    elif field.startswith("actuator_"):
        names = output_labels(model)[0]
    elif field in ("ten_length", "ten_velocity"):
        names = model.names("tendon")
    elif field == "energy":
        names = ["potential", "kinetic"]
    elif field in ("mocap_pos", "mocap_quat"):
        bodies, order = model.names("body"), model.body_mocapid
        names = [bodies[b] for b in sorted(np.flatnonzero(order >= 0), key=lambda b: order[b])]
    elif field == "ctrl":
        names = model.names("actuator")
    count = shape[0] if shape else 0
    return names if len(names) == count else [str(k) for k in range(count)]


def _labels(field: str, shape: tuple[int, ...], first: list[str]) -> list[str]:
    """Labels of all numbers of a field."""
    if not shape:
        return [field]
    labels = []
    for place in np.ndindex(*shape):
        labels.append(f"{field}[{first[place[0]]}]" + "".join(f"[{k}]" for k in place[1:]))
    return labels


def _units(engine: Engine, field: str, shape: tuple[int, ...]) -> list[str]:
    """Units of all numbers of a field."""
    count = math.prod(shape)
    if field in _UNIT:
        return [_UNIT[field]] * count
    if field in _TRIPLES:
        first, second = _TRIPLES[field]
        return ([first] * 3 + [second] * 3) * (count // 6)
    positions, velocities = engine.model.coordinate_units()
    if len(velocities) == count and field.startswith(("qfrc_", "qacc", "qvel")):
        if field == "qvel":
            return velocities
        return [FORCE_ALONG[unit] if field.startswith("qfrc_") else f"{unit}²" for unit in velocities]
    if field == "qpos":
        return positions
    if field == "actuator_force":
        return output_labels(engine.model)[1]
    return [""] * count


def _rows(name: str, wanted: str, names: list[str]) -> NDArray[np.intp]:
    """Rows of an object by its name, of a joint with several coordinates, or by its number."""
    found = [k for k, label in enumerate(names) if label == wanted]
    found = found or [k for k, label in enumerate(names) if label.rpartition(".")[0] == wanted]
    text = wanted.removeprefix("#")
    if not found and text.isdigit() and int(text) < len(names):
        found = [int(text)]
    if not found:
        raise OptionError.unknown(f"name in {name}:", wanted, names)
    return np.array(found)


def _places(name: str, places: list[str], shape: tuple[int, ...]) -> list[int]:
    """Further indices of a signal."""
    if len(places) > len(shape):
        raise OptionError(f"record: {name!r} has too many indices; a row has shape {list(shape)}")
    for place, size in zip(places, shape, strict=False):
        if not (place.isdigit() and int(place) < size):
            raise OptionError(f"record: index [{place}] of {name!r} is out of range; there are {size} numbers")
    return [int(place) for place in places]
