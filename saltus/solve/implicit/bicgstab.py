"""BiCGSTAB for unsymmetric linear systems with deformable bodies.

van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric linear
systems, SIAM J. Sci. Stat. Comput. 13 (1992), preconditioned from the right. The matrix is A + F: A has the pattern
of the inertia (see `saltus.dynamics.tree.unsymmetric`), F is of deformable bodies (see `saltus.dynamics.flex.tangent`).
The preconditioner P is A, plus the diagonal vertex blocks of F on particles. Hence (A + F) P⁻¹ y is y + F P⁻¹ y except
on particles, where A is diagonal: no product with A is needed.
"""

from saltus.dynamics.flex.tangent import add_flex_tangent
from saltus.dynamics.tree.unsymmetric import solve_factored, unsymmetric_factor
from saltus.number.components import epsilon_of
from saltus.number.functions import absolute, any_lane, maximum, where
from saltus.number.kernels import kernel
from saltus.solve.implicit.implicit_operator import begin_blocks, factor_block, solve_block, vertex_entries

ITERATIONS = 1000
TOLERANCE = 1e-13
TINY = 1e-300


@kernel
def bicgstab(m, d, x):
    """x ← (A + F)⁻¹ x for a field x [nv]; returns 1 if it did not converge in some lane, else 0.

    A is in lower and upper [nC], which are overwritten. The iteration ends when the residual has fallen by a factor of
    1e-13, or of 8 units of rounding if that is more, in the norm √(Σ r²/M).
    """
    zero = 0.0 * d.time
    # r = b and shadow residual r̂ = b
    factor(m, d)
    for i in range(m.nv):
        d.metric_change[i] = zero
        d.pcg_residual[i] = d.metric_gradient[i] = x[i]
        d.pcg_search[i] = d.pcg_product[i] = zero
    rho = alpha = omega = zero + 1.0
    square = maximum(zero + TOLERANCE, zero + 8.0 * epsilon_of(zero))
    goal = square * square * measure(m, d)
    going = measure(m, d) > goal
    for _ in range(ITERATIONS):
        if not any_lane(going):
            break
        # direction p = r + β (p - ω v)
        before, rho = rho, dot(m, d, d.metric_gradient, d.pcg_residual)
        beta = ratio(rho, before) * ratio(alpha, omega)
        for i in range(m.nv):
            d.pcg_search[i] = d.pcg_residual[i] + beta * (d.pcg_search[i] - omega * d.pcg_product[i])
        # v = (A + F) P⁻¹ p, step α along it
        times(m, d, d.pcg_search, d.pcg_product)
        alpha = where(going, ratio(rho, dot(m, d, d.metric_gradient, d.pcg_product)), zero)
        for i in range(m.nv):
            d.metric_change[i] = d.metric_change[i] + alpha * d.metric_search[i]
            d.pcg_residual[i] = d.pcg_residual[i] - alpha * d.pcg_product[i]
        # t = (A + F) P⁻¹ r, step ω that minimises |r - ω t|
        times(m, d, d.pcg_residual, d.metric_image)
        omega = ratio(dot(m, d, d.metric_image, d.pcg_residual), dot(m, d, d.metric_image, d.metric_image))
        omega = where(going, omega, zero)
        for i in range(m.nv):
            d.metric_change[i] = d.metric_change[i] + omega * d.metric_search[i]
            d.pcg_residual[i] = d.pcg_residual[i] - omega * d.metric_image[i]
        going = going & (measure(m, d) > goal)
    for i in range(m.nv):
        x[i] = d.metric_change[i]
    return 1 if any_lane(going) else 0


@kernel(inline=True)
def ratio(a, b):
    """a / b, and 0 where b is 0."""
    there = absolute(b) > TINY
    return where(there, a / where(there, b, 1.0 + 0.0 * b), 0.0 * b)


@kernel(sums=True)
def dot(m, d, x, y):
    """x · y for fields [nv]."""
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + x[i] * y[i]
    return total


@kernel(sums=True)
def measure(m, d):
    """Squared norm Σ r²/M of pcg_residual, with the diagonal of the inertia."""
    total = 0.0 * d.time
    for i in range(m.nv):
        total = total + d.pcg_residual[i] * d.pcg_residual[i] / d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1]
    return total


@kernel
def factor(m, d):
    """Factor the preconditioner: metric_product [nv] ← diagonal of A, lower, upper and metric_block ← factors."""
    for i in range(m.nv):
        d.metric_product[i] = d.lower[m.M_rowadr[i] + m.M_rownnz[i] - 1]
    begin_blocks(m, d, d.lower)
    vertex_entries(m, d)
    unsymmetric_factor(m, d)
    for k in range(m.nparticle):
        factor_block(d, m.body_dofadr[m.particle_body[k]], 3)


@kernel
def times(m, d, y, z):
    """metric_search ← P⁻¹ y, z ← (A + F) P⁻¹ y for fields y, z [nv]."""
    for i in range(m.nv):
        d.metric_search[i] = y[i]
        z[i] = y[i]
    solve_factored(m, d, d.metric_search)
    for k in range(m.nparticle):
        first = m.body_dofadr[m.particle_body[k]]
        solve_block(d, y, d.metric_search, first, 3)
        for i in range(first, first + 3):
            z[i] = d.metric_product[i] * d.metric_search[i]
    add_flex_tangent(m, d, d.metric_search, z)
