"""The contact list of a Data: appending contacts and constructing contact frames."""

from saltus.contact.counts import NCON, NLOST
from saltus.number.components import epsilon_of, zero_like
from saltus.number.functions import any_lane, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import acting, meet, reported
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, where3


@kernel
def add_contact(m, d, n, pair, reach, dist, pos, normal, tangent):
    """Append contact n if its distance (m) is within `reach` (m) in any lane; returns the new number of contacts.

    pos (m), normal (unit vector from the first geom to the second) and tangent (any vector; zero for no preference) are
    in world axes. Lanes in which the geoms are farther apart carry a larger dist and finite numbers; later stages
    ignore them. If the list is full, the contact is counted in NLOST.
    """
    if not any_lane(dist <= reach):
        return n
    # the list is full: the contact is lost
    if n == contact_end(m, d):
        d.count[NLOST] = d.count[NLOST] + 1
        return n
    # pair, signed distance and position
    d.contact_collision[n] = pair
    d.contact_dist[n] = dist
    d.contact_pos[n] = pos
    # contact frame: normal first, then two tangents
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


@only_with("threads", otherwise="m.nconmax")
@kernel(inline=True)
def contact_end(m, d):
    """End (exclusive) of this thread's part of the list."""
    return d.contact_end


@only_with("threads")
@kernel
def join_contacts(m, d, last):
    """Close the gap before this thread's part of the list, which ends before `last`, once all parts are filled."""
    if acting(m, d) == 1:
        return
    meet(m, d)
    if d.part > 0:
        n = 0
        for part in range(d.part):
            n += reported(m, d, part, 0) - part * m.nconmax
        for k in range(d.part * m.nconmax, min(last, d.part * m.nconmax + m.nconmax - n)):
            move_contact(d, k, n)
            n += 1


@kernel(inline=True)
def move_contact(d, k, n):
    """Move contact k of the list to place n."""
    d.contact_collision[n] = d.contact_collision[k]
    d.contact_dist[n] = d.contact_dist[k]
    d.contact_pos[n] = d.contact_pos[k]
    d.contact_frame[n] = d.contact_frame[k]


@only_with("threads")
@kernel
def count_joined(m, d, threads):
    """Count the contacts of `threads` threads; contacts beyond the capacity are lost."""
    n = d.count[NCON]
    for part in range(1, threads):
        n += reported(m, d, part, 0) - part * m.nconmax
    d.count[NLOST] = d.count[NLOST] + max(0, n - m.nconmax)
    d.count[NCON] = min(n, m.nconmax)


@kernel(inline=True)
def first_tangent(normal, wanted):
    """Unit vector perpendicular to the normal and nearest to `wanted`, or by default to y (z for normals near y).

    MuJoCo's choice (mju_makeFrame), except where `wanted` lies along the normal: MuJoCo then takes x; here x (or y, if
    the normal is near x) is made perpendicular first, so that the frame is always a rotation.
    """
    zero = zero_like(normal[0])
    one = zero + 1.0
    # wanted direction, or y or z
    given = dot3(wanted, wanted) >= 0.25
    steep = (normal[1] >= 0.5) | (normal[1] <= -0.5)
    fallback = (zero, where(steep, zero, one), where(steep, one, zero))
    side = across(where3(given, wanted, fallback), normal)
    lost = negligible(dot3(side, side))
    # wanted along the normal: x or y
    if any_lane(lost):
        steep = (normal[0] >= 0.5) | (normal[0] <= -0.5)
        fallback = (where(steep, zero, one), where(steep, one, zero), zero)
        side = where3(lost, across(fallback, normal), side)
    # repeat: after cancellation the component is not quite perpendicular
    side = across(side, normal)
    return scale3(1.0 / sqrt(dot3(side, side)), side)


@kernel(inline=True)
def across(a, normal):
    """Component of a perpendicular to a unit normal."""
    return add_scaled3(a, -dot3(a, normal), normal)


@kernel(inline=True)
def unit_or_x(a):
    """a / |a|, or the x axis where |a| is zero to rounding (mju_normalize3)."""
    zero = zero_like(a[0])
    square = dot3(a, a)
    lost = negligible(square)
    unit = scale3(1.0 / sqrt(where(lost, zero + 1.0, square)), a)
    return where3(lost, (zero + 1.0, zero, zero), unit)


@kernel(inline=True)
def negligible(square):
    """Whether a squared length is zero to rounding: less than (1e-15 m)² in double precision, as in MuJoCo."""
    least = 4.5 * epsilon_of(square)
    return square < least * least
