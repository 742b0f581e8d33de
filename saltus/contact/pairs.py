"""Pairs of geoms for collision: those of the model's list or, in worlds with too many, those found near each other.

A contact's pair, `contact_collision`, is an index into these.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NCON
from saltus.number.kernels import kernel, only_with
from saltus.number.structs import Struct


@only_with("broad", otherwise="m.collision_geom1[c]")
@kernel(inline=True)
def pair_geom1(m, d, c):
    """The geom of the lower type of pair c; -1 for a deformable body."""
    return d.found_geom1[c]


@only_with("broad", otherwise="m.collision_geom2[c]")
@kernel(inline=True)
def pair_geom2(m, d, c):
    """The other geom of pair c; -1 for a deformable body."""
    return d.found_geom2[c]


@only_with("broad", otherwise="m.collision_kind[c]")
@kernel(inline=True)
def pair_kind_of(m, d, c):
    """Kind of pair c, from the types of its geoms (see `saltus.model.enums.pair_kind`)."""
    return d.found_kind[c]


@only_with("broad", otherwise="m.collision_law[c]")
@kernel(inline=True)
def pair_law(m, d, c):
    """Number of the contact law of pair c: margin, friction, condim, stiffness, ..."""
    return d.found_law[c]


@only_with("broad", otherwise="m.collision_foreign[c]")
@kernel(inline=True)
def pair_foreign(m, d, c):
    """Whether MuJoCo's functions collide pair c."""
    return m.kind_foreign[d.found_kind[c]]


@only_with("broad", otherwise="m.collision_moves[c]")
@kernel(inline=True)
def pair_moves(m, d, c):
    """Whether a surface of pair c moves."""
    return m.broad_moves[d.found_geom1[c]] or m.broad_moves[d.found_geom2[c]]


class Sides(NamedTuple):
    """Objects of each contact [ncon]: geoms, or -1; deformable bodies, or -1; and number of the contact law."""

    geom1: NDArray[np.int64]
    geom2: NDArray[np.int64]
    flex: NDArray[np.int64]  # [ncon, 2]
    law: NDArray[np.int64]


def contact_pairs(m: Struct, d: Struct) -> Sides:
    """Objects and laws of the contacts in a Data."""
    n = int(d.views["count"][NCON]) if m.nconmax else 0
    pairs = d.views["contact_collision"][:n]
    if "broad" in m.layout.features:
        geom1, geom2, law = (d.views[f"found_{name}"][pairs] for name in ("geom1", "geom2", "law"))
        return Sides(geom1, geom2, np.full((n, 2), -1), law)
    of_list = (m.views[f"collision_{name}"][pairs] for name in ("geom1", "geom2", "flex1", "flex2", "law"))
    geom1, geom2, flex1, flex2, law = of_list
    return Sides(geom1, geom2, np.stack([flex1, flex2], axis=1), law)
