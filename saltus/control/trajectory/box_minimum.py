"""Minimum of a convex quadratic function within bounds, by projected Newton steps (Bertsekas, 1982).

minimise ½ xᵀ H x + gᵀ x under low ≤ x ≤ high: Newton's steps on the components that no bound holds, cut at the bounds
(Bertsekas, Projected Newton methods for optimization problems with simple constraints (1982); Tassa, Mansard & Todorov,
Control-limited differential dynamic programming (2014), section III.B).
"""

from saltus.number.functions import clip, sqrt
from saltus.number.kernels import kernel

ITERATIONS, ARMIJO, SHRINK = 50, 0.1, 0.6
SMALL_SLOPE, SMALLEST = 1e-10, 1e-10  # of gradients, as a part of g; of lengths of steps


@kernel
def value_of(H, g, x):
    """½ xᵀ H x + gᵀ x."""
    total = 0.0
    for i in range(len(g)):
        row = 0.0
        for j in range(len(g)):
            row += H[i, j] * x[j]
        total += x[i] * (0.5 * row + g[i])
    return total


@kernel
def free_components(H, g, x, low, high, slope, free):
    """slope ← H x + g, free ← components that no bound holds; returns the norms of slope among these, and of g."""
    norm, whole = 0.0, 0.0
    for i in range(len(g)):
        slope[i] = g[i]
        for j in range(len(g)):
            slope[i] += H[i, j] * x[j]
        free[i] = not ((x[i] <= low[i] and slope[i] > 0.0) or (x[i] >= high[i] and slope[i] < 0.0))
        norm += slope[i] * slope[i] if free[i] else 0.0
        whole += g[i] * g[i]
    return sqrt(norm), sqrt(whole)


@kernel
def factor_free(H, free, L):
    """L ← Cholesky factor of H among free components, its diagonal inverted; returns whether it is positive definite.

    Components that are not free are uncoupled, with ones on the diagonal.
    """
    for i in range(len(free)):
        for j in range(i):
            total = 0.0
            if free[i] and free[j]:
                total = H[i, j]
                for k in range(j):
                    total -= L[i, k] * L[j, k]
            L[i, j] = total * L[j, j]
        pivot = 1.0
        if free[i]:
            pivot = H[i, i]
            for k in range(i):
                pivot -= L[i, k] * L[i, k]
        if not pivot > 0.0:
            return False
        L[i, i] = 1.0 / sqrt(pivot)
    return True


@kernel
def solve_rows(L, X):
    """X ← (L Lᵀ)⁻¹ X for X [n, columns] and a factor L [n, n] with inverted diagonal."""
    n, columns = X.shape
    for i in range(n):
        for k in range(i):
            for c in range(columns):
                X[i, c] -= L[i, k] * X[k, c]
        for c in range(columns):
            X[i, c] *= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for c in range(columns):
                X[i, c] -= L[k, i] * X[k, c]
        for c in range(columns):
            X[i, c] *= L[i, i]


@kernel
def descend(H, g, x, low, high, slope, step, tried, value):
    """Move x along the step [n, 1], cut at the bounds, until the value decreases enough (Armijo's rule).

    Returns the value there, and whether there was such a step.
    """
    size = 1.0
    while size >= SMALLEST:
        along = 0.0
        for i in range(len(g)):
            tried[i] = clip(x[i] + size * step[i, 0], low[i], high[i])
            along += slope[i] * (tried[i] - x[i])
        after = value_of(H, g, tried)
        if value - after >= -ARMIJO * along:
            for i in range(len(g)):
                x[i] = tried[i]
            return after, True
        size *= SHRINK
    return value, False


@kernel
def box_minimum(H, g, low, high, x, free, L, work):
    """x ← the minimum, free ← its components within the bounds, L ← the factor of H among these (see `factor_free`).

    H [n, n], L [n, n]; work: arrays [n], [n, 1], [n]. Returns False if H is not positive definite on free components.
    """
    slope, step, tried = work
    for i in range(len(g)):
        x[i] = clip(0.0, low[i], high[i])
    value = value_of(H, g, x)
    for _ in range(ITERATIONS):
        norm, whole = free_components(H, g, x, low, high, slope, free)
        if not factor_free(H, free, L):
            return False
        if norm <= SMALL_SLOPE * (1.0 + whole):
            return True
        for i in range(len(g)):
            step[i, 0] = -slope[i] if free[i] else 0.0
        solve_rows(L, step)
        value, moved = descend(H, g, x, low, high, slope, step, tried, value)
        if not moved:
            return True
    return True
