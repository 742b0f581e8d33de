"""Conjugate gradients with a preconditioner, for the matrix of a step that is implicit in forces.

Hestenes & Stiefel, Methods of conjugate gradients for solving linear systems (1952); Saad, Iterative Methods for Sparse
Linear Systems (2003), algorithm 9.1. The number of iterations grows with how stiff things are for the step, not with
how many vertices there are.
"""

from saltus.number.functions import any_lane, maximum, where
from saltus.number.kernels import kernel
from saltus.solve.implicit.implicit_operator import add_rows_times, metric_solve, metric_times

ITERATIONS = 1000
TINY = 1e-300


@kernel(sums=True)
def pcg(m, d, live, tolerance, enough):
    """metric_search ← -A⁻¹ metric_gradient in the lanes that are live, 0 in the others.

    Ends where the residual r has become `tolerance` times what it was, in the norm of rᵀ P⁻¹ r with the preconditioner
    P, or that is `enough`. Needs `metric_factor`. Returns the slope metric_gradient · metric_search, negative if
    anything was done, and rᵀ P⁻¹ r at the start.
    """
    zero = 0.0 * d.time
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
        metric_times(m, d, d.pcg_search, d.pcg_product)
        add_rows_times(m, d, d.pcg_search, d.pcg_product)
        curvature = zero
        for i in range(m.nv):
            curvature = curvature + d.pcg_search[i] * d.pcg_product[i]
        going = going & (curvature > TINY)
        alpha = where(going, size / where(going, curvature, zero + 1.0), zero)
        for i in range(m.nv):
            d.metric_search[i] = d.metric_search[i] + alpha * d.pcg_search[i]
            d.pcg_residual[i] = d.pcg_residual[i] - alpha * d.pcg_product[i]
        before, size = size, preconditioned(m, d)
        going = going & (size > goal)
        beta = where(going, size / where(going, before, zero + 1.0), zero)
        for i in range(m.nv):
            d.pcg_search[i] = d.pcg_Mresidual[i] + beta * d.pcg_search[i]
    slope = zero
    for i in range(m.nv):
        slope = slope + d.metric_gradient[i] * d.metric_search[i]
    return slope, first


@kernel(sums=True)
def preconditioned(m, d):
    """pcg_Mresidual ← P⁻¹ pcg_residual; returns the product of the two."""
    metric_solve(m, d, d.pcg_residual, d.pcg_Mresidual)
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + d.pcg_residual[i] * d.pcg_Mresidual[i]
    return total
