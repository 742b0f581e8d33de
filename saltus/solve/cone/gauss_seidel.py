"""Nonlinear block Gauss-Seidel for contact problems: each block solved exactly, with the others fixed.

See Acary, Brémond & Huber, On solving contact problems with Coulomb friction: formulations and numerical comparisons
(2018). A block of Coulomb friction is solved by cases: take-off, sticking or sliding. A sliding block has
r = r_N (1, μ e) for a direction e, with r_N from u_N = 0, and u_T opposite to e: a zero of

    g(e) = u_T × e    with   u_T · e ≤ 0,  r_N > 0

which is a quartic in the tangent of half the angle (Bonnefon & Daviet, Quartic formulation of Coulomb 3D frictional
contact (2011)); here it is bracketed on the circle and bisected.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL, COULOMB, PRESSED, UNILATERAL
from saltus.number.functions import clip, maximum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.cone.pressed import pressed_sweep

SECTORS = 24  # sectors of the circle of directions, each searched for a zero
COSINE, SINE = 0.9659258262890683, 0.25881904510252074  # cosine and sine of a sector's angle
BISECTIONS = 45
FLAT = 1e-12  # regularisation of a block's diagonal, about one, for its inverse


@kernel
def gauss_seidel(p, sweeps):
    """hard_z after `sweeps` sweeps over all blocks. A block without a solution keeps its force."""
    n = p.hard_count[ROWS]
    for _ in range(sweeps):
        for k in range(p.hard_count[BLOCKS]):
            i, kind = p.hard_row[k], p.hard_kind[k]
            if kind == COULOMB:
                _coulomb(p, k, i)
                continue
            if kind == PRESSED:
                pressed_sweep(p, k, i)
                continue
            for row in range(i, i + p.hard_dim[k]):
                own = p.hard_A[row * n + row]
                if own > 0.0:
                    force = -_from_others(p, row, row, row + 1) / own
                    if kind == UNILATERAL:
                        force = maximum(force, 0.0)
                    elif kind != BILATERAL:
                        force = clip(force, -p.hard_bound[k], p.hard_bound[k])
                    p.hard_z[row] = force


@kernel
def _from_others(p, row, first, end):
    """y of a row without the contributions of rows first, ..., end - 1."""
    n = p.hard_count[ROWS]
    total = p.hard_b[row]
    for j in range(n):
        if j < first or j >= end:
            total = total + p.hard_A[row * n + j] * p.hard_z[j]
    return total


@kernel
def _coulomb(p, k, i):
    """Solve a block of Coulomb friction whose first row is i, for its part of hard_z."""
    n, mu = p.hard_count[ROWS], p.hard_mu[k]
    # y without the block's own force, and its diagonal block of A
    b = (_from_others(p, i, i, i + 3), _from_others(p, i + 1, i, i + 3), _from_others(p, i + 2, i, i + 3))
    j = i * n + i
    A = (
        (p.hard_A[j], p.hard_A[j + 1], p.hard_A[j + 2]),
        (p.hard_A[j + n], p.hard_A[j + n + 1], p.hard_A[j + n + 2]),
        (p.hard_A[j + 2 * n], p.hard_A[j + 2 * n + 1], p.hard_A[j + 2 * n + 2]),
    )
    # cases: take-off, sticking, sliding
    found, z = False, (0.0, 0.0, 0.0)
    if b[0] >= 0.0:
        found = True
    else:
        z = _sticking(A, b)
        found = sqrt(z[1] * z[1] + z[2] * z[2]) <= mu * z[0]
        if not found:
            found, z = _sliding(A, b, mu)
    if found:
        p.hard_z[i] = z[0]
        p.hard_z[i + 1] = z[1]
        p.hard_z[i + 2] = z[2]


@kernel
def _sticking(A, b):
    """-A⁻¹ b [3] by Cramer's rule."""
    (a, c, d), (e, f, g), (h, j, k) = A
    a, f, k = a + FLAT, f + FLAT, k + FLAT
    u, v, w = f * k - g * j, g * h - e * k, e * j - f * h
    inverse = -1.0 / (a * u + c * v + d * w)
    return (
        inverse * (u * b[0] + (d * j - c * k) * b[1] + (c * g - d * f) * b[2]),
        inverse * (v * b[0] + (a * k - d * h) * b[1] + (d * e - a * g) * b[2]),
        inverse * (w * b[0] + (c * h - a * j) * b[1] + (a * f - c * e) * b[2]),
    )


@kernel
def _turned(A, b, mu, e1, e2):
    """u_T × e and u_T · e, both times the divisor A_N (1, μ e) of r_N = -b_N / A_N (1, μ e), and that divisor."""
    below = A[0][0] + mu * (A[0][1] * e1 + A[0][2] * e2)
    u1 = b[1] * below - b[0] * (A[1][0] + mu * (A[1][1] * e1 + A[1][2] * e2))
    u2 = b[2] * below - b[0] * (A[2][0] + mu * (A[2][1] * e1 + A[2][2] * e2))
    return u1 * e2 - u2 * e1, u1 * e1 + u2 * e2, below


@kernel
def _sliding(A, b, mu):
    """Whether there is a sliding solution, and its force [3]."""
    length = sqrt(b[1] * b[1] + b[2] * b[2])
    # start opposite to the frictionless sliding velocity
    e1, e2 = (-b[1] / length, -b[2] / length) if length > 0.0 else (1.0, 0.0)
    e1, e2 = COSINE * e1 + SINE * e2, COSINE * e2 - SINE * e1
    g, _, _ = _turned(A, b, mu, e1, e2)
    # bracket the sign changes of g on the circle; a zero counts with u_T opposite to e and r_N > 0
    for _ in range(SECTORS):
        f1, f2 = COSINE * e1 - SINE * e2, COSINE * e2 + SINE * e1
        h, _, _ = _turned(A, b, mu, f1, f2)
        if (g <= 0.0) != (h <= 0.0) or g == 0.0:
            m1, m2 = _bisect(A, b, mu, (e1, e2), (f1, f2), g)
            _, along, below = _turned(A, b, mu, m1, m2)
            if below > 0.0 and along <= 0.0:
                normal = -b[0] / below
                return True, (normal, mu * normal * m1, mu * normal * m2)
        e1, e2, g = f1, f2, h
    return False, (0.0, 0.0, 0.0)


@kernel
def _bisect(A, b, mu, low, high, at_low):
    """Direction between two at which g changes sign; `at_low` is g at the first."""
    m = low
    for _ in range(BISECTIONS):
        m1, m2 = low[0] + high[0], low[1] + high[1]
        length = sqrt(m1 * m1 + m2 * m2)
        m = (m1 / length, m2 / length)
        g, _, _ = _turned(A, b, mu, m[0], m[1])
        if (g <= 0.0) == (at_low <= 0.0):
            low = m
        else:
            high = m
    return m
