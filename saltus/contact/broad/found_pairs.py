"""Pairs of geoms near each other, found anew at each position instead of listed with the model.

Pairs are in the order of the list, so that contacts, rows and forces are equal to the last bit.
"""

from saltus.contact.bounding_spheres import near
from saltus.contact.broad.bounds import bound_geoms
from saltus.contact.broad.filters import may_touch, may_wake
from saltus.contact.broad.grid import append_pair, pairs_of_grid
from saltus.contact.broad.pair_key import geoms_of_key, pair_key, sort_keys
from saltus.contact.broad.still_grid import is_still, pairs_with_still
from saltus.contact.counts import NFOUND
from saltus.dynamics.awake.walks import awake_grid
from saltus.model.enums import MOVED, pair_kind
from saltus.number.functions import maximum
from saltus.number.kernels import kernel, only_with


@kernel
def find_pairs(m, d):
    """Find all pairs of geoms that may touch and are near each other in any lane.

    Reads geom_xpos, geom_xmat. Writes count[NFOUND], found_geom1, found_geom2 (in the order of their types),
    found_kind, found_law, and the sort keys, found_count.
    """
    d.found_count[0] = 0
    bound_geoms(m, d)
    pairs_of_planes(m, d)
    pairs_of_grid(m, d)
    pairs_with_still(m, d)
    named_pairs(m, d)
    d.count[NFOUND] = d.found_count[0]
    sort_keys(m, d)
    describe_pairs(m, d)


@kernel
def pairs_of_planes(m, d):
    """Append the pairs of planes with geoms near them."""
    for k in range(m.nbroadplane):
        plane = m.broad_plane[k]
        for i in awake_grid(m, d):
            pair_with_plane(m, d, plane, m.grid_geom[i])
        pairs_of_moved_plane(m, d, plane)


@kernel(inline=True)
def pair_with_plane(m, d, plane, g):
    """Append the pair of a plane and geom g if they may touch and are near each other."""
    g1, g2 = min(plane, g), max(plane, g)
    if near(m, d, plane, g, m.broad_reach[plane] + m.broad_reach[g]) and may_touch(m, d, g1, g2):
        append_pair(m, d, pair_key(m, g1, g2))


@only_with("sleep")
@kernel
def pairs_of_moved_plane(m, d, plane):
    """Append the pairs of a plane that is moved from outside with sleeping geoms."""
    if m.body_treeid[m.geom_bodyid[plane]] == MOVED:
        for i in range(m.ngrid):
            if is_still(m, d, i):
                pair_with_plane(m, d, plane, m.grid_geom[i])


@kernel
def named_pairs(m, d):
    """Append the named pairs of the file that are near each other, regardless of filters.

    A pair is appended as often as the file names it, if the law with the largest reach may have a contact.
    """
    k = 0
    while k < m.nnamed:
        key, begin, reach = m.named_key[k], k, m.law_reach[m.named_law[k]]
        while k < m.nnamed and m.named_key[k] == key:
            reach = maximum(reach, m.law_reach[m.named_law[k]])
            k += 1
        first, second = by_type(m, geoms_of_key(m, key))
        if may_wake(m, d, first, second) and near(m, d, first, second, reach):
            for _ in range(begin, k):
                append_pair(m, d, key)


@kernel(inline=True)
def by_type(m, geoms):
    """Two geoms, the lower type first."""
    g1, g2 = geoms
    if m.geom_type[g1] > m.geom_type[g2]:
        return g2, g1
    return g1, g2


@kernel
def describe_pairs(m, d):
    """Geoms, kinds and laws of the sorted pairs, each once or as often as the file names it.

    The filters may have found named pairs once more.
    """
    n, named = 0, 0
    for k in range(d.count[NFOUND]):
        key = d.found_key[k]
        # named pairs have their own laws; both lists ascend
        while named < m.nnamed and m.named_key[named] < key:
            named += 1
        again = n > 0 and d.found_key[n - 1] == key
        first, second = by_type(m, geoms_of_key(m, key))
        law = m.broad_law[m.nsurface * m.broad_surface[first] + m.broad_surface[second]]
        if named < m.nnamed and m.named_key[named] == key:
            law = m.named_law[named]
            named += 1
        elif again:
            continue
        d.found_key[n] = key
        d.found_geom1[n], d.found_geom2[n] = first, second
        d.found_kind[n] = pair_kind(m.geom_type[first], m.geom_type[second])
        d.found_law[n] = law
        n += 1
    d.count[NFOUND] = n
