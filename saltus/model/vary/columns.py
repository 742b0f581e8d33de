"""Names of parameters of a model, by which derivatives are taken, and the single numbers that they mean.

A name is a field of MuJoCo's model, whole ("dof_damping": each of its numbers, in order), of one object
("body_inertia[link]": three numbers), or one number ("geom_friction[ball][0]", "opt.gravity[2]"). Objects have their
names, or "#3" for the fourth; degrees of freedom and coordinates have the labels of `Model.dof_names` and
`Model.qpos_names`, or a joint's name for all of them.

Besides, "body_scale_mass[link]" is the mass with which the inertia scales, and "body_inertial[link]" and
"body_pseudo_inertia[link]" are ten numbers of the body's mass distribution (`saltus.model.tree.body_inertia`).
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from saltus.errors import OptionError
from saltus.model.tree.body_inertia import COUNT, PSEUDO, SCALE_MASS, STORED_IN, inertial, pseudo_inertia
from saltus.model.vary.fields import KIND_OF, MAY_VARY, value_of

_NAME = re.compile(r"(?P<field>opt\.\w+|\w+)(?P<places>(\[[^\[\]]*\])*)$")


#: Names of fields by whose numbers derivatives are taken.
PARAMETERS = (*MAY_VARY, *STORED_IN)


class Column(NamedTuple):
    """One number by which derivatives are taken: its name, its field, and its place among the field's numbers."""

    name: str
    field: str
    place: int

    @property
    def stored_in(self) -> tuple[str, ...]:
        """MuJoCo's fields that the number is in."""
        return STORED_IN.get(self.field, (self.field,))


def columns(model: Any, names: Iterable[str]) -> list[Column]:
    """The single numbers that the names mean, in order. `model`: a Model.

    Raises:
        OptionError: there is no such field, object or number.
    """
    return [column for name in names for column in _columns(model, name)]


def _columns(model: Any, name: str) -> list[Column]:
    field, places = parsed(name)
    if field not in PARAMETERS:
        raise OptionError.unknown("parameter", field, PARAMETERS)
    if field in STORED_IN:
        return _of_mass(model, name, field, places)
    value = np.asarray(value_of(model.mj_model, field))
    if not value.size:
        raise OptionError(f"{name}: the model has no {field}")
    numbers = np.arange(value.size).reshape(value.shape)
    if field.startswith("opt."):
        return _entries(field, name, field, numbers, places)
    labels = _labels(model, field, len(value))
    if not places:
        return [c for k, label in enumerate(labels) for c in _entries(field, name, f"{field}[{label}]", numbers[k], [])]
    rows = _rows(model, field, labels, places[0], name)
    return [c for k in rows for c in _entries(field, name, f"{field}[{labels[k]}]", numbers[k], places[1:])]


def _of_mass(model: Any, name: str, field: str, places: list[str]) -> list[Column]:
    """Columns of mass distributions; OptionError for bodies without mass or extent."""
    labels, m = model.names("body"), model.mj_model
    rows = _rows(model, field, labels, places[0], name) if places else list(range(1, m.nbody))
    found = []
    for b in rows:
        label = f"{field}[{labels[b]}]"
        if not m.body_mass[b] > 0:
            raise OptionError(f"{label}: the body has no mass")
        if field == PSEUDO:
            pseudo_inertia(inertial(m, b), label)
        numbers = np.asarray(b) if field == SCALE_MASS else COUNT * b + np.arange(COUNT)
        found += _entries(field, name, label, numbers, places[1:])
    return found


def parsed(name: str) -> tuple[str, list[str]]:
    """The field in a parameter's name, and the contents of its brackets; OptionError for anything else."""
    found = _NAME.match(name.strip())
    if found is None:
        raise OptionError(f"{name!r} is not a parameter; expected field[object], as body_mass[bob]")
    return found["field"], re.findall(r"\[([^\[\]]*)\]", found["places"])


def _entries(field: str, name: str, label: str, numbers: np.ndarray, places: list[str]) -> list[Column]:
    """The columns of an object's numbers, or of those at the given places."""
    for place in places:
        if not (numbers.ndim and place.isdigit() and int(place) < len(numbers)):
            there = f"it has {len(numbers)} numbers" if numbers.ndim else "it is a single number"
            raise OptionError(f"{name}: index [{place}] is out of range; {there}")
        numbers, label = numbers[int(place)], f"{label}[{place}]"
    if not numbers.ndim:
        return [Column(label, field, int(numbers))]
    return [Column(f"{label}[{k}]", field, int(number)) for k, number in enumerate(numbers)]


def _labels(model: Any, field: str, count: int) -> list[str]:
    """Labels of a field's rows: the objects' names; "#i" for outputs or controls of actuators that have several."""
    prefix = field.partition("_")[0]
    if prefix in ("dof", "qpos"):
        return model.dof_names() if prefix == "dof" else model.qpos_names()
    names = model.names(KIND_OF[prefix])
    return names if len(names) == count else [f"#{k}" for k in range(count)]


def _rows(model: Any, field: str, labels: list[str], place: str, name: str) -> list[int]:
    """Rows of a field that a name or "#number" means."""
    if place in labels:
        return [labels.index(place)]
    if place.startswith("#") and place[1:].isdigit() and int(place[1:]) < len(labels):
        return [int(place[1:])]
    prefix = field.partition("_")[0]
    if prefix in ("dof", "qpos"):
        own = [k for k, label in enumerate(labels) if label.rpartition(".")[0] == place]
        if own:
            return own
    elif prefix == "actuator" and place in model.names("actuator"):
        return _of_actuator(model, field, model.names("actuator").index(place))
    raise OptionError.unknown(f"{KIND_OF[prefix]} in {name}:", place, labels)


def _of_actuator(model: Any, field: str, k: int) -> list[int]:
    """Rows of actuator k in fields of outputs or controls, of which actuators may have several."""
    part = "ctrl" if field == "actuator_ctrlrange" else "out"
    first, count = (int(getattr(model, f"actuator_{part}{x}")[k]) for x in ("adr", "num"))
    return list(range(first, first + count))
