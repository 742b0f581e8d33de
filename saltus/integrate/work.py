"""Work of the forces that neither an energy holds nor the inertia: what came in and went out over a step, by kinds.

Work is power times time, force times velocity. Methods that move a step with one evaluation of the forces leave these
in the Data; times the mean (v + v')/2 of the step's velocities they are exactly what changes the kinetic energy
½ vᵀ M v while the inertia M stays as it is, however stiff the forces are. For others see `saltus.simulate.ledger`.
"""

from saltus.contact.counts import NBLOCK, NCON
from saltus.contact.rows.blocks import EQUALITY, FRICTION, UNILATERAL, chained_dof
from saltus.contact.rows.user_compliance import GIVEN
from saltus.dynamics.applied import add_cartesian_forces
from saltus.dynamics.equations import inverse_dynamics
from saltus.dynamics.flex.forces import flex_velocities
from saltus.dynamics.smooth import applied_forces, position_stage
from saltus.dynamics.tree.rnea import inverse, newton_euler_forward
from saltus.integrate.implicit.energy_momentum import middle
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import dot3

# places of the kinds of work
ACTUATORS, APPLIED, DAMPERS, ELASTIC_DAMPING, MEDIUM, COMPENSATION, CONTACT, LIMITS, DRY, EQUALITIES = range(10)


@kernel
def work_of_step(m, d, h, damped, anew, before, work):
    """Add the work (J) of the step of h seconds that has just been taken to work [10].

    `before` [nv]: the velocities that it began with. `damped`: the time (s) times which the slope of joint dampers was
    taken with the inertia. `anew`: not 0 where forces were implicit in velocities: all but those of constraints are
    evaluated again at the step's positions, and velocities at that part of the way from its first to its last ones.
    Changes qvel.
    """
    if anew != 0.0:
        for i in range(m.nv):
            d.qstep[i] = d.qvel[i]
            d.qvel[i] = before[i] + anew * (d.qvel[i] - before[i])
        newton_euler_forward(m, d, d, 0, 1)
        applied_forces(m, d)
        for i in range(m.nv):
            d.qvel[i] = d.qstep[i]
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
    """Add to work [10] (J) that of the step of h seconds that `energy_momentum` has just taken.

    Changes the state.
    """
    middle(m, d, h)
    add_work(m, d, h, work)


@kernel
def add_work(m, d, h, work):
    """Add h times the power (W) of all forces in the Data at the velocities qvel to work [10]."""
    work[ACTUATORS] += h * power(m, d, d.qfrc_actuator)
    for i in range(m.nv):
        d.qstep[i] = d.qfrc_applied[i]
    if d.has_xfrc:
        add_cartesian_forces(m, d, d.qstep)
    work[APPLIED] += h * power(m, d, d.qstep)
    elastic = flex_damper_power(m, d)
    work[DAMPERS] += h * (power(m, d, d.qfrc_damper) - elastic)
    work[ELASTIC_DAMPING] += h * elastic
    work[MEDIUM] += h * fluid_power(m, d)
    if m.has_gravcomp:
        for i in range(m.nv):
            if not m.jnt_actgravcomp[m.dof_jntid[i]]:
                work[COMPENSATION] += h * (d.qfrc_gravcomp[i] * d.qvel[i])
    add_constraint_work(m, d, h, work)
    add_touch_work(m, d, h, work)


@kernel
def power(m, d, qfrc):
    """Power (W) of a field of joint forces [nv] at the velocities qvel."""
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + qfrc[i] * d.qvel[i]
    return total


@only_with("fluid", otherwise="0.0 * d.time")
@kernel
def fluid_power(m, d):
    """Power (W) of the medium."""
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
    """Power (W) of the damping of deformable bodies, of their edges, elements and bending."""
    total = 0.0 * d.time
    for v in range(m.nflexvert):
        total = total + dot3(d.flexvert_damper[v], d.flexvert_xvel[v])
    return total


@only_with("constraint", "event")
@kernel
def add_constraint_work(m, d, h, work):
    """The same of the rows of constraints."""
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
        if b >= 0 and d.block_kind[b] == UNILATERAL:  # without friction, a row like that of a limit
            moved = h * block_power(m, d, b)
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
    """The same of contacts that follow a law of the user's."""
    work[CONTACT] += h * power(m, d, d.qfrc_compliant)


@kernel
def work_of_equations(m, d, weight, acceleration, velocity, work):
    """Add the work (J) of given equations of motion to work [1]: what they do beyond the inertia of the bodies.

    The bodies need the forces M qacc + bias for their motion, with their own M and bias, and the given equations
    M' qacc + bias' say which forces there are; what these lack is done by the equations, as by damping in bias':

        P = v · (M qacc + bias - M' qacc - bias')

    `weight`: s. `acceleration` [nv] goes with the present state, and `velocity` [nv] is v. Overwrites qacc, qfrc_bias,
    qfrc_inverse, qstep.
    """
    position_stage(m, d, 0)
    for i in range(m.nv):
        d.qacc[i] = acceleration[i]
    inverse(m, d)
    for i in range(m.nv):
        d.qstep[i] = d.qfrc_inverse[i]
    inverse_dynamics(m, d)
    taken = 0.0 * d.time
    for i in range(m.nv):
        taken = taken + (d.qstep[i] - d.qfrc_inverse[i]) * velocity[i]
    work[0] += weight * taken
