"""Contact reduction: at most 50 well-spread contacts per geom for deformable bodies whose vertices follow a few nodes.

Farthest-point sampling: first the deepest contact, then repeatedly the one farthest from all those chosen (Gonzalez,
Clustering to minimize the maximum intercluster distance, Theoretical Computer Science 38 (1985)), as in MuJoCo. Ties,
for example on regular grids, are broken by rounding, as in MuJoCo.
"""

from saltus.number.components import frozen
from saltus.number.functions import any_lane, minimum, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import dot3, sub3, where3

MOST = 50  # contacts that are kept per geom
FAR = 1e10  # m²


@only_with("flexfew", otherwise="n")
@kernel
def keep_few(m, d, first, n, c, reach):
    """Keep MOST of the contacts from number `first` up to n, all of pair c; returns the new number of contacts.

    Lanes choose independently: a contact that a lane rejects is moved beyond `reach` (m) there, and is removed if all
    lanes reject it.
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
    """contact_kept ← 1 for contacts chosen in a lane, else 0."""
    zero = frozen(0.0 * d.time)
    one = zero + 1.0
    # the deepest contact; contacts beyond reach are no candidates
    best, number = zero - FAR, zero + first
    for k in range(first, n):
        depth = -frozen(d.contact_dist[k])
        deeper = depth > best
        best, number = where(deeper, depth, best), where(deeper, zero + k, number)
        there = depth >= zero - reach
        d.contact_kept[k] = zero
        d.contact_apart[k] = where(there, zero + FAR, zero - one)
    # farthest-point sampling
    for _ in range(min(MOST, n - first)):
        place = (zero, zero, zero)
        # mark the chosen contact and take its position
        for k in range(first, n):
            now = number == zero + k
            d.contact_kept[k] = where(now, one, d.contact_kept[k])
            d.contact_apart[k] = where(now, zero - one, d.contact_apart[k])
            place = where3(now, d.contact_pos[k], place)
        # next: the candidate whose least distance from all chosen contacts is largest
        best = zero - one
        number = zero - 1.0
        for k in range(first, n):
            offset = sub3(d.contact_pos[k], place)
            apart = minimum(frozen(d.contact_apart[k]), frozen(dot3(offset, offset)))
            d.contact_apart[k] = apart
            farther = apart > best
            best, number = where(farther, apart, best), where(farther, zero + k, number)
