"""Nonlinear conjugate gradients for the primal problem of soft constraints.

The method minimises the convex cost of `saltus.solve.soft.newton` without its Hessian: preconditioned by M, with the
same exact line search and the directions s' = -M⁻¹ g + β s of Hager & Zhang (A new conjugate gradient method with
guaranteed descent and an efficient line search, SIAM J. Optim. 16 (2005)):

    β = (y - 2 s (y · M⁻¹ y) / (s · y)) · M⁻¹ g / (s · y),    y the change of the gradient g,

bounded below. Memory and cost per iteration grow only with the non-zeros of M and J.
"""

from saltus.contact.counts import NITER
from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.tree.factor import factor, solve
from saltus.number.functions import any_lane, maximum, minimum, sqrt, where
from saltus.number.kernels import kernel
from saltus.solve.soft.line_search import line_search
from saltus.solve.soft.newton import along_search, begin, decrease_by_rounding, forces_reached, gradient, is_rough, step

ETA = 0.01  # parameter of the lower bound of β
TINY = 1e-30


@kernel
def cg(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if it did not converge in some lane, else 0.

    Starts from qacc_warmstart [nv] and leaves its result there, in the lanes with active rows. Reads M, qfrc_tau,
    qfrc_bias, the blocks. Writes row_force, qfrc_constraint [nv] (N, N m), count[NITER] and the factors of M.
    Overwrites cg_gradient, cg_Mgradient, solve_search.

    A lane has converged when its gradient, the decrease of cost in the last step, or ½ g · M⁻¹ g, an upper bound of the
    remaining decrease, scaled by the mean inertia, is below the model's tolerance, or at rounding.
    """
    factor(m, d)
    begin(m, d)
    live = d.constrained > 0.5
    lost = decrease_by_rounding(m, d)
    d.count[NITER] = 0
    # start: steepest descent in the metric of M
    size, noise = gradient(m, d)
    decrement = precondition(m, d)
    for i in awake_dofs(m, d):
        d.solve_search[i] = -d.solve_Mgradient[i]
    rough = is_rough(m, d, size, noise)
    for _ in range(m.opt_iterations):
        live = live & rough & (0.5 * m.opt_scale * decrement >= m.opt_tolerance)
        if not any_lane(live):
            break
        d.count[NITER] = d.count[NITER] + 1
        # exact line search along the direction
        slope = along_search(m, d)
        alpha = line_search(m, d, live, slope, lost)
        step(m, d, alpha)
        # gradient before and after the step
        for i in awake_dofs(m, d):
            d.cg_gradient[i] = d.solve_gradient[i]
            d.cg_Mgradient[i] = d.solve_Mgradient[i]
        size, noise = gradient(m, d)
        rough = is_rough(m, d, size, noise)
        decrement = precondition(m, d)
        # decrease of the last step, quadratic where no constraint changes its state
        live = live & (-0.5 * m.opt_scale * alpha * slope >= m.opt_tolerance)
        turn(m, d, size)
    forces_reached(m, d, rough)
    return 1 if any_lane(live & rough) else 0


@kernel(sums=True)
def precondition(m, d):
    """solve_Mgradient ← M⁻¹ g; returns g · M⁻¹ g."""
    for i in awake_dofs(m, d):
        d.solve_Mgradient[i] = d.solve_gradient[i]
    solve(m, d, d.solve_Mgradient)
    total = 0.0 * d.time
    for i in awake_dofs(m, d):
        total = total + d.solve_gradient[i] * d.solve_Mgradient[i]
    return total


@kernel(sums=True)
def turn(m, d, size):
    """solve_search ← the next direction, for a gradient of length `size`."""
    zero = 0.0 * size
    # products of the change y of the gradient, the direction s and M⁻¹
    sy = yMy = yMg = sg = ss = zero
    for i in awake_dofs(m, d):
        y = d.solve_gradient[i] - d.cg_gradient[i]
        s = d.solve_search[i]
        sy = sy + s * y
        yMy = yMy + y * (d.solve_Mgradient[i] - d.cg_Mgradient[i])
        yMg = yMg + y * d.solve_Mgradient[i]
        sg = sg + s * d.solve_gradient[i]
        ss = ss + s * s
    # β of Hager & Zhang, bounded below
    curved = sy > TINY
    divisor = where(curved, sy, zero + 1.0)
    beta = (yMg - 2.0 * yMy / divisor * sg) / divisor
    least = -1.0 / maximum(sqrt(ss) * minimum(zero + ETA, size), zero + TINY)
    beta = where(curved, maximum(beta, least), zero)
    for i in awake_dofs(m, d):
        d.solve_search[i] = beta * d.solve_search[i] - d.solve_Mgradient[i]
