"""Adding a contact to the list."""

from saltus.contact.counts import NLOST
from saltus.number.functions import any_lane, epsilon_of, sqrt, where, zero_like
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, where3


@kernel
def add_contact(m, d, n, pair, reach, dist, pos, normal, tangent):
    """Append contact n if any lane's distance (m) is within `reach` (m); returns how many there are then.

    pos (m), normal (from the first geom to the second, of length 1) and tangent (any vector, zero for no preference)
    in world axes. Lanes in which the geoms are farther apart carry a larger dist and finite numbers, and are left
    alone by what follows. Where there is no room the contact is counted as lost.
    """
    if not any_lane(dist <= reach):
        return n
    if n == m.nconmax:
        d.count[NLOST] = d.count[NLOST] + 1
        return n
    d.contact_collision[n] = pair
    d.contact_dist[n] = dist
    d.contact_pos[n] = pos
    first = first_tangent(normal, tangent)
    second = cross(normal, first)
    d.contact_frame[n] = (
        normal[0],
        normal[1],
        normal[2],
        first[0],
        first[1],
        first[2],
        second[0],
        second[1],
        second[2],
    )
    return n + 1


@kernel(inline=True)
def first_tangent(normal, wanted):
    """A unit vector across the normal, as near to `wanted` as possible; without one, near y, or z if normal is near y.

    As MuJoCo chooses it (mju_makeFrame), but where `wanted` lies along the normal: MuJoCo then takes x, which this
    makes perpendicular first, or y if the normal is near x, so that the frame is always a rotation.
    """
    zero = zero_like(normal[0])
    one = zero + 1.0
    given = dot3(wanted, wanted) >= 0.25
    steep = (normal[1] >= 0.5) | (normal[1] <= -0.5)
    fallback = (zero, where(steep, zero, one), where(steep, one, zero))
    side = across(where3(given, wanted, fallback), normal)
    lost = negligible(dot3(side, side))
    if any_lane(lost):
        steep = (normal[0] >= 0.5) | (normal[0] <= -0.5)
        fallback = (where(steep, zero, one), where(steep, one, zero), zero)
        side = where3(lost, across(fallback, normal), side)
    # again: what is left of a vector nearly along the normal is not quite across it
    side = across(side, normal)
    return scale3(1.0 / sqrt(dot3(side, side)), side)


@kernel(inline=True)
def across(a, normal):
    """The part of a that is perpendicular to a unit vector."""
    return add_scaled3(a, -dot3(a, normal), normal)


@kernel(inline=True)
def unit_or_x(a):
    """a / |a|, or the x-axis if a is nothing but rounding (mju_normalize3)."""
    zero = zero_like(a[0])
    square = dot3(a, a)
    lost = negligible(square)
    unit = scale3(1.0 / sqrt(where(lost, zero + 1.0, square)), a)
    return where3(lost, (zero + 1.0, zero, zero), unit)


@kernel(inline=True)
def negligible(square):
    """Whether the square of a length is nothing but rounding: of 1e-15 m in double precision, as in MuJoCo."""
    least = 4.5 * epsilon_of(square)
    return square < least * least
