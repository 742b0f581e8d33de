"""Models with some of their forces switched off."""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from saltus.model.enums import FREE
from saltus.model.model import Model

OFF = mujoco.mjtDisableBit
ASLEEP = mujoco.mjtEnableBit.mjENBL_SLEEP.value


def always_awake(model: Model) -> Model:
    """The model with trees that never sleep."""
    return _with_flags(model, 0)


def without_dry_friction(model: Model) -> Model:
    """The model without dry friction of joints and tendons, and with trees that never sleep."""
    return _with_flags(model, OFF.mjDSBL_FRICTIONLOSS.value)


def unconstrained(model: Model) -> Model:
    """The model without forces of contacts, limits, dry friction and equalities, and with trees that never sleep."""
    return _with_flags(model, OFF.mjDSBL_CONSTRAINT.value)


def _with_flags(model: Model, disabled: int) -> Model:
    m = copy.copy(model.mj_model)
    m.opt.disableflags |= disabled
    m.opt.enableflags &= ~ASLEEP
    return model.with_values_of(m, {})


def constraint_kinds(model: Model) -> list[str]:
    """Kinds of constraints that the model has and does not disable: their names in MJCF."""
    m = model.mj_model
    if m.opt.disableflags & OFF.mjDSBL_CONSTRAINT.value:
        return []
    rubbing = bool((m.dof_frictionloss > 0).any() or (m.tendon_frictionloss > 0).any())
    limited = bool(np.any(m.jnt_limited[m.jnt_type != FREE]) or np.any(m.tendon_limited))
    touching = bool(np.any(m.geom_contype) or np.any(m.geom_conaffinity) or m.npair or m.nflex)
    kinds = {
        "equality": (bool(m.neq), OFF.mjDSBL_EQUALITY),
        "frictionloss": (rubbing, OFF.mjDSBL_FRICTIONLOSS),
        "limit": (limited, OFF.mjDSBL_LIMIT),
        "contact": (touching, OFF.mjDSBL_CONTACT),
    }
    return [kind for kind, (there, bit) in kinds.items() if there and not m.opt.disableflags & bit.value]


def carried_by_mocap(model: Model) -> list[str]:
    """Names of mocap bodies with joints below them."""
    roots = {int(model.body_rootid[b]) for b in model.jnt_bodyid}
    return [name for b, name in enumerate(model.names("body")) if model.body_mocapid[b] >= 0 and b in roots]
