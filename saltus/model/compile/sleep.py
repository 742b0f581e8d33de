"""Sleep in the kernels' Model: the trees of bodies and constraints, and features that prevent sleep.

Policies and lengths are those of MuJoCo's compiler (its documentation, Simulation: Sleeping islands).
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.compile.constraints.broad import why_listed
from saltus.model.compile.tendons import parameters
from saltus.model.enums import CARRIER, CONNECT, JOINT, MOVED, STILL, TENDON, WELD
from saltus.model.fields.constraint.sleep import GRID, SIZES

FEATURE = "sleep"
POLICY = mujoco.mjtSleepPolicy
NO_SLEEP = dict.fromkeys((*SIZES, *GRID, "nsleep", "ncarried_sleep"), 0)
NEVER = (POLICY.mjSLEEP_NEVER.value, POLICY.mjSLEEP_AUTO_NEVER.value)


class Sleep(NamedTuple):
    """Values, sizes and features of trees that may fall asleep."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def why_awake(m: mujoco.MjModel, left_out: frozenset[str]) -> str:
    """Part of a model that prevents sleep; "" if there is none."""
    if m.nflex:
        return "deformable bodies"
    if np.isin(m.eq_type, TENDON).any():
        return "equality constraints of tendons"
    armed = np.flatnonzero(parameters(m)["tendon_armature"]) if m.ntendon else []
    if any(m.tendon_treenum[t] > 1 for t in armed):
        return "tendons with inertia between trees"
    return why_listed(m, left_out)


def sleep(m: mujoco.MjModel, values: dict[str, Any], sizes: dict[str, int]) -> Sleep:
    """Fields and sizes of sleep; `values`, `sizes`: those of the Model without sleep."""
    tree = body_trees(m)
    mocap = mocap_below(m)
    carried = mocap >= 0
    joint = m.dof_jntid[m.tree_dofadr] if m.ntree else np.zeros(0, int)
    first = m.jnt_qposadr[joint]
    ends = np.append(first[1:], m.nq)
    of_dofs = m.dof_treeid
    chain = values.get("limit_chain", ()), values.get("friction_chain", ())
    out = {
        "tree_sleeps": ~np.isin(m.tree_sleep_policy, NEVER),
        **{"tree_firstbody": m.tree_bodyadr, "tree_nbody": m.tree_bodynum},
        **{"tree_firstdof": m.tree_dofadr, "tree_ndof": m.tree_dofnum},
        **{"tree_firstcoordinate": first, "tree_ncoordinate": ends - first},
        "tree_mocap": mocap,
        "tree_carried": np.where(carried, np.cumsum(carried) - 1, -1),
        "body_treeid": tree,
        "limit_trees": [_trees_of_chain(values, of_dofs, c) for c in chain[0]],
        "friction_trees": [_trees_of_chain(values, of_dofs, c) for c in chain[1]],
        "eq_trees": [_equality_trees(m, tree, k) for k in values.get("eq_id", ())],
        "tendon_trees": [tendon_trees(m, t) for t in range(m.ntendon)],
        "actuator_trees": [_actuator_trees(m, tree, k) for k in range(m.nactuator)],
        "dof_length": m.dof_length,
        "opt_sleep_tolerance": [m.opt.sleep_tolerance],
    }
    entries = int((sizes["ngridlevel"] - np.asarray(values.get("grid_level", ()), int)).sum())
    lengths = {
        **{"ntree_sleep": m.ntree, "nbody_sleep": m.nbody, "njnt_sleep": m.njnt, "nv_sleep": m.nv, "nq_sleep": m.nq},
        **{"ncoupled_sleep": sizes["ncoupled"], "nC_sleep": sizes["nC"], "ncollider_sleep": sizes["ncollider"]},
        **{"nlimit_sleep": sizes["nlimit"], "nfriction_sleep": sizes["nfriction"], "neq_sleep": sizes["neq"]},
        **{"ngrid_sleep": sizes["ngrid"], "nstill": entries, "nstillbucket": sizes["ngridbucket"]},
        **{"ntendon_sleep": m.ntendon, "nactuator_sleep": m.nactuator, "nout_sleep": sizes["nout"]},
        "nfluid_sleep": sizes["nfluid"],
        "nu_sleep": m.nu,
    }
    return Sleep(out, {**lengths, "nsleep": 1, "ncarried_sleep": int(carried.sum())}, {FEATURE})


def body_trees(m: mujoco.MjModel) -> np.ndarray:
    """The tree of each body [nbody]; codes for bodies outside trees, see `saltus.model.enums`."""
    tree = np.where(m.body_treeid < 0, STILL, m.body_treeid)
    moved = (m.body_mocapid[m.body_rootid] >= 0) & (tree < 0)
    for b in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[b]
        if parent > 0 and tree[parent] == STILL and (tree[b] >= 0 or tree[b] == CARRIER):
            tree[parent] = CARRIER
    return np.where(moved, MOVED, tree)


def mocap_below(m: mujoco.MjModel) -> np.ndarray:
    """The mocap body that carries each tree [ntree], by its number among them; -1 for none."""
    return m.body_mocapid[m.body_rootid[m.tree_bodyadr]] if m.ntree else np.zeros(0, int)


def tendon_trees(m: mujoco.MjModel, t: int) -> tuple[int, int]:
    """The two trees that a tendon joins; tendons between more trees are always awake."""
    if m.tendon_treenum[t] > 2:
        return MOVED, STILL
    found = [int(x) for x in np.ravel(m.tendon_treeid)[2 * t : 2 * t + m.tendon_treenum[t]]]
    return _two(found)


def _two(found) -> tuple[int, int]:
    first, second = ([*found, STILL, STILL])[:2]
    return int(first), int(second)


def _trees_of_chain(values, of_dofs, chain) -> tuple[int, int]:
    """The trees of a list of degrees of freedom; lists with more than two trees are always awake."""
    first = values["chain_adr"][chain]
    dofs = values["chain_dof"][first : first + values["chain_num"][chain]]
    found = sorted({int(of_dofs[i]) for i in dofs})
    return (MOVED, STILL) if len(found) > 2 else _two(found)


def _equality_trees(m, tree, i) -> tuple[int, int]:
    """The trees, or codes of bodies outside trees, that an equality constraint joins."""
    first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if m.eq_type[i] == JOINT:
        return _two([tree[m.jnt_bodyid[j]] for j in (first, second) if j >= 0])
    assert m.eq_type[i] in (CONNECT, WELD)
    if m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE.value:
        first, second = int(m.site_bodyid[first]), int(m.site_bodyid[second])
    return _two([tree[first], tree[second]])


def _actuator_trees(m, tree, k) -> tuple[int, int]:
    """The trees that an actuator acts on."""
    first, second = (int(x) for x in m.actuator_trnid[k])
    kind = mujoco.mjtTrn(int(m.actuator_trntype[k])).name
    if kind in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT"):
        return _two([tree[m.jnt_bodyid[first]]])
    if kind == "mjTRN_TENDON":
        return tendon_trees(m, first)
    if kind == "mjTRN_BODY":
        return _two([tree[first]])
    if kind in ("mjTRN_SITE", "mjTRN_SLIDERCRANK"):
        return _two([tree[m.site_bodyid[s]] for s in (first, second) if s >= 0])
    return MOVED, STILL
