"""Separating directions of pairs of shapes, remembered from their last searches.

Usually the shapes are still apart, which two support points can show without a search for the distance. The test has a
margin for rounding, so that contacts do not depend on remembered directions.
"""

import math

from saltus.contact.convex.search.pair_area import AXIS, GAP, LAST1, LAST2, VERTEX_NUMBERS, W, find_vertex
from saltus.model.contact.hulls import LAST_LANES, LAST_PAIRS
from saltus.number.components import lane_count, value_of
from saltus.number.conditions import has
from saltus.number.intrinsics.memory import get, get3, get_int, put, put_int, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import dot3, scale3

ROOM = 1e-9  # margin beyond `enough`, relative to the size of the shapes


@kernel
def slot_of(m, d, c, g1, g2):
    """Place of the remembered direction of pair c; the direction of another pair there is discarded."""
    # the numbers of found pairs change from step to step
    slot, key = (31 * g1 + g2 if has(m, "broad") else c) % LAST_PAIRS, (g1 + 1 << 32) + g2
    if d.last_pair[slot] != key:
        d.last_pair[slot], d.last_gap[slot] = key, 0.0 * d.time
        for i in range(LAST_LANES * slot, LAST_LANES * slot + lane_count(d.time)):
            d.last_corners[i, 0] = 0
            for j in range(3):
                d.last_axis[i, j] = 0.0
    return slot


@kernel
def still_apart(m, d, p, k, enough, radius):
    """Whether the remembered direction k separates the cores of pair p by more than `enough` (m).

    radius (m): length scale of the shapes. If so, the lower bound of their distance (m) is written.
    """
    vertex = stack_area(VERTEX_NUMBERS)
    x = d.last_axis[k]
    axis = 1.0 * value_of(x[0]), 1.0 * value_of(x[1]), 1.0 * value_of(x[2])
    square = dot3(axis, axis)
    if not square > 0.0:
        return False
    put_int(p, LAST1, d.last_vertex[k, 0])
    put_int(p, LAST2, d.last_vertex[k, 1])
    find_vertex(m, p, vertex, scale3(-1.0, axis))
    ahead, least = dot3(axis, get3(vertex, W)), max(enough, 0.0) + ROOM * radius
    apart = ahead > 0.0 and ahead * ahead > least * least * square
    if apart:
        put(p, GAP, ahead / math.sqrt(square) - ROOM * radius)
    return apart


@kernel
def remember(d, p, k):
    """Remember at k the direction that a search has found."""
    for j in range(3):
        d.last_axis[k, j] = get(p, AXIS + j)
    d.last_vertex[k, 0] = get_int(p, LAST1)
    d.last_vertex[k, 1] = get_int(p, LAST2)


@kernel
def forget(d, k):
    """Discard the direction at k, which does not separate the shapes any more."""
    for j in range(3):
        d.last_axis[k, j] = 0.0
