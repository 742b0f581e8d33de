"""Constraint rows of joints: limits, one row for each end of a range that comes close, and dry friction."""

from saltus.contact.rows.blocks import FRICTION, UNILATERAL, add_block
from saltus.contact.rows.soft_law import impedance, reference, regularisation
from saltus.dynamics.awake.walks import awake_dof_frictions, awake_joint_limits
from saltus.dynamics.tendon.gear_loss import motor_torque
from saltus.model.enums import BALL
from saltus.number.conditions import has
from saltus.number.functions import absolute, any_lane, exp, maximum, sqrt, where
from saltus.number.kernels import kernel
from saltus.spatial.fields import load3, load4
from saltus.spatial.quaternions import quat_log, quat_normalize
from saltus.spatial.vectors import dot3

TINY = 1e-30


@kernel
def limit_rows(m, d):
    """Write the rows of all joint limits: the distance to the end of the range, less margin, must stay non-negative."""
    for k in awake_joint_limits(m, d):
        j = m.limit_obj[k]
        i = m.jnt_dofadr[j]
        if m.jnt_type[j] == BALL:
            ball_limit(m, d, k, i, m.jnt_qposadr[j])
        else:
            q = d.qpos[m.jnt_qposadr[j]]
            # distance to each end of the range
            low = q - m.limit_range[k, 0]
            high = m.limit_range[k, 1] - q
            margin = m.limit_margin[k]
            if any_lane(low < margin):
                b = unilateral(m, d, k, low, d.qvel[i])
                d.row_J[d.block_J[b]] = 1.0 + 0.0 * q
            if any_lane(high < margin):
                b = unilateral(m, d, k, high, -d.qvel[i])
                d.row_J[d.block_J[b]] = -1.0 + 0.0 * q


@kernel
def unilateral(m, d, k, dist, v):
    """Append the row of limit k at distance `dist` (rad, m) with rate v; returns its block."""
    law = m.limit_law[k]
    r = dist - m.limit_margin[k]
    active = r < 0.0
    b = add_block(m, d, UNILATERAL, 1, m.limit_chain[k], law, k, active)
    row = d.block_row[b]
    imp = impedance(m.law_impedance[law], r)
    d.row_pos[row] = r
    d.row_D[row] = where(active, 1.0 / regularisation(imp, m.limit_invweight[k]), 0.0 * r)
    d.row_aref[row] = reference(m.law_stiffness[law], m.law_damping[law], imp, r, v)
    return b


@kernel
def ball_limit(m, d, k, i, a):
    """The row of the limit on a ball joint's rotation angle."""
    turn = quat_log(quat_normalize(load4(d.qpos, a)))
    angle = sqrt(dot3(turn, turn) + TINY)
    dist = maximum(m.limit_range[k, 0], m.limit_range[k, 1]) - angle
    if any_lane(dist < m.limit_margin[k]):
        # d(angle)/dt = axis · ω
        axis = (turn[0] / angle, turn[1] / angle, turn[2] / angle)
        b = unilateral(m, d, k, dist, -dot3(axis, load3(d.qvel, i)))
        place = d.block_J[b]
        d.row_J[place] = -axis[0]
        d.row_J[place + 1] = -axis[1]
        d.row_J[place + 2] = -axis[2]


@kernel
def friction_rows(m, d):
    """Rows of dry friction: reference acceleration -B v, with a force of at most `friction_bound` (N, N m)."""
    for k in awake_dof_frictions(m, d):
        law = m.friction_law[k]
        chain = m.friction_chain[k]
        zero = 0.0 * d.time
        b = add_block(m, d, FRICTION, 1, chain, law, k, zero == zero)
        row = d.block_row[b]
        imp = impedance(m.law_impedance[law], zero)
        d.row_J[d.block_J[b]] = zero + 1.0
        d.row_pos[row] = zero
        d.row_D[row] = 1.0 / regularisation(imp, m.friction_invweight[k])
        d.row_aref[row] = -m.law_damping[law] * d.qvel[m.chain_dof[m.chain_adr[chain]]]
        d.row_loss[row] = friction_bound(m, d, k)


@kernel
def friction_bound(m, d, k):
    """The greatest dry friction of row k of a joint (N, N m): F_C + (F_S - F_C) exp(-|v / v_S|^δ) + (1 - η) |τ|.

    δ is 1 or 2, F_C the kinetic friction `friction_loss`, F_S the static one, v_S the Stribeck velocity (Olsson,
    Åström, Canudas de Wit, Gäfvert & Lischinsky, Friction models and friction compensation, Eur. J. Control 4 (1998)
    176); η is the efficiency of a rigid gear that carries the torque τ of the joint's actuators. An elastic gear adds a
    share of the torque at its motor, see `saltus.dynamics.tendon.gear_loss`.
    """
    kinetic = 0.0 * d.time + m.friction_loss[k]
    if not has(m, "drive"):
        return kinetic
    i = m.friction_obj[k]
    # friction at rest, and its fall with velocity
    ratio = absolute(d.qvel[i]) / m.friction_stribeck_velocity[k]
    excess = maximum(m.friction_static[k] - kinetic, 0.0 * kinetic)
    decay = ratio * ratio if m.friction_stribeck_exponent[k] == 2 else ratio
    bound = kinetic + excess * exp(-decay)
    # friction of the load
    bound = bound + m.friction_of_load[k] * absolute(d.qfrc_actuator[i])
    if has(m, "tendon_force") and m.friction_tendon[k] >= 0:
        spring, damper = motor_torque(m, d, m.friction_tendon[k], i)
        bound = bound + m.friction_of_twist[k] * absolute(spring + damper)
    return bound
