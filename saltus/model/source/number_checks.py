"""Checks for numbers that MuJoCo's compiler accepts but that cannot be simulated: NaN, infinity, too large."""

from __future__ import annotations

import os
import re
from typing import Any

import mujoco
import numpy as np

from saltus.errors import ModelError
from saltus.model.features import name_of

HUGE = 1e100  # in SI units: squares and triple products of larger numbers overflow
ELEMENTS = {  # prefix of MuJoCo's fields: (the element in a file, the kind of its name, the size that counts them)
    "body": ("body", "BODY", "nbody"),
    "jnt": ("joint", "JOINT", "njnt"),
    "geom": ("geom", "GEOM", "ngeom"),
    "site": ("site", "SITE", "nsite"),
    "cam": ("camera", "CAMERA", "ncam"),
    "light": ("light", "LIGHT", "nlight"),
    "mesh": ("mesh", "MESH", "nmesh"),
    "hfield": ("hfield", "HFIELD", "nhfield"),
    "mat": ("material", "MATERIAL", "nmat"),
    "skin": ("skin", "SKIN", "nskin"),
    "flex": ("flex", "FLEX", "nflex"),
    "pair": ("pair", "PAIR", "npair"),
    "eq": ("equality", "EQUALITY", "neq"),
    "tendon": ("tendon", "TENDON", "ntendon"),
    "actuator": ("actuator", "ACTUATOR", "nactuator"),
    "sensor": ("sensor", "SENSOR", "nsensor"),
    "key": ("key", "KEY", "nkey"),
}
ATTRIBUTES = {  # attributes with another name in files
    "body_ipos": "pos of inertial",
    "body_iquat": "quat of inertial",
    "body_inertia": "inertia",
    "actfrcrange": "actuatorfrcrange",
    "lengthspring": "springlength",
}
# fields in which infinity, or a huge number, means that there is no limit
LIMITS = re.compile(r"range$|cutoff$")
OWN = re.compile(r"_user$|^numeric_|^tuple_|^sensor_noise$")  # user data; what is read of it is checked there
# fields that MuJoCo computes from others
DERIVED = re.compile(
    r"(pos|com|dir|mat|node|vert|weight|acc|length|_M)0$|lengthrange$|subtreemass$|^dof_length$|^(bvh|oct|efm0|flexedge)_"
    r"|^geom_(aabb|rbound)$|texcoord$|normal$"
)
# fields without a meaning below zero, where MuJoCo leaves the number out in some computations and not in others
NOT_NEGATIVE = {
    "body_mass": "a mass",
    "body_inertia": "an inertia",
    "body_gravcomp": "a share of gravity, which MuJoCo leaves out unless another body has a positive one",
    "dof_armature": "an inertia",
    "actuator_armature": "an inertia",
    "dof_frictionloss": "the greatest friction, which MuJoCo takes as none",
    "tendon_frictionloss": "the greatest friction, which MuJoCo takes as none",
    "actuator_delay": "a time",
    "sensor_delay": "a time",
}
OPTIONS_NOT_NEGATIVE = ("density", "viscosity")
_FIELDS = sorted(name for name, value in vars(mujoco.MjModel).items() if isinstance(value, property))


def check_numbers(m: mujoco.MjModel, file: str | os.PathLike[str] | None = None) -> None:
    """Raise ModelError, with element, name and attribute, for a number that cannot be simulated.

    These are NaN, infinity, numbers larger than `HUGE`, and negative ones in the fields of `NOT_NEGATIVE`. Ranges may
    be infinite; user data may hold any number.
    """
    for field in _FIELDS:
        values = getattr(m, field)
        if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or not values.size:
            continue
        if OWN.search(field) or DERIVED.search(field) or (place := _bad(values, bool(LIMITS.search(field)))) is None:
            continue
        element, name, what = _where(m, field, values, place)
        raise ModelError(_text(what, values.reshape(-1)[place]), file=file, element=element, name=name)
    _check_signs(m, file)
    for group, element in ((m.opt, "option"), (m.stat, "statistic"), (m.vis, "visual")):
        _check_group(group, element, file)


def _check_signs(m: mujoco.MjModel, file: str | os.PathLike[str] | None) -> None:
    """Raise ModelError for the first number that must not be negative and is."""
    for field, meaning in NOT_NEGATIVE.items():
        values = getattr(m, field)
        below = np.flatnonzero(values < 0)
        if below.size:
            element, name, what = _where(m, field, values, int(below[0]))
            text = f"{what} is {values.reshape(-1)[below[0]]:g}; expected at least 0: it is {meaning}"
            raise ModelError(text, file=file, element=element, name=name)
    for name in OPTIONS_NOT_NEGATIVE:
        if (value := getattr(m.opt, name)) < 0:
            raise ModelError(f"{name} of the medium is {value:g}; expected at least 0", file=file, element="option")


def _bad(values: np.ndarray, limit: bool) -> int | None:
    """Flat index of the first invalid number in an array; None if there is none."""
    flat = values.reshape(-1)
    bad = np.isnan(flat) if limit else ~(abs(flat) <= min(HUGE, float(np.finfo(values.dtype).max)))
    return int(bad.argmax()) if bad.any() else None


def _where(m: mujoco.MjModel, field: str, values: np.ndarray, place: int) -> tuple[str | None, str | None, str]:
    """Element, name and attribute for a place in a field."""
    row = place // max(1, values.size // len(values))
    prefix, _, rest = field.partition("_")
    what = ATTRIBUTES.get(field, ATTRIBUTES.get(rest, rest))
    if prefix == "dof":
        return "joint", name_of(m, "JOINT", m.dof_jntid[row]), what
    if field in ("qpos0", "qpos_spring"):
        joint = int(np.searchsorted(m.jnt_qposadr, row, side="right")) - 1
        return "joint", name_of(m, "JOINT", joint), "ref" if field == "qpos0" else "springref"
    if prefix not in ELEMENTS:
        return None, None, field
    element, kind, count = ELEMENTS[prefix]
    return element, name_of(m, kind, row) if len(values) == getattr(m, count) else None, what


def _check_group(group: Any, element: str, file: str | os.PathLike[str] | None) -> None:
    """Raise ModelError for an invalid number among the attributes of options, statistics or visual settings."""
    for name in dir(group):
        if name.startswith("_") or callable(value := getattr(group, name)):
            continue
        if isinstance(value, float | np.ndarray):
            place = _bad(np.asarray(value, float), False)
            if place is not None:
                raise ModelError(_text(name, np.asarray(value, float).reshape(-1)[place]), file=file, element=element)
        elif not isinstance(value, int | str | bytes):
            _check_group(value, f"{element}/{name.rstrip('_')}", file)


def _text(what: str, value: float) -> str:
    if np.isfinite(value):
        return f"{what} is {value:g}, which is too large; expected at most {HUGE:g}"
    return f"{what} is {value:g}; expected a finite number"
