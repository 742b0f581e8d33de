"""Newton's method for the accelerations under soft constraints.

They minimise the convex cost ½ (a - a₀)ᵀ M (a - a₀) + Σ s(J a - a_ref) (see `saltus.contact.rows.cost`), whose gradient
is M a - f - Jᵀ force and whose Hessian M + Jᵀ W J; f are the forces without constraints. Where no constraint changes
its state on the way, one step is exact.
"""

from saltus.contact.counts import NITER, NROW
from saltus.contact.rows.blocks import times_rows
from saltus.contact.rows.cost import constraint_forces, row_residuals
from saltus.dynamics.tree.factor import multiply
from saltus.number.functions import absolute, any_lane, epsilon_of, has_tangents, sqrt, where
from saltus.number.kernels import kernel
from saltus.solve.soft.hessian import factor_hessian, hessian, solve_hessian
from saltus.solve.soft.hessian_pattern import hessian_pattern
from saltus.solve.soft.line_search import line_search
from saltus.solve.soft.rank_one_update import update_hessian


@kernel
def newton(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if it did not converge in some lane, else 0.

    Starts from qacc_warmstart [nv] and leaves its result there, in the lanes that any row acts on. Reads M, qfrc_tau,
    qfrc_bias, the blocks. Writes row_force and qfrc_constraint [nv] (N, N m).

    A lane has converged when its gradient, or the decrease of cost that the next step promised, scaled by the mean
    inertia, is below the model's tolerance (MuJoCo documentation, Computation: Solver: Algorithms), or at rounding.
    Duals then take one more whole step: at the solution it changes no value, but gives exact tangents, since the
    gradient is zero there and only its own tangents count.
    """
    hessian_pattern(m, d)
    begin(m, d)
    live = d.constrained > 0.5
    lost = decrease_by_rounding(m, d)
    d.count[NITER] = 0
    rough = live
    for _ in range(m.opt_iterations):
        size, noise = gradient(m, d)
        rough = is_rough(m, d, size, noise)
        live = live & rough
        if not any_lane(live):
            break
        d.count[NITER] = d.count[NITER] + 1
        if d.count[NITER] == 1 or m.opt_cone:
            hessian(m, d)
            factor_hessian(m, d)
        else:
            update_hessian(m, d, live)
        slope = search_direction(m, d)
        promising = (-0.5 * m.opt_scale * slope >= m.opt_tolerance) & (-slope > lost)
        step(m, d, line_search(m, d, live, slope))
        live = live & promising
    else:
        size, noise = gradient(m, d)
        rough = is_rough(m, d, size, noise)
        live = live & rough
    if has_tangents(d.time):
        hessian(m, d)
        factor_hessian(m, d)
        search_direction(m, d)
        step(m, d, d.constrained)
        gradient(m, d)
    forces_reached(m, d, rough)
    return 1 if any_lane(live) else 0


@kernel
def is_rough(m, d, size, noise):
    """Where rows act and a gradient of length `size` is neither below the tolerance nor rounding, which is `noise`."""
    return (d.constrained > 0.5) & (m.opt_scale * size >= m.opt_tolerance) & (size > noise)


@kernel
def forces_reached(m, d, rough):
    """In the lanes that are rough, qfrc_constraint [nv] ← M a - f, the forces that the accelerations reached come with.

    Those of rows belong to residuals that are off, by an iteration that stopped early or by rounding, and stiff rows
    make large forces of that.
    """
    if any_lane(rough):
        for i in range(m.nv):
            reached = d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i])
            d.qfrc_constraint[i] = where(rough, reached, d.qfrc_constraint[i])


@kernel
def begin(m, d):
    """M a and residuals at the start."""
    multiply(m, d, d.qacc_warmstart, d.solve_Ma)
    row_residuals(m, d, d.qacc_warmstart)


@kernel(sums=True)
def decrease_by_rounding(m, d):
    """What residuals' rounding errors make of the cost: Σ D (ε a_ref)², for errors of some units in the last place.

    Where stiff rows make forces of it, the gradient never gets below its own rounding.
    """
    total = 0.0 * d.time
    for r in range(d.count[NROW]):
        total = total + d.row_D[r] * d.row_aref[r] * d.row_aref[r]
    error = 8.0 * epsilon_of(total)
    return error * error * total


@kernel(sums=True)
def gradient(m, d):
    """Forces at the present accelerations; returns the length of the cost's gradient, and what of it is rounding.

    Writes row_force, qfrc_constraint and solve_gradient [nv].
    """
    zero = 0.0 * d.time
    constraint_forces(m, d)
    square = zero
    terms = zero
    for i in range(m.nv):
        smooth = d.qfrc_tau[i] - d.qfrc_bias[i]
        g = d.solve_Ma[i] - smooth - d.qfrc_constraint[i]
        d.solve_gradient[i] = g
        square = square + g * g
        size = absolute(d.solve_Ma[i]) + absolute(smooth) + absolute(d.qfrc_constraint[i])
        terms = terms + size * size
    return sqrt(square), 4.0 * epsilon_of(zero) * sqrt(terms)


@kernel
def search_direction(m, d):
    """solve_search ← -H⁻¹ gradient, and what it changes; returns the slope of the cost along it.

    Writes solve_Msearch [nv] = M s and row_search = J s of the direction s.
    """
    for i in range(m.nv):
        d.solve_search[i] = -d.solve_gradient[i]
    solve_hessian(m, d, d.solve_search)
    return along_search(m, d)


@kernel(sums=True)
def along_search(m, d):
    """What the direction solve_search changes; returns the slope of the cost along it."""
    multiply(m, d, d.solve_search, d.solve_Msearch)
    times_rows(m, d, d.solve_search, d.row_search)
    slope = 0.0 * d.time
    for i in range(m.nv):
        slope = slope + d.solve_gradient[i] * d.solve_search[i]
    return slope


@kernel
def step(m, d, alpha):
    """Go alpha times solve_search on."""
    for i in range(m.nv):
        d.qacc_warmstart[i] = d.qacc_warmstart[i] + alpha * d.solve_search[i]
        d.solve_Ma[i] = d.solve_Ma[i] + alpha * d.solve_Msearch[i]
    for r in range(d.count[NROW]):
        d.row_residual[r] = d.row_residual[r] + alpha * d.row_search[r]
