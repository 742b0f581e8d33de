"""Time stepping under the hard contact law: mean accelerations and forces of a step (Moreau-Jean)."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK, NLOST, NUNSOLVED
from saltus.dynamics.equations import bias_force, joint_inertia
from saltus.dynamics.smooth import force_stage, solve_stage
from saltus.dynamics.tree.factor import multiply_by
from saltus.dynamics.tree.guided.prescribed import put_prescribed, solve_hybrid
from saltus.number.components import zero_like
from saltus.number.conditions import has
from saltus.number.functions import any_lane
from saltus.number.kernels import kernel, only_with
from saltus.solve.soft.dual.problem import dual_matrices, dual_problem, free_residuals
from saltus.solve.status import CONTACTS_FULL, OK, UNSOLVED
from saltus.solve.stepping.hard_rows import find_hard_rows
from saltus.solve.stepping.implicit_inertia import step_damping, step_inertia
from saltus.solve.stepping.least_forces import least_forces
from saltus.solve.stepping.nonlinear_gauss_seidel import moreau
from saltus.solve.stepping.warm_start import recall_forces

LEAST_SWEEPS, WORK = 300, 300000.0  # Gauss-Seidel limit: number of sweeps, or more up to a number of row updates
DENSE_SWEEPS = 100  # number of sweeps in steps over dense events, which are short and start from the last step's forces
PREDICTIONS = 2  # predictions of the velocities v⁻ + θ (v⁺ - v⁻) within a step
ROUGH, ROUGH_SWEEPS = 1e-3, 10  # tolerance and sweeps of a prediction
FREE = -1  # no active constraint


@kernel
def mean_accelerations(m, d, h, theta, tolerance):
    """Accelerations qacc [nv] = (v⁺ - v⁻)/h of a step of h seconds from the velocities qvel; returns a status, by lane.

    At the positions of `position_stage`, with the forces at the velocities v⁻ + θ (v⁺ - v⁻), by a simplified Newton
    iteration with only the dampers' part S of the force derivatives (see `saltus.solve.stepping.implicit_inertia`):
    from the last guess w,

        (M + θ h S) a = f(w) + S (w - v⁻) + Jᵀ P/h,   then w = v⁻ + θ h a.

    This is implicit in forces linear in velocity with derivative -S. For the others the guesses, each with nearly
    correct contact forces, are accurate enough that θ = 1/2 is of order two in smooth motion. These include gyroscopic
    terms, whose derivative is not symmetric: with y = h ω, three evaluations change the square of an oscillation of
    frequency ω by 1 - y⁴/4 + y⁶/16, which is stable for y < 2, whereas one makes it grow by 1 + y² and two by 1 + y⁴/4.
    Writes row_force and qfrc_constraint [nv] (N, N m), the impulses of the step over h. Overwrites qstep.
    `tolerance`: see `saltus.solve.stepping.nonlinear_gauss_seidel`.
    """
    for i in range(m.nv):
        d.qstep[i] = d.qvel[i]
        d.qacc[i] = 0.0 * d.time
    put_prescribed(m, d, d.qacc)
    status = zero_like(d.time) + OK
    for k in range(PREDICTIONS + 1):
        # forces at the guess w
        force_stage(m, d, 0)
        # matrix M + θ h S and rows, once a step
        if k == 0:
            step_damping(m, d)
            step_inertia(m, d, theta * h)
            if begin_rows(m, d, h) == CONTACTS_FULL:
                return status + CONTACTS_FULL
        # a from the linearised equations, then the next guess w = v⁻ + θ h a
        last = k == PREDICTIONS
        status = newton_step(m, d, theta * h, tolerance if last else ROUGH, last)
        for i in range(m.nv):
            d.qvel[i] = d.qstep[i] if last else d.qstep[i] + theta * h * d.qacc[i]
    return status


@only_with("constraint", otherwise="0")
@kernel
def begin_rows(m, d, h):
    """Rows of the step, their initial forces, and the matrices of the dual problem; returns a status."""
    find_hard_rows(m, d, h)
    if d.count[NLOST] > 0:
        return CONTACTS_FULL
    if d.count[NBLOCK] == 0:
        for i in range(m.nv):
            d.qfrc_constraint[i] = 0.0
    else:
        dual_matrices(m, d)
        recall_forces(m, d)
    return OK


@kernel
def newton_step(m, d, weight, tolerance, last):
    """qacc [nv] from the forces at the last guess, which was made with qacc; returns a status, by lane.

    `weight`: θ h (s).
    """
    bias_force(m, d, d)
    multiply_by(m, d, d.lower, d.qacc, d.slope)
    for i in range(m.nv):
        d.qacc_smooth[i] = d.qfrc_tau[i] - d.qfrc_bias[i] + weight * d.slope[i]
    solve_hybrid(m, d, d.qacc_smooth)
    if is_free(m, d):
        for i in range(m.nv):
            d.qacc[i] = d.qacc_smooth[i]
        return zero_like(d.time) + OK
    return push_apart(m, d, tolerance, last)


@only_with("constraint", otherwise="True")
@kernel
def is_free(m, d):
    """Whether there are no rows."""
    return d.count[NBLOCK] == 0


@only_with("constraint", otherwise="0.0 * d.time")
@kernel
def push_apart(m, d, tolerance, last):
    """Row forces, and qacc [nv] with them, to full accuracy in the `last` iteration; returns a status, by lane."""
    free_residuals(m, d)
    if not last:
        moreau(m, d, tolerance, ROUGH_SWEEPS, 0.0, False)
        return zero_like(d.time) + OK
    if has(m, "event"):
        return note_unsolved(d, moreau(m, d, tolerance, DENSE_SWEEPS, 0.0, True))
    return note_unsolved(d, moreau(m, d, tolerance, LEAST_SWEEPS, WORK, True))


@kernel
def accelerate(m, d, h, tolerance):
    """Mean accelerations after `force_stage`, with the forces at qvel itself; for inspection, not for stepping."""
    status = constrained(m, d, h, tolerance)
    if status == FREE:
        solve_stage(m, d, 0.0, d.qfrc_damper_slope)
        return OK
    return status


@only_with("constraint", otherwise="-1")
@kernel
def constrained(m, d, h, tolerance):
    """Mean accelerations over a step with active rows; returns a status, `FREE` without any.

    Forces that are not determined are those of least norm.
    """
    find_hard_rows(m, d, h)
    if d.count[NLOST] > 0:
        return CONTACTS_FULL
    if d.count[NBLOCK] == 0:
        for i in range(m.nv):
            d.qfrc_constraint[i] = 0.0
        return FREE
    joint_inertia(m, d)
    bias_force(m, d, d)
    dual_problem(m, d)
    recall_forces(m, d)
    status = note_unsolved(d, moreau(m, d, tolerance, LEAST_SWEEPS, WORK, True))
    least_forces(m, d)
    return int(status)


@kernel
def note_unsolved(d, unconverged):
    """Count an iteration that has not converged, where `unconverged` is 1, in any lane; returns the status, by lane."""
    if any_lane(unconverged > 0.5):
        d.count[NUNSOLVED] = d.count[NUNSOLVED] + 1
    return UNSOLVED * unconverged
