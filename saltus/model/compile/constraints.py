"""Constraints in the kernels' Model: limits, dry friction, equalities, contacts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from saltus.model.compile.broad import CONTACTS_AT_LEAST, CONTACTS_PER_GEOM, NO_BROAD, broad
from saltus.model.compile.leading_axes import joined
from saltus.model.compile.solver import hessian_by_trees, inertia_scale, solver_features, solver_sizes, solver_values
from saltus.model.contact import collisions
from saltus.model.contact.collisions import pair_feature
from saltus.model.contact.contact_parameters import LawTable, soft_laws
from saltus.model.contact.hulls import LAST_LANES, LAST_PAIRS, are_known, boxes_and_hulls
from saltus.model.enums import BALL, CONNECT, FLEX, JOINT, TENDON, WELD, pair_kind
from saltus.model.flex import contacts as flex_contacts
from saltus.model.flex import mujoco_contacts
from saltus.model.flex.flexes import edge_address
from saltus.model.tree.chains import ChainTable
from saltus.model.tree.particles import particles

SHARED = 300  # geoms, pairs, contacts, trees: so many are worth waiting for other threads
EQUALITY_ROWS = {CONNECT: 3, WELD: 6, JOINT: 1, TENDON: 1, FLEX: 0}  # of a flex: one for each edge


@dataclass
class Constraints:
    """Fields and sizes of the kernels' Model, and the features that they need compiled."""

    values: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)


def constraints(
    m: mujoco.MjModel, left_out: frozenset[str], timestep: float, *, own_laws: bool = False, listed: bool = True
) -> Constraints:
    """What constrains the model, but for the kinds left out; `timestep` (s) is that of the simulation.

    `own_laws`: every constraint has a law of its own, also where several are the same. `listed`: pairs that may touch
    are listed, not found at run time.
    """
    off = lambda bit: bool(m.opt.disableflags & bit.value)  # noqa: E731
    flags = mujoco.mjtDisableBit
    nothing = off(flags.mjDSBL_CONSTRAINT)
    have = lambda kind, bit: not (nothing or kind in left_out or off(bit))  # noqa: E731
    safe = safe_timestep(m, timestep)
    laws, chains, out = LawTable(own_laws), ChainTable(m), Constraints()
    rows = 0
    if have("equality", flags.mjDSBL_EQUALITY):
        rows += _equalities(m, laws, chains, safe, out.values)
        rows += _edges(m, chains, out)
    if have("frictionloss", flags.mjDSBL_FRICTIONLOSS):
        rows += _friction(m, laws, chains, safe, out.values)
    if have("limit", flags.mjDSBL_LIMIT):
        rows += _limits(m, laws, chains, safe, out.values)
    contacts = 0
    if have("contact", flags.mjDSBL_CONTACT):
        contacts = _collisions(m, laws, chains, safe, out, left_out) if listed else _broad(m, laws, safe, out)
    out.values |= laws.values() | chains.values() | _options(m) | solver_values(m, chains, left_out)
    if "adhesion" in left_out:
        out.values["law_adhesion"] = [0.0] * len(laws.laws)
    tethers = contacts if any(out.values["law_adhesion"]) else 0
    rows += tethers
    trees = hessian_by_trees(m, chains, left_out, rows + contacts)
    out.values |= trees.values
    longest = max((len(e[1]) for e in chains.entries), default=0)
    longest = max(longest, out.sizes.pop("longest", 0))
    dims = max([law.dim for law in laws.laws], default=1)
    if rows or contacts:
        out.features |= {"constraint", *solver_features(m, left_out), *trees.features}
        out.features |= {"adhesive"} if tethers else set()
    remembered = LAST_PAIRS if "hull" in out.features else 0
    out.sizes = {
        **{"nlastpair": remembered, "nlastaxis": LAST_LANES * remembered},
        **dict.fromkeys(("nflexcon", "nflexdof", "nside", "nflexfew", "edgerows_alike"), 0),
        **mujoco_contacts.NO_FOREIGN,
        **NO_BROAD,
        **out.sizes,
        **{f"n{kind}": len(out.values.get(f"{first}", ())) for kind, first in _COUNTED.items()},
        **{name: out.values.pop(name, 0) for name in ("njntlimit", "ndoffriction")},
        "nchaindof": len(out.values["chain_dof"]),
        "nconmax": contacts,
        "ntether": tethers,
        "nshared": SHARED,
        "nblockmax": rows + contacts,
        "nrowmax": rows + contacts * dims,
        "nJmax": rows * longest + contacts * dims * longest,
        **trees.sizes,
        **solver_sizes(m, left_out, out.values, rows, contacts, dims, by_trees=bool(trees.features)),
    }
    return out


def safe_timestep(m: mujoco.MjModel, timestep: float) -> float:
    """The smallest time constant (s) that soft constraints have, with steps of `timestep` (s)."""
    return 0.0 if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_REFSAFE.value else 2.0 * timestep


_COUNTED = {
    "collider": "collider",
    "collision": "collision_law",
    "law": "law_dim",
    "chain": "chain_num",
    "limit": "limit_obj",
    "friction": "friction_law",
    "eq": "eq_type",
    "edgerow": "edgerow_eq",
    "geom_foreign": "geom_aabb",
    "geom_hull": "geom_hull",
    "hulladr": "hull_vertadr",
    "hullvert": "hull_vert",
    "hullvertadr": "hull_edgeadr",
    "hulledge": "hull_edge",
    "hullseed": "hull_seed",
    "hullface": "hull_face",
    "hullnormal": "hull_normal",
    "hullcorneradr": "hull_corneradr",
    "hullcorner": "hull_corner",
    "field": "hfield_adr",
    "fielddata": "hfield_data",
}


def _options(m) -> dict[str, float]:
    return {
        "opt_tolerance": m.opt.tolerance,
        "opt_ls_tolerance": m.opt.ls_tolerance,
        "opt_impratio": m.opt.impratio,
        "opt_scale": inertia_scale(m),
        # see `hard`
        **dict.fromkeys(("opt_gap_tolerance", "opt_speed_tolerance", "opt_bounce_height"), 0.0),
        **dict.fromkeys(("opt_dense_events", "opt_dense_time", "opt_dense_step"), 0.0),
    }


def _limits(m, laws, chains, safe, values) -> int:
    """Ranges of joints and tendons; returns how many rows they have at most."""
    joints = [int(j) for j in np.flatnonzero(m.jnt_limited)]
    tendons = [int(t) for t in np.flatnonzero(m.tendon_limited) if _tendon_dofs(m, t)]
    law = laws.indices(soft_laws(m.jnt_solref[joints], m.jnt_solimp[joints], safe))
    law += laws.indices(soft_laws(m.tendon_solref_lim[tendons], m.tendon_solimp_lim[tendons], safe))
    dofs = [int(m.jnt_dofadr[j]) for j in joints]
    ball = [m.jnt_type[j] == BALL for j in joints]
    chain = [chains.of_dofs(range(i, i + (3 if b else 1))) for i, b in zip(dofs, ball, strict=True)]
    values |= {
        "limit_obj": joints + tendons,
        "limit_law": law,
        "limit_chain": chain + [chains.of_dofs(_tendon_dofs(m, t)) for t in tendons],
        "njntlimit": len(joints),
        **limit_values(m, joints, tendons),
    }
    return 2 * len(joints + tendons)


def limit_values(m: Any, joints: Sequence[int], tendons: Sequence[int]) -> dict[str, np.ndarray]:
    """Ranges, margins and inverse inertias of the limits of joints, then of tendons."""
    dofs = m.jnt_dofadr[joints]
    return {
        "limit_range": joined(m.jnt_range[..., joints, :], m.tendon_range[..., tendons, :], axis=-2),
        "limit_margin": joined(m.jnt_margin[..., joints], m.tendon_margin[..., tendons]),
        "limit_invweight": joined(m.dof_invweight0[..., dofs], m.tendon_invweight0[..., tendons]),
    }


def _friction(m, laws, chains, safe, values) -> int:
    """Dry friction in joints and tendons."""
    dofs = [int(i) for i in np.flatnonzero(m.dof_frictionloss)]
    tendons = [int(t) for t in np.flatnonzero(m.tendon_frictionloss > 0) if _tendon_dofs(m, t)]
    law = laws.indices(soft_laws(m.dof_solref[dofs], m.dof_solimp[dofs], safe))
    law += laws.indices(soft_laws(m.tendon_solref_fri[tendons], m.tendon_solimp_fri[tendons], safe))
    values |= {
        "friction_obj": dofs + tendons,
        "friction_law": law,
        "friction_chain": [chains.of_dofs([i]) for i in dofs] + [chains.of_dofs(_tendon_dofs(m, t)) for t in tendons],
        "ndoffriction": len(dofs),
        **friction_values(m, dofs, tendons),
    }
    return len(dofs + tendons)


def friction_values(m: Any, dofs: Sequence[int], tendons: Sequence[int]) -> dict[str, np.ndarray]:
    """Bounds and inverse inertias of dry friction in degrees of freedom, then in tendons."""
    return {
        "friction_loss": joined(m.dof_frictionloss[..., dofs], m.tendon_frictionloss[..., tendons]),
        "friction_invweight": joined(m.dof_invweight0[..., dofs], m.tendon_invweight0[..., tendons]),
    }


def _tendon_dofs(m, t) -> list[int]:
    """Degrees of freedom that change a tendon's length, ascending."""
    return [int(i) for i in m.ten_J_colind[m.ten_J_rowadr[t] : m.ten_J_rowadr[t] + m.ten_J_rownnz[t]]]


def simulated_equalities(m: mujoco.MjModel) -> list[int]:
    """Numbers of the equality constraints that are simulated, in the order of the kernels' Model.

    Those between things that cannot move are left out, as MuJoCo does.
    """
    return [i for i in range(m.neq) if m.eq_active0[i] and m.eq_type[i] in EQUALITY_ROWS and _can_move(m, i)]


def _can_move(m, i) -> bool:
    """Whether an equality constraint has any degree of freedom."""
    if m.eq_type[i] == FLEX:
        return not m.flex_rigid[m.eq_obj1id[i]]
    objects = [int(k) for k in (m.eq_obj1id[i], m.eq_obj2id[i]) if k >= 0]
    if m.eq_type[i] == JOINT:
        return True
    if m.eq_type[i] == TENDON:
        return any(_tendon_dofs(m, t) for t in objects)
    if m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE.value:
        objects = [int(m.site_bodyid[s]) for s in objects]
    return any(ChainTable(m).ancestors(b) for b in objects)


def _equalities(m, laws, chains, safe, values) -> int:
    """Equality constraints that are active from the start."""
    active = simulated_equalities(m)
    values |= {
        "eq_id": active,
        "eq_type": m.eq_type[active],
        "eq_obj1": m.eq_obj1id[active],
        "eq_obj2": m.eq_obj2id[active],
        "eq_site": m.eq_objtype[active] == mujoco.mjtObj.mjOBJ_SITE.value,
        "eq_law": laws.indices(soft_laws(m.eq_solref[active], m.eq_solimp[active], safe)),
        "eq_chain": [_equality_chain(m, i, chains) for i in active],
        **equality_values(m, active),
    }
    return sum(EQUALITY_ROWS[int(m.eq_type[i])] for i in active)


def _edges(m, chains, out) -> int:
    """Edges of deformable bodies whose length is held, in the order of the equalities; returns their number."""
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
    """Whether all edges join particles or what stands still; then their first degrees of freedom, -1 for none."""
    first = set(m.body_dofadr[particles(m)].tolist())
    alike = all(len(d) in (3, 6) and set(d[::3]) <= first for d in dofs)
    count = np.array([len(d) for d in dofs], int)
    pairs = [[*d[::3], -1][:2] if alike else [-1, -1] for d in dofs]
    return {"edgerows_alike": alike, "edgerow_dof": pairs, "edgerow_J": np.cumsum(count) - count}


def _equality_chain(m, i, chains) -> int:
    """The chain of an equality constraint."""
    first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if m.eq_type[i] == JOINT:
        return chains.of_dofs(sorted(int(m.jnt_dofadr[j]) for j in (first, second) if j >= 0))
    if m.eq_type[i] == FLEX:
        return chains.of_dofs([])
    if m.eq_type[i] == TENDON:
        return chains.of_dofs(sorted({i for t in (first, second) if t >= 0 for i in _tendon_dofs(m, t)}))
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
    weight = np.zeros((*before, len(active), 2))
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


@dataclass(frozen=True)
class _Collision:
    """A row of the table of what may touch; -1 for what does not apply."""

    order: tuple[int, int]
    law: int
    room: int
    geom1: int = -1
    geom2: int = -1
    kind: int = -1
    chain: int = -1
    flex1: int = -1
    flex2: int = -1
    foreign: bool = False  # by MuJoCo's functions


def _collisions(m, laws, chains, safe, out, left_out) -> int:
    """What may touch, in MuJoCo's order; returns how many contacts there is room for."""
    found = _pairs_of_geoms(m, laws, chains, safe)
    room = min(sum(c.room for c in found), CONTACTS_AT_LEAST + CONTACTS_PER_GEOM * len(_colliders(found)))
    flexible = [] if "flex" in left_out else flex_contacts.flex_pairs(m)
    for pair in flexible:
        law = laws.index(flex_contacts.flex_law(m, pair, safe))
        order = flex_contacts.order_of(m, pair)
        foreign = mujoco_contacts.is_foreign(m, pair)
        found.append(_Collision(order, law, 0, pair.geom, flex1=pair.flex1, flex2=pair.flex2, foreign=foreign))
    found.sort(key=lambda c: c.order)
    moving = np.flatnonzero((m.geom_surfacevel != 0).any(axis=1))
    column = lambda name: [getattr(c, name) for c in found]  # noqa: E731
    out.values |= {f"collision_{name}": column(name) for name in ("geom1", "geom2", "kind", "law", "chain")}
    out.values |= {f"collision_{name}": column(name) for name in ("flex1", "flex2")}
    needed = {"foreign" if c.foreign else pair_feature(c.kind) for c in found if c.kind >= 0}
    out.values |= {
        "collider": _colliders(found),
        "collision_foreign": column("foreign"),
        **boxes_and_hulls(m, needed, _colliders(found)),
        "collision_moves": [c.geom1 in moving or c.geom2 in moving for c in found],
    }
    if found:
        out.features.add("contact")
    out.features |= needed - {""}
    if flexible:
        out.features |= flex_contacts.feature_keys(m, flexible) | mujoco_contacts.mujoco_feature_keys(m, flexible)
        own = flex_contacts.room(m, flexible)
        longest = flex_contacts.longest(m, chains, flexible)
        out.sizes |= {"nflexcon": room + own, "nflexdof": (room + own) * longest, "longest": longest}
        out.sizes |= mujoco_contacts.foreign_sizes(m, flexible, own)
        out.sizes |= {"nside": flex_contacts.sides(m, flexible), "nflexfew": (room + own) * ("flexfew" in out.features)}
        room += own
    return room


def _broad(m, laws, safe, out) -> int:
    """What finds pairs at run time; returns how many contacts there is room for."""
    found = broad(m, laws, safe)
    out.values |= found.values
    out.sizes |= found.sizes
    out.features |= found.features
    return found.room


def _pairs_of_geoms(m, laws, chains, safe) -> list[_Collision]:
    """Pairs of geoms that may touch and that anything moves."""
    moved: list[tuple[collisions.Pair, int]] = []
    for pair in collisions.pairs(m):
        chain = chains.of_bodies(*[int(m.geom_bodyid[g]) for g in (pair.geom1, pair.geom2)], skip_common=True)
        if chains.dofs(chain):
            moved.append((pair, chain))
    found, meshes = [], are_known(m)
    of_pairs = laws.indices(collisions.laws_of(m, [pair for pair, _ in moved], safe))
    for (pair, chain), law in zip(moved, of_pairs, strict=True):
        b1, b2 = (int(m.geom_bodyid[g]) for g in (pair.geom1, pair.geom2))
        kind = pair_kind.py_func(int(m.geom_type[pair.geom1]), int(m.geom_type[pair.geom2]))
        order = min(b1, b2), max(b1, b2)
        most, foreign = collisions.most_contacts(kind), pair_feature(kind, meshes) == "foreign"
        found.append(_Collision(order, law, most, pair.geom1, pair.geom2, kind=kind, chain=chain, foreign=foreign))
    return found


def _colliders(found: list[_Collision]) -> list[int]:
    """Geoms that may touch anything."""
    return sorted({g for c in found for g in (c.geom1, c.geom2)} - {-1})
