"""Preconditioned conjugate gradients for the matrix of a step that is implicit in forces.

Hestenes & Stiefel, Methods of conjugate gradients for solving linear systems (1952); Saad, Iterative Methods for Sparse
Linear Systems (2003), algorithm 9.1. The number of iterations grows with the stiffness relative to the step, not with
the number of vertices.
"""

from saltus.number.functions import any_lane, maximum, where
from saltus.number.kernels import kernel
from saltus.solve.implicit.implicit_operator import add_rows_times, metric_solve, metric_times

ITERATIONS = 1000
TINY = 1e-300


@kernel(sums=True)
def pcg(m, d, live, tolerance, enough):
    """metric_search ← -A⁻¹ metric_gradient in the lanes that are live, 0 in the others.

    The iteration ends when the residual r has fallen by the factor `tolerance` in the norm √(rᵀ P⁻¹ r), with the
    preconditioner P, or when rᵀ P⁻¹ r is at most `enough`. Needs `metric_factor`. Returns the slope
    metric_gradient · metric_search, negative unless no step was taken, and rᵀ P⁻¹ r at the start.
    """
    zero = 0.0 * d.time
    # start at zero: r = -gradient, p = P⁻¹ r
    for i in range(m.nv):
        d.metric_search[i] = zero
        d.pcg_residual[i] = -d.metric_gradient[i]
    size = preconditioned(m, d)
    first = size
    goal = maximum(tolerance * tolerance * size, enough)
    for i in range(m.nv):
        d.pcg_search[i] = d.pcg_Mresidual[i]
    going = live & (size > goal)
    for _ in range(ITERATIONS):
        if not any_lane(going):
            break
        # A p and curvature pᵀ A p
        metric_times(m, d, d.pcg_search, d.pcg_product)
        add_rows_times(m, d, d.pcg_search, d.pcg_product)
        curvature = zero
        for i in range(m.nv):
            curvature = curvature + d.pcg_search[i] * d.pcg_product[i]
        going = going & (curvature > TINY)
        # step α = rᵀ P⁻¹ r / pᵀ A p
        alpha = where(going, size / where(going, curvature, zero + 1.0), zero)
        for i in range(m.nv):
            d.metric_search[i] = d.metric_search[i] + alpha * d.pcg_search[i]
            d.pcg_residual[i] = d.pcg_residual[i] - alpha * d.pcg_product[i]
        # next direction p = P⁻¹ r + β p
        before, size = size, preconditioned(m, d)
        going = going & (size > goal)
        beta = where(going, size / where(going, before, zero + 1.0), zero)
        for i in range(m.nv):
            d.pcg_search[i] = d.pcg_Mresidual[i] + beta * d.pcg_search[i]
    # slope of the cost along the result
    slope = zero
    for i in range(m.nv):
        slope = slope + d.metric_gradient[i] * d.metric_search[i]
    return slope, first


@kernel(sums=True)
def preconditioned(m, d):
    """pcg_Mresidual ← P⁻¹ r of r = pcg_residual; returns rᵀ P⁻¹ r."""
    metric_solve(m, d, d.pcg_residual, d.pcg_Mresidual)
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + d.pcg_residual[i] * d.pcg_Mresidual[i]
    return total
