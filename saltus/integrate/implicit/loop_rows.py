"""Closed loops over a step: constraints at its end, and discrete derivatives whose forces do no work.

For each equality g(q) = 0 of a mechanism, and a step from q to q' = q ⊕ h v_m, the rows G are such that

    G h v_m = g(q') - g(q)

exactly, so that the forces Gᵀ λ of loops that are closed at both ends do no work (Gonzalez, Mechanical systems subject
to holonomic constraints: differential-algebraic formulations and conservative integration, Physica D 132 (1999)).

A point y of a body moves, in the frame before a joint, by R' y' - R y = R̄ (ψ × ȳ) + R̄ (y' - y), with means of both ends
and the Cayley vector ψ of the rotation, by Leibniz's rule as in `saltus.dynamics.balance.momentum_balance`. Points and
directions are followed from both bodies to the one that carries both; joints that move both bodies alike have no
entries, so that momenta of a free mechanism stay. A connect equates two points; a weld, besides, makes three pairs of
axes orthogonal, u₂ · w₃ = u₃ · w₁ = u₁ · w₂ = 0; an equality of joints has the divided difference of its polynomial.
"""

from saltus.contact.rows.coupling import after_constant
from saltus.contact.rows.equality import equality_acts
from saltus.dynamics.balance.joint_ends import cayley_factor, mean_rotated3, slid, turn
from saltus.model.enums import CONNECT, FREE, HINGE, JOINT, SLIDE
from saltus.number.kernels import kernel
from saltus.spatial.fields import load3
from saltus.spatial.quaternions import quat_rotate
from saltus.spatial.vectors import add3, cross, dot3, scale3, sub3

POINT, DIRECTION = 1.0, 0.0


@kernel
def loop_rows(m, d, h):
    """loop_gap [nlooprow] ← g(q') (m, rad, 1) and loop_J [nlooprow, nv] ← G of active equalities; returns their number.

    The step of h seconds goes from qpos_saved to qpos, with the mean velocities qvel.
    """
    row = 0
    for k in range(m.neq):
        if equality_acts(m, d, k):
            if m.eq_type[k] == JOINT:
                joint_row(m, d, h, k, row)
                row += 1
            else:
                row = body_rows(m, d, h, k, row)
    return row


@kernel
def joint_row(m, d, h, k, row):
    """Row of an equality of one or two joints, q₁ - q₁⁰ = c₀ + P(q₂ - q₂⁰)."""
    for i in range(m.nv):
        d.loop_J[row * m.nv + i] = 0.0 * d.time
    c, j = m.eq_data[k], m.eq_obj1[k]
    a = m.jnt_qposadr[j]
    d.loop_gap[row] = d.qpos[a] - m.qpos0[a] - c[0]
    d.loop_J[row * m.nv + m.jnt_dofadr[j]] = 1.0 + 0.0 * d.time
    j = m.eq_obj2[k]
    if j >= 0:
        a = m.jnt_qposadr[j]
        x, y = d.qpos_saved[a] - m.qpos0[a], d.qpos[a] - m.qpos0[a]
        rise, _ = after_constant(c, y)
        d.loop_gap[row] = d.loop_gap[row] - rise
        # (P(y) - P(x)) / (y - x)
        square, cube = x * x + x * y + y * y, (x + y) * (x * x + y * y)
        d.loop_J[row * m.nv + m.jnt_dofadr[j]] = -(c[1] + c[2] * (x + y) + c[3] * square + c[4] * cube)


@kernel
def body_rows(m, d, h, k, row):
    """Rows of a connect, or of a weld, from number `row` on; returns the number after them."""
    chain = m.eq_chain[k]
    body1, body2 = m.chain_body2[chain], m.chain_body1[chain]
    common = common_body(m, body1, body2)
    # points that coincide
    local1, local2 = anchors_of(m, k)
    _, point1 = follow(m, d, h, body1, common, local1, POINT)
    _, point2 = follow(m, d, h, body2, common, local2, POINT)
    gap = sub3(point1, point2)
    for r in range(3):
        axis = (1.0 if r == 0 else 0.0, 1.0 if r == 1 else 0.0, 1.0 if r == 2 else 0.0)
        put_row(m, d, row + r, chain, axis, axis, -1.0)
        d.loop_gap[row + r] = dot3(axis, gap)
    if m.eq_type[k] == CONNECT:
        return row + 3
    # axes that are orthogonal
    quat1, quat2 = frames_of(m, k)
    for r in range(3):
        one, other = (r + 1) % 3, (r + 2) % 3
        u = quat_rotate(quat1, (1.0 if one == 0 else 0.0, 1.0 if one == 1 else 0.0, 1.0 if one == 2 else 0.0))
        w = quat_rotate(quat2, (1.0 if other == 0 else 0.0, 1.0 if other == 1 else 0.0, 1.0 if other == 2 else 0.0))
        u0, u1 = follow(m, d, h, body1, common, u, DIRECTION)
        w0, w1 = follow(m, d, h, body2, common, w, DIRECTION)
        # Δ(u · w) = w̄ · Δu + ū · Δw
        put_row(m, d, row + 3 + r, chain, scale3(0.5, add3(w0, w1)), scale3(0.5, add3(u0, u1)), 1.0)
        d.loop_gap[row + 3 + r] = dot3(u1, w1)
    return row + 6


@kernel
def common_body(m, one, other):
    """The body that carries both bodies; parents have smaller numbers."""
    while one != other:
        if one > other:
            one = m.body_parentid[one]
        else:
            other = m.body_parentid[other]
    return one


@kernel
def anchors_of(m, k):
    """Points (m) of the first and the second body of equality k that coincide, in their axes."""
    if m.eq_site[k]:
        return m.site_pos[m.eq_obj1[k]], m.site_pos[m.eq_obj2[k]]
    c = m.eq_data[k]
    # a weld names the second body's point first
    if m.eq_type[k] == CONNECT:
        return (c[0], c[1], c[2]), (c[3], c[4], c[5])
    return (c[3], c[4], c[5]), (c[0], c[1], c[2])


@kernel
def frames_of(m, k):
    """Orientations that coincide of the first and the second body of weld k, relative to them."""
    if m.eq_site[k]:
        return m.site_quat[m.eq_obj1[k]], m.site_quat[m.eq_obj2[k]]
    c = m.eq_data[k]
    return (c[6], c[7], c[8], c[9]), (1.0, 0.0, 0.0, 0.0)


@kernel
def put_row(m, d, row, chain, along1, along2, sign):
    """Row of G: components of loop_column along vectors, for the first body's joints, and `sign` times the second's."""
    for i in range(m.nv):
        d.loop_J[row * m.nv + i] = 0.0 * d.time
    for c in range(m.chain_adr[chain], m.chain_adr[chain] + m.chain_num[chain]):
        i = m.chain_dof[c]
        if m.chain_sign[c] > 0.0:
            d.loop_J[row * m.nv + i] = dot3(along1, load3(d.loop_column, 3 * i))
        elif m.chain_sign[c] < 0.0:
            d.loop_J[row * m.nv + i] = sign * dot3(along2, load3(d.loop_column, 3 * i))


# ---------------------------------------------------------------- from a body to the one that carries both


@kernel
def follow(m, d, h, body, common, local, place):
    """A point (`place` POINT) or direction of a body in the axes of `common`, at both ends of the step.

    loop_column [nv, 3] ← its discrete derivatives by h v_m, for the joints on the way.
    """
    zero = 0.0 * d.time
    y0 = y1 = (local[0] + zero, local[1] + zero, local[2] + zero)
    b, last = body, m.body_lastdof[body]
    while b != common:
        for r in range(m.body_jntnum[b]):
            j = m.body_jntadr[b] + m.body_jntnum[b] - 1 - r
            if m.jnt_type[j] == SLIDE:
                y0, y1 = along_slide(m, d, j, y0, y1, place)
            else:
                y0, y1 = through_turn(m, d, h, j, last, y0, y1, place)
        # from the body's own frame to its parent's; a free joint has none
        if not (m.body_jntnum[b] == 1 and m.jnt_type[m.body_jntadr[b]] == FREE):
            pos, q = scale3(place, m.body_pos[b]), m.body_quat[b]
            y0, y1 = add3(pos, quat_rotate(q, y0)), add3(pos, quat_rotate(q, y1))
            turn_columns(m, d, last, m.body_dofadr[b], b, q, q)
        b = m.body_parentid[b]
    return y0, y1


@kernel
def along_slide(m, d, j, y0, y1, place):
    """Column of slide j; returns the point before it, at both ends."""
    put_column(d, m.jnt_dofadr[j], scale3(place, m.jnt_axis[j]))
    return add3(y0, scale3(place, slid(m, d.qpos_saved, j))), add3(y1, scale3(place, slid(m, d.qpos, j)))


@kernel
def through_turn(m, d, h, j, last, y0, y1, place):
    """Columns of hinge, ball or free joint j, and those found before turned by it; returns the point before it."""
    zero = 0.0 * d.time
    i, a, kind = m.jnt_dofadr[j], m.jnt_qposadr[j], m.jnt_type[j]
    anchor = (zero, zero, zero)
    if kind != FREE:
        anchor = add3(anchor, scale3(place, m.jnt_pos[j]))
    arm0, arm1 = sub3(y0, anchor), sub3(y1, anchor)
    mean = scale3(0.5, add3(arm0, arm1))
    # ψ × ȳ per unit of h v_m
    first = i + 3 if kind == FREE else i
    if kind == HINGE:
        factor = cayley_factor((h * d.qvel[i], zero, zero))
        put_column(d, i, scale3(factor, cross(m.jnt_axis[j], mean)))
    else:
        factor = cayley_factor(scale3(h, load3(d.qvel, first)))
        put_column(d, first, scale3(factor, (zero, -mean[2], mean[1])))
        put_column(d, first + 1, scale3(factor, (mean[2], zero, -mean[0])))
        put_column(d, first + 2, scale3(factor, (-mean[1], mean[0], zero)))
    # before the joint
    q0, q1 = turn(m, d.qpos_saved, j), turn(m, d.qpos, j)
    turn_columns(m, d, last, first, m.jnt_bodyid[j], q0, q1)
    y0, y1 = add3(anchor, quat_rotate(q0, arm0)), add3(anchor, quat_rotate(q1, arm1))
    if kind == FREE:
        for r in range(3):
            put_column(d, i + r, (place * (r == 0) + zero, place * (r == 1) + zero, place * (r == 2) + zero))
        start = scale3(place, load3(d.qpos_saved, a))
        y0, y1 = add3(y0, start), add3(y1, add3(start, scale3(place * h, load3(d.qvel, i))))
    return y0, y1


@kernel(inline=True)
def put_column(d, i, x):
    """loop_column of degree of freedom i ← x."""
    d.loop_column[3 * i], d.loop_column[3 * i + 1], d.loop_column[3 * i + 2] = x


@kernel
def turn_columns(m, d, last, first, b, q0, q1):
    """Turn the columns of degrees of freedom from `last` up the tree, on bodies from b on, down to `first` on b."""
    i = last
    while i >= 0 and m.dof_bodyid[i] >= b and (m.dof_bodyid[i] > b or i >= first):
        put_column(d, i, mean_rotated3(q0, q1, load3(d.loop_column, 3 * i)))
        i = m.dof_parentid[i]
