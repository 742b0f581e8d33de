"""Contacts in terms: whether and how strongly a geom touches another one, at the state that terms read."""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# pyright: reportReturnType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

from saltus.contact.counts import NCON
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.acting import may_push
from saltus.number.conditions import has
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.number.structs import Struct
from saltus.sense.forces import carries_force, contact_force

ANY = -1


@kernel
def touching(m: Struct, d: Struct, geom: int, other: int = ANY) -> float:
    """Whether a geom touches another one, in terms: 1.0 or 0.0; `touching(m, d, e.foot)`, `touching(m, d, e.a, e.b)`.

    Geoms are indices, as declared by `ids`; without `other`, anything that the geom touches counts. It touches while
    the distance is below the pair's margin, which is 0 unless the model has margins.
    """
    zero = 0.0 * d.time
    found = zero
    if has(m, "contact"):
        for k in range(d.count[NCON]):
            if is_between(m, d, k, geom, other):
                found = where(may_push(m, d, k), zero + 1.0, found)
    return found


@kernel
def pressing(m: Struct, d: Struct, geom: int, other: int = ANY) -> float:
    """Sum of the normal forces (N) of a geom's contacts with another one, in terms: `pressing(m, d, e.hand, e.cup)`.

    Geoms are indices, as declared by `ids`; without `other`, all contacts of the geom count.
    """
    total = 0.0 * d.time
    if has(m, "contact"):
        for k in range(d.count[NCON]):
            if is_between(m, d, k, geom, other) and carries_force(m, d, k):
                force, _ = contact_force(m, d, k)
                total = total + force[0]
    return total


@kernel
def is_between(m, d, k, geom, other):
    """Whether contact k is one of a geom with another one, or with anything if that is ANY."""
    c = d.contact_collision[k]
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    return (g1 == geom and (other == ANY or g2 == other)) or (g2 == geom and (other == ANY or g1 == other))
