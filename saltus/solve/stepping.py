"""Mean accelerations and forces of a step of time under the hard law of contact."""

from saltus.contact.counts import NBLOCK, NLOST, NUNSOLVED
from saltus.dynamics.equations import bias_force, joint_inertia
from saltus.dynamics.smooth import solve_stage
from saltus.number.kernels import kernel, only_with
from saltus.solve.hard_rows import find_hard_rows
from saltus.solve.moreau import moreau
from saltus.solve.past_forces import recall_forces, remember_forces
from saltus.solve.status import CONTACTS_FULL, OK, UNSOLVED

LEAST_SWEEPS, WORK = 300, 300000.0  # of the iteration: sweeps, updates of rows


FREE = -1  # no constraint acts


@kernel
def accelerate(m, d, h, damped, tolerance):
    """Accelerations qacc [nv] = (v⁺ - v⁻)/h of a step of h seconds, after `force_stage`; returns a status.

    `damped` times the dampers' slopes resist like inertia. Writes row_force and qfrc_constraint [nv] (N, N m), the
    step's impulses over h. `tolerance`: see `saltus.solve.moreau`.
    """
    status = constrained(m, d, h, damped, tolerance)
    if status == FREE:
        solve_stage(m, d, damped, d.qfrc_damper_slope)
        return OK
    return status


@only_with("constraint", otherwise="-1")
@kernel
def constrained(m, d, h, damped, tolerance):
    """`accelerate` where any row acts; returns a status, `FREE` where none does."""
    find_hard_rows(m, d, h)
    if d.count[NLOST] > 0:
        return CONTACTS_FULL
    if d.count[NBLOCK] == 0:
        for i in range(m.nv):
            d.qfrc_constraint[i] = 0.0
        d.past_count = 0.0
        return FREE
    joint_inertia(m, d)
    if damped > 0.0:
        for i in range(m.nv):
            k = m.M_rowadr[i] + m.M_rownnz[i] - 1
            d.M[k] = d.M[k] + damped * d.qfrc_damper_slope[i]
    bias_force(m, d, d)
    recall_forces(m, d)
    unconverged = moreau(m, d, tolerance, LEAST_SWEEPS, WORK)
    remember_forces(m, d)
    if unconverged:
        d.count[NUNSOLVED] = d.count[NUNSOLVED] + 1
        return UNSOLVED
    return OK
