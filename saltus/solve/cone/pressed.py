"""Equations of PRESSED blocks: friction torques bounded by a multiple of the normal force of their contact.

Torsional friction has one row, the rotation about the normal; rolling friction two, about the tangents. With the
augmented normal force n = max(z_N - ρ_N y_N, 0) of the contact and v = z - ρ y,

    F = z - P(v) = 0,   P on the disk of radius μ n

as the tangential part of the Alart-Curnier equations (see `saltus.solve.cone.newton`). Each of sliding, torsional and
rolling friction has a limit of its own, so that a ball can roll without slip.
"""

from saltus.model.enums import ROWS
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.cone.newton_rows import at_step, fill_row, is_moved


@kernel(inline=True)
def normal_row(p, k):
    """The row of the normal force that bounds the forces of block k."""
    return p.hard_row[k - p.hard_parent[k]]


@kernel
def pressed_value(p, k, i, t):
    """F of block k, whose first row is i, at z + t step and y + t ystep."""
    j, rho, second = normal_row(p, k), p.hard_rho[k, 1], p.hard_dim[k] - 1
    z0, y0 = at_step(p, j, t)
    z1, y1 = at_step(p, i, t)
    z2, y2 = at_step(p, i + second, t)
    radius = p.hard_bound[k] * maximum(z0 - p.hard_rho[k - p.hard_parent[k], 0] * y0, 0.0)
    v1, v2 = z1 - rho * y1, second * (z2 - rho * y2)
    length = sqrt(v1 * v1 + v2 * v2)
    if radius > 0.0 and length <= radius:
        p.hard_F[i + second] = rho * y2 if is_moved(p, i + second) else z2
        p.hard_F[i] = rho * y1 if is_moved(p, i) else z1
    else:
        ratio = radius / length if length > 0.0 else 0.0
        p.hard_F[i + second] = z2 - ratio * v2
        p.hard_F[i] = z1 - ratio * v1


@kernel
def pressed_jacobian(p, k, i):
    """Rows of ∂F/∂z of block k, whose first row is i."""
    j, rho, second = normal_row(p, k), p.hard_rho[k, 1], p.hard_dim[k] - 1
    push = p.hard_z[j] - p.hard_rho[k - p.hard_parent[k], 0] * p.hard_y[j]
    v1, v2 = p.hard_z[i] - rho * p.hard_y[i], second * (p.hard_z[i + second] - rho * p.hard_y[i + second])
    length, radius = sqrt(v1 * v1 + v2 * v2), p.hard_bound[k] * maximum(push, 0.0)
    if radius > 0.0 and length <= radius:
        # stick: F = ρ y
        for row in range(i, i + p.hard_dim[k]):
            moves = is_moved(p, row)
            fill_row(p, row, 0.0 if moves else 1.0, rho if moves else 0.0)
    elif radius > 0.0:
        # slip: F = z - μ n v/|v|
        _turning_jacobian(p, k, i, (v1 / length, v2 / length), radius / length)
    else:
        # no normal force: F = z
        for row in range(i, i + p.hard_dim[k]):
            fill_row(p, row, 1.0, 0.0)


@kernel
def _turning_jacobian(p, k, i, e, ratio):
    """Rows of ∂F = ∂z - μ e ∂n - (μ n / |v|) (1 - e eᵀ) ∂v, with e = v / |v|."""
    n, j, rho, second = p.hard_count[ROWS], normal_row(p, k), p.hard_rho[k, 1], p.hard_dim[k] - 1
    normal, mu, alpha = p.hard_rho[k - p.hard_parent[k], 0], p.hard_bound[k], p.hard_proximal[0]
    e1, e2 = e
    for r in range(p.hard_dim[k]):
        row, along = i + r, e1 if r == 0 else e2
        # (1 - e eᵀ) across e: zero for a single row
        c1 = ratio * second * (e2 * e2 if r == 0 else -e1 * e2)
        c2 = ratio * second * (-e1 * e2 if r == 0 else e1 * e1)
        for c in range(n):
            a0, a1, a2 = p.hard_A[j * n + c], p.hard_A[i * n + c], p.hard_A[(i + second) * n + c]
            p.hard_J[row * n + c] = along * mu * normal * a0 + rho * (c1 * a1 + c2 * a2)
        # terms of z itself, and of the proximal term in y
        own = 1.0 - rho * alpha
        p.hard_J[row * n + j] = p.hard_J[row * n + j] - along * mu * (1.0 - normal * alpha)
        p.hard_J[row * n + i] = p.hard_J[row * n + i] - c1 * own
        p.hard_J[row * n + i + second] = p.hard_J[row * n + i + second] - c2 * own
        p.hard_J[row * n + row] = p.hard_J[row * n + row] + 1.0


@kernel
def pressed_sweep(p, k, i):
    """hard_z of block k, whose first row is i, by a projected gradient step with all other forces held."""
    n, second = p.hard_count[ROWS], p.hard_dim[k] - 1
    steepest = 0.0
    for row in range(i, i + p.hard_dim[k]):
        steepest = steepest + absolute(p.hard_A[row * n + row])
    if steepest <= 0.0:
        return
    y1, y2 = p.hard_b[i], p.hard_b[i + second]
    for c in range(n):
        y1 = y1 + p.hard_A[i * n + c] * p.hard_z[c]
        y2 = y2 + p.hard_A[(i + second) * n + c] * p.hard_z[c]
    v1, v2 = p.hard_z[i] - y1 / steepest, second * (p.hard_z[i + second] - y2 / steepest)
    length, radius = sqrt(v1 * v1 + v2 * v2), p.hard_bound[k] * maximum(p.hard_z[normal_row(p, k)], 0.0)
    ratio = 1.0 if length <= radius else radius / length
    p.hard_z[i + second] = ratio * v2
    p.hard_z[i] = ratio * v1
