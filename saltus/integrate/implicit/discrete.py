"""The discrete-time integrator of MuJoCo 4.0, `discrete`: implicit in springs, dampers and constraints.

    (M + h D + h² K) a = f(q, v) - h K v + Jᵀ f_c(J a),   v' = v + h a,   q' = q ⊕ h v'

K and D are those of deformable bodies and of the springs and dampers of joints, none of them negative. The constraint
forces f_c are evaluated at the end of the step (see `saltus.solve.soft.discrete_rows`); those of a user-defined contact
law are part of f. Free bodies without attached bodies and active constraints then get the gyroscopic terms of
`implicitfast`. Elastic bodies lose energy at a rate that grows with the step size; `energy_momentum` conserves it.
Unlike MuJoCo's, accelerations read between steps are those of continuous time.
"""

from saltus.contact.counts import NBLOCK, NLOST
from saltus.contact.rows.blocks import chained_dof
from saltus.contact.rows.cost import constraint_forces, row_residuals
from saltus.dynamics.equations import bias_force, joint_inertia, velocity_derivative
from saltus.dynamics.flex.tangent import add_flex_tangent, flex_metric
from saltus.dynamics.smooth import force_stage, position_stage
from saltus.dynamics.stiffness import spring_slopes
from saltus.dynamics.tree.bias_derivative import clear_derivative
from saltus.dynamics.tree.factor import multiply
from saltus.dynamics.tree.unsymmetric import unsymmetric_solve
from saltus.integrate.implicit.newton_convergence import LEAST, begin_balance, change_size, far, remember_balance
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import advance
from saltus.number.conditions import has
from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import add_touch, find_rows, grip, user_contact_forces
from saltus.solve.implicit.implicit_newton import balance_change
from saltus.solve.implicit.implicit_operator import metric_times
from saltus.solve.inverse import take_off_constraints
from saltus.solve.soft.discrete_rows import fold_rows
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED, OK

ITERATIONS = 60
LINEAR = 1e-3  # tolerance of conjugate gradients
RODS = 0.03  # for rods, whose contacts change from one Newton step to the next
TOLERANCE = 1e-13  # tolerance of an iteration's change of velocity, relative to the largest velocity


@kernel
def step(m, d, h):
    """One step of h seconds; returns a status."""
    assemble(m, d, h)
    # implicit solve for a, warm-started
    begin_balance(m, d)
    status = solve_step(m, d, h)
    # v' and q', with gyroscopic terms of free bodies
    final_forces(m, d)
    turn_free_bodies(m, d, h)
    advance(m, d, h)
    return CONTACTS_FULL if d.count[NLOST] > 0 else status


@kernel
def assemble(m, d, h):
    """Forces f(q, v), inertia, and the metric and rows of a step of h seconds."""
    position_stage(m, d, 1)
    grip(m, d)
    force_stage(m, d, 1)
    user_contact_forces(m, d)
    add_touch(m, d, d.qfrc_tau)
    joint_inertia(m, d)
    bias_force(m, d, d)
    metric_of_step(m, d, h)


@kernel
def inverse_of_step(m, d, h):
    """qfrc_inverse [nv] ← actuator and applied forces (N, N m) under which a step has the accelerations qacc [nv].

    For models without lone free bodies, whose gyroscopic terms come after the solve.
    """
    assemble(m, d, h)
    # (M + h D + h² K) a - f + h K v, with the actuator and applied forces taken out of f
    metric_times(m, d, d.qacc, d.metric_force)
    for i in range(m.nv):
        driving = d.qfrc_tau[i] - d.qfrc_passive[i]
        d.qfrc_inverse[i] = d.metric_force[i] - d.qfrc_smooth[i] + driving
    # contact forces of a user's law, counted among the driving ones so far, and those of rows
    take_off_constraints(m, d)


@kernel
def metric_of_step(m, d, h):
    """M ← M + h D + h² K of joints; deformable bodies' part; constraint rows; qfrc_smooth [nv] ← f - h K v (N, N m)."""
    # right-hand side f - h K v and shift of the inertia's diagonal, for joints
    spring_slopes(m, d)
    for i in range(m.nv):
        shift = h * d.qfrc_spring_slope[i] * d.qvel[i]
        d.qfrc_smooth[i] = d.qfrc_tau[i] - d.qfrc_bias[i] - shift
        d.slope[i] = h * d.qfrc_damper_slope[i] + h * h * d.qfrc_spring_slope[i]
        d.metric_change[i] = 0.0 * d.time
    rows(m, d, h)
    for i in range(m.nv):
        k = m.M_rowadr[i] + m.M_rownnz[i] - 1
        d.M[k] = d.M[k] + d.slope[i]
    # h K v of deformable bodies, then their h² K + h D
    flex_metric(m, d, h, 0.0)
    d.metric_reference = 0.0 * d.time  # reference twists of rods count in h² K alone, as in MuJoCo
    add_flex_tangent(m, d, d.qvel, d.metric_change)
    for i in range(m.nv):
        d.qfrc_smooth[i] = d.qfrc_smooth[i] - d.metric_change[i]
    flex_metric(m, d, h * h, h)


@only_with("constraint")
@kernel
def rows(m, d, h):
    """All constraint rows, with forces at the end of the step."""
    find_rows(m, d)
    fold_rows(m, d, h)


@kernel
def solve_step(m, d, h):
    """qacc [nv] ← the accelerations a of the step; returns a status.

    The accelerations minimise a convex cost. Each Newton step is solved to the tolerance of conjugate gradients; steps
    are repeated until their change is rounding, or by the model's tolerance (see `decrease_to_leave`).
    """
    live = 0.0 * d.time < 1.0
    last = 0.0 * d.time + 1e300
    goal = decrease_to_leave(m, d)
    for k in range(ITERATIONS):
        # residual (M + h D + h² K) a - f, rows
        metric_times(m, d, d.qacc, d.metric_force)
        for i in range(m.nv):
            d.metric_force[i] = d.metric_force[i] - d.qfrc_smooth[i]
        residuals(m, d)
        # Newton step, in the lanes that have not converged
        balance_change(m, d, live, RODS if has(m, "rodband") else LINEAR, k > 0, goal)
        size, scale = change_size(m, d, h, d.qvel)
        for i in range(m.nv):
            d.qacc[i] = d.qacc[i] + where(live, d.metric_change[i], 0.0 * size)
        live = live & far(size, scale, last, TOLERANCE, LEAST / h)
        last = size
        if not any_lane(live):
            return OK
    return NOT_CONVERGED


@only_with("rodband", otherwise="0.0 * d.time")
@kernel
def decrease_to_leave(m, d):
    """Twice the decrease of the cost that may be left, which is the model's tolerance after scaling; for rods alone.

    It is then gᵀ P⁻¹ g of the gradient g, with the preconditioner P. With rods that touch each other P is not the whole
    matrix, and to solve to rounding takes three times as many iterations.
    """
    return 0.0 * d.time + 2.0 * m.opt_tolerance / m.opt_scale


@only_with("constraint")
@kernel
def residuals(m, d):
    """row_residual at the accelerations qacc."""
    row_residuals(m, d, d.qacc)


@only_with("constraint")
@kernel
def final_forces(m, d):
    """Forces of all rows, and the warm start of the next step."""
    row_residuals(m, d, d.qacc)
    constraint_forces(m, d)
    add_touch(m, d, d.qfrc_constraint)
    remember_balance(m, d)


@kernel
def turn_free_bodies(m, d, h):
    """Accelerations of free bodies with the velocity derivative of their gyroscopic forces.

    Only free bodies without attached bodies and active constraints are changed. Writes qacc [nv]. Overwrites lower,
    upper, metric_change, metric_search.
    """
    if m.has_freebody:
        # right-hand side M a, and A = M + h ∂bias/∂v of free bodies
        clear_derivative(m, d)
        multiply(m, d, d.qacc, d.metric_force)
        for i in range(m.nv):
            d.metric_change[i] = d.qacc[i]
            d.metric_search[i] = 0.0 * d.time
        velocity_derivative(m, d, 1)
        for k in range(m.nC):
            d.upper[k] = d.M[k] + h * d.upper[k]
            d.lower[k] = d.M[k] + h * d.lower[k]
        # A⁻¹ M a
        unsymmetric_solve(m, d, d.metric_force)
        # used by free bodies without active constraints
        mark_constrained(m, d)
        for i in range(m.nv):
            d.qacc[i] = d.metric_change[i]
            if m.dof_freebody[i]:
                first = m.body_dofadr[m.dof_bodyid[i]]
                touched = 0.0 * d.time
                for k in range(first, first + 6):
                    touched = touched + d.metric_search[k]
                d.qacc[i] = where(touched > 0.5, d.metric_change[i], d.metric_force[i])


@only_with("constraint")
@kernel
def mark_constrained(m, d):
    """metric_search [nv] ← 1 for degrees of freedom on which a constraint acts."""
    one = 1.0 + 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        acts = d.row_D[d.block_row[b]] > 0.0
        for c in range(d.block_num[b]):
            i = chained_dof(m, d, d.block_dofs[b] + c)
            d.metric_search[i] = where(acts, one, d.metric_search[i])


DISCRETE = Integrator(
    name="discrete",
    order=1,
    kind="implicit",
    reference="MuJoCo documentation, Computation: Numerical integration (discrete-time)",
    step=step,
    needs={"implicit": True, "pcg": True},
    authored_laws=True,
    leaves="implicit",
)
