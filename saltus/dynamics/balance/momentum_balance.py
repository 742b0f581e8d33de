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

from saltus.dynamics.balance.end_motions import motions_of_ends
from saltus.dynamics.balance.free_trees import centre_free_trees
from saltus.dynamics.balance.joint_ends import (
    cayley_factor,
    crossed,
    force_at,
    join,
    lower,
    mean_rotated,
    out_of,
    rotated,
    slid,
    turn,
    upper,
)
from saltus.dynamics.tree.particles import axis_of
from saltus.dynamics.tree.tendon_inertia import add_fixed_tendon_forces
from saltus.model.enums import FREE, HINGE, SLIDE
from saltus.number.kernels import kernel, only_with
from saltus.spatial.fields import load3, store3
from saltus.spatial.motions import add6, scale6
from saltus.spatial.quaternions import quat_rotate
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
