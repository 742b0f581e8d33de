"""Lanes in turn, where a search goes through one lane after the other and appends to a list that all share."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.number.components import lane_get, value_of
from saltus.number.functions import where
from saltus.number.kernels import kernel


@kernel(inline=True)
def lane_of(x, i):
    """The value in lane i."""
    return lane_get(value_of(x), i)


@kernel(inline=True)
def first_to_see(d, meet, i):
    """Whether bounds meet in lane i and in no earlier lane, whose turn has listed the pair already."""
    zero = 0.0 * d.time
    seen = where(meet, zero + 1.0, zero)
    first = lane_of(seen, i) > 0.5
    for k in range(i):
        first = first and lane_of(seen, k) < 0.5
    return first
