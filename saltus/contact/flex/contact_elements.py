"""Which element or vertex of a deformable body a contact is of, and which bodies that means."""

from saltus.contact.contact_list import add_contact
from saltus.contact.rigid.plane import no_vector
from saltus.number.kernels import kernel, only_with


@kernel
def add_flex_contact(m, d, n, c, reach, dist, pos, normal, elem1, elem2, vert):
    """Append contact n of pair c (see `add_contact`), of these elements of its two objects and this vertex.

    They are numbers among all elements and all vertices, -1 for none; returns how many contacts there are then.
    """
    after = add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(dist))
    mark(d, n, after, elem1, elem2, vert)
    return after


@kernel(inline=True)
def mark(d, first, end, elem1, elem2, vert):
    """Contacts from number `first` up to `end` are of these elements and this vertex."""
    for k in range(first, end):
        d.contact_elem[k] = (elem1, elem2)
        d.contact_vert[k] = vert


@kernel
def contact_bodies(m, d, k):
    """The two bodies of contact k; a deformable body is stood for by that of the vertex, or the element's first."""
    c = d.contact_collision[k]
    g1, g2 = m.collision_geom1[c], m.collision_geom2[c]
    b1 = m.geom_bodyid[g1] if g1 >= 0 else vertex_body(m, m.flexelem_vert[d.contact_elem[k, 0], 0])
    if g2 >= 0:
        return b1, m.geom_bodyid[g2]
    v = d.contact_vert[k]
    return b1, vertex_body(m, v if v >= 0 else m.flexelem_vert[d.contact_elem[k, 1], 0])


@kernel(inline=True)
def own_body(m, v):
    """The body that carries vertex v."""
    return m.flexvert_bodyid[v]


@only_with("flexcell", otherwise=own_body)
@kernel(inline=True)
def vertex_body(m, v):
    """The body that carries vertex v, or the first node that moves it."""
    b = m.flexvert_bodyid[v]
    return b if b >= 0 else m.flexvert_bodyid[m.node_vert[m.flexvert_nodeadr[v]]]
