"""Elements, vertices and bodies of the contacts of deformable bodies."""

from saltus.contact.contact_list import add_contact
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rigid.plane import no_vector
from saltus.number.conditions import has
from saltus.number.kernels import kernel


@kernel
def add_flex_contact(m, d, n, c, reach, dist, pos, normal, parts):
    """Append contact n of pair c (see `add_contact`) with its `parts`: the elements of its two objects, its vertex.

    Elements and vertex are numbered among all elements and all vertices, -1 for none. Returns the new number of
    contacts.
    """
    elem1, elem2, vert = parts
    after = add_contact(m, d, n, c, reach, dist, pos, normal, no_vector(dist))
    mark(d, n, after, elem1, elem2, vert)
    return after


@kernel(inline=True)
def mark(d, first, end, elem1, elem2, vert):
    """Write the elements and the vertex of contacts from number `first` up to `end`."""
    for k in range(first, end):
        d.contact_elem[k] = (elem1, elem2)
        d.contact_vert[k] = vert


@kernel
def contact_bodies(m, d, k):
    """The two bodies of contact k; for a deformable body, that of the vertex or of the element's first corner."""
    c = d.contact_collision[k]
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    b1 = m.geom_bodyid[g1] if g1 >= 0 else vertex_body(m, m.flexelem_vert[d.contact_elem[k, 0], 0])
    if g2 >= 0:
        return b1, m.geom_bodyid[g2]
    v = d.contact_vert[k]
    return b1, vertex_body(m, v if v >= 0 else m.flexelem_vert[d.contact_elem[k, 1], 0])


@kernel(inline=True)
def vertex_body(m, v):
    """The body that carries vertex v, or else the first node that moves it."""
    b = m.flexvert_bodyid[v]
    return b if not has(m, "flexcell") or b >= 0 else m.flexvert_bodyid[m.node_vert[m.flexvert_nodeadr[v]]]
