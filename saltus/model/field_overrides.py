"""Copies of a model with other values in its compiled fields.

A key names a number: MuJoCo's field, the element's name, and an index if there are several numbers,

    body_mass[bob]    dof_damping[hinge]    geom_friction[floor][0]    actuator_gainprm[biceps][2]    opt.gravity[2]

`body_scale_mass[bob]` also sets the mass, and scales the body's inertia with it, like a change of density; `body_mass`
sets only the mass, as in MuJoCo. A field of degrees of freedom or of reference positions takes the joint's name, or the
label of one of its coordinates ("ball.wx", see `Model.dof_names`, `Model.qpos_names`); "#3" is the element with that
number.

`body_inertial[bob]` are ten numbers of the body's mass distribution: the mass, the mass times the centre of mass and
the inertia about the origin of the body's frame. `body_pseudo_inertia[bob]` are ten others, of which all values are
physical (`saltus.model.tree.body_inertia`).
"""

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from saltus.arguments import mapping
from saltus.errors import OptionError
from saltus.model.contact import bounds
from saltus.model.features import name_of
from saltus.model.fixed_numbers import BELONGS, fixed_numbers, states_lost
from saltus.model.source.number_checks import check_numbers
from saltus.model.tree.body_inertia import INERTIAL, PSEUDO, SCALE_MASS, STORED_IN, distribution, set_distribution

# changeable fields: no structure was derived from them
FIELDS = {
    "body": "mass scale_mass inertial pseudo_inertia inertia pos quat ipos iquat gravcomp",
    "joint": "pos axis stiffness stiffnesspoly range margin solref solimp actfrcrange",
    "dof": "damping dampingpoly armature frictionloss solref solimp",
    "qpos": "spring",
    "geom": "size pos quat friction solmix solref solimp margin gap rgba",
    "site": "pos quat",
    "pair": "friction solref solimp solreffriction margin gap",
    "tendon": "stiffness stiffnesspoly damping dampingpoly armature frictionloss lengthspring range margin actfrcrange"
    " rgba",
    "actuator": "gear gainprm biasprm dynprm ctrlrange forcerange actrange damping dampingpoly armature delay",
    "equality": "data solref solimp",
    "opt": "gravity timestep wind density viscosity magnetic impratio tolerance ls_tolerance",
}
PREFIX = {"joint": "jnt", "equality": "eq"}
KINDS = {f"{PREFIX.get(kind, kind)}_{name}": kind for kind, names in FIELDS.items() for name in names.split()}
KINDS = {field: kind for field, kind in KINDS.items() if kind != "opt"}
STORED = {SCALE_MASS: "body_mass"}  # MuJoCo's fields for names defined here
POSITIVE = ("body_mass", SCALE_MASS, "body_inertia", "opt.timestep", "opt.impratio")
NOT_NEGATIVE = re.compile(
    r"(stiffness|damping|armature|frictionloss|friction|density|viscosity|solmix|tolerance|delay)$"
)
UNIT_TOLERANCE = 1e-9  # of the lengths of axes and quaternions
KEY = re.compile(r"(?P<field>opt\.\w+|\w+)(?P<places>(\[[^\[\]]*\])*)$")


Labels = Mapping[str, Sequence[str]]  # labels of the coordinates, of kind "dof" and "qpos"


def changed(original: mujoco.MjModel, values: Mapping[str, Any], labels: Labels) -> mujoco.MjModel:
    """A copy of the model with other values, by keys of this module; a value is a number, or an array for several.

    Quantities that MuJoCo derives from the values (masses of subtrees, inverse weights, lengths at the reference
    positions) are recomputed. A new `body_mass` does not change the body's inertia; `body_scale_mass` scales it, unless
    `body_inertia` is given as well.

    Raises:
        OptionError: there is no such field or element, or it cannot have this value.
        ModelError: a number is too large.
    """
    values = mapping("values", values)
    m = copy.copy(original)
    # masses first, in the given order, so that given inertias are kept
    whole = _Distributions(m)
    for key in sorted(values, key=lambda key: not str(key).startswith(("body_mass", SCALE_MASS))):
        _assign(m, key, values[key], labels, whole)
    whole.set()
    _check_delays(m)
    _check_inertias(m, np.flatnonzero((m.body_inertia != original.body_inertia).any(axis=1)))
    _check_frames(m, original)
    _check_lengths(m, original)
    _check_sizes(m, original)
    _check_states(m, original)
    check_numbers(m)
    if any((getattr(m, name) != getattr(original, name)).any() for name in bounds.SOURCES):
        bounds.set_bounds(m)
    try:
        mujoco.mj_setConst(m, mujoco.MjData(m))
    except mujoco.FatalError as error:
        raise OptionError(f"{', '.join(values)}: {error}") from None
    return m


def value_of(m: mujoco.MjModel, key: str, labels: Labels) -> Any:
    """The present value for a key: a float, or an array for several numbers."""
    return _place(m, key, labels)[1].copy()[()]


def can_change(field: str) -> bool:
    """Whether `changed` takes a field, "body_mass" or "opt.gravity"."""
    return field in KINDS or (field.startswith("opt.") and field.removeprefix("opt.") in FIELDS["opt"].split())


def field_of(key: str) -> str:
    """MuJoCo's field in a key. OptionError if there is none."""
    return _parts(key)[0]


def flat_place(model: Any, key: str) -> tuple[str, slice]:
    """The field in a key, and the flat indices of the key's numbers in it, or in the field that stores it (`STORED`).

    `model`: a Model. OptionError: there is no such field or element.
    """
    m = model.mj_model
    field, view = _place(m, key, {"dof": model.dof_names(), "qpos": model.qpos_names()})
    if not isinstance(view, np.ndarray):
        return field, slice(0, 1)
    own = STORED.get(field, field)
    whole = getattr(m.opt, field.removeprefix("opt.")) if field.startswith("opt.") else getattr(m, own)
    first = (view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // whole.itemsize
    return field, slice(first, first + view.size)


class _Distributions:
    """Mass distributions of bodies that are given by some of their ten numbers, and set all at once."""

    def __init__(self, m: mujoco.MjModel):
        self._m = m
        self._found: dict[int, tuple[str, str, np.ndarray]] = {}
        self._keys: dict[tuple[str, int], str] = {}

    def add(self, key: str, field: str, value: np.ndarray) -> None:
        """Note what a key says of a body's mass; OptionError if another has said it before."""
        _, (name, *places) = _parts(key)
        body = _number(self._m, "body", name, key)
        self._keys[field, body] = key
        if field in (INERTIAL, PSEUDO):
            if body not in self._found:
                self._found[body] = field, key, distribution(self._m, body, field, key)
            _inner(self._found[body][2], places, key)[...] = value
        elif field == SCALE_MASS:
            set_distribution(self._m, body, field, value, key)

    def set(self) -> None:
        """Write the distributions into the model; OptionError if one is given twice, or no body has it."""
        for body, (field, key, numbers) in self._found.items():
            for other, place in self._keys:
                if place == body and other != field and {other, *STORED_IN.get(other, ())} & {*STORED_IN[field]}:
                    both = f"{self._keys[other, body]} and {key}"
                    raise OptionError(f"{both} are numbers of one mass distribution; give one")
            set_distribution(self._m, body, field, numbers, key)


def _assign(m: mujoco.MjModel, key: str, value: Any, labels: Labels, whole: _Distributions) -> None:
    field, view = _place(m, key, labels)
    try:
        new = np.asarray(value, float)
    except (TypeError, ValueError):
        raise OptionError(f"{key} must be a number, got {value!r}") from None
    if new.shape != view.shape:
        wanted = f"takes {view.size} numbers, as {_example(view)}" if view.shape else "takes one number"
        one = f"; {key}[0] is one of them" if view.ndim == 1 and not new.shape else ""
        raise OptionError(f"{key} {wanted}, not {_counted(new)}{one}")
    if not np.isfinite(new).all():
        raise OptionError(f"{key} must be finite, got {value}")
    if (new < 0).any() and (field in POSITIVE or NOT_NEGATIVE.search(field)):
        raise OptionError(f"{key} must not be negative, got {value}")
    if (new == 0).any() and field in POSITIVE:
        raise OptionError(f"{key} must be positive, got {value}")
    if (field == "body_mass" or field in STORED_IN) and not m.body_mass[_number(m, "body", _parts(key)[1][0], key)]:
        raise OptionError(f"{key}: the body has no mass; set mass and inertia in the model file")
    if KINDS.get(field) == "body":
        whole.add(key, field, new)
    if field not in STORED_IN:
        view[...] = new


def _example(view: np.ndarray) -> str:
    """The present numbers as text."""
    return ", ".join(f"{x:g}" for x in view.reshape(-1))


def _counted(values: np.ndarray) -> str:
    """Count of numbers that were given."""
    return "one" if values.size == 1 else f"{values.size}"


def _check_inertias(m: mujoco.MjModel, bodies: np.ndarray) -> None:
    """Raise OptionError if a rigid body has a principal inertia larger than the sum of the other two."""
    for b in bodies:
        most, total = m.body_inertia[b].max(), m.body_inertia[b].sum()
        if most > (total - most) * (1 + 1e-9):
            name = name_of(m, "BODY", b)
            raise OptionError(f"body_inertia[{name}]: no rigid body has principal inertias {m.body_inertia[b]} kg m²")


def _check_frames(m: mujoco.MjModel, original: mujoco.MjModel) -> None:
    """Raise OptionError for new inertial frames of bodies whose inertia is compiled as diagonal in their own axes."""
    for field in ("body_ipos", "body_iquat"):
        moved = (getattr(m, field) != getattr(original, field)).any(axis=1)
        for b in np.flatnonzero(moved & (m.body_simple > 0)):
            where = f"{field}[{name_of(m, 'BODY', b)}]"
            raise OptionError(f'{where}: MuJoCo compiles the body as simple; set simple="false" in the model file')


def _check_lengths(m: mujoco.MjModel, original: mujoco.MjModel) -> None:
    """Raise OptionError for new axes and quaternions whose length is not 1."""
    for field in ("body_quat", "body_iquat", "geom_quat", "site_quat", "jnt_axis"):
        values = getattr(m, field)
        wrong = (values != getattr(original, field)).any(axis=1) & (
            abs(np.linalg.norm(values, axis=1) - 1.0) > UNIT_TOLERANCE
        )
        for k in np.flatnonzero(wrong):
            name = name_of(m, KINDS[field].upper(), k)
            raise OptionError(f"{field}[{name}] must have length 1, not {np.linalg.norm(values[k]):g}")


def _check_sizes(m: mujoco.MjModel, original: mujoco.MjModel) -> None:
    """Raise OptionError for new sizes that are not positive, or that a shape does not have."""
    own, different = bounds.has_size(m), m.geom_size != original.geom_size
    for g, k in np.argwhere(different & ~(own & (m.geom_size > 0.0))):
        there = "must be positive" if own[g, k] else f"has no effect: the shape has {own[g].sum()} sizes"
        raise OptionError(f"geom_size[{name_of(m, 'GEOM', g)}][{k}] {there}")


def _check_states(m: mujoco.MjModel, original: mujoco.MjModel) -> None:
    """Raise OptionError for numbers by which a motor or servo would gain or lose a state."""
    for field in ("actuator_dynprm", "actuator_gainprm"):
        for k, place in np.argwhere(states_lost(original, field, getattr(m, field))):
            raise OptionError(f"{field}[{name_of(m, 'ACTUATOR', k)}][{place}]: {BELONGS}")


def _check_delays(m: mujoco.MjModel) -> None:
    """Raise OptionError for a delay of an actuator that keeps no controls of the past."""
    for k in np.flatnonzero((m.actuator_delay > 0) & (m.actuator_history[:, 0] == 0)) if m.nu else ():
        name = name_of(m, "ACTUATOR", k)
        raise OptionError(
            f"actuator_delay[{name}]: the actuator keeps no past controls; give it nsample and interp in the file"
        )


def _parts(key: str) -> tuple[str, list[str]]:
    """A key's field, and the contents of its brackets."""
    found = KEY.match(key.strip()) if isinstance(key, str) else None
    if found is None:
        raise OptionError(f"{key!r} is not a value of the model; expected field[element], as body_mass[bob]")
    return found["field"], re.findall(r"\[([^\[\]]*)\]", found["places"])


def _place(m: mujoco.MjModel, key: str, labels: Labels) -> tuple[str, np.ndarray]:
    """The field's name, and a view of the value, of shape () for one number."""
    field, places = _parts(key)
    if field.startswith("opt."):
        return field, _option(m, field, places, key)
    if field not in KINDS:
        raise OptionError.unknown("field", field, [*KINDS, *(f"opt.{name}" for name in FIELDS["opt"].split())])
    if not places:
        raise OptionError(f"{key}: which {KINDS[field]}? Expected {field}[name]")
    if field in (INERTIAL, PSEUDO):
        return field, _inner(distribution(m, _number(m, "body", places[0], key), field, key), places[1:], key)
    values, kind = getattr(m, STORED.get(field, field)), KINDS[field]
    if kind in ("dof", "qpos"):
        view = values[_coordinates(labels[kind], places[0], key)]
        view = view[0] if len(view) == 1 and view.ndim > 1 else view.reshape(()) if view.size == 1 else view
    else:
        number = _number(m, kind, places[0], key)
        _check_free(m, field, number, key)
        view = values[number : number + 1].reshape(values.shape[1:])
    return field, _inner(view, places[1:], key)


def _option(m: mujoco.MjModel, field: str, places: list[str], key: str) -> np.ndarray:
    name = field.removeprefix("opt.")
    if name not in FIELDS["opt"].split():
        raise OptionError.unknown("option", name, FIELDS["opt"].split())
    value = getattr(m.opt, name)
    return _inner(value if isinstance(value, np.ndarray) else _Scalar(m.opt, name), places, key)


class _Scalar:
    """A number of the options, with the methods of arrays that are used here."""

    shape: tuple[int, ...] = ()

    def __init__(self, options: Any, name: str):
        self._options, self._name = options, name

    def __setitem__(self, place: Any, value: Any) -> None:
        setattr(self._options, self._name, float(value))

    def copy(self) -> np.ndarray:
        return np.array(getattr(self._options, self._name), float)


def _inner(view: Any, places: list[str], key: str) -> Any:
    for place in places:
        length = view.shape[0] if view.shape else 0
        if not (place.isdigit() and int(place) < length):
            there = f"it has {length} numbers" if length else "it is a single number"
            raise OptionError(f"{key}: index [{place}] is out of range; {there}")
        view = view[int(place) : int(place) + 1].reshape(view.shape[1:])
    return view


def _number(m: mujoco.MjModel, kind: str, name: str, key: str) -> int:
    """Index of an element by name or "#index"; OptionError lists the names."""
    count = {"joint": m.njnt, "equality": m.neq}.get(kind) or getattr(m, f"n{kind}", 0)
    names = [name_of(m, kind.upper(), i) for i in range(count)]
    if name in names:
        return names.index(name)
    if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < count:
        return int(name[1:])
    raise OptionError.unknown(f"{kind} in {key}:", name, names)


def _coordinates(labels: Sequence[str], name: str, key: str) -> slice:
    """Slice of a joint, or of one of its coordinates by label, in a field of degrees of freedom or positions."""
    if name in labels:
        return slice(labels.index(name), labels.index(name) + 1)
    own = [i for i, label in enumerate(labels) if label.rpartition(".")[0] == name]
    if not own:
        raise OptionError.unknown(f"joint in {key}:", name, labels)
    return slice(own[0], own[-1] + 1)


def _check_free(m: mujoco.MjModel, field: str, number: int, key: str) -> None:
    """Raise OptionError for numbers that cannot change."""
    for fixed in fixed_numbers(m, field):
        if fixed.objects[number]:
            raise OptionError(f"{key}: {fixed.reason}")
