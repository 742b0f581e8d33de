"""Constraint rows of contacts of deformable bodies: a point of an element moves with the bodies of its corners.

The corners' weights are the point's barycentric coordinates. In interpolated bodies, the weights are the nodes' shape
functions at the point's place at rest.
"""

from saltus.contact.barycentric import segment_weights, tetrahedron_weights, triangle_weights
from saltus.contact.counts import NFLEXDOF, NSIDE
from saltus.contact.rows.blocks import add_block_of
from saltus.contact.rows.rod_contacts import (
    add_end_rows,
    add_segment,
    add_twist_rows,
    add_vertex_of_segment,
    bends,
    clear_segments,
    segment_of_element,
    segment_of_vertex,
    twisting_dof,
)
from saltus.number.conditions import has
from saltus.number.functions import absolute, clip, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import dot6, unit_wrench
from saltus.spatial.vectors import add_scaled3, sub3


@only_with("flexcontact", otherwise="-1")
@kernel
def flex_block(m, d, kind, dim, law, k, active):
    """Append a block for contact k of a deformable body, with a list of its degrees of freedom; returns its number.

    Returns -1, and appends nothing, if no degree of freedom moves the contact: a pinned vertex on the world's geoms.
    Writes the sides of the contact, which `flex_jacobian` and `flex_inverse` read.
    """
    contact_sides(m, d, k)
    first = d.count[NFLEXDOF]
    for i in range(d.count[NSIDE]):
        list_dofs(m, d, first, d.side_body[i])
        if twisting_dof(m, d, i) >= 0:
            list_dof(d, first, twisting_dof(m, d, i))
    dofs = m.nchaindof + first, d.count[NFLEXDOF] - first, 1
    if dofs[1] == 0:
        return -1
    return add_block_of(m, d, kind, dim, number_of(m, d, k), dofs, law, k, active)


@kernel
def number_of(m, d, k):
    """Number that identifies the pair of elements of contact k, beyond those of the model's chains."""
    most = m.nflexelem + m.nflexvert + 1
    second = d.contact_elem[k, 1] if d.contact_vert[k] < 0 else m.nflexelem + d.contact_vert[k]
    return m.nchain + (d.contact_collision[k] * most + d.contact_elem[k, 0] + 1) * most + second + 1


@kernel
def list_dofs(m, d, first, body):
    """Insert the degrees of freedom that move a body into the ascending list that begins at `first`."""
    i = m.body_lastdof[body]
    while i >= 0:
        list_dof(d, first, i)
        i = m.dof_parentid[i]


@kernel
def list_dof(d, first, i):
    """Insert degree of freedom i into the ascending list that begins at `first`, once."""
    last = d.count[NFLEXDOF] - 1
    place = last
    while place >= first and d.flex_dof[place] > i:
        place -= 1
    if place < first or d.flex_dof[place] != i:
        for c in range(last, place, -1):
            d.flex_dof[c + 1] = d.flex_dof[c]
        d.flex_dof[place + 1] = i
        d.count[NFLEXDOF] = last + 2


@only_with("flexcontact")
@kernel
def flex_jacobian(m, d, k, b, dim):
    """The Jacobian of block b, the first `dim` motions of contact k: of the second object relative to the first."""
    zero = 0.0 * d.time
    for c in range(d.block_num[b] * dim):
        d.row_J[d.block_J[b] + c] = zero
    for i in range(d.count[NSIDE]):
        if bends(m, d, i):
            add_end_rows(m, d, k, b, dim, i)
        else:
            add_body_rows(m, d, k, b, dim, d.side_body[i], d.side_sign[i] * d.side_weight[i])
        add_twist_rows(m, d, k, b, dim, i)


@only_with("flexcontact", otherwise="0.0 * d.time")
@kernel
def flex_inverse(m, d, k):
    """Approximate inverse inertia (1/kg) at contact k of a deformable body: weighted sum over its bodies."""
    total = 0.0 * d.time
    for i in range(d.count[NSIDE]):
        total = total + d.side_weight[i] * m.body_invweight0[d.side_body[i], 0]
    return total


# ---------------------------------------------------------------- sides


@kernel
def contact_sides(m, d, k):
    """side_body, side_sign, side_weight of all bodies that move contact k."""
    d.count[NSIDE] = 0
    clear_segments(m, d)
    one = 0.0 * d.time + 1.0
    c = d.contact_collision[k]
    if m.collision_geom1[c] >= 0:
        add_side(d, m.geom_bodyid[m.collision_geom1[c]], -1, one)
    if d.contact_vert[k] >= 0:
        add_touched_vertex(m, d, k, d.contact_vert[k], one)
    for side in range(2):
        e = d.contact_elem[k, side]
        if e >= 0 and segment_of_element(m, e) >= 0:
            add_segment(m, d, k, segment_of_element(m, e), 2 * side - 1)
        elif e >= 0:
            f = m.collision_flex1[c] if side == 0 else m.collision_flex2[c]
            add_element(m, d, f, e, 2 * side - 1, element_weights(m, d, e, d.contact_pos[k]))


@kernel(inline=True)
def add_side(d, body, sign, weight):
    """Append a body with its sign and weight."""
    n = d.count[NSIDE]
    d.side_body[n] = body
    d.side_sign[n] = sign
    d.side_weight[n] = weight
    d.count[NSIDE] = n + 1


@kernel
def add_touched_vertex(m, d, k, v, weight):
    """Append the bodies that move vertex v of the second object of contact k."""
    e = segment_of_vertex(m, v)
    if e >= 0:
        add_vertex_of_segment(m, d, k, e, v, 1, m.flex_radius[m.collision_flex2[d.contact_collision[k]]])
    else:
        add_vertex(m, d, v, 1, weight)


@kernel
def add_vertex(m, d, v, sign, weight):
    """Append the body that carries a vertex, or those of the nodes around it."""
    if not has(m, "flexcell") or m.flexvert_bodyid[v] >= 0:
        add_side(d, m.flexvert_bodyid[v], sign, weight)
    else:
        first = m.flexvert_nodeadr[v]
        for k in range(first, first + m.flexvert_nodenum[v]):
            add_side(d, m.flexvert_bodyid[m.node_vert[k]], sign, weight * m.node_weight[k])


@kernel
def add_corners(m, d, f, e, sign, w):
    """Append the bodies of the corners of element e, with weights w."""
    for q in range(4):
        if m.flexelem_vert[e, q] >= 0:
            add_side(d, m.flexvert_bodyid[m.flexelem_vert[e, q]], sign, chosen(w, q))


@kernel
def add_element(m, d, f, e, sign, w):
    """Append the bodies that move the point of element e of body f with weights w of the corners.

    All nodes that move any point of the element are included, so that the list does not depend on the point.
    """
    order = m.flex_order[f]
    if not has(m, "flexcell") or order == 0:
        add_corners(m, d, f, e, sign, w)
        return
    # place in the grid of nodes at rest
    place = (0.0 * w[0], 0.0 * w[0], 0.0 * w[0])
    for q in range(4):
        if m.flexelem_vert[e, q] >= 0:
            place = add_scaled3(place, chosen(w, q), m.flexvert_grid[m.flexelem_vert[e, q]])
    # tensor product of the shape functions of the nodes
    span, count = m.flexelem_nodes[e], m.flex_nodes[f]
    for i in range(span[0], span[3] + 1):
        along_x = shape_function(place[0], i, order, count[0])
        for j in range(span[1], span[4] + 1):
            along_xy = along_x * shape_function(place[1], j, order, count[1])
            for k in range(span[2], span[5] + 1):
                weight = along_xy * shape_function(place[2], k, order, count[2])
                node = m.flex_nodeadr[f] + (i * count[1] + j) * count[2] + k
                add_side(d, m.flexvert_bodyid[node], sign, weight)


@kernel
def shape_function(place, node, order, count):
    """Lagrange shape function of a node, given by its number on an axis, at a place (in cells).

    Piecewise over the cells that contain the node, and 0 beyond them. The place is clamped to the `count` nodes of the
    axis.
    """
    s = clip(place, 0.0 * place, 0.0 * place + 1.0 * ((count - 1) // order))
    zero = 0.0 * s
    if order == 1:
        away = 1.0 - absolute(s - 1.0 * node)
        return where(away > zero, away, zero)
    cell = 1.0 * (node // 2)
    if node % 2 == 1:
        within = (s - cell) * (1.0 - (s - cell))
        return where(within > zero, 4.0 * within, zero)
    away = absolute(s - cell)
    return where(away < 1.0 + zero, (1.0 - away) * (1.0 - 2.0 * away), zero)


@kernel(inline=True)
def chosen(w, q):
    """Component q of four weights."""
    return w[0] if q == 0 else w[1] if q == 1 else w[2] if q == 2 else w[3]


@kernel
def element_weights(m, d, e, point):
    """Barycentric coordinates of the point of an element nearest to `point`; zero for corners that it lacks."""
    corner = m.flexelem_vert[e]
    a, b = d.flexvert_xpos[corner[0]], d.flexvert_xpos[corner[1]]
    zero = 0.0 * point[0]
    if corner[2] < 0:
        s = segment_weights(point, a, b)
        return s[0], s[1], zero, zero
    c = d.flexvert_xpos[corner[2]]
    if corner[3] < 0:
        t = triangle_weights(point, a, b, c)
        return t[0], t[1], t[2], zero
    return tetrahedron_weights(point, a, b, c, d.flexvert_xpos[corner[3]])


@kernel
def add_body_rows(m, d, k, b, dim, body, weight):
    """Add `weight` times the motion of a body at contact k to the Jacobian of block b."""
    f = d.contact_frame[k]
    arm = sub3(d.contact_pos[k], d.subtree_com[m.body_rootid[body]])
    # unit wrenches at the contact point along normal and tangents
    w0 = unit_wrench(arm, (f[0], f[1], f[2]))
    w1 = unit_wrench(arm, (f[3], f[4], f[5]))
    w2 = unit_wrench(arm, (f[6], f[7], f[8]))
    first = d.block_dofs[b] - m.nchaindof
    # degrees of freedom of the body, from the last to the root; the list ascends
    c = d.block_num[b] - 1
    i = m.body_lastdof[body]
    while i >= 0:
        while d.flex_dof[first + c] > i:
            c -= 1
        s = d.cdof[i]
        place = d.block_J[b] + c * dim
        d.row_J[place] = d.row_J[place] + weight * dot6(s, w0)
        # sliding along the tangents
        if dim > 1:
            d.row_J[place + 1] = d.row_J[place + 1] + weight * dot6(s, w1)
            d.row_J[place + 2] = d.row_J[place + 2] + weight * dot6(s, w2)
        # rotation about normal and tangents
        for r in range(3, dim):
            q = 3 * (r - 3)
            turn = s[0] * f[q] + s[1] * f[q + 1] + s[2] * f[q + 2]
            d.row_J[place + r] = d.row_J[place + r] + weight * turn
        i = m.dof_parentid[i]
