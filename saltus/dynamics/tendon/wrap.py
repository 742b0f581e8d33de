"""Tendon wrapping: shortest paths around or through spheres and cylinders.

The path lies in the plane of its ends and a sphere's centre or, seen along a cylinder's axis, in the plane
perpendicular to it. In this plane it touches a circle: straight to it, along an arc, and straight on. Along the axis it
rises in proportion to its planar length, since it is straight when unrolled. Its side follows MuJoCo 4.0's rule
(documentation, XML Reference, "sidesite"): its winding angle is that of the polyline from the first end through the
side site to the last.
"""

from saltus.number.components import value_of
from saltus.number.functions import MINVAL, absolute, any_lane, atan2, maximum, minimum, sincos, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import cross, dot3, scale3

TWO_PI, HALF_PI = 6.283185307179586, 1.5707963267948966
FAR = 1e300
LAST_STEP, STEPS = 1e-6, 40  # tolerance of Newton's method on the step (rad), most iterations


@kernel
def wrap(p, q, side, has_side, frame, radius):
    """Shortest path from p to q around a sphere or cylinder of the given radius (m), if it touches it.

    p, q and the side site are relative to a point on the axis (m). frame: axes of the plane of the circle, and its
    normal. A side site inside the geom makes the path go through the geom, one outside selects the side.

    Returns whether the path touches the geom, its length (m), its unit directions of arrival and departure, and the
    points of arrival and departure (m, relative to the same point). If it does not touch, these are finite but
    meaningless.
    """
    p2, q2, side2, inside = projected(p, q, side, has_side, frame, radius)
    bend = winding(p2, q2, (where(inside, p2[0], side2[0]), where(inside, p2[1], side2[1])))
    return wound(p, q, bend, inside, frame, radius)


@kernel
def wrap_by_half_plane(p, q, side, has_side, frame, radius):
    """The path of `wrap` with the side that MuJoCo chose before its release 4.0 (see `half_plane_winding`)."""
    p2, q2, side2, inside = projected(p, q, side, has_side, frame, radius)
    bend = winding(p2, q2, p2)
    if has_side:
        outside = half_plane_winding(p2, q2, side2, radius)
        bend = where(inside, bend, outside)
    return wound(p, q, bend, inside, frame, radius)


@kernel(inline=True)
def projected(p, q, side, has_side, frame, radius):
    """The ends and the side site on the plane of the circle (m), and whether the side site is inside the geom."""
    zero = 0.0 * p[0]
    p2, q2 = _in_plane(frame, p), _in_plane(frame, q)
    side2 = p2
    inside = zero > 1.0
    if has_side:
        side2 = _in_plane(frame, side)
        somewhere = _dot(side2, side2) > MINVAL * MINVAL
        side2 = (where(somewhere, side2[0], zero + 1.0), where(somewhere, side2[1], zero))
        inside = dot3(side, side) < radius * radius
    return p2, q2, side2, inside


@kernel
def wound(p, q, bend, inside, frame, radius):
    """The path of `wrap` with a winding angle (rad), around the circle, or through it if `inside`."""
    zero = 0.0 * p[0]
    # path in the plane, and its rise along the axis
    touches, lengths, points, directions = taut(_in_plane(frame, p), _in_plane(frame, q), bend, inside, radius)
    to, arc, on = lengths
    flat = where(touches, to + arc + on, zero + 1.0)
    height = dot3(frame[2], p)
    climb = dot3(frame[2], q) - height
    length = sqrt(flat * flat + climb * climb)
    # directions and points in space
    cosine, sine = flat / length, climb / length
    ahead = _in_space(frame, cosine * directions[0], cosine * directions[1], sine)
    away = _in_space(frame, cosine * directions[2], cosine * directions[3], sine)
    arrival = _in_space(frame, points[0], points[1], height + climb * (to / flat))
    departure = _in_space(frame, points[2], points[3], height + climb * ((to + arc) / flat))
    return touches, length, ahead, away, arrival, departure


@kernel(inline=True)
def sphere_frame(p, q):
    """Axes of the plane of the origin, p and q: along p, across on the side of q, and normal to it.

    If p and q are collinear with the origin, the plane is the one that MuJoCo chooses.
    """
    zero = 0.0 * p[0]
    one = zero + 1.0
    square = dot3(p, p)
    x = scale3(1.0 / sqrt(where(square > 0.0, square, one)), p)
    a, b, c = absolute(x[0]), absolute(x[1]), absolute(x[2])
    most_y = (b > a) & (b > c)
    most_z = (c > a) & (c > b)
    # ones, except at x's largest component
    fallback = cross(x, (where(most_y | most_z, one, zero), where(most_y, zero, one), where(most_z, zero, one)))
    normal = cross(p, q)
    given = dot3(normal, normal) >= MINVAL * MINVAL
    normal = (
        where(given, normal[0], fallback[0]),
        where(given, normal[1], fallback[1]),
        where(given, normal[2], fallback[2]),
    )
    across = cross(normal, x)  # orthogonal to x whatever the rounding of the normal
    square = dot3(across, across)
    y = scale3(1.0 / sqrt(where(square > 0.0, square, one)), across)
    return x, y, cross(x, y)


@kernel(inline=True)
def _in_plane(frame, a):
    """Components of a along the first two axes."""
    return dot3(frame[0], a), dot3(frame[1], a)


@kernel(inline=True)
def _in_space(frame, x, y, z):
    """Vector with components x, y and z along the axes."""
    a, b, c = frame
    return a[0] * x + b[0] * y + c[0] * z, a[1] * x + b[1] * y + c[1] * z, a[2] * x + b[2] * y + c[2] * z


@kernel(inline=True)
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1]


@kernel(inline=True)
def _cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


@kernel(inline=True)
def winding(p, q, side):
    """Angle (rad) about the origin of the polyline p, side, q in the plane, between -2 pi and 2 pi.

    The angle is that from p to q, unless the triangle of the three contains the origin: then it goes the other way.
    """
    direct = atan2(_cross(p, q), _dot(p, q))
    there, back, straight = _cross(p, side), _cross(side, q), _cross(p, q)
    zero = 0.0 * direct
    turn = where((there > 0.0) & (back > 0.0) & (straight < 0.0), zero + TWO_PI, zero)
    return direct + where((there < 0.0) & (back < 0.0) & (straight >= 0.0), zero - TWO_PI, turn)


@kernel
def half_plane_winding(p, q, side, radius):
    """Winding angle (rad) of the path that has its points of contact towards the side site; 0 where it is straight.

    Straight is a segment that clears the circle in the half-plane of the side site. Otherwise, of both ways round, the
    one is taken whose points of contact have their mean nearest to the side site's direction.
    """
    zero = 0.0 * p[0]
    # nearest point of the segment to the axis
    along = q[0] - p[0], q[1] - p[1]
    share = -_dot(along, p) / maximum(_dot(along, along), MINVAL)
    share = minimum(maximum(share, zero), zero + 1.0)
    near = p[0] + share * along[0], p[1] + share * along[1]
    clear = (_dot(near, near) > radius * radius) & (_dot(side, near) >= 0.0)
    # winding of both ways round
    direct = atan2(_cross(p, q), _dot(p, q))
    left = where(direct < 0.0, direct + TWO_PI, direct)
    right = left - TWO_PI
    # angles from p and q to the points of contact
    square = zero + radius * radius
    to, on = sqrt(maximum(_dot(p, p) - square, zero)), sqrt(maximum(_dot(q, q) - square, zero))
    first, last = atan2(to, zero + radius), atan2(on, zero + radius)
    shorter = minimum(to, on)
    of_left = _towards(p, side, 0.5 * (left + first - last), 0.5 * (left - first - last))
    of_right = _towards(p, side, 0.5 * (right - first + last), 0.5 * (right + first + last))
    # straight parts that cross make no path
    by_left, by_right = left - first - last, -right - first - last
    no_left, no_right = _cross_each_other(by_left, shorter, radius), _cross_each_other(by_right, shorter, radius)
    of_left, of_right = where(no_left, zero - FAR, of_left), where(no_right, zero - FAR, of_right)
    # where they overlap and do not cross, the arc is the rest of the circle
    left = where(by_left < 0.0, left + TWO_PI, left)
    right = where(by_right < 0.0, right - TWO_PI, right)
    return where(clear | (no_left & no_right), zero, where(of_right > of_left, right, left))


@kernel(inline=True)
def _cross_each_other(arc, shorter, radius):
    """Whether the straight parts at the ends of an arc (rad), the shorter one of so many m, cross each other."""
    s, c = sincos(0.5 * arc)
    return (s * c <= 0.0) & (radius * absolute(s) <= absolute(c) * shorter)


@kernel(inline=True)
def _towards(p, side, middle, half):
    """Component along the side site of the direction of e(middle - half) + e(middle + half), e: p turned (rad)."""
    s, c = sincos(middle)
    x, y = c * p[0] - s * p[1], s * p[0] + c * p[1]
    _, across = sincos(half)
    return where(across < 0.0, 0.0 * c - 1.0, 0.0 * c + 1.0) * (x * side[0] + y * side[1])


@kernel
def taut(p, q, bend, inside, radius):
    """Shortest path in the plane from p to q that touches the circle of the given radius (m) about the origin.

    Around the circle, with the winding angle `bend` = w (rad): the straight parts are tangents, which take the angles
    acos(radius/|p|) and acos(radius/|q|) of w, and the arc takes the rest, if any is left. If `inside`, through the
    circle: the straight segment suffices if it meets the circle, else the path is reflected at one point of it.

    Returns whether the path touches the circle; the lengths to it, along it and from it (m); the points of arrival and
    departure x, y, x, y (m); and the unit directions there.
    """
    zero = 0.0 * p[0]
    square = radius * radius
    pp, qq = _dot(p, p), _dot(q, q)
    beyond = (pp >= square) & (qq >= square)
    pp, qq = where(beyond, pp, zero + 2.0 * square), where(beyond, qq, zero + 2.0 * square)
    # squares of the tangents' lengths
    ep, eq = pp - square, qq - square
    reach = atan2(sqrt(ep), zero + radius) + atan2(sqrt(eq), zero + radius)
    rest = absolute(bend) - reach
    # as in MuJoCo, there is no path around between coincident ends, and none through from an end on the surface
    apart = (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])
    touches = beyond & (where(inside, -rest, rest) > 0.0) & (where(inside, minimum(ep, eq), apart) >= MINVAL)
    # sine and cosine of the angle between the straight parts and the circle's normal
    sine, cosine = zero + 1.0, zero
    reflects = touches & inside
    if any_lane(reflects):
        s, c = sincos(_reflection(ep, eq, absolute(bend), radius))
        sine, cosine = where(reflects, s, sine), where(reflects, c, cosine)
    # tangents from both ends, and the arc between them
    way = where(bend < 0.0, zero - 1.0, zero + 1.0)
    to, x0, y0 = _tangent(p, pp, ep, sine, cosine, way, radius)
    on, x1, y1 = _tangent(q, qq, eq, sine, cosine, -way, radius)
    arc = radius * where(inside, zero, rest)
    s, c = way * sine / radius, cosine / radius
    directions = (-c * x0 - s * y0, -c * y0 + s * x0, c * x1 - s * y1, c * y1 + s * x1)
    return touches, (to, arc, on), (x0, y0, x1, y1), directions


@kernel(inline=True)
def _tangent(p, pp, ep, sine, cosine, way, radius):
    """Length (m) of the straight part from p to the circle, and the point where they meet (m).

    By the law of cosines in the triangle of origin, p and that point, where the angle at the point has the cosine
    -`cosine`; free of cancellation. pp = |p|², ep = |p|² - radius²; `way`: 1 anticlockwise, -1 clockwise from p.
    """
    side = sqrt(ep + (radius * cosine) * (radius * cosine))
    whole = side + radius * cosine
    length = ep / where(whole > 0.0, whole, 1.0)
    along = (radius / pp) * (cosine * side + radius * sine * sine)
    across = (radius / pp) * way * sine * length
    return length, along * p[0] - across * p[1], along * p[1] + across * p[0]


@kernel
def _reflection(ep, eq, bend, radius):
    """Angle i (rad) between the normal of the circle and both parts of a path that it reflects, in (0, pi/2).

    The angles at the origin add up: f(i) = (i - asin(radius/|p| sin i)) + (i - asin(radius/|q| sin i)) - bend = 0. f
    is increasing and convex, and f(pi/2) > 0, so that Newton's method from pi/2 descends to the root. The last step is
    evaluated on duals, which gives the exact derivative of the implicit function.
    """
    u, v, w = value_of(ep), value_of(eq), value_of(bend)
    i = HALF_PI + 0.0 * u
    step = 1.0 + 0.0 * u
    for _ in range(STEPS):
        f, slope = _sum_of_angles(u, v, w, i, radius)
        # converged lanes keep their value
        step = where(step > LAST_STEP, f / slope, 0.0 * u)
        i = i - step
        if not any_lane(step > LAST_STEP):
            break
    last = _sum_of_angles(ep, eq, bend, i, radius)
    return i - last[0] / last[1]


@kernel(inline=True)
def _sum_of_angles(ep, eq, bend, i, radius):
    """f of `_reflection`, and its derivative in i."""
    s, c = sincos(i)
    s, c = radius * s, radius * c
    a, b = sqrt(ep + c * c), sqrt(eq + c * c)
    f = 2.0 * i - atan2(s, a) - atan2(s, b) - bend
    return f, maximum(2.0 - c / a - c / b, MINVAL)
