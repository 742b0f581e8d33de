"""MuJoCo's fields that may differ between simulations of a batch, and checks of their values."""

import re
from collections.abc import Collection
from typing import Any

import mujoco
import numpy as np

from saltus.errors import OptionError
from saltus.model.contact.bounds import has_size
from saltus.model.features import name_of
from saltus.model.field_overrides import NOT_NEGATIVE, POSITIVE, UNIT_TOLERANCE
from saltus.model.fixed_numbers import BELONGS, Fixed, fixed_numbers, states_lost

# the fields, without the prefix, by the kind of object
_OWN = {
    "body": "mass inertia pos quat ipos iquat",
    "jnt": "pos axis stiffness stiffnesspoly range margin solref solimp actfrcrange",
    "dof": "damping dampingpoly armature frictionloss solref solimp",
    "qpos": "spring",
    "geom": "size pos quat friction solmix solref solimp margin gap",
    "pair": "friction solref solimp solreffriction margin gap",
    "site": "pos quat",
    "tendon": "stiffness stiffnesspoly damping dampingpoly frictionloss lengthspring range margin actfrcrange"
    " solref_lim solimp_lim solref_fri solimp_fri",
    "actuator": "gear gainprm biasprm dynprm ctrlrange forcerange actrange damping dampingpoly armature lengthrange",
    "eq": "data solref solimp",
}
#: Prefixes of the fields of MuJoCo's model that belong to objects of a kind.
PREFIXES = {
    "body": ("body",),
    "joint": ("jnt", "dof", "qpos"),
    "geom": ("geom",),
    "site": ("site",),
    "tendon": ("tendon",),
    "actuator": ("actuator",),
    "equality": ("eq",),
    "pair": ("pair",),
}
#: Kind of object of a field, by its prefix.
KIND_OF = {prefix: kind for kind, prefixes in PREFIXES.items() for prefix in prefixes}
OPTIONS = ("opt.gravity", "opt.magnetic", "opt.impratio")
#: The fields that may differ between the simulations of a batch, by MuJoCo's names.
MAY_VARY = (*(f"{kind}_{name}" for kind, names in _OWN.items() for name in names.split()), *OPTIONS)

# fields from which MuJoCo derives nothing when constants are set (mj_setConst)
_WITHOUT_CONSTANTS = re.compile(
    r"\w+_(friction|sol\w+|margin|gap|stiffness|stiffnesspoly|damping|dampingpoly|frictionloss|range|actfrcrange|"
    r"gainprm|biasprm|dynprm|ctrlrange|forcerange|actrange|lengthrange|lengthspring|spring)$|opt\."
)
#: Fields that mj_setConst derives and kernels read.
CONSTANTS = ("body_subtreemass", "body_invweight0", "dof_invweight0", "tendon_length0", "tendon_invweight0")
CONSTANTS += ("actuator_acc0", "eq_data", "body_sameframe", "geom_sameframe", "site_sameframe")
CONSTANTS += ("cam_pos0", "cam_poscom0", "cam_mat0")


def check_names(m: mujoco.MjModel, names: Collection[str]) -> tuple[str, ...]:
    """The varying fields in a fixed order; OptionError for fields that do not exist, cannot vary or are empty."""
    for name in names:
        if name not in MAY_VARY:
            raise OptionError.unknown("field that may vary", name, MAY_VARY)
        if not np.size(value_of(m, name)):
            raise OptionError(f"vary: the model has no {name}")
    return tuple(name for name in MAY_VARY if name in names)


def value_of(m: Any, name: str) -> Any:
    """A field of a model, or of its options."""
    return getattr(m.opt, name.removeprefix("opt.")) if name.startswith("opt.") else getattr(m, name)


def needs_constants(names: Collection[str]) -> bool:
    """Whether MuJoCo derives constants from any of these fields."""
    return any(not _WITHOUT_CONSTANTS.match(name) for name in names)


def check_values(m: mujoco.MjModel, name: str, values: np.ndarray, index: np.ndarray) -> None:
    """Raise OptionError for values [n, ...] of a field, in simulations `index` [n], that are invalid or ineffective."""
    if not np.isfinite(values).all():
        raise OptionError(f"{name} must be finite{_where(~np.isfinite(values), index)}")
    if name in (*POSITIVE, "geom_size") and (values <= 0).any() and name != "geom_size":
        wrong = (values <= 0) & (value_of(m, name) > 0)  # the world body has no mass
        if wrong.any():
            raise OptionError(f"{name} must be positive{_where(wrong, index)}")
    if NOT_NEGATIVE.search(name) and (values < 0).any():
        raise OptionError(f"{name} must not be negative{_where(values < 0, index)}")
    if name.endswith(("quat", "axis")):
        wrong = abs(np.linalg.norm(values, axis=-1) - 1.0) > UNIT_TOLERANCE
        if wrong.any():
            raise OptionError(f"{name} must have length 1{_where(wrong, index)}")
    _check_zeros(m, name, values, index)
    if name in ("actuator_dynprm", "actuator_gainprm") and (wrong := states_lost(m, name, values)).any():
        raise OptionError(f"{name}{_where(wrong, index)}: {BELONGS}")
    _check_tendon_inertia(m, name, values, index)
    for fixed in fixed_numbers(m, name):
        _check_same(m, name, values, index, fixed)
    if name == "geom_size" and (wrong := (values <= 0) & has_size(m)).any():
        raise OptionError(f"{name} must be positive{_where(wrong, index)}")


def _check_zeros(m: mujoco.MjModel, name: str, values: np.ndarray, index: np.ndarray) -> None:
    """Raise OptionError for parameters that become zero or nonzero, unlike in the model."""
    absent = {
        "dof_frictionloss": "no dry friction in the model file",
        "tendon_frictionloss": "no dry friction in the model file",
        "body_mass": "no mass in the model file",
    }
    if name in absent:
        wrong = (value_of(m, name) == 0) & (values != 0)
        if wrong.any():
            raise OptionError(f"{name}{_where(wrong, index)}: there is {absent[name]}, and none can be added here")
        wrong = (value_of(m, name) != 0) & (values == 0)
        if wrong.any():
            raise OptionError(f"{name} must not be zero{_where(wrong, index)}")


def _check_tendon_inertia(m: mujoco.MjModel, name: str, values: np.ndarray, index: np.ndarray) -> None:
    """Raise OptionError for values by which actuators would change the inertia of a tendon, armature times gear².

    It is the same in all simulations: it couples joints in the inertia matrix.
    """
    if name not in ("actuator_armature", "actuator_gear"):
        return
    differs = values != value_of(m, name)
    if name == "actuator_gear":
        differs = differs[:, m.actuator_outadr, 0] & (m.actuator_armature != 0)
    wrong = np.argwhere(differs & (m.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON.value))
    if wrong.size:
        i, k = (int(x) for x in wrong[0])
        raise OptionError(
            f"{name}[{name_of(m, 'ACTUATOR', k)}] cannot vary (simulation {index[i]}): it changes the inertia of a "
            "tendon, which all simulations share; make a batch of a model with that value"
        )


def _check_same(m: mujoco.MjModel, name: str, values: np.ndarray, index: np.ndarray, fixed: Fixed) -> None:
    """Raise OptionError if values of fixed objects differ from the model's."""
    differs = (values != value_of(m, name)).any(axis=-1) & fixed.objects
    if differs.any():
        i, k = (int(x) for x in np.argwhere(differs)[0])
        kind = KIND_OF[name.partition("_")[0]].upper()
        raise OptionError(f"{name}[{name_of(m, kind, k)}] cannot vary (simulation {index[i]}): {fixed.reason}")


def _where(wrong: np.ndarray, index: np.ndarray) -> str:
    """The place of the first invalid number, [n, ...]."""
    found = np.argwhere(wrong)
    if not len(found):
        return ""
    i, *place = (int(x) for x in found[0])
    return f": simulation {index[i]}" + (f", place {place}" if place else "")
