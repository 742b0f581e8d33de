"""Work of non-conservative forces over a step, by kind, for the energy balance.

Work is the time integral of power, force times velocity. Methods with one force evaluation per step leave the forces in
the Data; multiplied by the mean velocity (v + v')/2 of the step they give exactly the change of the kinetic energy
½ vᵀ M v for constant inertia M, however stiff they are. For other methods see `saltus.simulate.running.work_ledger`.
"""

from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.rows.blocks import EQUALITY, FRICTION, UNILATERAL, chained_dof
from saltus.contact.rows.user_compliance import GIVEN
from saltus.dynamics.applied import add_cartesian_forces
from saltus.dynamics.equations import inverse_dynamics
from saltus.dynamics.flex.forces import flex_velocities
from saltus.dynamics.flex.twist import twist_damper_power
from saltus.dynamics.smooth import applied_forces, position_stage
from saltus.dynamics.tree.rnea import inverse, newton_euler_forward
from saltus.integrate.implicit.energy_momentum import middle
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import dot3

# indices of the kinds of work
ACTUATORS, APPLIED, DAMPERS, ELASTIC_DAMPING, MEDIUM, COMPENSATION, CONTACT, LIMITS, DRY, EQUALITIES = range(10)


@kernel
def work_of_step(m, d, h, damped, anew, before, work):
    """Add the work (J) of the step of h seconds that has just been taken to work [10].

    `before` [nv]: the velocities at its start. `damped` (s): factor of the joint dampers' slope that was added to the
    inertia. `anew`: fraction of the way from the initial to the final velocities at which forces were implicit; if not
    0, all forces except those of constraints are evaluated again there, at the step's positions. Changes qvel.
    """
    # forces of implicit methods at the velocities that they were used at
    if anew != 0.0:
        for i in range(m.nv):
            d.qstep[i] = d.qvel[i]
            d.qvel[i] = before[i] + anew * (d.qvel[i] - before[i])
        newton_euler_forward(m, d, d, 0, 1)
        applied_forces(m, d)
        for i in range(m.nv):
            d.qvel[i] = d.qstep[i]
    # mean velocity of the step, and the implicit part of joint damping
    taken = 0.0 * d.time
    for i in range(m.nv):
        change = d.qvel[i] - before[i]
        d.qvel[i] = before[i] + 0.5 * change
        taken = taken + damped * d.qfrc_damper_slope[i] * change * d.qvel[i]
    flex_rates(m, d)
    add_work(m, d, h, work)
    work[DAMPERS] -= h * taken


@kernel
def work_in_middle(m, d, h, work):
    """Add the work (J) of the step of h seconds that `energy_momentum` has just taken to work [10].

    Changes the state.
    """
    middle(m, d, h)
    add_work(m, d, h, work)


@kernel
def add_work(m, d, h, work):
    """Add h times the power (W) of all forces in the Data at the velocities qvel to work [10]."""
    # actuators, applied forces
    work[ACTUATORS] += h * power(m, d, d.qfrc_actuator)
    for i in range(m.nv):
        d.qstep[i] = d.qfrc_applied[i]
    if d.has_xfrc:
        add_cartesian_forces(m, d, d.qstep)
    work[APPLIED] += h * power(m, d, d.qstep)
    # dampers, medium, gravity compensation
    elastic = flex_damper_power(m, d)
    work[DAMPERS] += h * (power(m, d, d.qfrc_damper) - elastic)
    work[ELASTIC_DAMPING] += h * elastic
    work[MEDIUM] += h * fluid_power(m, d)
    if m.has_gravcomp:
        for i in range(m.nv):
            if not m.jnt_actgravcomp[m.dof_jntid[i]]:
                work[COMPENSATION] += h * (d.qfrc_gravcomp[i] * d.qvel[i])
    # constraints, compliant contact
    add_constraint_work(m, d, h, work)
    add_touch_work(m, d, h, work)


@kernel
def power(m, d, qfrc):
    """Power (W) of generalised forces qfrc [nv] at the velocities qvel."""
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + qfrc[i] * d.qvel[i]
    return total


@only_with("fluid", otherwise="0.0 * d.time")
@kernel
def fluid_power(m, d):
    """Power (W) of fluid forces."""
    return power(m, d, d.qfrc_fluid)


@only_with("flex")
@kernel
def flex_rates(m, d):
    """Velocities of deformable bodies' vertices at the velocities qvel and the positions in the Data."""
    newton_euler_forward(m, d, d, 0, 1)
    flex_velocities(m, d)


@only_with("flex", otherwise="0.0 * d.time")
@kernel
def flex_damper_power(m, d):
    """Power (W) of the damping of deformable bodies: edges, elements and bending."""
    total = 0.0 * d.time
    for v in range(m.nflexvert):
        total = total + dot3(d.flexvert_damper[v], d.flexvert_xvel[v])
    return total + twist_damper_power(m, d)


@only_with("constraint", "event")
@kernel
def add_constraint_work(m, d, h, work):
    """Add h times the power of the constraint rows to work [10]."""
    for b in range(d.count[NBLOCK]):
        kind = d.block_kind[b]
        account = CONTACT
        if kind == EQUALITY:
            account = EQUALITIES
        elif kind == FRICTION:
            account = DRY
        elif kind == UNILATERAL:
            account = LIMITS
        work[account] += h * block_power(m, d, b)
    for k in range(d.count[NCON]):
        b = d.contact_block[k]
        if b >= 0 and d.block_kind[b] == UNILATERAL:  # frictionless contacts and limits have the same kind of row
            moved = h * block_power(m, d, b)
            work[LIMITS] -= moved
            work[CONTACT] += moved
    add_adhesive_work(m, d, h, work)


@only_with("adhesive")
@kernel
def add_adhesive_work(m, d, h, work):
    """Add h times the power of adhesive contacts to work [10]: of the attraction, and of their rows in the gap.

    These rows are of the same kind as those of limits, so that their work is moved from limits to contacts.
    """
    work[CONTACT] += h * power(m, d, d.qfrc_adhesion)
    for k in range(d.count[NCON]):
        if d.contact_tether[k] >= 0:
            moved = h * block_power(m, d, d.contact_tether[k])
            work[LIMITS] -= moved
            work[CONTACT] += moved


@kernel
def block_power(m, d, b):
    """Power (W) of the rows of block b."""
    total = 0.0 * d.time
    dim, row, place, first = d.block_dim[b], d.block_row[b], d.block_J[b], d.block_dofs[b]
    for c in range(d.block_num[b]):
        force = 0.0 * d.time
        for r in range(dim):
            force = force + d.row_J[place + r] * d.row_force[row + r]
        total = total + force * d.qvel[chained_dof(m, d, first + c)]
        place += dim
    return total


@only_with(GIVEN)
@kernel
def add_touch_work(m, d, h, work):
    """Add h times the power of contacts with a user-defined law to work [10]."""
    work[CONTACT] += h * power(m, d, d.qfrc_compliant)


@kernel
def work_of_equations(m, d, weight, acceleration, velocity, work):
    """Add to work [1] the work (J) of user-defined equations of motion beyond the rigid-body dynamics.

    The bodies' motion requires the forces M qacc + bias, with their own M and bias; the user's equations supply
    M' qacc + bias'. The difference is work done by the equations, such as damping in bias':

        P = v · (M qacc + bias - M' qacc - bias')

    `weight` (s): quadrature weight. `acceleration` [nv]: of the current state; `velocity` [nv]: v. Overwrites qacc,
    qfrc_bias, qfrc_inverse, qstep.
    """
    # M qacc + bias of the bodies
    position_stage(m, d, 0)
    for i in range(m.nv):
        d.qacc[i] = acceleration[i]
    inverse(m, d)
    for i in range(m.nv):
        d.qstep[i] = d.qfrc_inverse[i]
    # minus M' qacc + bias'
    inverse_dynamics(m, d)
    taken = 0.0 * d.time
    for i in range(m.nv):
        taken = taken + (d.qstep[i] - d.qfrc_inverse[i]) * velocity[i]
    work[0] += weight * taken
