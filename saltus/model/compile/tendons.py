"""Tendons in the kernels' Model: the elements of their paths, and the degrees of freedom that move them."""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.actuator_enums import TRN_TENDON
from saltus.model.compile.leading_axes import widened
from saltus.model.enums import WRAP_CYLINDER, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE, WRAP_SPHERE
from saltus.model.tree.chains import ChainTable
from saltus.number.functions import MINVAL


class Tendons(NamedTuple):
    """Fields and sizes of the kernels' Model, and the features that they need compiled."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def tendons(m: mujoco.MjModel, left_out: frozenset[str] = frozenset()) -> Tendons:
    """Fields, sizes and features of the tendons; without their own forces if "tendon" is left out.

    An element of a fixed tendon is a joint with its coefficient. An element of a spatial tendon is the path between two
    successive sites, optionally around a sphere or cylinder, with the inverse of the pulley's divisor.
    """
    paths = [path_elements(m, t) for t in range(m.ntendon)]
    elements = [element for path in paths for element in path]
    count = np.array([len(path) for path in paths], int)
    columns: dict[str, Any] = (
        dict(zip(_ELEMENT, zip(*elements, strict=True), strict=True)) if elements else {f: () for f in _ELEMENT}
    )
    values = {
        "tendon_adr": np.cumsum(count) - count,
        "tendon_num": count,
        "tendon_Jadr": m.ten_J_rowadr,
        "tendon_Jnum": m.ten_J_rownnz,
        "tendon_common": [_common_dof(m, path) for path in paths],
        "tendon_dof": m.ten_J_colind,
        "tendon_length0": m.tendon_length0,
        "tendon_lengthspring": m.tendon_lengthspring,
        "tendon_actfrclimited": m.tendon_actfrclimited,
        "tendon_actfrcrange": m.tendon_actfrcrange,
        **parameters(m, left_out),
        **columns,
    }
    features = {"tendon"} if m.ntendon else set()
    pulls = ("tendon_stiffness", "tendon_stiffnesspoly", "tendon_damping", "tendon_dampingpoly")
    if any(values[name].any() for name in pulls):
        features.add("tendon_force")
    if values["tendon_armature"].any():
        features.add("tendon_armature")
    if any(kind in (WRAP_SPHERE, WRAP_CYLINDER) for kind in columns["path_type"]):
        features.add("wrap")
    return Tendons(values, {"ntendon": m.ntendon, "npath": len(elements), "ntenJ": m.nJten}, features)


_ELEMENT = ("path_type", "path_obj1", "path_obj2", "path_geom", "path_side", "path_factor")


def parameters(m: Any, left_out: frozenset[str] = frozenset()) -> dict[str, np.ndarray]:
    """Springs, dampers and inertia of tendons, including actuators' through their gear; disabled ones are zero."""
    names = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "armature")
    values = {f"tendon_{name}": getattr(m, f"tendon_{name}") for name in names}
    if "tendon" in left_out:
        return {name: 0.0 * value for name, value in values.items()}
    square = m.actuator_gear[..., m.actuator_outadr, 0] ** 2
    for name in names:
        own, axes = values[f"tendon_{name}"], 2 if name.endswith("poly") else 1
        if name.startswith("stiffness"):
            values[f"tendon_{name}"] = own.copy()
            continue
        added = getattr(m, f"actuator_{name}") * (square[..., None] if axes == 2 else square)
        out = values[f"tendon_{name}"] = widened(own, axes, added, axes)
        for k in np.flatnonzero(m.actuator_trntype == TRN_TENDON):
            inner = (slice(None),) * (axes - 1)
            out[(..., m.actuator_trnid[k, 0], *inner)] += added[(..., k, *inner)]
    flags = mujoco.mjtDisableBit
    for bit, kind in ((flags.mjDSBL_SPRING, "stiffness"), (flags.mjDSBL_DAMPER, "damping")):
        if m.opt.disableflags & bit.value:
            values[f"tendon_{kind}"][:] = values[f"tendon_{kind}poly"][:] = 0.0
    return values


def tendon_dofs(m: mujoco.MjModel, t: int | np.integer) -> list[int]:
    """Degrees of freedom that change a tendon's length, ascending."""
    return m.ten_J_colind[m.ten_J_rowadr[t] : m.ten_J_rowadr[t] + m.ten_J_rownnz[t]].tolist()


def inertia_parents(m: mujoco.MjModel, left_out: frozenset[str]) -> np.ndarray:
    """For each degree of freedom, the last one before it that the inertia matrix or its factor couples it with; or -1.

    This is the parent in the tree. If tendons with inertia couple branches, it is the parent in the elimination tree of
    M's pattern, whose paths to the root contain all entries (George & Liu, Computer Solution of Large Sparse Positive
    Definite Systems (1981), chapter 5).
    """
    coupled: list[set[int]] = [{int(p)} - {-1} for p in m.dof_parentid]
    for t in np.flatnonzero(parameters(m, left_out)["tendon_armature"]):
        dofs = tendon_dofs(m, t)
        for c, i in enumerate(dofs):
            coupled[i] |= set(dofs[:c])
    parents = np.full(m.nv, -1)
    for i in range(m.nv - 1, -1, -1):
        if coupled[i]:
            parents[i] = max(coupled[i])
            coupled[parents[i]] |= coupled[i] - {parents[i]}
    return parents


def path_elements(m: Any, t: int) -> list[tuple]:
    """Elements of a tendon's path: type, two objects, wrapping geom, side site, factor (see `tendons`)."""
    return _fixed(m, t) if m.wrap_type[m.tendon_adr[t]] == WRAP_JOINT else _spatial(m, t)


def _fixed(m, t) -> list[tuple]:
    first = m.tendon_adr[t]
    return [
        (WRAP_JOINT, int(m.wrap_objid[w]), -1, -1, -1, float(m.wrap_prm[w]))
        for w in range(first, first + m.tendon_num[t])
    ]


def _spatial(m, t) -> list[tuple]:
    """The path between successive sites of a tendon; none across a pulley."""
    found: list[tuple] = []
    site, geom, share = -1, -1, 1.0
    for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        kind, obj = int(m.wrap_type[w]), int(m.wrap_objid[w])
        if kind == WRAP_PULLEY:
            site, share = -1, 1.0 / float(m.wrap_prm[w])
        elif kind == WRAP_SITE:
            if site >= 0:
                way, side = (int(m.wrap_type[geom]), round(m.wrap_prm[geom])) if geom >= 0 else (WRAP_SITE, -1)
                found.append((way, site, obj, int(m.wrap_objid[geom]) if geom >= 0 else -1, side, share))
            site, geom = obj, -1
        elif np.all(np.real(m.geom_size[..., obj, 0]) >= MINVAL):
            geom = w
    return found


def _common_dof(m, path) -> int:
    """The last degree of freedom that moves all of a spatial tendon rigidly, keeping its length; -1 for none."""
    bodies = {int(m.site_bodyid[s]) for kind, *sites, _, _, _ in path if kind != WRAP_JOINT for s in sites}
    bodies |= {int(m.geom_bodyid[g]) for _, _, _, g, _, _ in path if g >= 0}
    ways = [ChainTable(m).ancestors(b) for b in bodies]
    return max(set.intersection(*ways), default=-1) if ways else -1
