"""Static friction of contacts: the coefficient up to which a contact sticks, where it is above that of sliding.

A model file declares it in <custom>, which MuJoCo ignores, as a number of a geom or of a <pair>:

    <tuple name="contact_static_friction"><element objtype="geom" objname="block" prm="0.8"/></tuple>

Geoms and pairs without one have their sliding friction, and two geoms are mixed as MuJoCo mixes friction: the number of
the higher priority, or the larger one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.errors import ModelError, proposal

TITLE = "contact_static_friction"


class StaticFriction(NamedTuple):
    """Declared coefficients, by geom and by <pair> element."""

    geoms: dict[int, float]
    pairs: dict[int, float]


def static_friction_of(m: mujoco.MjModel) -> StaticFriction:
    """The coefficients of static friction that a model declares.

    Raises:
        ModelError: a tuple names neither a geom nor a pair, or a coefficient is below that of sliding.
    """
    found = StaticFriction({}, {})
    for t in range(m.ntuple):
        title = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_TUPLE, t) or ""
        if not title.endswith(TITLE):
            if (at := title.rfind("contact_")) >= 0 and (hint := proposal(title[at:], (TITLE,))):
                raise ModelError(f"not a number of contacts{hint}", element="tuple", name=title)
            continue
        for k in range(m.tuple_adr[t], m.tuple_adr[t] + m.tuple_size[t]):
            kind, i, static = m.tuple_objtype[k], int(m.tuple_objid[k]), float(m.tuple_objprm[k])
            if kind == mujoco.mjtObj.mjOBJ_GEOM:
                numbers, sliding, word = found.geoms, float(m.geom_friction[i, 0]), "geom"
            elif kind == mujoco.mjtObj.mjOBJ_PAIR:
                numbers, sliding, word = found.pairs, float(m.pair_friction[i, 0]), "pair"
            else:
                why = "static friction of contacts is that of a geom or a pair; for joints, see drive_static_friction"
                raise ModelError(why, element="tuple", name=title)
            if not sliding <= static < math.inf:
                name = mujoco.mj_id2name(m, kind, i) or f"#{i}"
                raise ModelError(
                    f"prm of {word} {name!r} is {static:g}; expected at least its sliding friction, {sliding:g}",
                    element="tuple",
                    name=title,
                )
            numbers[i] = static
    return found


def static_frictions(m: Any, geoms1: list[int], geoms2: list[int], explicit: np.ndarray) -> np.ndarray:
    """Coefficients of static friction of pairs of geoms [..., pairs]; zeros if the model declares none.

    `explicit`: number of the <pair> element of each pair, or -1. Fields of `m` may have a leading axis of simulations.
    """
    declared = static_friction_of(getattr(m, "plain", m))
    if not (declared.geoms or declared.pairs):
        return np.zeros(len(geoms1))
    of_geoms, of_pairs = m.geom_friction[..., 0].copy(), m.pair_friction[..., 0].copy()
    for numbers, own in ((of_geoms, declared.geoms), (of_pairs, declared.pairs)):
        for i, static in own.items():
            numbers[..., i] = static
    # mixed by priority, else the larger one
    first, second = of_geoms[..., geoms1], of_geoms[..., geoms2]
    rank1, rank2 = m.geom_priority[..., geoms1], m.geom_priority[..., geoms2]
    mixed = np.where(rank1 > rank2, first, np.where(rank2 > rank1, second, np.maximum(first, second)))
    if (explicit >= 0).any():
        mixed = np.where(explicit >= 0, of_pairs[..., np.maximum(explicit, 0)], mixed)
    return mixed
