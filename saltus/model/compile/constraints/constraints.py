"""Constraints in the kernels' Model: limits, dry friction, equalities, contacts."""

from dataclasses import dataclass, field
from typing import Any

import mujoco

from saltus.model.compile.constraints.broad import NO_BROAD, broad
from saltus.model.compile.constraints.dry_friction import friction
from saltus.model.compile.constraints.equalities import edges, equalities
from saltus.model.compile.constraints.limits import limits
from saltus.model.compile.constraints.listed_pairs import listed_pairs
from saltus.model.compile.constraints.solver import (
    hessian_by_trees,
    inertia_scale,
    solver_features,
    solver_sizes,
    solver_values,
)
from saltus.model.contact.contact_parameters import LawTable
from saltus.model.contact.hulls import LAST_LANES, LAST_PAIRS
from saltus.model.contact.seams import NO_SEAMS
from saltus.model.flex import mujoco_contacts
from saltus.model.tree.chains import ChainTable
from saltus.model.tree.sleeping import is_flagged

SHARED = 300  # geoms, pairs, contacts or trees from which sharing work with threads pays


@dataclass
class Constraints:
    """Fields and sizes of the kernels' Model, and the features that they need compiled."""

    values: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)


def constraints(
    m: mujoco.MjModel, left_out: frozenset[str], timestep: float, *, own_laws: bool = False, listed: bool = True
) -> Constraints:
    """Constraints of the model, except the kinds left out; `timestep` (s) is that of the simulation.

    `own_laws`: every constraint has a law of its own, even if several are equal. `listed`: pairs that may touch are
    listed, not found at run time.
    """
    off = lambda bit: bool(m.opt.disableflags & bit.value)  # noqa: E731
    flags = mujoco.mjtDisableBit
    nothing = off(flags.mjDSBL_CONSTRAINT)
    have = lambda kind, bit: not (nothing or kind in left_out or off(bit))  # noqa: E731
    safe = safe_timestep(m, timestep)
    laws, chains, out = LawTable(own_laws), ChainTable(m), Constraints()
    rows = 0
    if have("equality", flags.mjDSBL_EQUALITY):
        rows += equalities(m, laws, chains, safe, out, switched=not is_flagged(m, left_out))
        rows += edges(m, chains, out)
    if have("frictionloss", flags.mjDSBL_FRICTIONLOSS):
        rows += friction(m, laws, chains, safe, out.values)
    if have("limit", flags.mjDSBL_LIMIT):
        rows += limits(m, laws, chains, safe, out.values)
    contacts = 0
    if have("contact", flags.mjDSBL_CONTACT):
        contacts = listed_pairs(m, laws, chains, safe, out, left_out) if listed else _broad(m, laws, safe, out)
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
        out.features |= {"drive"} if "friction_static" in out.values else set()
        out.features |= {"cam"} if "cam_num" in out.values else set()
    remembered = LAST_PAIRS if "convex" in out.features else 0
    out.sizes = {
        **{"nlastpair": remembered, "nlastaxis": LAST_LANES * remembered},
        **dict.fromkeys(("nflexcon", "nflexdof", "nside", "nside_rod", "nflexfew", "edgerows_alike"), 0),
        **mujoco_contacts.NO_FOREIGN,
        **NO_BROAD,
        **NO_SEAMS,
        **out.sizes,
        **{f"n{kind}": len(out.values.get(f"{first}", ())) for kind, first in _COUNTED.items()},
        **{name: out.values.pop(name, 0) for name in ("njntlimit", "ndoffriction")},
        "nequality": m.neq,
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
    """The smallest time constant (s) of soft constraints with steps of `timestep` (s)."""
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
        **dict.fromkeys(("opt_dense_events", "opt_dense_time", "opt_dense_step", "opt_overlap_depth"), 0.0),
    }


def _broad(m, laws, safe, out) -> int:
    """Add filters that find pairs at run time; returns the capacity for contacts."""
    found = broad(m, laws, safe)
    out.values |= found.values
    out.sizes |= found.sizes
    out.features |= found.features
    return found.room
