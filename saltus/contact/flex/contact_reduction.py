"""Keep at most 50 well-spread contacts per geom, of deformable bodies whose vertices follow a few nodes.

Those that lie far from each other: first the deepest, then again and again the one that is farthest from all that have
been chosen (Gonzalez, Clustering to minimize the maximum intercluster distance, Theoretical Computer Science 38
(1985)), as MuJoCo does. Where several are equally far, as on regular grids, rounding decides here as there.
"""

from saltus.number.functions import any_lane, frozen, minimum, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import dot3, sub3, where3

MOST = 50  # contacts that count of one geom
FAR = 1e10  # m²


@only_with("flexfew", otherwise="n")
@kernel
def keep_few(m, d, first, n, c, reach):
    """Leave MOST of the contacts from number `first` up to n, all of pair c; returns how many contacts there are then.

    Each lane chooses for itself: what it leaves out is beyond `reach` (m) there, and goes if all lanes leave it out.
    """
    f = m.collision_flex2[c]
    if m.collision_geom1[c] < 0 or m.flex_order[f] == 0 or n - first <= MOST:
        return n
    choose(d, first, n, reach)
    out = first
    for k in range(first, n):
        kept = d.contact_kept[k] > 0.5
        if any_lane(kept & (d.contact_dist[k] <= reach)):
            d.contact_collision[out] = c
            d.contact_dist[out] = where(kept, d.contact_dist[k], d.contact_dist[k] * d.contact_dist[k] + (1.0 + reach))
            d.contact_pos[out] = d.contact_pos[k]
            d.contact_frame[out] = d.contact_frame[k]
            d.contact_elem[out] = (d.contact_elem[k, 0], d.contact_elem[k, 1])
            d.contact_vert[out] = d.contact_vert[k]
            out += 1
    return out


@kernel
def choose(d, first, n, reach):
    """contact_kept ← 1 for those that are chosen in a lane, else 0."""
    zero = frozen(0.0 * d.time)
    one = zero + 1.0
    best, number = zero - FAR, zero + first
    for k in range(first, n):
        depth = -frozen(d.contact_dist[k])
        deeper = depth > best
        best, number = where(deeper, depth, best), where(deeper, zero + k, number)
        there = depth >= zero - reach
        d.contact_kept[k] = zero
        d.contact_apart[k] = where(there, zero + FAR, zero - one)
    for _ in range(min(MOST, n - first)):
        place = (zero, zero, zero)
        for k in range(first, n):
            now = number == zero + k
            d.contact_kept[k] = where(now, one, d.contact_kept[k])
            d.contact_apart[k] = where(now, zero - one, d.contact_apart[k])
            place = where3(now, d.contact_pos[k], place)
        best = zero - one
        number = zero - 1.0
        for k in range(first, n):
            offset = sub3(d.contact_pos[k], place)
            apart = minimum(frozen(d.contact_apart[k]), frozen(dot3(offset, offset)))
            d.contact_apart[k] = apart
            farther = apart > best
            best, number = where(farther, apart, best), where(farther, zero + k, number)
