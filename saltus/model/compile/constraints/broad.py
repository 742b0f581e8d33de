"""The kernels' Model of worlds with many pairs of geoms: filters in place of a list of pairs.

All sizes are proportional to the number of geoms and bodies, except that of the contact laws: one for every two
distinct sets of geoms' contact parameters.
"""

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from saltus.errors import ModelError
from saltus.model.compile.constraints.solver import is_dual
from saltus.model.contact import collisions
from saltus.model.contact.collisions import VECTORS, Pair, Surface
from saltus.model.contact.contact_parameters import LawTable
from saltus.model.contact.hulls import are_known, boxes_and_hulls
from saltus.model.contact.many_pairs import Filters, Kinds, count_pairs, filters, named_pairs, passes
from saltus.model.contact.pair_table import FOREIGN, KINDS, NKIND, pair_feature
from saltus.model.enums import PLANE, pair_kind
from saltus.model.flex import contacts as flex_contacts
from saltus.model.layout import DIGIT_BITS
from saltus.model.tree.particles import uncoupled

MOST_LISTED = 20_000  # pairs; in models with more they are found at run time
MOST_LISTABLE = 1_000_000  # pairs, if a list is required
MOST_SURFACES = 300  # distinct sets of geoms' contact parameters
FOUND_PER_GEOM, FOUND_AT_LEAST = 50, 1000  # room for found pairs
CONTACTS_PER_GEOM, CONTACTS_AT_LEAST = 20, 500  # room for contacts in models with very many pairs
KEY_BITS = 62
TRIES = 20  # number of geoms among which an exemplary pair is searched for
SLACK = 1e-4  # margin of a geom's bounds relative to its bounding radius, against rounding
CELLS = 1.01  # width of cells relative to their widest geom
LEVELS = 12  # most levels of the grid; each has cells half as wide as the one before

SIZES = (
    *("nfound", "nfounddof", "nbroadgeom", "nbroadbody", "nbroaddof", "nsurface", "nsurfacepair", "nexclude", "nnamed"),
    *("broad_bodygeoms", "broad_digits", "nbroadplane", "ngrid", "ngridlevel", "ngridbucket", "ndigit", "nkind"),
)
NO_BROAD = dict.fromkeys(SIZES, 0)


@dataclass
class Broad:
    """Fields, sizes and features; capacity for contacts, and most degrees of freedom that move one."""

    values: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)
    room: int = 0


def is_broad(m: mujoco.MjModel, left_out: frozenset[str]) -> bool:
    """Whether pairs are found at run time: there are many, and nothing in the model needs a list."""
    return _has_more(m, left_out, MOST_LISTED) and not why_listed(m, left_out)


def _has_more(m, left_out, most: int) -> bool:
    """Whether there are contacts, and more than `most` pairs that may touch."""
    flags = mujoco.mjtDisableBit
    off = m.opt.disableflags & (flags.mjDSBL_CONTACT.value | flags.mjDSBL_CONSTRAINT.value)
    return not ("contact" in left_out or off) and count_pairs(m, most) > most


def why_listed(m: mujoco.MjModel, left_out: frozenset[str]) -> str:
    """Part of the model that needs a list of all pairs; "" if there is none."""
    if is_dual(m, left_out):
        return "the solver PGS, or noslip iterations,"
    if "flex" not in left_out and flex_contacts.touches(m):
        return "deformable bodies that may touch"
    if len(_surfaces(m, np.arange(m.ngeom))[0]) > MOST_SURFACES:
        return f"more than {MOST_SURFACES} distinct sets of contact parameters of geoms"
    if 2 * m.nbody.bit_length() + 2 * int(m.body_geomnum.max()).bit_length() > KEY_BITS:
        return "so many bodies and geoms"
    return ""


def check_listable(m: mujoco.MjModel, left_out: frozenset[str], why: str) -> None:
    """Raise ModelError if there are too many pairs for a list, which is needed for the reason `why`."""
    if _has_more(m, left_out, MOST_LISTABLE):
        number = count_pairs(m)
        reason = why or why_listed(m, left_out) or "the list of pairs"
        raise ModelError(
            f"{number} pairs of geoms may touch, and {reason} would need a list of them all, of at most "
            f"{MOST_LISTABLE}; let fewer geoms touch, by their contype and conaffinity"
        )


def broad(m: mujoco.MjModel, laws: LawTable, safe: float) -> Broad:
    """Filters that find pairs at run time; `safe` (s): see `saltus.model.contact.contact_parameters.reference`."""
    f, named = filters(m), named_pairs(m)
    geoms, features = _colliders(m, f, named)
    planes = geoms[m.geom_type[geoms] == PLANE]
    room = CONTACTS_AT_LEAST + CONTACTS_PER_GEOM * len(geoms)
    longest, last_dof = _chains(m, geoms)
    out = Broad(features=features | {"contact", "broad"}, room=room)
    out.values = {
        "collider": geoms,
        "broad_plane": planes,
        "broad_moves": (m.geom_surfacevel != 0).any(axis=1) & np.isin(np.arange(m.ngeom), geoms),
        "broad_dofparent": uncoupled(m, m.dof_parentid),
        "broad_lastdof": last_dof,
        "broad_invweight": m.body_invweight0[:, 0],
        **boxes_and_hulls(m, features, geoms),
        "kind_foreign": _foreign_kinds(m),
        **_filters(m, f),
        **_laws(m, geoms, named, laws, safe),
        **_grid(m, np.setdiff1d(geoms, planes)),
    }
    count = lambda name: len(out.values[name])  # noqa: E731
    out.sizes = {
        "nfound": FOUND_AT_LEAST + FOUND_PER_GEOM * len(geoms) + len(named),
        "nfounddof": room * longest,
        **{"nbroadgeom": m.ngeom, "nbroadbody": m.nbody, "nbroaddof": m.nv, "longest": longest, "nkind": NKIND},
        **{"nsurface": round(count("broad_law") ** 0.5), "nsurfacepair": count("broad_law")},
        **{"nexclude": count("exclude_body"), "nnamed": len(named), "nbroadplane": len(planes)},
        "broad_bodygeoms": _most_geoms(m),
        "broad_digits": -(-((m.nbody * _most_geoms(m)) ** 2).bit_length() // DIGIT_BITS),
        **{"ngrid": count("grid_geom"), "ngridlevel": count("grid_width"), "ndigit": 1 << DIGIT_BITS},
        "ngridbucket": 1 << (2 * count("grid_geom") + 16).bit_length(),
    }
    return out


def exemplary_pairs(m: mujoco.MjModel) -> list[Pair]:
    """A pair of geoms for any two sets of contact parameters of geoms that may touch, and the named pairs."""
    f, named = filters(m), named_pairs(m)
    kinds, (geoms, _) = Kinds(m, f), _colliders(m, f, named)
    of_sets, number = _surfaces(m, geoms)
    found = []
    for a, first in enumerate(of_sets):
        for b in range(a, len(of_sets)):
            others = geoms[number == b]
            others = others[others != first]
            for g in others[kinds.match(int(kinds.of_geom[first]), kinds.of_geom[others])][:TRIES]:
                if passes(m, f, kinds, int(first), int(g)):
                    g1, g2 = sorted((int(first), int(g)), key=lambda k: (m.geom_type[k], k))
                    found.append(Pair(g1, g2, -1))
                    break
    return [*found, *named]


def _most_geoms(m) -> int:
    return max(1, int(m.body_geomnum.max()))


def _colliders(m, f: Filters, named: list[Pair]) -> tuple[np.ndarray, set[str]]:
    """Geoms that may touch anything, and features of the possible kinds of pairs."""
    still = (f.weld[m.geom_bodyid] == 0).astype(int)
    kinds = Kinds(m, f, m.geom_type.astype(int), still)
    types, fixed = kinds.rows[:, 3], kinds.rows[:, 4] != 0
    touching, pairs = (
        np.zeros(len(kinds.rows), bool),
        {(int(m.geom_type[p.geom1]), int(m.geom_type[p.geom2])) for p in named},
    )
    every = np.arange(len(kinds.rows))
    for k in every:
        others = kinds.match(int(k), every) & ~(fixed[k] & fixed) & ((every != k) | (kinds.counts > 1))
        touching[k] = others.any()
        pairs |= {(int(types[k]), int(t)) for t in np.unique(types[others])}
    geoms = np.flatnonzero(touching[kinds.of_geom])
    geoms = np.union1d(geoms, [g for p in named for g in (p.geom1, p.geom2)]).astype(int)
    meshes = are_known(m)
    return geoms, {pair_feature(pair_kind.py_func(min(pair), max(pair)), meshes) for pair in pairs} - {""}


def _foreign_kinds(m) -> list[bool]:
    """Mask of the kinds of pairs that MuJoCo's functions collide."""
    meshes = are_known(m)
    return [kind in KINDS and pair_feature(kind, meshes) == FOREIGN for kind in range(NKIND)]


def _chains(m, geoms) -> tuple[int, np.ndarray]:
    """Most degrees of freedom of two bodies' relative motion, and the last one that moves each body, or -1."""
    depth, last = np.zeros(m.nbody, int), np.full(m.nbody, -1)
    for b in range(1, m.nbody):
        own, parent = int(m.body_dofnum[b]), int(m.body_parentid[b])
        depth[b] = depth[parent] + own
        last[b] = m.body_dofadr[b] + own - 1 if own else last[parent]
    deepest = np.sort(depth[np.unique(m.geom_bodyid[geoms])])[-2:]
    return int(deepest.sum()), last


def _filters(m, f: Filters) -> dict[str, Any]:
    """Masks and bodies in the kernels' form."""
    number = np.bincount(f.excluded[:, 0], minlength=m.nbody)
    return {
        **{"broad_contype": f.contype, "broad_conaffinity": f.conaffinity},
        **{"broad_parent": f.parent, "broad_firstgeom": m.body_geomadr},
        **{"exclude_adr": np.cumsum(number) - number, "exclude_num": number, "exclude_body": f.excluded[:, 1]},
    }


def _surfaces(m, geoms) -> tuple[np.ndarray, np.ndarray]:
    """One geom for each distinct set of contact parameters, and the set's number for each geom of `geoms`."""
    columns = [np.asarray(getattr(m, f"geom_{name}"), float)[geoms] for name in Surface._fields]
    table = np.column_stack(
        [c if name in VECTORS else c[:, None] for name, c in zip(Surface._fields, columns, strict=True)]
    )
    _, first, number = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return np.asarray(geoms)[first], number.reshape(-1)


def _laws(m, geoms, named: list[Pair], laws: LawTable, safe: float) -> dict[str, Any]:
    """Laws of any two sets of contact parameters, and of the named pairs."""
    of_sets, number = _surfaces(m, geoms)
    surface = np.zeros(m.ngeom, int)
    surface[geoms] = number
    mixed = [Pair(int(a), int(b), -1) for a in of_sets for b in of_sets]
    table = laws.indices(collisions.laws_of(m, mixed, safe))
    own = laws.indices(collisions.laws_of(m, named, safe)) if named else []
    keys = np.array([_key(m, pair) for pair in named], int)
    order = np.argsort(keys, kind="stable")
    return {
        **{"broad_surface": surface, "broad_law": table},
        **{"named_key": keys[order], "named_law": np.array(own, int)[order]},
    }


def _reach(m) -> np.ndarray:
    """Largest distance (m) of contacts from the surface of each geom; for a pair, the sum of both."""
    override = m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE.value
    margin = np.full(m.ngeom, 0.5 * m.opt.o_margin) if override else m.geom_margin
    return np.maximum(margin + m.geom_gap, 0.0) + SLACK * m.geom_rbound


def _key(m, pair: Pair) -> int:
    """Key of a pair of geoms; see `saltus.contact.broad.pair_key`."""
    g1, g2 = sorted((pair.geom1, pair.geom2))
    (b1, b2), most = (int(m.geom_bodyid[g]) for g in (g1, g2)), _most_geoms(m)
    places = g1 - int(m.body_geomadr[b1]), g2 - int(m.body_geomadr[b2])
    return ((b1 * m.nbody + b2) * most + places[0]) * most + places[1]


def _grid(m, geoms) -> dict[str, Any]:
    """Levels of the grid, those with narrow cells first, the level of each geom, and the bounds of all geoms."""
    radius = (_reach(m) + m.geom_rbound)[geoms]
    largest = radius.max(initial=0.0)
    halvings = (
        np.floor(np.log2(largest / np.maximum(radius, largest * 2.0**-LEVELS))).astype(int) if largest else 0 * geoms
    )
    steps, level = np.unique(-halvings, return_inverse=True)
    level = level.reshape(-1)
    widths = [2.0 * CELLS * radius[level == k].max() for k in range(len(steps))]
    box = m.geom_aabb.reshape(-1, 6)
    return {
        **{"grid_geom": geoms, "grid_level": level, "grid_width": widths},
        **{"broad_box": box, "broad_reach": _reach(m)},
    }
