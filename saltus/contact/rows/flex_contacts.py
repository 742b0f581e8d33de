"""Rows of contacts of deformable bodies: a point of an element moves as the corners' bodies do, by their weights.

Between nodes it moves as the nodes around its place at rest do, by the weights of that place.
"""

from saltus.contact.barycentric import segment_weights, tetrahedron_weights, triangle_weights
from saltus.contact.counts import NFLEXDOF, NSIDE
from saltus.contact.rows.blocks import add_block_of
from saltus.number.functions import absolute, clip, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import dot6, unit_wrench
from saltus.spatial.vectors import add_scaled3, sub3


@only_with("flexcontact", otherwise="-1")
@kernel
def flex_block(m, d, kind, dim, law, k, active):
    """A block for contact k of a flex, with a list of all that moves it; returns its number.

    Writes the sides of the contact, for `flex_jacobian` and `flex_inverse` of the same.
    """
    contact_sides(m, d, k)
    first = d.count[NFLEXDOF]
    for i in range(d.count[NSIDE]):
        list_dofs(m, d, first, d.side_body[i])
    dofs = m.nchaindof + first, d.count[NFLEXDOF] - first, 1
    return add_block_of(m, d, kind, dim, number_of(m, d, k), dofs, law, k, active)


@kernel
def number_of(m, d, k):
    """A number of the pair of elements that touch in contact k, after those of the model's chains."""
    most = m.nflexelem + m.nflexvert + 1
    second = d.contact_elem[k, 1] if d.contact_vert[k] < 0 else m.nflexelem + d.contact_vert[k]
    return m.nchain + (d.contact_collision[k] * most + d.contact_elem[k, 0] + 1) * most + second + 1


@kernel
def list_dofs(m, d, first, body):
    """Insert what moves a body into the list of degrees of freedom from `first` on, which ascend."""
    i = m.body_lastdof[body]
    while i >= 0:
        last = d.count[NFLEXDOF] - 1
        place = last
        while place >= first and d.flex_dof[place] > i:
            place -= 1
        if place < first or d.flex_dof[place] != i:
            for c in range(last, place, -1):
                d.flex_dof[c + 1] = d.flex_dof[c]
            d.flex_dof[place + 1] = i
            d.count[NFLEXDOF] = last + 2
        i = m.dof_parentid[i]


@only_with("flexcontact")
@kernel
def flex_jacobian(m, d, k, b, dim):
    """The Jacobian of block b, the first `dim` motions of contact k: of the second object against the first."""
    zero = 0.0 * d.time
    for c in range(d.block_num[b] * dim):
        d.row_J[d.block_J[b] + c] = zero
    for i in range(d.count[NSIDE]):
        add_body_rows(m, d, k, b, dim, d.side_body[i], d.side_sign[i] * d.side_weight[i])


@only_with("flexcontact", otherwise="0.0 * d.time")
@kernel
def flex_inverse(m, d, k):
    """Inverse inertia (1/kg) that contact k of a flex feels: those of all bodies that it moves, by their weights."""
    total = 0.0 * d.time
    for i in range(d.count[NSIDE]):
        total = total + d.side_weight[i] * m.body_invweight0[d.side_body[i], 0]
    return total


# ---------------------------------------------------------------- sides


@kernel
def contact_sides(m, d, k):
    """side_body, side_sign, side_weight of all bodies that move with contact k."""
    d.count[NSIDE] = 0
    one = 0.0 * d.time + 1.0
    c = d.contact_collision[k]
    if m.collision_geom1[c] >= 0:
        add_side(d, m.geom_bodyid[m.collision_geom1[c]], -1, one)
    if d.contact_vert[k] >= 0:
        add_vertex(m, d, d.contact_vert[k], 1, one)
    for side in range(2):
        e = d.contact_elem[k, side]
        if e >= 0:
            f = m.collision_flex1[c] if side == 0 else m.collision_flex2[c]
            add_element(m, d, f, e, 2 * side - 1, element_weights(m, d, e, d.contact_pos[k]))


@kernel(inline=True)
def add_side(d, body, sign, weight):
    """Append a body."""
    n = d.count[NSIDE]
    d.side_body[n] = body
    d.side_sign[n] = sign
    d.side_weight[n] = weight
    d.count[NSIDE] = n + 1


@kernel
def add_corner(m, d, v, sign, weight):
    """Append the body of a vertex."""
    add_side(d, m.flexvert_bodyid[v], sign, weight)


@only_with("flexcell", otherwise=add_corner)
@kernel
def add_vertex(m, d, v, sign, weight):
    """Append what moves a vertex: its body, or nodes around it."""
    if m.flexvert_bodyid[v] >= 0:
        add_corner(m, d, v, sign, weight)
    else:
        first = m.flexvert_nodeadr[v]
        for k in range(first, first + m.flexvert_nodenum[v]):
            add_side(d, m.flexvert_bodyid[m.node_vert[k]], sign, weight * m.node_weight[k])


@kernel
def add_corners(m, d, f, e, sign, w):
    """Append the bodies of the corners of element e, with their weights w."""
    for q in range(4):
        if m.flexelem_vert[e, q] >= 0:
            add_side(d, m.flexvert_bodyid[m.flexelem_vert[e, q]], sign, chosen(w, q))


@only_with("flexcell", otherwise=add_corners)
@kernel
def add_element(m, d, f, e, sign, w):
    """Append what moves a point of element e of flex f, which has weights w of the corners.

    Of nodes all that move any point of the element, so that the list is the same wherever the point is.
    """
    order = m.flex_order[f]
    if order == 0:
        add_corners(m, d, f, e, sign, w)
        return
    place = (0.0 * w[0], 0.0 * w[0], 0.0 * w[0])
    for q in range(4):
        if m.flexelem_vert[e, q] >= 0:
            place = add_scaled3(place, chosen(w, q), m.flexvert_grid[m.flexelem_vert[e, q]])
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
    """Lagrange's polynomial of a node, by its number on an axis, at a place with cells of length 1.

    Of all cells that the node belongs to: it is 0 beyond them, and `count` nodes end the axis.
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
    """One of four weights."""
    return w[0] if q == 0 else w[1] if q == 1 else w[2] if q == 2 else w[3]


@kernel
def element_weights(m, d, e, point):
    """Weights of an element's corners, of its point nearest to `point`; zero for those that it does not have."""
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
    """Add to the Jacobian of block b a body's motion at contact k, times a weight."""
    f = d.contact_frame[k]
    arm = sub3(d.contact_pos[k], d.subtree_com[m.body_rootid[body]])
    w0 = unit_wrench(arm, (f[0], f[1], f[2]))
    w1 = unit_wrench(arm, (f[3], f[4], f[5]))
    w2 = unit_wrench(arm, (f[6], f[7], f[8]))
    first = d.block_dofs[b] - m.nchaindof
    c = d.block_num[b] - 1
    i = m.body_lastdof[body]
    while i >= 0:
        while d.flex_dof[first + c] > i:
            c -= 1
        s = d.cdof[i]
        place = d.block_J[b] + c * dim
        d.row_J[place] = d.row_J[place] + weight * dot6(s, w0)
        if dim > 1:
            d.row_J[place + 1] = d.row_J[place + 1] + weight * dot6(s, w1)
            d.row_J[place + 2] = d.row_J[place + 2] + weight * dot6(s, w2)
        for r in range(3, dim):
            q = 3 * (r - 3)
            turn = s[0] * f[q] + s[1] * f[q + 1] + s[2] * f[q + 2]
            d.row_J[place + r] = d.row_J[place + r] + weight * turn
        i = m.dof_parentid[i]
