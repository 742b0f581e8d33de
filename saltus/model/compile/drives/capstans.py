"""Friction of tendons on the geoms that they wrap, in the kernels' Model.

A model file declares its coefficient μ in <custom>, which MuJoCo ignores, as a number of the tendon:

    <tuple name="capstan_friction"><element objtype="tendon" objname="rope" prm="0.3"/></tuple>

It is part of the tendon's dry friction, which needs `frictionloss`, such as 1e-9.
"""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from saltus.errors import ModelError, proposal
from saltus.model.compile.tendons import parameters, path_elements
from saltus.model.enums import TENDON, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE

TITLE = "capstan_friction"
FEATURE = "capstan"


def capstan_friction(m: mujoco.MjModel) -> dict[int, float]:
    """Coefficients of friction by tendon.

    Raises:
        ModelError: a tuple is no list of tendons, a coefficient is not allowed, or a tendon's tension or slip is not
            one that the friction could follow from.
    """
    found: dict[int, float] = {}
    for t in range(m.ntuple):
        title = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_TUPLE, t) or ""
        if not title.endswith(TITLE):
            if (at := title.rfind("capstan_")) >= 0 and (hint := proposal(title[at:], (TITLE,))):
                raise ModelError(f"not a number of tendons{hint}", element="tuple", name=title)
            continue
        for k in range(m.tuple_adr[t], m.tuple_adr[t] + m.tuple_size[t]):
            if m.tuple_objtype[k] != mujoco.mjtObj.mjOBJ_TENDON:
                raise ModelError("friction of a capstan is that of a tendon", element="tuple", name=title)
            tendon, friction = int(m.tuple_objid[k]), float(m.tuple_objprm[k])
            if not 0.0 <= friction < math.inf:
                raise ModelError(f"prm is {friction:g}; expected at least 0", element="tuple", name=title)
            if why := why_no_capstan(m, tendon):
                name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_TENDON, tendon)
                raise ModelError(f"{TITLE}: {why}", element="tendon", name=name)
            found[tendon] = friction
    return found


def why_no_capstan(m: mujoco.MjModel, t: int) -> str:
    """Why a tendon can have no friction on its geoms; "" if it can."""
    first, count = m.tendon_adr[t], m.tendon_num[t]
    kinds = m.wrap_type[first : first + count]
    path = path_elements(m, t)
    around = [e for e, element in enumerate(path) if element[0] not in (WRAP_JOINT, WRAP_SITE)]
    if not around:
        return "expected a spatial tendon around a sphere or cylinder"
    if (kinds == WRAP_PULLEY).any():
        return "its branches have tensions of their own; expected a tendon without <pulley>"
    bodies = {int(m.geom_bodyid[path[e][3]]) for e in around}
    bodies |= {int(m.site_bodyid[element[1]]) for element in path[around[0] + 1 : around[-1] + 1]}
    if len(bodies) > 1:
        return "it slips on several bodies; expected geoms, and sites between them, on one body"
    coupled = (m.eq_type == TENDON) & ((m.eq_obj1id == t) | (m.eq_obj2id == t))
    if m.tendon_limited[t] or coupled.any() or parameters(m)["tendon_armature"][t]:
        return (
            "forces of its limits, equalities and armature depend on the friction; expected a spring or actuators alone"
        )
    if not m.tendon_frictionloss[t] > 0.0:
        return "it is part of dry friction: give the tendon frictionloss, such as 1e-9"
    return ""


def capstan_values(m: mujoco.MjModel) -> tuple[dict[str, Any], dict[str, int]]:
    """Fields and sizes of the friction of tendons on geoms; both empty if there is none."""
    found = capstan_friction(m)
    if not found:
        return {}, {}
    first, last = np.full(m.ntendon, -1), np.full(m.ntendon, -1)
    friction, at = np.zeros(m.ntendon), 0
    for t in range(m.ntendon):
        path = path_elements(m, t)
        if t in found:
            around = [at + e for e, element in enumerate(path) if element[0] != WRAP_SITE]
            first[t], last[t], friction[t] = around[0], around[-1], found[t]
        at += len(path)
    values = {"capstan_first": first, "capstan_last": last, "capstan_friction": friction}
    return values, {"nslip": m.ntendon, "nslipJ": m.nJten}
