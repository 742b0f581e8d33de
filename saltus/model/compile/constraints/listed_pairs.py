"""The kernels' Model of worlds with few pairs of geoms: a list of pairs that may touch, with deformable bodies."""

from dataclasses import dataclass

import numpy as np

from saltus.model.compile.constraints.broad import CONTACTS_AT_LEAST, CONTACTS_PER_GEOM
from saltus.model.contact import collisions
from saltus.model.contact.hulls import are_known, boxes_and_hulls
from saltus.model.contact.pair_table import FOREIGN, most_contacts, pair_feature
from saltus.model.enums import pair_kind
from saltus.model.flex import contacts as flex_contacts
from saltus.model.flex import mujoco_contacts


@dataclass(frozen=True)
class _Collision:
    """A row of the table of pairs that may touch; -1 for fields that do not apply."""

    order: tuple[int, int]
    law: int
    room: int
    geom1: int = -1
    geom2: int = -1
    kind: int = -1
    chain: int = -1
    flex1: int = -1
    flex2: int = -1
    foreign: bool = False  # detected by MuJoCo's functions


def listed_pairs(m, laws, chains, safe, out, left_out) -> int:
    """List pairs that may touch, in MuJoCo's order; returns the capacity for contacts."""
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
    needed = {FOREIGN if c.foreign else pair_feature(c.kind) for c in found if c.kind >= 0}
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
        out.sizes |= {"nside": flex_contacts.sides(m, flexible), "nside_rod": flex_contacts.sides_of_rods(m, flexible)}
        out.sizes |= {"nflexfew": (room + own) * ("flexfew" in out.features)}
        room += own
    return room


def _pairs_of_geoms(m, laws, chains, safe) -> list[_Collision]:
    """Pairs of geoms that may touch, without those that cannot move."""
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
        most, foreign = most_contacts(kind), pair_feature(kind, meshes) == FOREIGN
        found.append(_Collision(order, law, most, pair.geom1, pair.geom2, kind=kind, chain=chain, foreign=foreign))
    return found


def _colliders(found: list[_Collision]) -> list[int]:
    """Geoms that may touch anything."""
    return sorted({g for c in found for g in (c.geom1, c.geom2)} - {-1})
