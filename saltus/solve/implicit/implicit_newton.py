"""Newton step of an implicit time step: linearised forces with the exact cost of the constraint rows.

With r the residual forces at the accelerations a, without those of constraint rows, and A₀ = M + s K + r D, the change
x minimises the convex cost

    ½ xᵀ A₀ x + r · x + Σ s(J (a + x) - a_ref),

with s the cost of each block of rows (see `saltus.contact.rows.cost`): by Newton's method with conjugate gradients and
an exact line search, so that rows may become active or inactive. Without rows it is one linear solve.
"""

from saltus.contact.counts import NBLOCK, NROW
from saltus.contact.rows.blocks import times_rows
from saltus.contact.rows.cost import constraint_forces
from saltus.number.conditions import has
from saltus.number.functions import any_lane, maximum, where
from saltus.number.kernels import kernel
from saltus.solve.implicit.implicit_operator import metric_times, renew_factor
from saltus.solve.implicit.pcg import pcg
from saltus.solve.soft.line_search import PRECISION, least_cost
from saltus.solve.soft.newton import decrease_by_rounding

ITERATIONS = 50
SHARE = 0.5  # of the goal, at which conjugate gradients end
DECREASE = 0.03  # decrease of the gradient relative to the start; the rest is left to the next outer step


@kernel
def linear_change(m, d, live, tolerance, kept):
    """metric_change ← -A₀⁻¹ metric_force in the lanes that are live, 0 in the others; `kept` as of `balance_change`."""
    for i in range(m.nv):
        d.metric_gradient[i] = d.metric_force[i]
    renew_factor(m, d, kept)
    pcg(m, d, live, tolerance, 0.0 * d.time)
    for i in range(m.nv):
        d.metric_change[i] = d.metric_search[i]


@kernel
def balance_change(m, d, live, tolerance, kept, goal):
    """metric_change ← the minimiser x of the cost in the lanes that are live, 0 in the others.

    Reads metric_force [nv] and the rows with their residuals at a, which it advances; under event location the rows
    of the active set count as forces. `tolerance`: of conjugate gradients. `kept`: A₀ and J are those of the last call.
    `goal`: where positive, the iteration ends when gᵀ P⁻¹ g of the gradient g is at most that, and after at least one
    Newton step if not `kept`; else when it has fallen by DECREASE².
    """
    if has(m, "event") or not has(m, "constraint") or d.count[NBLOCK] == 0:
        linear_change(m, d, live, tolerance, kept)
        return
    zero = 0.0 * d.time
    for i in range(m.nv):
        d.metric_change[i] = zero
        d.metric_product[i] = zero
    constrained = d.constrained > 0.5
    enough, lost = zero, decrease_by_rounding(m, d)
    share = SHARE if kept else 0.0
    for k in range(ITERATIONS):
        # gradient r + A₀ x - Jᵀ force
        constraint_forces(m, d)
        for i in range(m.nv):
            d.metric_gradient[i] = d.metric_force[i] + d.metric_product[i] - d.qfrc_constraint[i]
        # Newton direction by conjugate gradients, then exact line search
        renew_factor(m, d, kept or k > 0)
        slope, size = pcg(m, d, live, tolerance, where(goal > 0.0, share * goal, enough))
        if k == 0:
            # what rounding leaves cannot be decreased
            enough = maximum(where(goal > 0.0, goal, DECREASE * DECREASE * size), lost)
        live = live & (size > (enough if share > 0.0 else lost))
        share = SHARE
        if not any_lane(live):
            break
        move_on(m, d, live, slope, lost)
        # without rows the cost is quadratic, and one step exact
        live = live & constrained


@kernel(sums=True)
def move_on(m, d, live, slope, lost):
    """Exact line search along metric_search; advances metric_change, metric_product and row_residual."""
    metric_times(m, d, d.metric_search, d.metric_image)
    times_rows(m, d, d.metric_search, d.row_search)
    # slope and curvature of the quadratic part
    gauss = 0.0 * slope
    curvature = gauss
    for i in range(m.nv):
        gauss = gauss + d.metric_search[i] * (d.metric_force[i] + d.metric_product[i])
        curvature = curvature + d.metric_search[i] * d.metric_image[i]
    alpha = least_cost(m, d, live, gauss, curvature, -PRECISION * slope, lost)
    for i in range(m.nv):
        d.metric_change[i] = d.metric_change[i] + alpha * d.metric_search[i]
        d.metric_product[i] = d.metric_product[i] + alpha * d.metric_image[i]
    for r in range(d.count[NROW]):
        d.row_residual[r] = d.row_residual[r] + alpha * d.row_search[r]
