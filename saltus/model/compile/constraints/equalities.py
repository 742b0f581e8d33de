"""Equality constraints in the kernels' Model: between bodies, joints, tendons, and edges of fixed length."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from saltus.model.compile.constraints.cams import cam_values
from saltus.model.compile.tendons import tendon_dofs
from saltus.model.contact.contact_parameters import soft_laws
from saltus.model.enums import CONNECT, FLEX, JOINT, TENDON, WELD
from saltus.model.flex.flexes import edge_address
from saltus.model.tree.chains import ChainTable
from saltus.model.tree.particles import particles

EQUALITY_ROWS = {CONNECT: 3, WELD: 6, JOINT: 1, TENDON: 1, FLEX: 0}  # a flex has one for each edge


def equalities(m, laws, chains, safe, out, *, switched: bool) -> int:
    """Equality constraints; `switched`: those that are inactive at first may become active."""
    active = simulated_equalities(m, switched=switched)
    curves, segments = cam_values(m, active)
    out.sizes |= segments
    out.values |= {
        "eq_id": active,
        "eq_active0": m.eq_active0[active],
        "eq_type": m.eq_type[active],
        "eq_obj1": m.eq_obj1id[active],
        "eq_obj2": m.eq_obj2id[active],
        "eq_site": m.eq_objtype[active] == mujoco.mjtObj.mjOBJ_SITE.value,
        "eq_law": laws.indices(soft_laws(m.eq_solref[active], m.eq_solimp[active], safe)),
        "eq_chain": [_equality_chain(m, i, chains) for i in active],
        **equality_values(m, active),
        **curves,
    }
    return sum(EQUALITY_ROWS[int(m.eq_type[i])] for i in active)


def simulated_equalities(m: mujoco.MjModel, *, switched: bool) -> list[int]:
    """Numbers of the equality constraints that are simulated, in the order of the kernels' Model.

    Constraints between objects that cannot move are left out, as in MuJoCo. `switched`: those that are inactive at
    first are simulated too, but for deformable bodies.
    """
    there = [m.eq_active0[i] or (switched and m.eq_type[i] != FLEX) for i in range(m.neq)]
    return [i for i in np.flatnonzero(there).tolist() if m.eq_type[i] in EQUALITY_ROWS and _can_move(m, i)]


def _can_move(m, i) -> bool:
    """Whether any degree of freedom acts on an equality constraint."""
    if m.eq_type[i] == FLEX:
        return not m.flex_rigid[m.eq_obj1id[i]]
    objects = [int(k) for k in (m.eq_obj1id[i], m.eq_obj2id[i]) if k >= 0]
    if m.eq_type[i] == JOINT:
        return True
    if m.eq_type[i] == TENDON:
        return any(tendon_dofs(m, t) for t in objects)
    if m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE.value:
        objects = [int(m.site_bodyid[s]) for s in objects]
    return any(ChainTable(m).ancestors(b) for b in objects)


def _equality_chain(m, i, chains) -> int:
    """The chain of an equality constraint."""
    first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if m.eq_type[i] == JOINT:
        return chains.of_dofs(sorted(int(m.jnt_dofadr[j]) for j in (first, second) if j >= 0))
    if m.eq_type[i] == FLEX:
        return chains.of_dofs([])
    if m.eq_type[i] == TENDON:
        return chains.of_dofs(sorted({i for t in (first, second) if t >= 0 for i in tendon_dofs(m, t)}))
    # MuJoCo subtracts the second body from the first
    one, other = _joined_bodies(m, i)
    return chains.of_bodies(other, one, skip_common=False)


def _joined_bodies(m, i) -> tuple[int, int]:
    """The bodies that a connect or weld constraint joins."""
    first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE.value:
        return int(m.site_bodyid[first]), int(m.site_bodyid[second])
    return first, second


def equality_values(m: Any, active: Sequence[int]) -> dict[str, np.ndarray]:
    """Parameters, and inverse inertias of translation and rotation, of equality constraints."""
    before = m.body_invweight0.shape[:-2]
    weight = np.zeros((*before, len(active), 2), m.body_invweight0.dtype)
    for k, i in enumerate(active):
        objects = [o for o in (int(m.eq_obj1id[i]), int(m.eq_obj2id[i])) if o >= 0]
        if m.eq_type[i] == JOINT:
            weight[..., k, 0] = m.dof_invweight0[..., sorted(m.jnt_dofadr[objects])].sum(axis=-1)
        elif m.eq_type[i] == TENDON:
            weight[..., k, 0] = m.tendon_invweight0[..., objects].sum(axis=-1)
        elif m.eq_type[i] != FLEX:
            one, other = _joined_bodies(m, i)
            weight[..., k, :] = m.body_invweight0[..., one, :] + m.body_invweight0[..., other, :]
    return {"eq_data": m.eq_data[..., active, :11], "eq_invweight": weight}


def edges(m, chains, out) -> int:
    """Edges of deformable bodies with fixed length, in the order of the equalities; returns their number."""
    rows = []
    for k, i in enumerate(out.values["eq_id"]):
        if m.eq_type[i] == FLEX:
            f = int(m.eq_obj1id[i])
            bodies = m.flex_vertbodyid[m.flex_vertadr[f] :]
            for place, e in enumerate(range(m.flex_edgeadr[f], m.flex_edgeadr[f] + m.flex_edgenum[f])):
                first, second = (int(bodies[v]) for v in m.flex_edge[e])
                chain = chains.of_bodies(first, second, skip_common=False)
                if not m.flexedge_rigid[e] and chains.dofs(chain):
                    rows.append((k, edge_address(m, f) + place, chain, float(m.flexedge_invweight0[e])))
    if rows:
        out.features.add("flexequality")
    out.values |= _edge_dofs(m, [chains.dofs(chain) for _, _, chain, _ in rows])
    out.sizes["edgerows_alike"] = int(out.values.pop("edgerows_alike"))
    out.values |= {
        f"edgerow_{name}": [r[c] for r in rows] for c, name in enumerate(("eq", "edge", "chain", "invweight"))
    }
    return len(rows)


def _edge_dofs(m, dofs: list[list[int]]) -> dict[str, Any]:
    """Whether all edges join particles or fixed points; then their first degrees of freedom, -1 for none."""
    first = set(m.body_dofadr[particles(m)].tolist())
    alike = all(len(d) in (3, 6) and set(d[::3]) <= first for d in dofs)
    count = np.array([len(d) for d in dofs], int)
    pairs = [[*d[::3], -1][:2] if alike else [-1, -1] for d in dofs]
    return {"edgerows_alike": alike, "edgerow_dof": pairs, "edgerow_J": np.cumsum(count) - count}
