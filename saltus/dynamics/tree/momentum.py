"""Joint momenta and their rates: Hamilton's form of the equations of motion.

With H the spatial momentum and W the weight of the bodies that degree of freedom i carries, and s its motion axis,
which moves with the body before the joint, or on ball and free joints with the body itself,

    p_i = s_i · H_i + armature_i v_i,   dp_i/dt = ds_i/dt · H_i + s_i · W_i + forces_i.

The first two terms of the rate are ∂L/∂q_i on hinges and slides: dp/dt = d(M v)/dt includes the terms that inverse
dynamics adds to M dv/dt (Featherstone 2008, eq. 2.61 and 3.36).
"""

from saltus.dynamics.tree.tendon_inertia import add_fixed_tendon_momenta, carry_tendon_momenta
from saltus.model.enums import BALL, FREE
from saltus.number.kernels import kernel
from saltus.spatial.motions import add6, add_scaled6, cross_motion, dot6, inertia_times_motion, scale6


@kernel
def momenta(m, d):
    """Joint momenta M v and their rates.

    After `position_stage`, `newton_euler_forward` with `compute_all`, and `applied_forces`. Reads cinert [nbody, 10],
    cdof, cdof_dot [nv, 6], cvel [nbody, 6], qvel, qfrc_tau [nv]. Writes momentum [nv] (N m s, N s) and momentum_rate
    [nv] (N m, N). Overwrites body_scratch and cfrc_body [nbody, 6].
    """
    carried_momenta(m, d)
    for j in range(m.njnt):
        i = m.jnt_dofadr[j]
        kind = m.jnt_type[j]
        if kind == FREE:
            for k in range(i, i + 3):
                joint_momentum(m, d, k, d.cdof_dot[k])
            i += 3
        if kind == FREE or kind == BALL:
            # rotation axes turn with the body itself
            turning = scale6(d.qvel[i], d.cdof[i])
            turning = add_scaled6(turning, d.qvel[i + 1], d.cdof[i + 1])
            turning = add_scaled6(turning, d.qvel[i + 2], d.cdof[i + 2])
            for k in range(i, i + 3):
                joint_momentum(m, d, k, add6(d.cdof_dot[k], cross_motion(turning, d.cdof[k])))
        else:
            joint_momentum(m, d, i, d.cdof_dot[i])
    add_fixed_tendon_momenta(m, d)


@kernel
def carried_momenta(m, d):
    """Spatial momentum and weight of each body's subtree, into body_scratch and cfrc_body [nbody, 6]."""
    g = m.opt_gravity[0]
    zero = 0.0 * d.time
    falling = (zero, zero, zero, zero + g[0], zero + g[1], zero + g[2])
    # momentum and weight of each body
    for b in range(1, m.nbody):
        d.body_scratch[b] = inertia_times_motion(d.cinert[b], d.cvel[b])
        d.cfrc_body[b] = inertia_times_motion(d.cinert[b], falling)
    carry_tendon_momenta(m, d)
    # sums over subtrees
    for b in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[b]
        if parent > 0:
            d.body_scratch[parent] = add6(d.body_scratch[parent], d.body_scratch[b])
            d.cfrc_body[parent] = add6(d.cfrc_body[parent], d.cfrc_body[b])


@kernel(inline=True)
def joint_momentum(m, d, i, axis_rate):
    """Momentum of degree of freedom i and its rate."""
    b = m.dof_bodyid[i]
    carried = d.body_scratch[b]
    d.momentum[i] = dot6(d.cdof[i], carried) + m.dof_armature[i] * d.qvel[i]
    d.momentum_rate[i] = dot6(axis_rate, carried) + dot6(d.cdof[i], d.cfrc_body[b]) + d.qfrc_tau[i]
