"""Balance of joint momenta over a step that conserves energy and momenta of trees of rigid bodies exactly.

With p = M(q) v and p' = M(q') v' at the ends of a step of h seconds, v̄ = (v + v')/2 and q' = q ⊕ h v̄:

    (p' - p + ψ × p̄)/h = D(v, v') + forces,   D · h v̄ = ½ vᵀ (M(q') - M(q)) v'

so that the kinetic energy grows by the work h v̄ · forces, whatever h: ½ v'·p' - ½ v·p = v̄ · (p' - p) -
½ vᵀ (M' - M) v'. The term with the mean momentum p̄ is that of ball and free joints, whose velocities are in body
axes; ψ = 2 tan(|h ω̄|/2) h ω̄ / |h ω̄| is the Cayley vector of their rotation. It does no work, and the momentum in world
axes changes by the force alone (Simo & Wong, Unconditionally stable algorithms for rigid body dynamics, IJNME 31
(1991)).

D is a discrete gradient of the kinetic energy (Gonzalez, Time integration and discrete Hamiltonian systems, J.
Nonlinear Sci. 6 (1996)), without his division by the square of the step: a body's motion V in its own axes follows from
its parent's by V = X V_parent + S v, where X alone depends on the joint's position, and ½ Σ V · I V' is bilinear. By
Leibniz's rule for differences, Δ(X V) = X̄ ΔV + ΔX V̄ with means of both ends, the difference is passed from the tips to
the base like forces, and a rotation contributes ΔX = -ψ × X̄. Weights follow from the first moments of mass likewise.

The momentum of a free tree is divided into that of its centre of mass, which moves by h times its mean velocity, and
momenta relative to it: the momentum about the centre of mass is conserved like that of a body on a ball joint.
"""

from saltus.dynamics.balance.joint_ends import (
    cayley_factor,
    crossed,
    force_at,
    into,
    join,
    lower,
    mean_rotated,
    mean_rotated3,
    motion_at,
    out_of,
    rotated,
    slid,
    turn,
    upper,
)
from saltus.dynamics.tree.particles import axis_of
from saltus.dynamics.tree.tendon_inertia import add_fixed_tendon_forces
from saltus.model.enums import BALL, FREE, HINGE, SLIDE
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.spatial.fields import load3, store3
from saltus.spatial.motions import add6, scale6
from saltus.spatial.quaternions import quat_conjugate, quat_multiply, quat_normalize, quat_rotate
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, scale3, sub3


@kernel
def momentum_balance(m, d, h):
    """qfrc_inverse [nv] ← forces (N, N m) other than weights that a step to the positions qpos takes.

    Reads the start qpos_saved, qvel_saved and qacc [nv] = (v' - v)/h; qpos must be qpos_saved ⊕ h qvel, except for the
    translations of free joints, whose mean velocities are then set in qvel. Particles are left out, see
    `particle_balance`.
    """
    motions_of_ends(m, d, h, 0)
    if centre_free_trees(m, d, h):
        motions_of_ends(m, d, h, 1)
    forces_of_step(m, d, h)
    # armatures, and the centres of mass of free trees
    for i in range(m.nv):
        if m.jnt_type[m.dof_jntid[i]] != FREE or i >= m.jnt_dofadr[m.dof_jntid[i]] + 3:
            d.qfrc_inverse[i] = d.qfrc_inverse[i] + m.dof_armature[i] * d.qacc[i]
    add_fixed_tendon_forces(m, d, d, d.qfrc_inverse)


@kernel
def move_free_trees(m, d, h):
    """Set the mean velocities of free joints' translations in qvel [nv]; reads as `momentum_balance`."""
    motions_of_ends(m, d, h, 0)
    centre_free_trees(m, d, h)


@kernel
def is_free(m, b):
    """Whether body b is on a free joint."""
    return m.body_jntnum[b] == 1 and m.jnt_type[m.body_jntadr[b]] == FREE


# ---------------------------------------------------------------- from the base to the tips


@kernel
def motions_of_ends(m, d, h, centred):
    """Motions of all bodies, in their axes, at both ends of the step and for the velocities of both ends.

    With `centred`, relative to the centres of mass of free trees.
    """
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    rest = (zero, zero, zero, zero, zero, zero)
    for k in range(m.ntree_body):
        b = m.tree_body[k]
        if b == 0:
            d.balance_quat[0] = d.balance_quat_end[0] = (zero + 1.0, zero, zero, zero)
            d.balance_pos[0] = d.balance_pos_end[0] = none
            d.balance_v[0] = d.balance_v_end[0] = d.balance_w[0] = d.balance_w_end[0] = rest
            d.balance_rest[0] = d.balance_rest_end[0] = none
            d.balance_field[0] = add3(m.opt_gravity[0], none)
        elif is_free(m, b):
            free_motion(m, d, h, b, centred)
        else:
            begin_body(m, d, b)
            for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
                joint_motion(m, d, h, b, j)


@kernel
def free_motion(m, d, h, b, centred):
    """Motions of body b on a free joint."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    j = m.body_jntadr[b]
    i = m.jnt_dofadr[j]
    q0, q1 = turn(m, d.qpos_saved, j), turn(m, d.qpos, j)
    d.balance_quat[b], d.balance_quat_end[b] = q0, q1
    d.balance_pos[b] = d.balance_pos_end[b] = none
    v, w = load3(d.qvel_saved, i), add_scaled3(load3(d.qvel_saved, i), h, load3(d.qacc, i))
    back0, back1 = quat_conjugate(q0), quat_conjugate(q1)
    spin, later = load3(d.qvel_saved, i + 3), add_scaled3(load3(d.qvel_saved, i + 3), h, load3(d.qacc, i + 3))
    if not centred:
        d.balance_v[b], d.balance_v_end[b] = join(spin, quat_rotate(back0, v)), join(spin, quat_rotate(back1, v))
        d.balance_w[b], d.balance_w_end[b] = join(later, quat_rotate(back0, w)), join(later, quat_rotate(back1, w))
        d.balance_rest[b] = d.balance_rest_end[b] = none
        return
    # the root moves against the means of the centre's velocities relative to it, in body axes; momenta without means
    v0, v1, w0, w1 = centre_velocities(d, b)
    v0, v1 = quat_rotate(back0, sub3(v0, v)), quat_rotate(back1, sub3(v1, v))
    w0, w1 = quat_rotate(back0, sub3(w0, w)), quat_rotate(back1, sub3(w1, w))
    v, w = scale3(-0.5, add3(v0, v1)), scale3(-0.5, add3(w0, w1))
    d.balance_v[b] = d.balance_v_end[b] = join(spin, v)
    d.balance_w[b] = d.balance_w_end[b] = join(later, w)
    d.balance_rest[b], d.balance_rest_end[b] = scale3(-1.0, add3(v, v0)), scale3(-1.0, add3(w, w1))
    # weights, less what accelerates the centre of mass
    s = d.balance_centre[b]
    d.balance_field[b] = mean_rotated3(back0, back1, sub3(m.opt_gravity[0], s))
    d.joint_field[j] = d.balance_field[b]


@kernel(inline=True)
def centre_velocities(d, b):
    """Velocities (m/s; world axes) of a free tree's centre of mass: of v at both positions, of v' at both."""
    s = d.balance_sums[b]
    return (s[0], s[1], s[2]), (s[3], s[4], s[5]), (s[6], s[7], s[8]), (s[9], s[10], s[11])


@kernel
def begin_body(m, d, b):
    """Motions of body b from its parent's, before its joints."""
    zero = 0.0 * d.time
    p = m.body_parentid[b]
    turned = m.body_quat[b]
    pos, q = (
        add3(m.body_pos[b], (zero, zero, zero)),
        (turned[0] + zero, turned[1] + zero, turned[2] + zero, turned[3] + zero),
    )
    if has(m, "mocap") and m.body_mocapid[b] >= 0:
        c = m.body_mocapid[b]
        pos, q = d.mocap_pos[c], quat_normalize(d.mocap_quat[c])
    back = quat_conjugate(q)
    d.balance_quat[b] = quat_multiply(d.balance_quat[p], q)
    d.balance_quat_end[b] = quat_multiply(d.balance_quat_end[p], q)
    d.balance_pos[b] = add3(d.balance_pos[p], quat_rotate(d.balance_quat[p], pos))
    d.balance_pos_end[b] = add3(d.balance_pos_end[p], quat_rotate(d.balance_quat_end[p], pos))
    d.balance_v[b], d.balance_v_end[b] = into(q, pos, d.balance_v[p]), into(q, pos, d.balance_v_end[p])
    d.balance_w[b], d.balance_w_end[b] = into(q, pos, d.balance_w[p]), into(q, pos, d.balance_w_end[p])
    d.balance_rest[b] = quat_rotate(back, d.balance_rest[p])
    d.balance_rest_end[b] = quat_rotate(back, d.balance_rest_end[p])
    d.balance_field[b] = quat_rotate(back, d.balance_field[p])


@kernel
def joint_motion(m, d, h, b, j):
    """Motions of body b after joint j; joint_v, joint_w [njnt, 6]: means of the motions before, at the anchor."""
    if m.jnt_type[j] == SLIDE:
        slide_motion(m, d, h, b, j)
        return
    i = m.jnt_dofadr[j]
    anchor = m.jnt_pos[j]
    q0, q1 = turn(m, d.qpos_saved, j), turn(m, d.qpos, j)
    # pose after the rotation about the anchor
    g0, g1 = d.balance_quat[b], d.balance_quat_end[b]
    d.balance_quat[b], d.balance_quat_end[b] = quat_multiply(g0, q0), quat_multiply(g1, q1)
    d.balance_pos[b] = sub3(add3(d.balance_pos[b], quat_rotate(g0, anchor)), quat_rotate(d.balance_quat[b], anchor))
    d.balance_pos_end[b] = sub3(
        add3(d.balance_pos_end[b], quat_rotate(g1, anchor)), quat_rotate(d.balance_quat_end[b], anchor)
    )
    # means of both motions before the joint, in the mean of the axes after it
    b0, b1 = quat_conjugate(q0), quat_conjugate(q1)
    v = scale6(0.5, motion_at(add6(d.balance_v[b], d.balance_v_end[b]), anchor))
    w = scale6(0.5, motion_at(add6(d.balance_w[b], d.balance_w_end[b]), anchor))
    d.joint_v[j], d.joint_w[j] = mean_rotated(b0, b1, v), mean_rotated(b0, b1, w)
    # motions at the anchor, in the axes after it
    v0, v1 = into(q0, anchor, d.balance_v[b]), into(q1, anchor, d.balance_v_end[b])
    w0, w1 = into(q0, anchor, d.balance_w[b]), into(q1, anchor, d.balance_w_end[b])
    # with the joint's own velocities
    v, w = joint_rates(m, d, h, j, i)
    origin = scale3(-1.0, anchor)
    d.balance_v[b], d.balance_v_end[b] = motion_at(add6(v0, v), origin), motion_at(add6(v1, v), origin)
    d.balance_w[b], d.balance_w_end[b] = motion_at(add6(w0, w), origin), motion_at(add6(w1, w), origin)
    # translations and the field of weights
    d.balance_rest[b] = quat_rotate(b0, d.balance_rest[b])
    d.balance_rest_end[b] = quat_rotate(b1, d.balance_rest_end[b])
    d.balance_field[b] = mean_rotated3(b0, b1, d.balance_field[b])
    d.joint_field[j] = d.balance_field[b]


@kernel(inline=True)
def joint_rates(m, d, h, j, i):
    """Angular velocities of hinge or ball joint j at both ends, in body axes, as motions about the anchor."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    if m.jnt_type[j] == BALL:
        v, w = load3(d.qvel_saved, i), add_scaled3(load3(d.qvel_saved, i), h, load3(d.qacc, i))
    else:
        v = scale3(d.qvel_saved[i], m.jnt_axis[j])
        w = scale3(d.qvel_saved[i] + h * d.qacc[i], m.jnt_axis[j])
    return join(v, none), join(w, none)


@kernel
def slide_motion(m, d, h, b, j):
    """Motions of body b after slide j."""
    zero = 0.0 * d.time
    none = (zero, zero, zero)
    i = m.jnt_dofadr[j]
    x0, x1 = slid(m, d.qpos_saved, j), slid(m, d.qpos, j)
    d.joint_v[j] = scale6(0.5, add6(d.balance_v[b], d.balance_v_end[b]))
    d.joint_w[j] = scale6(0.5, add6(d.balance_w[b], d.balance_w_end[b]))
    d.joint_field[j] = d.balance_field[b]
    d.balance_pos[b] = add3(d.balance_pos[b], quat_rotate(d.balance_quat[b], x0))
    d.balance_pos_end[b] = add3(d.balance_pos_end[b], quat_rotate(d.balance_quat_end[b], x1))
    v = join(none, scale3(d.qvel_saved[i], m.jnt_axis[j]))
    w = join(none, scale3(d.qvel_saved[i] + h * d.qacc[i], m.jnt_axis[j]))
    d.balance_v[b] = add6(motion_at(d.balance_v[b], x0), v)
    d.balance_v_end[b] = add6(motion_at(d.balance_v_end[b], x1), v)
    d.balance_w[b] = add6(motion_at(d.balance_w[b], x0), w)
    d.balance_w_end[b] = add6(motion_at(d.balance_w_end[b], x1), w)


# ---------------------------------------------------------------- centres of mass of free trees


@kernel
def centre_free_trees(m, d, h):
    """Velocities and displacements of free trees' centres of mass; returns whether there are any.

    Writes balance_sums, balance_centre at their roots and the mean velocities of free joints' translations in qvel.
    """
    any_free = False
    for k in range(1, m.ntree_body):
        b = m.tree_body[k]
        root = m.body_rootid[b]
        if not is_free(m, root):
            continue
        any_free = True
        if b == root:
            clear_sums(m, d, b)
        add_to_sums(m, d, b, root)
    for k in range(1, m.ntree_body):
        b = m.tree_body[k]
        if is_free(m, b):
            move_centre(m, d, h, b)
    return any_free


@kernel
def clear_sums(m, d, b):
    """Begin the sums of a free tree with the armature of its root's translation, a mass without weight."""
    armature = m.dof_armature[m.body_dofadr[b]] + 0.0 * d.time
    zero = 0.0 * armature
    d.balance_mass[b] = armature
    d.balance_moment[b] = (zero, zero, zero, zero, zero, zero)
    q0, q1 = d.balance_quat[b], d.balance_quat_end[b]
    v0, v1 = quat_rotate(q0, lower(d.balance_v[b])), quat_rotate(q1, lower(d.balance_v_end[b]))
    w0, w1 = quat_rotate(q0, lower(d.balance_w[b])), quat_rotate(q1, lower(d.balance_w_end[b]))
    d.balance_sums[b] = (
        *(armature * v0[0], armature * v0[1], armature * v0[2], armature * v1[0], armature * v1[1], armature * v1[2]),
        *(armature * w0[0], armature * w0[1], armature * w0[2], armature * w1[0], armature * w1[1], armature * w1[2]),
    )


@kernel
def add_to_sums(m, d, b, root):
    """Add mass, momenta and first moments (world axes, from the root's origin) of body b to its tree's."""
    mass, c = m.body_mass[b], m.body_ipos[b]
    q0, q1 = d.balance_quat[b], d.balance_quat_end[b]
    v0 = quat_rotate(q0, lower(motion_at(d.balance_v[b], c)))
    v1 = quat_rotate(q1, lower(motion_at(d.balance_v_end[b], c)))
    w0 = quat_rotate(q0, lower(motion_at(d.balance_w[b], c)))
    w1 = quat_rotate(q1, lower(motion_at(d.balance_w_end[b], c)))
    s = d.balance_sums[root]
    d.balance_sums[root] = (
        *(s[0] + mass * v0[0], s[1] + mass * v0[1], s[2] + mass * v0[2]),
        *(s[3] + mass * v1[0], s[4] + mass * v1[1], s[5] + mass * v1[2]),
        *(s[6] + mass * w0[0], s[7] + mass * w0[1], s[8] + mass * w0[2]),
        *(s[9] + mass * w1[0], s[10] + mass * w1[1], s[11] + mass * w1[2]),
    )
    x0 = add3(d.balance_pos[b], quat_rotate(q0, c))
    x1 = add3(d.balance_pos_end[b], quat_rotate(q1, c))
    d.balance_moment[root] = add6(d.balance_moment[root], scale6(mass, join(x0, x1)))
    d.balance_mass[root] = d.balance_mass[root] + mass


@kernel
def move_centre(m, d, h, b):
    """Velocities of a free tree's centre of mass from its momenta, and the mean velocity of its root b."""
    i = m.body_dofadr[b]
    inverse = 1.0 / d.balance_mass[b]
    s = d.balance_sums[b]
    d.balance_sums[b] = (
        *(inverse * s[0], inverse * s[1], inverse * s[2], inverse * s[3], inverse * s[4], inverse * s[5]),
        *(inverse * s[6], inverse * s[7], inverse * s[8], inverse * s[9], inverse * s[10], inverse * s[11]),
    )
    before, _, _, after = centre_velocities(d, b)
    # the root moves with the centre, which moves in the tree
    moments = d.balance_moment[b]
    moved = scale3(inverse / h, sub3(lower(moments), upper(moments)))
    store3(d.qvel, i, sub3(scale3(0.5, add3(before, after)), moved))
    d.balance_centre[b] = scale3(1.0 / h, sub3(after, before))


# ---------------------------------------------------------------- from the tips to the base


@kernel
def forces_of_step(m, d, h):
    """qfrc_inverse [nv] ← forces of the step, without armatures, from the motions of both ends."""
    zero = 0.0 * d.time
    nothing = (zero, zero, zero, zero, zero, zero)
    for k in range(m.ntree_body):
        b = m.tree_body[k]
        d.balance_f[b] = d.balance_g[b] = d.balance_p[b] = d.balance_p_end[b] = nothing
        d.balance_moment[b] = nothing
        d.balance_under[b] = zero
    for k in range(m.ntree_body - 1, 0, -1):
        b = m.tree_body[k]
        add_body(m, d, b)
        for r in range(m.body_jntnum[b]):
            j = m.body_jntadr[b] + m.body_jntnum[b] - 1 - r
            if m.jnt_type[j] == SLIDE:
                slide_forces(m, d, h, b, j)
            else:
                turning_forces(m, d, h, b, j)
        if m.body_parentid[b] > 0:
            pass_on(m, d, b)


@kernel
def add_body(m, d, b):
    """Add body b's momenta at both ends, halves of the means between them, and first moments of mass."""
    mass, c = m.body_mass[b], m.body_ipos[b]
    mean_v = scale6(0.5, add6(d.balance_v[b], d.balance_v_end[b]))
    mean_w = scale6(0.5, add6(d.balance_w[b], d.balance_w_end[b]))
    d.balance_f[b] = add6(d.balance_f[b], scale6(0.5, body_momentum(m, b, mean_w)))
    d.balance_g[b] = add6(d.balance_g[b], scale6(0.5, body_momentum(m, b, mean_v)))
    first = join(upper(d.balance_v[b]), add3(lower(d.balance_v[b]), d.balance_rest[b]))
    last = join(upper(d.balance_w_end[b]), add3(lower(d.balance_w_end[b]), d.balance_rest_end[b]))
    d.balance_p[b] = add6(d.balance_p[b], body_momentum(m, b, first))
    d.balance_p_end[b] = add6(d.balance_p_end[b], body_momentum(m, b, last))
    d.balance_moment[b] = add6(d.balance_moment[b], scale6(mass, join(c, c)))
    d.balance_under[b] = d.balance_under[b] + mass


@kernel
def body_momentum(m, b, x):
    """Momentum (moment about the origin, linear) of body b that moves with x, in body axes."""
    c, i = m.body_ipos[b], m.body_inertia6[b]
    w = upper(x)
    linear = scale3(m.body_mass[b], add3(lower(x), cross(w, c)))
    own = (
        i[0] * w[0] + i[3] * w[1] + i[4] * w[2],
        i[3] * w[0] + i[1] * w[1] + i[5] * w[2],
        i[4] * w[0] + i[5] * w[1] + i[2] * w[2],
    )
    return join(add3(own, cross(c, linear)), linear)


@kernel
def turning_forces(m, d, h, b, j):
    """Forces of hinge, ball or free joint j of body b; what the body passes on is then that before the joint."""
    i = m.jnt_dofadr[j]
    anchor = m.jnt_pos[j]
    kind = m.jnt_type[j]
    zero = 0.0 * d.time
    if kind == FREE:
        anchor = (zero, zero, zero)
        i += 3
    # about the anchor, and the mean first moment of mass there
    f, g = force_at(d.balance_f[b], anchor), force_at(d.balance_g[b], anchor)
    p0, p1 = force_at(d.balance_p[b], anchor), force_at(d.balance_p_end[b], anchor)
    away = scale3(d.balance_under[b], anchor)
    moments = add6(d.balance_moment[b], scale6(-1.0, join(away, away)))
    mean = scale3(0.5, add3(upper(moments), lower(moments)))
    # discrete gradient of kinetic energy and weight, per radian of the Cayley vector
    gradient = cross(mean, d.joint_field[j])
    if kind != FREE:
        gradient = add3(gradient, add3(crossed(d.joint_v[j], f), crossed(d.joint_w[j], g)))
    gained = scale3(1.0 / h, sub3(upper(p1), upper(p0)))
    if kind == HINGE:
        axis = m.jnt_axis[j]
        factor = cayley_factor((h * d.qvel[i], zero, zero))
        d.qfrc_inverse[i] = dot3(axis, add_scaled3(gained, -factor, gradient))
    else:
        v = load3(d.qvel, i)
        factor = cayley_factor(scale3(h, v))
        turned = scale3(0.5 * factor, cross(v, add3(upper(p0), upper(p1))))
        store3(d.qfrc_inverse, i, add3(turned, add_scaled3(gained, -factor, gradient)))
    if kind == FREE:
        centre_force(m, d, b, i - 3)
        return
    # before the joint
    q0, q1 = turn(m, d.qpos_saved, j), turn(m, d.qpos, j)
    back = scale3(-1.0, anchor)
    d.balance_f[b] = force_at(mean_rotated(q0, q1, f), back)
    d.balance_g[b] = force_at(mean_rotated(q0, q1, g), back)
    d.balance_p[b], d.balance_p_end[b] = force_at(rotated(q0, p0), back), force_at(rotated(q1, p1), back)
    turned0, turned1 = quat_rotate(q0, upper(moments)), quat_rotate(q1, lower(moments))
    d.balance_moment[b] = join(add3(turned0, away), add3(turned1, away))


@kernel
def centre_force(m, d, b, i):
    """Force (N) on the centre of mass of the free tree with root b, its armature included."""
    weight = scale3(d.balance_under[b], m.opt_gravity[0])
    store3(d.qfrc_inverse, i, sub3(scale3(d.balance_mass[b], d.balance_centre[b]), weight))


@kernel
def slide_forces(m, d, h, b, j):
    """Force of slide j of body b; what the body passes on is then that before the joint."""
    i = m.jnt_dofadr[j]
    axis = m.jnt_axis[j]
    f, g, p0, p1 = d.balance_f[b], d.balance_g[b], d.balance_p[b], d.balance_p_end[b]
    gradient = dot3(lower(f), cross(upper(d.joint_v[j]), axis)) + dot3(lower(g), cross(upper(d.joint_w[j]), axis))
    gradient = gradient + d.balance_under[b] * dot3(axis, d.joint_field[j])
    d.qfrc_inverse[i] = dot3(axis, sub3(lower(p1), lower(p0))) / h - gradient
    x0, x1 = slid(m, d.qpos_saved, j), slid(m, d.qpos, j)
    middle = scale3(-0.5, add3(x0, x1))
    d.balance_f[b], d.balance_g[b] = force_at(f, middle), force_at(g, middle)
    d.balance_p[b], d.balance_p_end[b] = force_at(p0, scale3(-1.0, x0)), force_at(p1, scale3(-1.0, x1))
    d.balance_moment[b] = add6(d.balance_moment[b], scale6(d.balance_under[b], join(x0, x1)))


@kernel
def pass_on(m, d, b):
    """Add what body b passes on to its parent's."""
    p = m.body_parentid[b]
    pos, q = m.body_pos[b], m.body_quat[b]
    d.balance_f[p] = add6(d.balance_f[p], out_of(q, pos, d.balance_f[b]))
    d.balance_g[p] = add6(d.balance_g[p], out_of(q, pos, d.balance_g[b]))
    d.balance_p[p] = add6(d.balance_p[p], out_of(q, pos, d.balance_p[b]))
    d.balance_p_end[p] = add6(d.balance_p_end[p], out_of(q, pos, d.balance_p_end[b]))
    shift = scale3(d.balance_under[b], pos)
    moments = add6(rotated(q, d.balance_moment[b]), join(shift, shift))
    d.balance_moment[p] = add6(d.balance_moment[p], moments)
    d.balance_under[p] = d.balance_under[p] + d.balance_under[b]


# ---------------------------------------------------------------- particles


@only_with("flex")
@kernel
def particle_balance(m, d):
    """qfrc_inverse [nv] of particles, which have constant inertia: mass times acceleration less weight (N)."""
    for k in range(m.nparticle):
        b = m.particle_body[k]
        for i in range(m.body_dofadr[b], m.body_dofadr[b] + 3):
            weight = dot3(axis_of(d, i), m.opt_gravity[0])
            d.qfrc_inverse[i] = (m.body_mass[b] + m.dof_armature[i]) * d.qacc[i] - m.body_mass[b] * weight
