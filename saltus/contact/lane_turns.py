"""Lanes in turn, for searches that process one lane after another and append to a common list."""

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
    """Whether bounds meet in lane i and in no earlier lane, for which the pair is already listed."""
    zero = 0.0 * d.time
    seen = where(meet, zero + 1.0, zero)
    first = lane_of(seen, i) > 0.5
    for k in range(i):
        first = first and lane_of(seen, k) < 0.5
    return first
