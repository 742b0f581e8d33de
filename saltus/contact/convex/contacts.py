"""Contacts of a pair of convex shapes at given poses, in number and place like those of MuJoCo's convex functions.

MuJoCo 4.0 documentation, Computation: Collision: pairs with a sphere or an ellipsoid have one contact, others those of
faces and edges that meet, or only one if the flag `multiccd` is off.
"""

from saltus.contact.convex.contact_record import write_contact
from saltus.contact.convex.face_contacts import contacts_on_face, face_contacts
from saltus.contact.convex.met_face import BEYOND, UNKNOWN, met_face
from saltus.contact.convex.refined_normal import refine
from saltus.contact.convex.search.distance import APART, OVERLAP, distance
from saltus.contact.convex.search.pair_area import DIST, KIND1, KIND2, NORMAL, POINT, SIZE1, SIZE2
from saltus.contact.convex.search.penetration import VERTEX_AREA, penetration
from saltus.contact.convex.search.support import rounding_radius
from saltus.model.enums import ELLIPSOID, HFIELD, SPHERE
from saltus.number.conditions import has
from saltus.number.intrinsics.memory import get, get3, get_int, put, put3, stack_area
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3


@kernel
def contacts(m, p, reach, found):
    """Write the contacts of pair p that are within `reach` (m) at the address `found`.

    Returns their number, and whether a separating direction was found along which the shapes are farther apart.
    """
    v = stack_area(VERTEX_AREA)
    faces = m.opt_multiccd and not is_round(get_int(p, KIND1)) and not is_round(get_int(p, KIND2))
    # located contacts have normals of their own
    if faces and not has(m, "event"):
        known = met_face(m, p, v, reach)
        if known == BEYOND:
            return 0, True
        if known != UNKNOWN:
            several = contacts_on_face(m, p, v, known % 2, known // 2, reach, found)
            if several > 0:
                return several, False
    n, apart = nearest_points(m, p, v, reach)
    if n == 0:
        return 0, apart
    if faces:
        several = face_contacts(m, p, v, n, reach, found)
        if several > 0:
            return several, False
    write_nearest(p, found)
    return 1, False


@kernel(inline=True)
def is_round(kind):
    """Whether a shape has a single contact with any other; true also for the prisms of height fields."""
    return kind == SPHERE or kind == ELLIPSOID or kind == HFIELD


@kernel
def nearest_points(m, p, v, reach):
    """Search for the nearest points of pair p, or the deepest; returns 0 if they are not within `reach` (m).

    Otherwise returns the number of vertices of A - B, at address v, that span the part of its boundary nearest to the
    origin. Distance and point are those of the surfaces, not of the cores. The second result is that of `contacts`.
    """
    radius1 = rounding_radius(get_int(p, KIND1), get3(p, SIZE1))
    radius2 = rounding_radius(get_int(p, KIND2), get3(p, SIZE2))
    what, n = distance(m, p, v, reach + radius1 + radius2)
    if what == APART or (what == OVERLAP and not penetration(m, p, v, n)):
        return 0, what == APART
    n = 3 if what == OVERLAP else n
    if has(m, "event"):
        refine(m, p, v, n)
    put(p, DIST, get(p, DIST) - radius1 - radius2)
    put3(p, POINT, add_scaled3(get3(p, POINT), radius1, get3(p, NORMAL)))
    if get(p, DIST) > reach:
        return 0, False
    return n, False


@kernel(inline=True)
def write_nearest(p, at):
    """Write the contact midway between the nearest points."""
    normal, dist = get3(p, NORMAL), get(p, DIST)
    write_contact(at, dist, add_scaled3(get3(p, POINT), 0.5 * dist, normal), normal)
