"""Contacts of planes with the balls around the vertices of deformable bodies."""

from saltus.contact.flex.contact_elements import add_flex_contact
from saltus.contact.rigid.plane import height_over_plane
from saltus.number.functions import any_lane
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add_scaled3


@kernel
def plane_flex(m, d, n, c, reach):
    """The contacts of a plane with the vertices of a deformable body, in order.

    Appends contacts of pair c from number n on; returns the new number of contacts.
    """
    plane, f = m.collision_geom1[c], m.collision_flex2[c]
    thick = m.flex_radius[f]
    for v in range(m.flex_vertadr[f], m.flex_vertadr[f] + m.flex_vertnum[f]):
        vertex = d.flexvert_xpos[v]
        normal, height = height_over_plane(d, plane, vertex)
        dist = height - thick
        if any_lane(dist <= reach):
            pos = add_scaled3(vertex, -(0.5 * dist + thick), normal)
            n = add_flex_contact(m, d, n, c, reach, dist, pos, normal, (-1, -1, v))
    return n
