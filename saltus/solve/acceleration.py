"""Constrained forward dynamics: accelerations from state and inputs."""

from saltus.contact.counts import NBLOCK
from saltus.contact.event.modes import count_closed
from saltus.contact.rows.user_compliance import GIVEN
from saltus.dynamics.awake.lists import list_awake, list_everything
from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.motions import prescribe
from saltus.dynamics.smooth import force_stage, free_forward, position_stage, solve_stage
from saltus.dynamics.tree.guided.prescribed import prescribed_forces, solve_hybrid
from saltus.model.event_enums import LEFT
from saltus.number.conditions import has, has_tangents
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import constrain, grip
from saltus.solve.event.constrained_acceleration import held_motion, row_drifts
from saltus.solve.event.shared_forces import forget_forces
from saltus.solve.sleep.calls import begin_sleeping, keep_asleep_at_rest
from saltus.solve.sleep.waking import wake
from saltus.solve.stepping.time_stepping import accelerate

TOLERANCE = 1e-9  # tolerance of contact forces in time stepping; see `saltus.integrate.fixed.moreau_jean`


@kernel
def forces(m, d, compute_all):
    """All forces at the present state, ready for `solve_stage`; returns a status.

    With `compute_all`, also compute quantities that only users and derivatives read.
    """
    if has(m, "event"):
        prescribe(m, d)
    row_drifts(m, d)
    position_stage(m, d, compute_all)
    wake(m, d, compute_all)
    grip(m, d)
    force_stage(m, d, compute_all)
    return constrain(m, d)


@kernel
def acceleration(m, d):
    """Accelerations qacc [nv] of the present state; returns a status."""
    status = forces(m, d, 0)
    held_stage(m, d)
    return status


@kernel
def held_stage(m, d):
    """qacc [nv] from the forces; with active constraints, by the factor of M that `enforce_active_set` has made."""
    if has(m, "event") and d.count[NBLOCK] > 0:
        held_motion(m, d)
    else:
        solve_stage(m, d, 0.0, d.qfrc_damper_slope)


@kernel
def forward(m, d):
    """All fields of Data at the present state, with accelerations by the factor of M; returns a status."""
    if has(m, "sleep"):
        return forward_of_awake(m, d)
    status = forward_of_all(m, d)
    prescribed_forces(m, d)
    return status


@kernel
def forward_of_all(m, d):
    """All fields of Data at the present state if no trees sleep, without the forces of prescribed motions."""
    prescribe(m, d)
    forget_forces(m, d)
    count_closed(m, d)
    row_drifts(m, d)
    if has(m, "adhere", "adhesive"):  # these forces depend on contacts
        position_stage(m, d, 0)
        grip(m, d)
    free_forward(m, d)
    # under the hard law of time stepping, means over a step; with located events only while these are dense
    if has(m, "stepping"):
        return accelerate(m, d, d.timestep, TOLERANCE)
    if has(m, "event") and not has_tangents(d) and d.dense[LEFT] > 0.0:  # which have no derivatives
        return accelerate(m, d, m.opt_dense_step, TOLERANCE)
    return constrained_forward(m, d)


@kernel
def forward_of_awake(m, d):
    """All fields of Data at the present state if trees may sleep: sleeping ones have no accelerations or forces."""
    begin_sleeping(m, d)
    wake(m, d, 1)
    grip(m, d)
    list_everything(m, d)
    free_forward(m, d)
    list_awake(m, d)
    status = constrained_forward(m, d)
    list_everything(m, d)
    keep_asleep_at_rest(m, d)
    return status


@only_with("constraint", "event", otherwise="0")
@kernel
def constrained_forward(m, d):
    """Constraint forces, and the accelerations qacc [nv] with them; returns a status."""
    status = constrain(m, d)
    if d.count[NBLOCK] > 0 or has(m, GIVEN):
        for i in awake_dofs(m, d):
            d.qacc[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
        solve_hybrid(m, d, d.qacc)
    return status
