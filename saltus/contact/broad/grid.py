"""Pairs of geoms near each other, by a grid whose levels have cells of different width.

A geom is in one cell: that of its origin, on the level whose cells are at least as wide as the geom with its margin and
gap. Two geoms whose bounds meet are then, on the level of the larger one, in the same cell or in adjacent ones. Each
geom is therefore compared with those in cells around it on its own level and on coarser ones, and the time is
proportional to the number of geoms, for any arrangement (Ericson, Real-Time Collision Detection (2005), 7.2.1:
hierarchical grids). Cells are found by hashing. The lanes use the grid one after another.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.broad.bounds import bounds_meet
from saltus.contact.broad.filters import may_touch
from saltus.contact.broad.pair_key import pair_key
from saltus.contact.counts import NLOST
from saltus.contact.lane_turns import first_to_see, lane_of
from saltus.contact.tasks import FIND_PAIRS
from saltus.dynamics.awake.counts import CLEARED
from saltus.dynamics.awake.walks import awake_grid, awake_grid_count, awake_grid_part
from saltus.number.components import lane_count
from saltus.number.conditions import has
from saltus.number.functions import any_lane, clip, floor, where
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import begin, finish, report, reported, share

REACH = 0.51  # largest reach of a geom on its level, relative to the cell width: half of the width and rounding
FARTHEST = 1e9  # largest number of a cell; cells beyond are merged with it


@kernel
def pairs_of_grid(m, d):
    """Append the keys of all pairs of bounded geoms that may touch and whose bounds meet in any lane.

    Reads geom_xpos, broad_extent.
    """
    for i in range(lane_count(d.time)):
        fill_grid(m, d, i)
        things = awake_grid_count(m, d)
        threads = begin(m, d, FIND_PAIRS, things, things >= m.nshared)
        compare_part(m, d, i, things)
        finish(m, d)
        join_pairs(m, d, threads)
        empty_grid(m, d)


@only_with("broad")
@kernel
def compare_part(m, d, i, geoms):
    """Compare this thread's part of the geoms of the grid with those around them in lane i."""
    if has(m, "threads") and d.part > 0:
        d.found_count[0] = d.part * m.nfound
    first, last = share(m, d, geoms)
    for k in awake_grid_part(m, d, first, last):
        for level in range(m.grid_level[k], m.ngridlevel):
            compare_around(m, d, i, k, level)
    report(m, d, 0, d.found_count[0])


@kernel
def fill_grid(m, d, i):
    """Put every geom into its cell in lane i; the buckets of the cells are linked lists."""
    clear_grid(m, d)
    for k in awake_grid(m, d):
        level = m.grid_level[k]
        x, y, z = cell_of(m, d, i, k, level)
        d.grid_cell[k] = (x, y, z)
        b = bucket_of(m, x, y, z, level)
        d.grid_next[k] = d.grid_first[b]
        d.grid_first[b] = k


@kernel
def clear_grid(m, d):
    """Empty all buckets, unless `empty_grid` has already done so."""
    if has(m, "sleep") and d.awake_count[CLEARED]:
        return
    for b in range(m.ngridbucket):
        d.grid_first[b] = -1
    if has(m, "sleep"):
        d.awake_count[CLEARED] = 1


@only_with("sleep")
@kernel
def empty_grid(m, d):
    """Empty the buckets in use, if few of many geoms are awake."""
    for k in awake_grid(m, d):
        c = d.grid_cell[k]
        d.grid_first[bucket_of(m, c[0], c[1], c[2], m.grid_level[k])] = -1


@kernel(inline=True)
def cell_of(m, d, i, k, level):
    """The cell of geom k of the grid on a level, in lane i."""
    p, width = d.geom_xpos[m.grid_geom[k]], m.grid_width[level]
    return cell_along(lane_of(p[0], i), width), cell_along(lane_of(p[1], i), width), cell_along(lane_of(p[2], i), width)


@kernel(inline=True)
def cells_in_reach(m, d, i, k, level):
    """First and last cell along each axis that may contain origins of geoms of a level with bounds meeting geom k's."""
    g = m.grid_geom[k]
    p, half, width = d.geom_xpos[g], d.broad_extent[g], m.grid_width[level]
    others = m.broad_reach[g] + REACH * width
    return (
        cells_along(lane_of(p[0], i), lane_of(half[0], i) + others, width),
        cells_along(lane_of(p[1], i), lane_of(half[1], i) + others, width),
        cells_along(lane_of(p[2], i), lane_of(half[2], i) + others, width),
    )


@kernel(inline=True)
def cells_along(x, reach, width):
    """The first and last cell along an axis within reach of x, limited to the neighbours of x's own cell."""
    own = cell_along(x, width)
    return max(cell_along(x - reach, width), own - 1), min(cell_along(x + reach, width), own + 1)


@kernel(inline=True)
def cell_along(x, width):
    """Number of a cell along an axis; 0 for NaN."""
    place = floor(clip(x / width, -FARTHEST, FARTHEST))
    return int(where(place == place, place, 0.0 * width))


@kernel(inline=True)
def bucket_of(m, x, y, z, level):
    """Hash bucket of a cell."""
    return (73856093 * x ^ 19349663 * y ^ 83492791 * z ^ 5003 * level) & (m.ngridbucket - 1)


@kernel
def compare_around(m, d, i, k, level):
    """Compare geom k of the grid with those in the cells around it on a level that may meet its bounds.

    On the geom's own level, only geoms before it in its own cell and half of the other cells are compared, so that
    each pair is compared once.
    """
    own = level == m.grid_level[k]
    x, y, z = cell_of(m, d, i, k, level)
    (x0, x1), (y0, y1), (z0, z1) = cells_in_reach(m, d, i, k, level)
    for u in range(max(x, x0) if own else x0, x1 + 1):
        for v in range(max(y, y0) if own and u == x else y0, y1 + 1):
            for w in range(max(z, z0) if own and u == x and v == y else z0, z1 + 1):
                other = d.grid_first[bucket_of(m, u, v, w, level)]
                before = k if own and u == x and v == y and w == z else m.ngrid
                while other >= 0:
                    there = d.grid_cell[other, 2] == w and d.grid_cell[other, 1] == v and d.grid_cell[other, 0] == u
                    if there and other < before and m.grid_level[other] == level:
                        compare(m, d, i, k, other)
                    other = d.grid_next[other]


@kernel
def compare(m, d, i, k, other):
    """Append the pair of geoms k and `other` of the grid if their bounds meet in lane i, but in no earlier lane."""
    one, two = m.grid_geom[k], m.grid_geom[other]
    g1, g2 = min(one, two), max(one, two)
    meet = bounds_meet(m, d, g1, g2)
    if any_lane(meet) and may_touch(m, d, g1, g2) and first_to_see(d, meet, i):
        append_pair(m, d, pair_key(m, g1, g2))


@kernel
def append_pair(m, d, key):
    """Append a pair; if the list is full, the pair is counted as lost."""
    n = d.found_count[0]
    if n == d.found_end:
        d.count[NLOST] = d.count[NLOST] + 1
        return
    d.found_key[n] = key
    d.found_count[0] = n + 1


@only_with("threads")
@kernel
def join_pairs(m, d, threads):
    """Close the gaps between the threads' parts of the list of pairs."""
    n = d.found_count[0]
    for part in range(1, threads):
        for k in range(part * m.nfound, reported(m, d, part, 0)):
            if n == m.nfound:
                d.count[NLOST] = d.count[NLOST] + 1
                break
            d.found_key[n] = d.found_key[k]
            n += 1
    d.found_count[0] = n
