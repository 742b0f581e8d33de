"""Constrained forward dynamics: accelerations from state and inputs."""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.modes import count_closed
from saltus.contact.rows.user_compliance import has_law
from saltus.dynamics.smooth import force_stage, free_forward, position_stage, solve_stage
from saltus.dynamics.tree.factor import solve
from saltus.model.event_enums import LEFT
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import constrain, grip
from saltus.solve.event.constrained_acceleration import held_motion, row_drifts
from saltus.solve.stepping.time_stepping import accelerate

TOLERANCE = 1e-9  # of contact forces in time stepping; see `saltus.integrate.fixed.moreau_jean`


@kernel
def forces(m, d, compute_all):
    """All forces at the present state, ready for `solve_stage`; returns a status.

    With `compute_all`, also the quantities that only users and derivatives read.
    """
    row_drifts(m, d)
    position_stage(m, d, compute_all)
    grip(m, d)
    force_stage(m, d, compute_all)
    return constrain(m, d)


@kernel
def free_stage(m, d):
    """qacc [nv] from the forces, without constraints and without the factor of M."""
    solve_stage(m, d, 0.0, d.qfrc_damper_slope)


@kernel
def acceleration(m, d):
    """Accelerations qacc [nv] of the present state; returns a status."""
    status = forces(m, d, 0)
    held_stage(m, d)
    return status


@only_with("event", otherwise=free_stage)
@kernel
def held_stage(m, d):
    """qacc [nv] from the forces; with active constraints, by the factor of M that `enforce_active_set` has made."""
    if d.count[NBLOCK] == 0:
        free_stage(m, d)
    else:
        held_motion(m, d)


@kernel
def forward(m, d):
    """All fields of Data at the present state, with accelerations by the factor of M; returns a status."""
    count_closed(m, d)
    row_drifts(m, d)
    forward_grip(m, d)
    free_forward(m, d)
    return constrained_forward(m, d)


@only_with("adhere")
@kernel
def forward_grip(m, d):
    """Moment arms of adhesion actuators, for `free_forward`."""
    position_stage(m, d, 0)
    grip(m, d)


@only_with("constraint", "event", otherwise="0")
@kernel
def soft_forward(m, d):
    """Constraint forces, and the accelerations qacc [nv] with them; returns a status."""
    status = constrain(m, d)
    if d.count[NBLOCK] > 0 or has_law(m):
        for i in range(m.nv):
            d.qacc[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
        solve(m, d, d.qacc)
    return status


@only_with("event", otherwise=soft_forward)
@kernel
def located_forward(m, d):
    """`soft_forward` with event location; during time stepping over dense events, the means over such a step."""
    if d.dense[LEFT] > 0.0:
        return accelerate(m, d, m.opt_dense_step, TOLERANCE)
    return soft_forward(m, d)


@only_with("stepping", otherwise=located_forward)
@kernel
def constrained_forward(m, d):
    """`soft_forward` under the hard law: the means over a time step from the present state."""
    return accelerate(m, d, d.timestep, TOLERANCE)
