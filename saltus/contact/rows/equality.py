"""Constraint rows of equalities: connect, weld, joints, and the edges of deformable bodies that keep their length."""

from saltus.contact.counts import NBLOCK, NEDGE
from saltus.contact.rows.blocks import EQUALITY, add_block, times_block
from saltus.contact.rows.coupling import coupling
from saltus.contact.rows.soft_law import impedance, reference, regularisation
from saltus.dynamics.awake.walks import awake_equalities
from saltus.model.enums import CONNECT, JOINT, WELD
from saltus.number.functions import absolute, any_lane, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import acceleration_at, velocity_at
from saltus.spatial.quaternions import quat_conjugate, quat_multiply
from saltus.spatial.vectors import add3, dot3, matrix_times_vector, scale3, sub3

TINY = 1e-30  # keeps the derivative of a square root finite


@kernel
def equality_rows(m, d):
    """Rows of all equality constraints except those of tendons and deformable bodies.

    Reads poses, cvel and cacc [nbody, 6] of all bodies (`compute_all` in `saltus.dynamics.smooth`).
    """
    for k in awake_equalities(m, d):
        kind = m.eq_type[k]
        if not any_lane(equality_acts(m, d, k)):
            continue
        if kind == JOINT:
            joint_equality(m, d, k)
        elif kind == CONNECT or kind == WELD:
            body_equality(m, d, k, 3 if kind == CONNECT else 6)


@kernel(inline=True)
def equality_acts(m, d, k):
    """Whether an equality constraint is active."""
    return d.eq_active[m.eq_id[k]] > 0.5


@kernel
def equality_block(m, d, k, dim):
    """Append a block that acts in the lanes where the constraint is active; returns its number."""
    return add_block(m, d, EQUALITY, dim, m.eq_chain[k], m.eq_law[k], k, equality_acts(m, d, k))


@kernel
def equality_law(m, d, k, b):
    """Weights and reference accelerations of block b, from its violations row_pos and its Jacobian.

    The impedance is that of the norm of the violations.
    """
    law = m.eq_law[k]
    row = d.block_row[b]
    dim = d.block_dim[b]
    # impedance at the norm of the violation
    square = 0.0 * d.time
    for r in range(row, row + dim):
        square = square + d.row_pos[r] * d.row_pos[r]
    imp = impedance(m.law_impedance[law], sqrt(square + TINY))
    # weight and reference acceleration of each row
    times_block(m, d, b, d.qvel, d.row_velocity)
    for r in range(dim):
        weight = regularisation(imp, m.eq_invweight[k, 1 if r > 2 else 0])
        d.row_D[row + r] = where(equality_acts(m, d, k), 1.0 / weight, 0.0 * weight)
        v = d.row_velocity[row + r]
        d.row_aref[row + r] = reference(m.law_stiffness[law], m.law_damping[law], imp, d.row_pos[row + r], v)


@kernel
def joint_equality(m, d, k):
    """q₁ - q₁⁰ = c₀ + `coupling` of q₂ - q₂⁰, or c₀ for a single joint."""
    b = equality_block(m, d, k, 1)
    row = d.block_row[b]
    place = d.block_J[b]
    a1 = m.jnt_qposadr[m.eq_obj1[k]]
    d.row_pos[row] = d.qpos[a1] - m.qpos0[a1] - m.eq_data[k, 0]
    one = 1.0 + 0.0 * d.time
    if m.eq_obj2[k] >= 0:
        a2 = m.jnt_qposadr[m.eq_obj2[k]]
        rise, slope = coupling(m, k, d.qpos[a2] - m.qpos0[a2])
        d.row_pos[row] = d.row_pos[row] - rise
        # the chain is in ascending order
        second = 1 if m.jnt_dofadr[m.eq_obj2[k]] > m.jnt_dofadr[m.eq_obj1[k]] else 0
        d.row_J[place + second] = -slope
        d.row_J[place + 1 - second] = one
    else:
        d.row_J[place] = one
    equality_law(m, d, k, b)


@kernel
def body_equality(m, d, k, dim):
    """Rows of a connect (dim 3: two points coincide) or weld constraint (dim 6: two frames coincide).

    With p the points and q the orientations, the violations are p₁ - p₂ and, scaled by s, the vector part of q₂* q₁,
    half the angle if that is small. The bias accelerations dJ/dt q̇ are subtracted from the reference accelerations.
    """
    b = equality_block(m, d, k, dim)
    chain = d.block_chain[b]
    row = d.block_row[b]
    body1, body2 = m.chain_body2[chain], m.chain_body1[chain]
    # violation p₁ - p₂
    point1, point2 = anchors(m, d, k, dim, body1, body2)
    violation = sub3(point1, point2)
    arm1 = sub3(point1, d.subtree_com[m.body_rootid[body1]])
    arm2 = sub3(point2, d.subtree_com[m.body_rootid[body2]])
    for r in range(3):
        d.row_pos[row + r] = violation[0] if r == 0 else violation[1] if r == 1 else violation[2]
    # Jacobian: velocity of the first point less that of the second
    first = m.chain_adr[chain]
    zero = 0.0 * d.time
    for c in range(d.block_num[b]):
        s = d.cdof[m.chain_dof[first + c]]
        sign = m.chain_sign[first + c]
        move = (zero, zero, zero)
        if sign >= 0.0:
            move = velocity_at(s, arm1)
        if sign <= 0.0:
            move = sub3(move, velocity_at(s, arm2))
        place = d.block_J[b] + c * dim
        d.row_J[place] = move[0]
        d.row_J[place + 1] = move[1]
        d.row_J[place + 2] = move[2]
    if dim == 6:
        weld_rows(m, d, k, b, body1, body2)
    equality_law(m, d, k, b)
    subtract_drift(m, d, b, 1.0 + zero)


@kernel
def subtract_drift(m, d, b, share):
    """Subtract `share` times the bias acceleration dJ/dt q̇ of block b, a connect or weld constraint, from row_aref.

    Reads poses, cvel and cacc of its bodies; gravity, contained in cacc, cancels.
    """
    k, dim, chain, row = d.block_id[b], d.block_dim[b], d.block_chain[b], d.block_row[b]
    body1, body2 = m.chain_body2[chain], m.chain_body1[chain]
    point1, point2 = anchors(m, d, k, dim, body1, body2)
    arm1 = sub3(point1, d.subtree_com[m.body_rootid[body1]])
    arm2 = sub3(point2, d.subtree_com[m.body_rootid[body2]])
    drift = sub3(
        acceleration_at(d.cvel[body1], d.cacc[body1], arm1), acceleration_at(d.cvel[body2], d.cacc[body2], arm2)
    )
    d.row_aref[row] = d.row_aref[row] - share * drift[0]
    d.row_aref[row + 1] = d.row_aref[row + 1] - share * drift[1]
    d.row_aref[row + 2] = d.row_aref[row + 2] - share * drift[2]
    if dim == 6:
        subtract_weld_drift(m, d, k, b, body1, body2, share)


@kernel
def anchors(m, d, k, dim, body1, body2):
    """World positions (m) of the two anchors that are to coincide."""
    if m.eq_site[k]:
        local1, local2 = m.site_pos[m.eq_obj1[k]], m.site_pos[m.eq_obj2[k]]
    else:
        c = m.eq_data[k]
        # a weld names the second body's point first
        if dim == 3:
            local1, local2 = (c[0], c[1], c[2]), (c[3], c[4], c[5])
        else:
            local1, local2 = (c[3], c[4], c[5]), (c[0], c[1], c[2])
    point1 = add3(d.xpos[body1], matrix_times_vector(d.xmat[body1], local1))
    point2 = add3(d.xpos[body2], matrix_times_vector(d.xmat[body2], local2))
    return point1, point2


@kernel
def orientations(m, d, k, body1, body2):
    """The two orientations that are to coincide, as quaternions."""
    if m.eq_site[k]:
        quat1 = quat_multiply(d.xquat[body1], m.site_quat[m.eq_obj1[k]])
        quat2 = quat_multiply(d.xquat[body2], m.site_quat[m.eq_obj2[k]])
    else:
        c = m.eq_data[k]
        quat1 = quat_multiply(d.xquat[body1], (c[6], c[7], c[8], c[9]))
        quat2 = d.xquat[body2]
    return quat1, quat2


@kernel
def weld_rows(m, d, k, b, body1, body2):
    """Violation and Jacobian of the rotational rows 3 to 5 of a weld."""
    quat1, quat2 = orientations(m, d, k, body1, body2)
    inverse2 = quat_conjugate(quat2)
    scale = m.eq_data[k, 10]
    row = d.block_row[b]
    # violation: vector part of q₂* q₁
    error = quat_multiply(inverse2, quat1)
    d.row_pos[row + 3] = scale * error[1]
    d.row_pos[row + 4] = scale * error[2]
    d.row_pos[row + 5] = scale * error[3]
    chain = d.block_chain[b]
    first = m.chain_adr[chain]
    for c in range(d.block_num[b]):
        s = d.cdof[m.chain_dof[first + c]]
        # rate of the violation: ½ s q₂* ω q₁
        turn = scale3(0.5 * scale * m.chain_sign[first + c], (s[0], s[1], s[2]))
        change = turned(inverse2, turn, quat1)
        place = d.block_J[b] + c * 6 + 3
        d.row_J[place] = change[0]
        d.row_J[place + 1] = change[1]
        d.row_J[place + 2] = change[2]


@kernel(inline=True)
def turned(left, axis, right):
    """Vector part of the quaternion product left (0, axis) right."""
    zero = 0.0 * axis[0]
    product = quat_multiply(quat_multiply(left, (zero, axis[0], axis[1], axis[2])), right)
    return product[1], product[2], product[3]


@kernel
def subtract_weld_drift(m, d, k, b, body1, body2, share):
    """Subtract `share` times the rotational bias acceleration of a weld from row_aref, rows 3 to 5.

    With w = ω₁ - ω₂ the rate of the violation is ½ s q₂* w q₁, and q' = ½ ω q. Its derivative is taken with the bodies'
    bias accelerations.
    """
    quat1, quat2 = orientations(m, d, k, body1, body2)
    inverse2 = quat_conjugate(quat2)
    v1, v2 = d.cvel[body1], d.cvel[body2]
    a1, a2 = d.cacc[body1], d.cacc[body2]
    omega1, omega2 = (v1[0], v1[1], v1[2]), (v2[0], v2[1], v2[2])
    relative = sub3(omega1, omega2)
    angular = sub3((a1[0], a1[1], a1[2]), (a2[0], a2[1], a2[2]))
    zero = 0.0 * d.time
    # rates of q₁ and of q₂*
    half1 = scale3(0.5, omega1)
    half2 = scale3(-0.5, omega2)
    rate1 = quat_multiply((zero, half1[0], half1[1], half1[2]), quat1)
    rate2 = quat_multiply(inverse2, (zero, half2[0], half2[1], half2[2]))
    # product rule for q₂* w q₁
    change = add3(turned(rate2, relative, quat1), turned(inverse2, relative, rate1))
    change = add3(change, turned(inverse2, angular, quat1))
    row = d.block_row[b] + 3
    scale = share * (0.5 * m.eq_data[k, 10])
    d.row_aref[row] = d.row_aref[row] - scale * change[0]
    d.row_aref[row + 1] = d.row_aref[row + 1] - scale * change[1]
    d.row_aref[row + 2] = d.row_aref[row + 2] - scale * change[2]


# ---------------------------------------------------------------- edges of deformable bodies


@only_with("flexequality")
@kernel
def edge_rows(m, d):
    """A row L - L₀ = 0 for each edge of constrained length L. Reads flexvert_xpos, cdof, qvel."""
    zero = 0.0 * d.time
    if m.edgerows_alike:
        d.count[NEDGE] = d.count[NBLOCK]
    for r in range(m.nedgerow):
        k, e = m.edgerow_eq[r], m.edgerow_edge[r]
        law = m.eq_law[k]
        b = add_block(m, d, EQUALITY, 1, m.edgerow_chain[r], law, k, zero == zero)
        row = d.block_row[b]
        violation = edge_jacobian(m, d, b, e)
        imp = impedance(m.law_impedance[law], absolute(violation))
        times_block(m, d, b, d.qvel, d.row_velocity)
        d.row_pos[row] = violation
        d.row_D[row] = 1.0 / regularisation(imp, m.edgerow_invweight[r])
        d.row_aref[row] = reference(m.law_stiffness[law], m.law_damping[law], imp, violation, d.row_velocity[row])


@kernel
def edge_jacobian(m, d, b, e):
    """Writes the Jacobian of the length of edge e, dL = u · (dx₂ - dx₁), to row_J at block b; returns L - L₀ (m)."""
    first, second = m.flexedge_vert[e, 0], m.flexedge_vert[e, 1]
    x1, x2 = d.flexvert_xpos[first], d.flexvert_xpos[second]
    # length and direction of the edge
    span = sub3(x2, x1)
    length = sqrt(dot3(span, span))
    u = scale3(1.0 / length, span)
    # vertices that only translate: the linear parts of cdof
    adr = m.chain_adr[d.block_chain[b]]
    if m.edgerows_alike:
        for c in range(d.block_num[b]):
            s = d.cdof[m.chain_dof[adr + c]]
            d.row_J[d.block_J[b] + c] = m.chain_sign[adr + c] * dot3(u, (s[3], s[4], s[5]))
        return length - m.flexedge_length0[e]
    # in general: velocities of both vertices for each degree of freedom
    arm1 = sub3(x1, d.subtree_com[m.body_rootid[m.flexvert_bodyid[first]]])
    arm2 = sub3(x2, d.subtree_com[m.body_rootid[m.flexvert_bodyid[second]]])
    for c in range(d.block_num[b]):
        s = d.cdof[m.chain_dof[adr + c]]
        sign = m.chain_sign[adr + c]
        rate = 0.0 * length
        if sign >= 0.0:
            rate = rate + dot3(u, velocity_at(s, arm2))
        if sign <= 0.0:
            rate = rate - dot3(u, velocity_at(s, arm1))
        d.row_J[d.block_J[b] + c] = rate
    return length - m.flexedge_length0[e]
