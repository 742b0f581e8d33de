"""Vector-Jacobian products of a semi-implicit Euler step by its state and controls, without directions of the state.

The gradient by the state is that of φ(q, v, u) = -zᵀ g at constant accelerations (see
`saltus.integrate.fixed.euler_adjoint.parameters`). φ is a sum over bodies and contacts of functions of their poses and
of spatial motions x of bodies: of z, of the velocities v, of the accelerations a as motions, y and a - a', and the
bodies' true accelerations. With G the covectors of φ by these motions of a body, and P by its pose, a rotation of a
joint by δ about its axis s turns all that follows, and a motion x beyond it changes by s × (x - x_before) δ, x_before
being that of the body before the joint. In sums over all bodies beyond,

    ∂φ/∂q = s · [Σ (P + x ×* G) - x_before ×* Σ G],

with one more term for true accelerations, which depend on velocities by v × s. For the inertia of bodies P + x ×* G
is zero, since their power does not change where all turns with them. These are the reverse sweeps of recursive
Newton-Euler (Featherstone 2008, section 5.3; Griewank & Walther, Evaluating Derivatives (2008), chapter 3.2).

Contacts between bodies move along six directions of the pose of one side, which all contacts share (colouring); their
laws and shapes are differentiated by dual numbers there, as motors, springs and limits are in their own coordinates.

Arrays: motions [6, nbody, 6], wrenches [8, nbody, 6] (of the six motions, then the two sums below), by_state [2, nv],
by_ctrl [nu], before [7, nv, 6] (motions before the joint, and velocity behind it).
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.collide import collide_again, collider_frames
from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.blocks import CONE, UNILATERAL, chained_dof, times_rows
from saltus.contact.rows.cost import block_weight, row_forces, row_residuals
from saltus.dynamics.actuator.actuation import motors
from saltus.dynamics.passive import dampers, springs
from saltus.dynamics.tree.inverse_derivative import put_six, six
from saltus.integrate.fixed.euler_adjoint.frames import geometry_gradient
from saltus.integrate.fixed.euler_adjoint.motions import (
    BEHIND,
    MOTIONS,
    OF_A,
    OF_CHANGE,
    OF_V,
    OF_Y,
    OF_Z,
    POSE,
    POWER,
    TRUE,
    A,
    Z,
    add_six,
    contact_forces,
)
from saltus.number.components import frozen, seed, tangent_of, value_of
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import rows_without_contacts
from saltus.spatial.motions import (
    add6,
    cross_force,
    cross_motion,
    dot6,
    inertia_times_motion,
    scale6,
    sub6,
    unit_wrench,
)
from saltus.spatial.vectors import add3, cross, sub3

PLACE, LENGTH, SPEED, CONTROL = 6, 0, 1, 2  # directions: of places of limits and springs; of motors
NO_BIT = -1


# ---------------------------------------------------------------- the tree


@kernel
def tree_wrenches(m, p, motions, wrenches):
    """Covectors of the power of the bodies' inertia, -z·(I a + v ×* I v) + y·I (a - a')."""
    for b in range(m.nbody):
        inertia = p.cinert[b]
        z, v, a = six(motions, OF_Z, b), six(motions, OF_V, b), six(motions, TRUE, b)
        momentum = inertia_times_motion(inertia, v)
        force = add6(inertia_times_motion(inertia, a), cross_force(v, momentum))
        of_a = scale6(-1.0, inertia_times_motion(inertia, z))
        # -z·(v ×* I v) = (v × z)·I v
        of_v = add6(cross_force(z, momentum), inertia_times_motion(inertia, cross_motion(v, z)))
        nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        put_six(wrenches, OF_Z, b, scale6(-1.0, force))
        put_six(wrenches, OF_V, b, of_v)
        put_six(wrenches, OF_A, b, nothing)
        put_six(wrenches, OF_Y, b, inertia_times_motion(inertia, six(motions, OF_CHANGE, b)))
        put_six(wrenches, OF_CHANGE, b, inertia_times_motion(inertia, six(motions, OF_Y, b)))
        put_six(wrenches, TRUE, b, of_a)
        put_six(wrenches, POWER, b, cross_force(v, of_a))
        put_six(wrenches, POSE, b, nothing)


@kernel
def add_forces(m, p, motions, wrenches):
    """Covectors of the power of Cartesian forces, which move with centres of mass and do not turn."""
    for b in range(1, m.nbody):
        f, z = p.xfrc_applied[b], six(motions, OF_Z, b)
        arm = sub3(p.xipos[b], p.subtree_com[m.body_rootid[b]])
        wrench = unit_wrench(arm, (f[0], f[1], f[2]))
        torque = f[3], f[4], f[5], 0.0, 0.0, 0.0
        add_wrench(motions, wrenches, OF_Z, b, add6(wrench, torque))
        moved = cross((f[0], f[1], f[2]), (z[0], z[1], z[2]))
        add_six(wrenches, POSE, b, unit_wrench(arm, moved))


@kernel
def tree_gradient(m, p, wrenches, before, by_state):
    """Add the gradient by positions and velocities from the covectors, which are summed over subtrees."""
    for b in range(m.nbody - 1, 0, -1):
        true, power = six(wrenches, TRUE, b), six(wrenches, POWER, b)
        for i in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
            s, v = p.cdof[i], six(before, OF_V, i)
            total = six(wrenches, POSE, b)
            for x in range(MOTIONS):
                total = sub6(total, cross_force(six(before, x, i), six(wrenches, x, b)))
            total = sub6(total, cross_force(v, sub6(power, cross_force(v, true))))
            by_state[0, i] += dot6(s, total)
            both = add6(v, six(before, BEHIND, i))
            by_state[1, i] += dot6(s, sub6(add6(six(wrenches, OF_V, b), power), cross_force(both, true)))
        parent = m.body_parentid[b]
        if parent > 0:
            for x in range(POSE + 1):
                add_six(wrenches, x, parent, six(wrenches, x, b))


# ---------------------------------------------------------------- springs, dampers, motors


@kernel
def add_joints(g, d, solved, by_state, by_ctrl):
    """Springs, dampers and motors, each in its own coordinates; g has tangents along places of springs."""
    springs(g, d)
    dampers(g, d)
    for i in range(g.nv):
        by_state[0, i] -= solved[Z, i] * tangent_of(d.qfrc_spring[i], PLACE)
        by_state[1, i] -= solved[Z, i] * value_of(d.qfrc_damper_slope[i])
    for o in range(g.nactuator):
        j, c = g.out_obj1[o], g.actuator_ctrladr[o]
        a, i = g.jnt_qposadr[j], g.jnt_dofadr[j]
        d.qpos[a], d.qvel[i] = seed(value_of(d.qpos[a]), LENGTH), seed(value_of(d.qvel[i]), SPEED)
        d.ctrl[c] = seed(value_of(d.ctrl[c]), CONTROL)
    motors(g, d)
    for o in range(g.nactuator):
        j, c = g.out_obj1[o], g.actuator_ctrladr[o]
        a, i = g.jnt_qposadr[j], g.jnt_dofadr[j]
        force = solved[Z, i] * g.actuator_gear[o, 0] * d.actuator_force[o]
        by_state[0, i] += tangent_of(force, LENGTH)
        by_state[1, i] += tangent_of(force, SPEED)
        by_ctrl[c] += tangent_of(force, CONTROL)
    for o in range(g.nactuator):
        j, c = g.out_obj1[o], g.actuator_ctrladr[o]
        a, i = g.jnt_qposadr[j], g.jnt_dofadr[j]
        d.qpos[a], d.qvel[i], d.ctrl[c] = frozen(d.qpos[a]), frozen(d.qvel[i]), frozen(d.ctrl[c])


# ---------------------------------------------------------------- constraints


@only_with("constraint")
@kernel
def add_constraints(g, d, solved, motions, wrenches, by_state):
    """Limits, dry friction and contacts; g has tangents along the margins of limits."""
    for i in range(g.nv):
        d.qacc[i] = 0.0 * d.time + solved[A, i]
        d.solve_search[i] = 0.0 * d.time + solved[Z, i]
    first = move_side(g, d, motions, NO_BIT, 0)
    if d.count[NBLOCK] > 0:
        add_velocities(g, d, first, by_state)
        add_limits(g, d, first, by_state)
    if has(g, "contact"):
        for k in range(d.count[NCON]):
            if d.contact_block[k] >= 0:
                add_contact(g, d, k, motions, wrenches)
        add_poses(g, d, NO_BIT, 0, wrenches)
        # contacts between two bodies that move: those whose numbers differ first in a bit, side by side
        bits = 0
        for k in range(d.count[NCON]):
            if d.contact_block[k] >= 0:
                bits = bits | differing(g, d, k)
        bit = 0
        while (1 << bit) <= bits:
            if (bits >> bit) & 1:
                for side in range(2):
                    move_side(g, d, motions, bit, side)
                    add_poses(g, d, bit, side, wrenches)
            bit += 1


@kernel
def move_side(g, d, motions, bit, side):
    """Rows, residuals and forces with tangents along six displacements of bodies; returns the number of other blocks.

    Of all bodies that can move, or, for a bit, of those whose numbers have it (side 1) or not (side 0). row_velocity
    then holds J z.
    """
    if has(g, "contact"):
        w = seed(0.0, 0), seed(0.0, 1), seed(0.0, 2)
        shift = seed(0.0, 3), seed(0.0, 4), seed(0.0, 5)
        for b in range(1, g.nbody):
            # without tangents, then with those of this side
            for k in range(9):
                d.xmat[b, k] = frozen(d.xmat[b, k])
            for k in range(3):
                d.xpos[b, k] = frozen(d.xpos[b, k])
            if g.body_lastdof[b] >= 0 and (bit == NO_BIT or ((b >> bit) & 1) == side):
                displace_body(g, d, b, w, shift)
        collider_frames(g, d)
        collide_again(g, d)
    rows_without_contacts(g, d)
    first = d.count[NBLOCK]
    if first > 0:
        row_residuals(g, d, d.qacc)
        row_forces(g, d)
        times_rows(g, d, d.solve_search, d.row_velocity)
    contact_forces(g, d, motions)
    return first


@kernel
def displace_body(g, d, b, w, shift):
    """Displace body b by a rotation w about its tree's centre of mass, and a shift."""
    arm = sub3(d.xpos[b], d.subtree_com[g.body_rootid[b]])
    d.xpos[b] = add3(add3(d.xpos[b], shift), cross(w, arm))
    for c in range(3):
        axis = d.xmat[b, c], d.xmat[b, 3 + c], d.xmat[b, 6 + c]
        turned = add3(axis, cross(w, axis))
        d.xmat[b, c], d.xmat[b, 3 + c], d.xmat[b, 6 + c] = turned


@kernel
def block_power(g, d, b):
    """(J z)·force of a block, with its tangents."""
    power = 0.0 * d.time
    for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
        power = power + d.row_velocity[r] * d.row_force[r]
    return power


@kernel
def slope_of_residual(d, row, dim, k):
    """∂φ/∂(residual k) of a block whose curvature is in block_weight: -(W J z)_k."""
    slope = 0.0
    for j in range(dim):
        slope -= value_of(d.block_weight[k * dim + j]) * value_of(d.row_velocity[row + j])
    return slope


@kernel(inline=True)
def damping_of(g, d, b, k):
    """Damping of row k of block b, by which its reference acceleration falls with its velocity (1/s)."""
    law = d.block_law[b]
    if k > 0 and d.block_kind[b] == CONE:
        return value_of(g.law_damping_tangent[law])
    return value_of(g.law_damping[law])


@kernel
def add_velocities(g, d, first, by_state):
    """Gradient by velocities through the reference accelerations of rows before those of contacts."""
    for b in range(first):
        block_weight(g, d, b)
        row, dim = d.block_row[b], d.block_dim[b]
        for k in range(dim):
            slope = damping_of(g, d, b, k) * slope_of_residual(d, row, dim, k)
            for c in range(d.block_num[b]):
                i = chained_dof(g, d, d.block_dofs[b] + c)
                by_state[1, i] += slope * value_of(d.row_J[d.block_J[b] + c * dim + k])


@kernel
def add_limits(g, d, first, by_state):
    """Gradient by positions through the distances of limits, whose Jacobians are constant."""
    for b in range(first):
        if d.block_kind[b] == UNILATERAL:
            slope = tangent_of(block_power(g, d, b), PLACE)  # by the margin
            for c in range(d.block_num[b]):
                i = chained_dof(g, d, d.block_dofs[b] + c)
                by_state[0, i] -= slope * value_of(d.row_J[d.block_J[b] + c])


@kernel
def add_contact(g, d, k, motions, wrenches):
    """Covectors of the power of contact k by the motions of its two bodies: wrenches at the contact point.

    Their velocities, too, with which reference accelerations fall.
    """
    c, b = d.contact_collision[k], d.contact_block[k]
    block_weight(g, d, b)
    row, dim, f = d.block_row[b], d.block_dim[b], d.contact_frame[k]
    for side in range(2):
        body = g.geom_bodyid[pair_geom2(g, d, c) if side else pair_geom1(g, d, c)]
        if g.body_lastdof[body] < 0:
            continue
        sign = 1.0 if side else -1.0
        point = d.contact_pos[k]
        com = d.subtree_com[g.body_rootid[body]]
        arm = value_of(point[0] - com[0]), value_of(point[1] - com[1]), value_of(point[2] - com[2])
        for r in range(dim):
            q = 3 * r if r < 3 else 3 * (r - 3)
            axis = value_of(f[q]), value_of(f[q + 1]), value_of(f[q + 2])
            unit = unit_wrench(arm, axis)
            if r >= 3:
                unit = (axis[0], axis[1], axis[2], 0.0, 0.0, 0.0)
            slope = slope_of_residual(d, row, dim, r)
            add_wrench(motions, wrenches, OF_Z, body, scale6(sign * value_of(d.row_force[row + r]), unit))
            add_wrench(motions, wrenches, OF_V, body, scale6(sign * slope * damping_of(g, d, b, r), unit))
            add_wrench(motions, wrenches, OF_A, body, scale6(sign * slope, unit))


@kernel
def add_wrench(motions, wrenches, x, body, wrench):
    """Add a covector of motion x of a body, and x ×* it to the sum of its pose."""
    add_six(wrenches, x, body, wrench)
    add_six(wrenches, POSE, body, cross_force(six(motions, x, body), wrench))


@kernel
def differing(g, d, k):
    """The lowest bit in which the numbers of two moving bodies of contact k differ; 0 if one does not move."""
    c = d.contact_collision[k]
    first, second = g.geom_bodyid[pair_geom1(g, d, c)], g.geom_bodyid[pair_geom2(g, d, c)]
    if g.body_lastdof[first] < 0 or g.body_lastdof[second] < 0:
        return 0
    apart = first ^ second
    return apart & -apart


@kernel
def add_poses(g, d, bit, side, wrenches):
    """Covectors of contacts by the poses of the bodies that `move_side` has displaced."""
    for k in range(d.count[NCON]):
        b, c = d.contact_block[k], d.contact_collision[k]
        here = differing(g, d, k)
        if b < 0 or (here != 0 if bit == NO_BIT else here != 1 << bit):
            continue
        first, second = g.geom_bodyid[pair_geom1(g, d, c)], g.geom_bodyid[pair_geom2(g, d, c)]
        body = first
        if bit == NO_BIT:
            body = second if g.body_lastdof[second] >= 0 else first
        elif ((second >> bit) & 1) == side:
            body = second
        power = block_power(g, d, b)
        for e in range(6):
            wrenches[POSE, body, e] += tangent_of(power, e)


# ---------------------------------------------------------------- steps


@kernel
def adjoint_of_state(plain, dual, qpos, solved, found, arrays, parts):
    """Gradients by positions, velocities and controls at the start of a step, after `adjoint_of_parameters`.

    plain: Model and Data after the step; dual: Model with tangents along places of limits and springs, and Data.
    qpos [nq]: positions at the start. arrays: motions, wrenches, before, by_state, by_ctrl. parts[2]: whether gradients
    by frames of bodies and joints are wanted.
    """
    m, p = plain
    g, d = dual
    motions, wrenches, before, by_state, by_ctrl = arrays[0], arrays[1], arrays[2], arrays[3], arrays[4]
    for i in range(m.nv):
        by_state[0, i] = by_state[1, i] = 0.0
    for c in range(m.nu):
        by_ctrl[c] = 0.0
    tree_wrenches(m, p, motions, wrenches)
    if p.has_xfrc:
        add_forces(m, p, motions, wrenches)
    add_joints(g, d, solved, by_state, by_ctrl)
    add_constraints(g, d, solved, motions, wrenches, by_state)
    tree_gradient(m, p, wrenches, before, by_state)
    if parts[2]:
        geometry_gradient(m, p, qpos, arrays, found[11], found[12])
