"""The equations of a step of `energy_momentum`: forces that the balance of momenta lacks at given accelerations.

See `saltus.integrate.implicit.energy_momentum`.
"""

from saltus.contact.event.modes import loops_alone
from saltus.dynamics.balance.mean_springs import mean_joint_and_tendon_forces, remember_lengths
from saltus.dynamics.balance.momentum_balance import momentum_balance, particle_balance
from saltus.dynamics.equations import EQUATIONS, inverse_dynamics
from saltus.dynamics.flex.mean_forces import add_mean_flex_forces
from saltus.dynamics.passive import joint_and_tendon_forces, sum_passive
from saltus.dynamics.smooth import add_driving_forces, position_stage
from saltus.dynamics.tendon.length import tendon_velocities
from saltus.dynamics.tree.manifold import displace
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.dynamics.tree.tendon_inertia import add_path_forces
from saltus.integrate.implicit.loop_rows import loop_rows
from saltus.integrate.implicit.newton_convergence import LEAST, change_size
from saltus.model.enums import FREE, JOINT_DOFS, SLIDE
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.constrain import add_touch, grip
from saltus.solve.event.constrained_acceleration import enforce_active_set, row_drifts
from saltus.solve.soft.middle_rows import bend_rows
from saltus.solve.status import OK

FARTHEST = 1.0  # rad
DIFFERENCE = 1e-7  # change of velocity for differences, relative to the largest


@kernel
def evaluate(m, d, h, start):
    """metric_force [nv] ← (p' - p + ψ × p̄)/h - D - f - f_e at the accelerations qacc (N, N m).

    Leaves the midpoint as the state. Returns a status.
    """
    # midpoint state
    for i in range(m.nv):
        d.qvel[i] = d.qvel_saved[i] + 0.5 * h * d.qacc[i]
    balance_ends(m, d, h)
    displace(m, d.qpos_saved, 0.5 * h, d.qvel, d.qpos)
    d.time = start + 0.5 * h
    if not loops_alone(m, d):
        row_drifts(m, d)
    position_stage(m, d, 0)
    if has(m, "adhere"):  # adhesive contacts attract at the positions of their rows
        grip(m, d)
    # forces f + f_e there
    newton_euler_forward(m, d, d, 0, 1)
    if not has(m, "event"):
        bend_rows(m, d, h)
    tendon_velocities(m, d)
    spring_forces(m, d, h)
    add_mean_flex_forces(m, d, h)
    sum_passive(m, d)
    add_driving_forces(m, d)
    add_touch(m, d, d.qfrc_tau)
    # residual
    status = forces_of_motion(m, d)
    for i in range(m.nv):
        d.metric_force[i] = d.qfrc_inverse[i] - d.qfrc_tau[i]
    return status


@kernel
def balance_ends(m, d, h):
    """Balance of momenta between the ends of the step, where there is one, and rows of loops."""
    if has(m, "loops"):
        if loops_alone(m, d):
            balance(m, d, h)
            displace(m, d.qpos_saved, h, d.qvel, d.qpos)
            loop_rows(m, d, h)
    elif not has(m, EQUATIONS, "event"):
        balance(m, d, h)


@kernel
def spring_forces(m, d, h):
    """Forces of springs and dampers of joints and tendons: of springs as means over the step, where it is balanced."""
    if has(m, "loops"):
        if loops_alone(m, d):
            mean_joint_and_tendon_forces(m, d, h)
        else:
            joint_and_tendon_forces(m, d)
    elif has(m, EQUATIONS, "event"):
        joint_and_tendon_forces(m, d)
    else:
        mean_joint_and_tendon_forces(m, d, h)


@kernel
def forces_of_motion(m, d):
    """qfrc_inverse [nv] ← forces (N, N m) that the accelerations qacc take; adds those of an active set to qfrc_tau.

    Returns a status.
    """
    status = OK
    if has(m, "loops"):
        if loops_alone(m, d):
            add_balances_in_middle(m, d)
        else:
            status = enforce_active_set(m, d)
            inverse_dynamics(m, d)
    elif has(m, EQUATIONS, "event"):
        if has(m, "event"):
            status = enforce_active_set(m, d)
        inverse_dynamics(m, d)
    else:
        add_balances_in_middle(m, d)
    return status


@kernel
def balance(m, d, h):
    """Balance of momenta to the end of the step, and lengths of tendons there; mean velocities of free bodies."""
    displace(m, d.qpos_saved, h, d.qvel, d.qpos)
    momentum_balance(m, d, h)
    if has(m, "tendon_force"):
        displace(m, d.qpos_saved, h, d.qvel, d.qpos)
        position_stage(m, d, 0)
        remember_lengths(m, d, d.ten_length_end)


@kernel
def add_balances_in_middle(m, d):
    """Balances of particles, and of spatial tendons with armature, in the middle of the step."""
    particle_balance(m, d)
    if has(m, "tendon_armature"):
        newton_euler_forward(m, d, d, 1, 1)
        add_path_forces(m, d, d, d.qfrc_inverse)


@kernel
def begin_differences(m, d, h):
    """Keep metric_force as metric_product; returns the change of an acceleration for derivatives by differences."""
    for i in range(m.nv):
        d.metric_product[i] = d.metric_force[i]
        d.metric_change[i] = 0.0 * d.time
    _, speed = change_size(m, d, h, d.qvel_saved)
    return DIFFERENCE * maximum(speed, LEAST / h + 0.0 * speed) / h


@kernel
def advance_unknowns(m, d, alpha):
    """qacc ← qacc + alpha metric_change."""
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] + alpha * d.metric_change[i]


@kernel
def least_fraction(m, d, h):
    """Fraction of metric_change, at most 1, by which no rotation within the step changes by more than FARTHEST."""
    turned = 0.0 * d.time + FARTHEST
    for j in range(m.njnt):
        if m.jnt_type[j] != SLIDE:
            i = m.jnt_dofadr[j]
            for k in range(i + 3 if m.jnt_type[j] == FREE else i, i + JOINT_DOFS[m.jnt_type[j]]):
                turned = maximum(turned, absolute(0.5 * h * h * d.metric_change[k]))
    return FARTHEST / turned
