"""Directions in which pairs of shapes were far enough apart when they were last looked at.

Mostly the shapes still are, which two support points tell, and the search for their distance would only tell again. A
pair counts as apart with room for rounding: contacts are the same whatever is remembered.
"""

import math

from saltus.contact.convex.search.pair_area import AXIS, GAP, LAST1, LAST2, VERTEX_NUMBERS, W, find_vertex
from saltus.model.contact.hulls import LAST_LANES, LAST_PAIRS
from saltus.number.components import lane_count, value_of
from saltus.number.conditions import has
from saltus.number.intrinsics.memory import get, get3, get_int, put, put_int, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import dot3, scale3

ROOM = 1e-9  # by the size of the shapes: what must be between them beside `enough`


@kernel
def slot_of(m, d, c, g1, g2):
    """Place at which the direction that parted pair c is kept; that of another pair there is forgotten."""
    # the numbers of pairs that are found change from step to step
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
    """Whether the cores of pair p are more than `enough` (m) apart in the direction that is kept at k.

    radius (m): a length of the shapes' size. How far apart (m) they are at least is then written.
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
    """Keep the direction that a search has found at k."""
    for j in range(3):
        d.last_axis[k, j] = get(p, AXIS + j)
    d.last_vertex[k, 0] = get_int(p, LAST1)
    d.last_vertex[k, 1] = get_int(p, LAST2)
