"""Contacts with inner edges and faces of geoms that move together, which are removed because the union lacks them.

Let A be a geom with neighbours B, convex and welded to it, and ν the normal of a contact at the point q of A's surface,
away from A. If q lies in B as well, directions into the union are those into A or into B, and ν is normal to all of
them if it lies in the normal cones of both, N_A(q) ∩ N_B(q). If a face of A ends inside B, as at the foot of a riser,
normals at nearby points count as well, as limits (Rockafellar & Wets, Variational Analysis (1998), definition 6.3).
Therefore:

    the contact is a contact with the union if ν lies in the normal cone N_B(q') of every neighbour B that contains q',
    for points q' arbitrarily near q at which A has the normal ν.

Such points are searched for at the distance `NEAR_BY` times the tolerance from q, in `WAYS` directions perpendicular to
ν and along the edges of A through q; if there are none, A has a corner at q, and q itself decides. Round shapes count
as smooth. A neighbour contains a point up to the tolerance of `saltus.model.contact.seams`, and a normal lies in a cone
up to the angle `ANGLE`; it is then rotated into the cone.

The side of a floor tile thus has no contacts below its flush neighbour, nor has its upper edge with a ball that rolls
over the neighbour, but the face of a riser has contacts down to its foot. The union consists of the geoms that the
other body may touch. Soft contact keeps all contacts, as MuJoCo does.
"""

import math

from saltus.contact.contact_list import first_tangent, move_contact
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import (
    add_scaled3,
    cross,
    dot3,
    matrix_times_vector,
    scale3,
    sub3,
    transpose_times_vector,
)

ANGLE = 1e-6  # rad
NEAR_BY = 100.0  # distance relative to the tolerance of gaps
WAYS = 8
COSINES = tuple(math.cos((k + 0.5) * (2.0 * math.pi / WAYS)) for k in range(WAYS))
SINES = tuple(math.sin((k + 0.5) * (2.0 * math.pi / WAYS)) for k in range(WAYS))
ROUNDS, LEAST_CHANGE = 30, 1e-9  # iterations of the projection on a normal cone, and change at which they end
ROUNDING = 1e-15  # rad
PARALLEL = 1e-6  # sine of the angle of two normals below which their faces share no edge
# seam_pair: for the first geom, then the second: neighbours in seam_list, and half-spaces of the geom itself
FIRST, COUNT, PLANE, PLANES = range(4)
OF_GEOM = 4
# results of the test of a point of a contact
COVERED, EXPOSED, ELSEWHERE = range(3)


@only_with("seams", otherwise="False")
@kernel
def at_seam(m, s):
    """Whether a contact point with an identity, slot s, belongs to a pair with neighbours."""
    c = m.slot_pair[s]
    return m.seam_pair[c, COUNT] + m.seam_pair[c, OF_GEOM + COUNT] > 0


@only_with("seams", otherwise="n")
@kernel
def drop_covered(m, d, before, n, c):
    """Remove contacts of pair c, from number `before` up to n, that are no contacts with the unions.

    Reads and writes contact_dist (m), contact_pos (m) and contact_frame; returns the new number of contacts.
    """
    if m.seam_pair[c, COUNT] + m.seam_pair[c, OF_GEOM + COUNT] == 0:
        return n
    kept = before
    for k in range(before, n):
        if is_exposed(m, d, c, k, 0) and is_exposed(m, d, c, k, 1):
            move_contact(d, k, kept)
            kept += 1
    return kept


@kernel
def is_exposed(m, d, c, k, side):
    """Whether contact k is one with the union of a geom of pair c, the first (side 0) or second, and its neighbours."""
    at = OF_GEOM * side
    if m.seam_pair[c, at + COUNT] == 0:
        return True
    # point of the surface and normal away from it, in the geom's axes
    g = pair_geom1(m, d, c) if side == 0 else pair_geom2(m, d, c)
    frame, sign = d.contact_frame[k], 1.0 - 2.0 * side
    normal = scale3(sign, (frame[0], frame[1], frame[2]))
    point = add_scaled3(d.contact_pos[k], -0.5 * d.contact_dist[k], normal)
    mat = d.geom_xmat[g]
    point = transpose_times_vector(mat, sub3(point, d.geom_xpos[g]))
    normal = transpose_times_vector(mat, normal)
    # the point is in no neighbour, or the normal is one of all neighbours that contain it
    if covers(m, d, c, at, point, normal) == EXPOSED:
        exact = nearest_normal(m, d, c, at, point, normal)
        turn = sub3(exact, normal)
        if dot3(turn, turn) > ROUNDING * ROUNDING:
            write_normal(d, k, scale3(sign, matrix_times_vector(mat, exact)))
        return True
    return is_exposed_near(m, d, c, at, point, normal)


@kernel
def nearest_normal(m, d, c, at, point, normal):
    """The unit vector nearest to a normal in the normal cones of the neighbours that contain a point.

    The normal is within `ANGLE`. Contacts of several geoms at one point then have exactly equal normals; otherwise they
    would obstruct a body that slides across.
    """
    slack = m.seam_tolerance[c, at // OF_GEOM]
    first = m.seam_pair[c, at + FIRST]
    for k in range(first, first + m.seam_pair[c, at + COUNT]):
        piece = m.seam_list[k]
        adr, count = m.seam_planeadr[piece], m.seam_planenum[piece]
        if depth(m, adr, count, point) <= slack:
            normal = sub3(normal, outside_cone(m, d, adr, count, point, normal, slack))
    return scale3(1.0 / sqrt(dot3(normal, normal)), normal)


@kernel
def write_normal(d, k, normal):
    """Set the normal of contact k in world axes, with default tangents."""
    zero = 0.0 * normal[0]
    first = first_tangent(normal, (zero, zero, zero))
    second = cross(normal, first)
    d.contact_frame[k] = (*normal, *first, *second)


@kernel
def is_exposed_near(m, d, c, at, point, normal):
    """Whether a contact belongs to the union at a point near the given one where the geom has the same normal."""
    radius = NEAR_BY * m.seam_tolerance[c, at // OF_GEOM]
    u, v = across(normal)
    for k in range(WAYS):
        way = add_scaled3(scale3(COSINES[k], u), SINES[k], v)
        if look_at(m, d, c, at, point, normal, way, radius) == EXPOSED:
            return True
    return is_exposed_along(m, d, c, at, point, normal, radius)


@kernel
def is_exposed_along(m, d, c, at, point, normal, radius):
    """Whether `is_exposed_near` holds along edges of the geom through the point perpendicular to the normal."""
    first, last = m.seam_pair[c, at + PLANE], m.seam_pair[c, at + PLANE] + m.seam_pair[c, at + PLANES]
    least = -m.seam_tolerance[c, at // OF_GEOM]
    for i in range(first, last):
        for j in range(first, i):
            if excess(m, i, point) >= least and excess(m, j, point) >= least:
                edge = cross(plane_normal(m, i), plane_normal(m, j))
                length = sqrt(dot3(edge, edge))
                if length > PARALLEL and absolute(dot3(edge, normal)) <= ANGLE * length:
                    for sign in (-1.0, 1.0):
                        way = scale3(sign / length, edge)
                        if look_at(m, d, c, at, point, normal, way, radius) == EXPOSED:
                            return True
    return False


@kernel
def look_at(m, d, c, at, point, normal, way, radius):
    """Whether neighbours cover the point at a radius (m) in a direction; ELSEWHERE if it lacks this normal."""
    first, count = m.seam_pair[c, at + PLANE], m.seam_pair[c, at + PLANES]
    slack = m.seam_tolerance[c, at // OF_GEOM]
    there = add_scaled3(point, radius, way)
    off = count > 0 and depth(m, first, count, there) > slack
    if off or (count > 0 and not has_normal(m, d, first, count, there, normal, slack)):
        return ELSEWHERE
    return covers(m, d, c, at, there, normal)


@kernel
def covers(m, d, c, at, point, normal):
    """COVERED if a neighbour contains a point (in the geom's axes) without having the normal there, else EXPOSED."""
    slack = m.seam_tolerance[c, at // OF_GEOM]
    first = m.seam_pair[c, at + FIRST]
    for k in range(first, first + m.seam_pair[c, at + COUNT]):
        piece = m.seam_list[k]
        adr, count = m.seam_planeadr[piece], m.seam_planenum[piece]
        if depth(m, adr, count, point) <= slack and not has_normal(m, d, adr, count, point, normal, slack):
            return COVERED
    return EXPOSED


@kernel
def depth(m, adr, count, point):
    """Largest distance (m) of a point outside the half-spaces from number `adr` on; negative inside all of them."""
    most = excess(m, adr, point)
    for i in range(adr + 1, adr + count):
        most = maximum(most, excess(m, i, point))
    return most


@kernel(inline=True)
def excess(m, i, point):
    """Signed distance (m) of a point outside half-space i."""
    plane = m.seam_plane[i]
    return plane[0] * point[0] + plane[1] * point[1] + plane[2] * point[2] - plane[3]


@kernel(inline=True)
def plane_normal(m, i):
    """The normal of half-space i."""
    plane = m.seam_plane[i]
    return plane[0], plane[1], plane[2]


@kernel
def has_normal(m, d, adr, count, point, normal, slack):
    """Whether a unit vector lies in the normal cone of half-spaces at a point on their boundary, within `ANGLE`."""
    rest = outside_cone(m, d, adr, count, point, normal, slack)
    return dot3(rest, rest) <= ANGLE * ANGLE


@kernel
def outside_cone(m, d, adr, count, point, normal, slack):
    """Part of a unit vector that remains after projection on the normal cone of half-spaces at a boundary point.

    The cone is spanned by the normals of half-spaces whose boundary is within `slack` (m). Hildreth's method; writes
    seam_push.
    """
    rest = normal
    for i in range(count):
        d.seam_push[i] = 0.0 * normal[0]
    for _ in range(ROUNDS):
        change = 0.0 * normal[0]
        for i in range(count):
            if excess(m, adr + i, point) >= -slack:
                own = plane_normal(m, adr + i)
                step = maximum(-d.seam_push[i], dot3(own, rest))
                d.seam_push[i] = d.seam_push[i] + step
                rest = add_scaled3(rest, -step, own)
                change = maximum(change, absolute(step))
        if change <= LEAST_CHANGE:
            break
    return rest


@kernel(inline=True)
def across(normal):
    """Two unit vectors perpendicular to a unit normal and to each other."""
    x, y, z = normal
    least = absolute(z) < 0.5
    side = (-y, x, 0.0 * z) if least else (0.0 * x, z, -y)
    first = scale3(1.0 / sqrt(dot3(side, side)), side)
    return first, cross(normal, first)
