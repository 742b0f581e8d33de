"""Pairs of awake geoms with geoms that are not, which stay in a grid of their own until a tree falls asleep or wakes.

The grid is that of `saltus.contact.broad.grid`, except that only awake geoms search their surroundings. Geoms that are
not awake are therefore in a cell of each level that is not finer than their own, where larger geoms find them.
"""

from saltus.contact.broad.bounds import bound_geom
from saltus.contact.broad.grid import bucket_of, cell_of, cells_in_reach, compare
from saltus.dynamics.awake.counts import GRIDDED, LISTED, NGRID
from saltus.dynamics.awake.lists import is_awake
from saltus.dynamics.awake.walks import awake_grid
from saltus.number.kernels import kernel, only_with


@only_with("sleep")
@kernel
def pairs_with_still(m, d):
    """Append the keys of all pairs of an awake geom and one that is not, which may touch and whose bounds meet."""
    if d.awake_count[GRIDDED] != d.awake_count[LISTED]:
        fill_still(m, d)
        d.awake_count[GRIDDED] = d.awake_count[LISTED]
    for k in awake_grid(m, d):
        for level in range(m.grid_level[k], m.ngridlevel):
            compare_with_still(m, d, k, level)


@kernel
def fill_still(m, d):
    """Put all geoms that are not awake into their cells, and compute their bounds."""
    for b in range(m.nstillbucket):
        d.still_first[b] = -1
    n = 0
    for k in range(m.ngrid):
        if is_still(m, d, k):
            bound_geom(m, d, m.grid_geom[k])
            for level in range(m.grid_level[k], m.ngridlevel):
                x, y, z = cell_of(m, d, 0, k, level)
                b = bucket_of(m, x, y, z, level)
                d.still_cell[n] = (x, y, z)
                d.still_level[n], d.still_geom[n] = level, k
                d.still_next[n] = d.still_first[b]
                d.still_first[b] = n
                n += 1


@kernel(inline=True)
def is_still(m, d, k):
    """Whether geom k of the grid is not awake; false for all if everything is listed."""
    return m.ngrid > d.awake_count[NGRID] and not is_awake(d, m.body_treeid[m.geom_bodyid[m.grid_geom[k]]])


@kernel
def compare_with_still(m, d, k, level):
    """Compare awake geom k of the grid with geoms that are not awake in the cells around it on a level.

    On the geom's own level these include smaller geoms.
    """
    own = level == m.grid_level[k]
    (x0, x1), (y0, y1), (z0, z1) = cells_in_reach(m, d, 0, k, level)
    for u in range(x0, x1 + 1):
        for v in range(y0, y1 + 1):
            for w in range(z0, z1 + 1):
                n = d.still_first[bucket_of(m, u, v, w, level)]
                while n >= 0:
                    c = d.still_cell[n]
                    other = d.still_geom[n]
                    there = c[0] == u and c[1] == v and c[2] == w and d.still_level[n] == level
                    if there and (own or m.grid_level[other] == level):
                        compare(m, d, 0, k, other)
                    n = d.still_next[n]
