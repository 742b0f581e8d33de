"""Contacts of rods whose segments twist: a segment moves as a rigid body, and turns about its axis with its joint.

With the unit tangent t of a segment of the length L, the velocities v, v' of its vertices, its joint θ, and the slope s
of the turn of its reference direction in the segment (see `saltus.dynamics.flex.twist_frames`), its angular velocity is

    ω = t × (v' - v)/L + t (dθ/dt + s · (v' - v)),

and a contact at the lever arm r from the point of the axis with the vertices' weights w, w' moves with

    w v + w' v' + ω × r.

Contacts of planes with vertices belong to the segment after the vertex, or to the last one, with the lever arm of the
rod's radius against the normal. Both ends of a segment on one body move with this body, as if rigidly joined to it; the
turn of θ, if the segment has a joint, adds to that. All as in MuJoCo 4.0.

In the rows, a unit force f at the contact becomes forces on both vertices, and a torque f · (t × r) on the segment.
"""

from saltus.contact.barycentric import segment_weights
from saltus.contact.counts import NSIDE
from saltus.dynamics.flex.twist_frames import spin_slope
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import dot6, unit_wrench
from saltus.spatial.vectors import add_scaled3, cross, dot3, scale3, sub3


@only_with("rodtwist", otherwise="-1")
@kernel(inline=True)
def segment_of_vertex(m, v):
    """Segment that twists, to which contacts of vertex v belong; -1 for none."""
    return m.flexvert_rodedge[v]


@only_with("rodtwist", otherwise="-1")
@kernel(inline=True)
def segment_of_element(m, e):
    """Segment that twists, number e among elements; -1 for none."""
    return m.flexelem_rodedge[e]


@only_with("rodtwist")
@kernel
def clear_segments(m, d):
    """No side of the current contact moves with a segment."""
    for i in range(m.nside_rod):
        d.side_rodedge[i] = -1


@only_with("rodtwist")
@kernel
def add_vertex_of_segment(m, d, k, e, v, sign, radius):
    """Append both ends of segment e, at whose vertex v contact k is; `radius` of the rod (m)."""
    f = d.contact_frame[k]
    arm = scale3(-1.0 * sign * radius, (f[0], f[1], f[2]))
    zero = 0.0 * arm[0]
    one = zero + 1.0
    first = v == m.rodedge_vert[e, 0]
    add_end(m, d, e, 0, sign, one if first else zero, arm)
    add_end(m, d, e, 1, sign, zero if first else one, arm)


@only_with("rodtwist")
@kernel
def add_segment(m, d, k, e, sign):
    """Append both ends of segment e, which contact k touches."""
    a, b = d.flexvert_xpos[m.rodedge_vert[e, 0]], d.flexvert_xpos[m.rodedge_vert[e, 1]]
    w = segment_weights(d.contact_pos[k], a, b)
    arm = sub3(d.contact_pos[k], add_scaled3(scale3(w[0], a), w[1], b))
    add_end(m, d, e, 0, sign, w[0], arm)
    add_end(m, d, e, 1, sign, w[1], arm)


@kernel(inline=True)
def add_end(m, d, e, end, sign, weight, arm):
    """Append the body of an end (0 or 1) of segment e, with its weight and the contact's lever arm (m)."""
    n = d.count[NSIDE]
    d.side_body[n] = m.flexvert_bodyid[m.rodedge_vert[e, end]]
    d.side_sign[n] = sign
    d.side_weight[n] = weight
    d.side_rodedge[n] = e
    d.side_rodend[n] = end
    d.side_arm[n] = arm
    d.count[NSIDE] = n + 1


@only_with("rodtwist", otherwise="False")
@kernel
def bends(m, d, i):
    """Whether side i of the current contact is an end of a segment between two bodies."""
    e = d.side_rodedge[i]
    return e >= 0 and m.flexvert_bodyid[m.rodedge_vert[e, 0]] != m.flexvert_bodyid[m.rodedge_vert[e, 1]]


@only_with("rodtwist", otherwise="-1")
@kernel
def twisting_dof(m, d, i):
    """Degree of freedom of the joint that twists the segment of side i; -1 for none. A segment's last side has it."""
    e = d.side_rodedge[i]
    return m.rodedge_dofadr[e] if e >= 0 and d.side_rodend[i] == 1 else -1


@kernel(inline=True)
def contact_axis(d, k, r):
    """Axis of motion r of contact k: of sliding for r < 3, else of turning."""
    f, q = d.contact_frame[k], 3 * (r % 3)
    return f[q], f[q + 1], f[q + 2]


@kernel
def force_on_end(m, d, k, i, r):
    """Force on the vertex of side i that is a share of a unit force, or for r ≥ 3 couple, along motion r of contact k.

    The parts of ω × r and of ω along the axis f that are across the segment are products of (v' - v)/L with
    (t · r) f - (f · t) r and with f × t.
    """
    e, axis = d.side_rodedge[i], contact_axis(d, k, r)
    t, arm = d.rodedge_tangent[e], d.side_arm[i]
    span = sub3(d.flexvert_xpos[m.rodedge_vert[e, 1]], d.flexvert_xpos[m.rodedge_vert[e, 0]])
    side = 2.0 * d.side_rodend[i] - 1.0
    # the turn of the reference direction, and that of the segment
    spin = scale3(side * torque_on_segment(d, k, i, r), spin_slope(m, d, e))
    if r >= 3:
        return add_scaled3(spin, side / dot3(t, span), cross(axis, t))
    turned = sub3(scale3(dot3(t, arm), axis), scale3(dot3(axis, t), arm))
    return add_scaled3(add_scaled3(spin, d.side_weight[i], axis), side / dot3(t, span), turned)


@kernel
def torque_on_segment(d, k, i, r):
    """Torque about the segment of side i of a unit force (lever arm, m) or couple along motion r of contact k."""
    axis, t = contact_axis(d, k, r), d.rodedge_tangent[d.side_rodedge[i]]
    return dot3(axis, t) if r >= 3 else dot3(axis, cross(t, d.side_arm[i]))


@kernel
def wrench_on_end(m, d, k, i, r):
    """The force of `force_on_end` at its vertex, as a wrench about the centre of mass of its body's tree."""
    v = m.rodedge_vert[d.side_rodedge[i], d.side_rodend[i]]
    arm = sub3(d.flexvert_xpos[v], d.subtree_com[m.body_rootid[d.side_body[i]]])
    return unit_wrench(arm, force_on_end(m, d, k, i, r))


@only_with("rodtwist")
@kernel
def add_end_rows(m, d, k, b, dim, i):
    """Add the motion of the vertex of side i, with its share of the segment's turn, to the Jacobian of block b."""
    first = d.block_dofs[b] - m.nchaindof
    for r in range(dim):
        w = wrench_on_end(m, d, k, i, r)
        c = d.block_num[b] - 1
        j = m.body_lastdof[d.side_body[i]]
        while j >= 0:
            while d.flex_dof[first + c] > j:
                c -= 1
            place = d.block_J[b] + c * dim + r
            d.row_J[place] = d.row_J[place] + d.side_sign[i] * dot6(d.cdof[j], w)
            j = m.dof_parentid[j]


@only_with("rodtwist")
@kernel
def add_twist_rows(m, d, k, b, dim, i):
    """Add the turn of the segment of side i by its joint to the Jacobian of block b."""
    j = twisting_dof(m, d, i)
    if j < 0:
        return
    c = d.block_dofs[b] - m.nchaindof
    place = d.block_J[b]
    while d.flex_dof[c] < j:
        c += 1
        place += dim
    for r in range(dim):
        d.row_J[place + r] = d.row_J[place + r] + d.side_sign[i] * torque_on_segment(d, k, i, r)
