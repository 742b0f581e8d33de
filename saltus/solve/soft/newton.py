"""Newton's method for the primal problem of soft constraints.

The accelerations minimise the convex cost ½ (a - a₀)ᵀ M (a - a₀) + Σ s(J a - a_ref) (see `saltus.contact.rows.cost`),
with gradient M a - f - Jᵀ force and Hessian M + Jᵀ W J; f are the forces without constraints. Where no constraint
changes its state along the step, one step is exact. Accelerations of prescribed dofs are given: the gradient and the
Hessian leave them out.
"""

from saltus.contact.counts import NITER, NROW
from saltus.contact.rows.blocks import times_rows
from saltus.contact.rows.cost import constraint_forces, row_residuals
from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.tree.factor import multiply
from saltus.dynamics.tree.guided.prescribed import put_prescribed
from saltus.model.enums import CONE_ELLIPTIC
from saltus.number.components import epsilon_of
from saltus.number.conditions import has, has_tangents
from saltus.number.functions import absolute, any_lane, sqrt, where
from saltus.number.kernels import kernel
from saltus.solve.soft.hessian import factor_hessian, hessian, solve_hessian
from saltus.solve.soft.hessian_pattern import hessian_pattern
from saltus.solve.soft.line_search import line_search
from saltus.solve.soft.rank_one_update import rebuild, update_hessian


@kernel
def newton(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if it did not converge in some lane, else 0.

    Starts from qacc_warmstart [nv] and leaves its result there, in the lanes with active rows. Reads M, qfrc_tau,
    qfrc_bias, the blocks. Writes row_force and qfrc_constraint [nv] (N, N m).

    A lane has converged when its gradient, or the decrease of cost that the next step promises, scaled by the mean
    inertia, is below the model's tolerance (MuJoCo documentation, Computation: Solver: Algorithms), or at rounding.
    Dual numbers then take one more full step: at the solution it changes no value, but gives exact tangents, since the
    gradient is zero there and only its own tangents count.
    """
    hessian_pattern(m, d)
    begin(m, d)
    live = d.constrained > 0.5
    lost = decrease_by_rounding(m, d)
    d.count[NITER] = 0
    rough = live
    for _ in range(m.opt_iterations):
        # gradient M a - f - Jᵀ force, convergence
        size, noise = gradient(m, d)
        rough = is_rough(m, d, size, noise)
        live = live & rough
        if not any_lane(live):
            break
        d.count[NITER] = d.count[NITER] + 1
        # Hessian M + Jᵀ W J: factored anew, or updated by rank one
        if has(m, "prescribed") or d.count[NITER] == 1 or m.opt_cone == CONE_ELLIPTIC:
            hessian(m, d)
            inexact = factor_hessian(m, d)
            if m.opt_cone != CONE_ELLIPTIC:
                rebuild(m, d, live & inexact)
        else:
            update_hessian(m, d, live)
        # Newton direction, exact line search along it
        slope = search_direction(m, d)
        promising = (-0.5 * m.opt_scale * slope >= m.opt_tolerance) & (-slope > lost)
        step(m, d, line_search(m, d, live, slope, lost))
        live = live & promising
    else:
        size, noise = gradient(m, d)
        rough = is_rough(m, d, size, noise)
        live = live & rough
    # one more whole step for exact tangents
    if has_tangents(d):
        hessian(m, d)
        factor_hessian(m, d)
        search_direction(m, d)
        step(m, d, d.constrained)
        gradient(m, d)
    forces_reached(m, d, rough)
    return 1 if any_lane(live) else 0


@kernel
def is_rough(m, d, size, noise):
    """Lanes with active rows whose gradient, of length `size`, is above both the tolerance and rounding (`noise`)."""
    return (d.constrained > 0.5) & (m.opt_scale * size >= m.opt_tolerance) & (size > noise)


@kernel
def forces_reached(m, d, rough):
    """qfrc_constraint [nv] ← M a - f in the lanes that are `rough`: the forces consistent with the final accelerations.

    Row forces come from residuals that truncation or rounding has left inexact, which stiff rows amplify.
    """
    if any_lane(rough):
        for i in awake_dofs(m, d):
            reached = d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i])
            if has(m, "prescribed") and m.dof_prescribed[i]:
                reached = d.qfrc_constraint[i]
            d.qfrc_constraint[i] = where(rough, reached, d.qfrc_constraint[i])


@kernel
def begin(m, d):
    """solve_Ma ← M a and row_residual at the start."""
    put_prescribed(m, d, d.qacc_warmstart)
    multiply(m, d, d.qacc_warmstart, d.solve_Ma)
    row_residuals(m, d, d.qacc_warmstart)


@kernel(sums=True)
def decrease_by_rounding(m, d):
    """Rounding level of the cost: Σ D (ε a_ref)², for residual errors of a few units in the last place.

    With stiff rows the gradient never falls below the rounding of the forces themselves.
    """
    total = 0.0 * d.time
    for r in range(d.count[NROW]):
        total = total + d.row_D[r] * d.row_aref[r] * d.row_aref[r]
    error = 8.0 * epsilon_of(total)
    return error * error * total


@kernel(sums=True)
def gradient(m, d):
    """Forces at the present accelerations; returns the length of the gradient, and its rounding level.

    Writes row_force, qfrc_constraint and solve_gradient [nv].
    """
    zero = 0.0 * d.time
    constraint_forces(m, d)
    square = zero
    terms = zero
    for i in awake_dofs(m, d):
        smooth = d.qfrc_tau[i] - d.qfrc_bias[i]
        g = d.solve_Ma[i] - smooth - d.qfrc_constraint[i]
        if has(m, "prescribed") and m.dof_prescribed[i]:
            g = zero
        d.solve_gradient[i] = g
        square = square + g * g
        size = absolute(d.solve_Ma[i]) + absolute(smooth) + absolute(d.qfrc_constraint[i])
        terms = terms + size * size
    return sqrt(square), 4.0 * epsilon_of(zero) * sqrt(terms)


@kernel
def search_direction(m, d):
    """solve_search ← s = -H⁻¹ gradient; returns the slope of the cost along it.

    Writes solve_Msearch [nv] = M s and row_search = J s.
    """
    for i in awake_dofs(m, d):
        d.solve_search[i] = -d.solve_gradient[i]
    solve_hessian(m, d, d.solve_search)
    return along_search(m, d)


@kernel(sums=True)
def along_search(m, d):
    """solve_Msearch ← M s and row_search ← J s of s = solve_search; returns the slope of the cost along it."""
    multiply(m, d, d.solve_search, d.solve_Msearch)
    times_rows(m, d, d.solve_search, d.row_search)
    slope = 0.0 * d.time
    for i in awake_dofs(m, d):
        slope = slope + d.solve_gradient[i] * d.solve_search[i]
    return slope


@kernel
def step(m, d, alpha):
    """a ← a + alpha s, with M a and the residuals."""
    for i in awake_dofs(m, d):
        d.qacc_warmstart[i] = d.qacc_warmstart[i] + alpha * d.solve_search[i]
        d.solve_Ma[i] = d.solve_Ma[i] + alpha * d.solve_Msearch[i]
    for r in range(d.count[NROW]):
        d.row_residual[r] = d.row_residual[r] + alpha * d.row_search[r]
