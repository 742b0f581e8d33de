"""Semismooth Newton method on the Alart-Curnier equations for forces in friction cones.

With the augmented forces n = z_N - ρ_N y_N and v = z_T - ρ_T y_T, the Signorini-Coulomb law is (Alart & Curnier, A
mixed formulation for frictional contact problems prone to Newton like solution methods, CMAME 92 (1991))

    F_N = z_N - max(n, 0) = 0,    F_T = z_T - P(v) = 0,   P on the disk of radius μ max(n, 0)

for any ρ > 0. F is piecewise smooth; its Jacobian on the piece of the iterate, with y = A z + b, gives the step (of
least norm where the Jacobian is singular), which is halved until |F|² falls. Acary, Brémond & Huber, On solving
contact problems with Coulomb friction: formulations and numerical comparisons (2018), compare it with other methods.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL, COULOMB, PRESSED, UNILATERAL
from saltus.number.functions import absolute, clip, maximum, minimum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.cone.minimum_norm import minimum_norm
from saltus.solve.cone.newton_rows import at_step, fill_row, is_moved
from saltus.solve.cone.pressed import pressed_jacobian, pressed_value
from saltus.solve.cone.residual import residual, velocity

ROUNDING = 1e-15  # residual below which no step reduces it further
HALVINGS = 12
DECREASE = 1e-4  # sufficient decrease of |F|² (Armijo)


@kernel
def newton(p, tolerance, limit):
    """hard_z, hard_y ← the best of at most `limit` iterates from hard_z; returns its residual.

    After reaching the tolerance, one more step is taken, since it often reaches rounding.
    """
    n = p.hard_count[ROWS]
    best, reached = 1e300, False
    parameters(p)
    for i in range(n):
        p.hard_best[i] = p.hard_z[i]
        p.hard_step[i] = 0.0
        p.hard_ystep[i] = 0.0
    for _ in range(limit):
        # residual of the natural map; keep the best iterate
        velocity(p)
        size = residual(p)
        if size < best:
            best = size
            for i in range(n):
                p.hard_best[i] = p.hard_z[i]
        if reached or best <= ROUNDING or size != size:
            break
        reached = best <= tolerance
        p.hard_iterations[0] = p.hard_iterations[0] + 1
        # Newton step J Δz = -F, of least norm where J is singular, and line search on |F|²
        merit = alart_curnier(p, 0.0)
        jacobian(p)
        for i in range(n):
            p.hard_F[i] = -p.hard_F[i]
        minimum_norm(p, n, p.hard_J, p.hard_F, p.hard_step)
        line_search(p, merit)
    for i in range(n):
        p.hard_z[i] = p.hard_best[i]
    velocity(p)
    return best


@kernel
def parameters(p):
    """hard_rho ← ρ_N = 1/A_NN and ρ_T = 1/(largest eigenvalue of A_TT) of each block.

    Of a PRESSED block, whose rows are all tangential, ρ_T is the second of the two.
    """
    n = p.hard_count[ROWS]
    for k in range(p.hard_count[BLOCKS]):
        i = p.hard_row[k]
        first = absolute(p.hard_A[i * n + i]) + p.hard_proximal[0]
        second = first
        if p.hard_kind[k] == COULOMB or (p.hard_kind[k] == PRESSED and p.hard_dim[k] == 2):
            i += 1 if p.hard_kind[k] == COULOMB else 0
            # largest eigenvalue of the two tangential rows
            mean = 0.5 * (p.hard_A[i * n + i] + p.hard_A[(i + 1) * n + i + 1])
            half = 0.5 * (p.hard_A[i * n + i] - p.hard_A[(i + 1) * n + i + 1])
            cross = p.hard_A[i * n + i + 1]
            second = absolute(mean) + sqrt(half * half + cross * cross) + p.hard_proximal[0]
        p.hard_rho[k] = (1.0 / maximum(first, 1e-6), 1.0 / maximum(second, 1e-6))


@kernel
def line_search(p, merit):
    """hard_z ← hard_z + t hard_step, with t halved from 1 until |F|² has decreased enough or the halvings run out."""
    n = p.hard_count[ROWS]
    # change of y = A z + b along the step
    for i in range(n):
        total = p.hard_proximal[0] * p.hard_step[i]
        for j in range(n):
            total = total + p.hard_A[i * n + j] * p.hard_step[j]
        p.hard_ystep[i] = total
    # backtracking (Armijo)
    t = 1.0
    for _ in range(HALVINGS):
        if alart_curnier(p, t) <= (1.0 - DECREASE * t) * merit:
            break
        t = 0.5 * t
    for i in range(n):
        p.hard_z[i] = p.hard_z[i] + t * p.hard_step[i]


@kernel
def alart_curnier(p, t):
    """hard_F ← F at z + t step, y + t ystep; returns |F|²."""
    for k in range(p.hard_count[BLOCKS]):
        i, kind = p.hard_row[k], p.hard_kind[k]
        if kind == COULOMB:
            _coulomb_value(p, k, i, t)
            continue
        if kind == PRESSED:
            pressed_value(p, k, i, t)
            continue
        for row in range(i, i + p.hard_dim[k]):
            z, y = at_step(p, row, t)
            if kind == BILATERAL:
                p.hard_F[row] = y if is_moved(p, row) else z
            elif kind == UNILATERAL:
                p.hard_F[row] = minimum(z, p.hard_rho[k, 0] * y)
            else:
                p.hard_F[row] = z - clip(z - p.hard_rho[k, 0] * y, -p.hard_bound[k], p.hard_bound[k])
    total = 0.0
    for i in range(p.hard_count[ROWS]):
        total = total + p.hard_F[i] * p.hard_F[i]
    return total


@kernel
def _coulomb_value(p, k, i, t):
    """F of a block of Coulomb friction whose first row is i."""
    normal, tangent = p.hard_rho[k]
    z0, y0 = at_step(p, i, t)
    z1, y1 = at_step(p, i + 1, t)
    z2, y2 = at_step(p, i + 2, t)
    push = maximum(z0 - normal * y0, 0.0)
    v1, v2 = z1 - tangent * y1, z2 - tangent * y2
    length, radius = sqrt(v1 * v1 + v2 * v2), p.hard_mu[k] * push
    p.hard_F[i] = z0 - push
    if radius > 0.0 and length <= radius:
        p.hard_F[i + 1] = tangent * y1 if is_moved(p, i + 1) else z1
        p.hard_F[i + 2] = tangent * y2 if is_moved(p, i + 2) else z2
    else:
        ratio = radius / length if length > 0.0 else 0.0
        p.hard_F[i + 1] = z1 - ratio * v1
        p.hard_F[i + 2] = z2 - ratio * v2


@kernel
def jacobian(p):
    """hard_J ← ∂F/∂z at hard_z, hard_y."""
    for k in range(p.hard_count[BLOCKS]):
        i, kind = p.hard_row[k], p.hard_kind[k]
        if kind == COULOMB:
            _coulomb_jacobian(p, k, i)
            continue
        if kind == PRESSED:
            pressed_jacobian(p, k, i)
            continue
        for row in range(i, i + p.hard_dim[k]):
            z, y, rho = p.hard_z[row], p.hard_y[row], p.hard_rho[k, 0]
            if kind == BILATERAL:
                moves = is_moved(p, row)
                rho = 1.0
            elif kind == UNILATERAL:
                moves = rho * y < z
            else:
                moves = absolute(z - rho * y) < p.hard_bound[k]
            fill_row(p, row, 0.0 if moves else 1.0, rho if moves else 0.0)


@kernel
def _coulomb_jacobian(p, k, i):
    """Rows of hard_J of a block of Coulomb friction whose first row is i."""
    normal, tangent = p.hard_rho[k]
    # augmented forces n and v, and the radius μ n of the disk
    push = p.hard_z[i] - normal * p.hard_y[i]
    v1 = p.hard_z[i + 1] - tangent * p.hard_y[i + 1]
    v2 = p.hard_z[i + 2] - tangent * p.hard_y[i + 2]
    length, radius = sqrt(v1 * v1 + v2 * v2), p.hard_mu[k] * push
    if push <= 0.0:
        # open: F = z
        for row in range(i, i + 3):
            fill_row(p, row, 1.0, 0.0)
        return
    # closed: F_N = ρ_N y_N
    fill_row(p, i, 0.0, normal)
    if radius > 0.0 and length <= radius:
        # stick: F_T = ρ_T y_T
        for row in range(i + 1, i + 3):
            if is_moved(p, row):
                fill_row(p, row, 0.0, tangent)
            else:
                fill_row(p, row, 1.0, 0.0)
    elif length > 0.0:
        # slip: F_T = z_T - μ n v/|v|
        _sliding_jacobian(p, k, i, (v1 / length, v2 / length), radius / length)
    else:
        # frictionless and v = 0: F_T = z_T
        fill_row(p, i + 1, 1.0, 0.0)
        fill_row(p, i + 2, 1.0, 0.0)


@kernel
def _sliding_jacobian(p, k, i, e, ratio):
    """Rows of ∂F_T = ∂z_T - μ e ∂n - (μ n / |v|) (1 - e eᵀ) ∂v, with e = v / |v|."""
    n = p.hard_count[ROWS]
    normal, tangent = p.hard_rho[k]
    e1, e2 = e
    mu, alpha = p.hard_mu[k], p.hard_proximal[0]
    p11, p12, p22 = ratio * e2 * e2, -ratio * e1 * e2, ratio * e1 * e1
    for j in range(n):
        a0, a1, a2 = p.hard_A[i * n + j], p.hard_A[(i + 1) * n + j], p.hard_A[(i + 2) * n + j]
        push = mu * normal * a0
        p.hard_J[(i + 1) * n + j] = e1 * push + tangent * (p11 * a1 + p12 * a2)
        p.hard_J[(i + 2) * n + j] = e2 * push + tangent * (p12 * a1 + p22 * a2)
    # terms of z itself, and of the proximal term in y
    push, own = mu * (1.0 - normal * alpha), 1.0 - tangent * alpha
    for row, along, c1, c2 in ((i + 1, e1, p11, p12), (i + 2, e2, p12, p22)):
        p.hard_J[row * n + i] = p.hard_J[row * n + i] - along * push
        p.hard_J[row * n + i + 1] = p.hard_J[row * n + i + 1] - c1 * own
        p.hard_J[row * n + i + 2] = p.hard_J[row * n + i + 2] - c2 * own
        p.hard_J[row * n + row] = p.hard_J[row * n + row] + 1.0
