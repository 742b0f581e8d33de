"""A step of a damped Gauss-Newton method within bounds: a small convex quadratic problem by active sets.

minimise ½ xᵀ (H + λ) x + gᵀ x under lower ≤ x ≤ upper. What would leave the bounds is fixed at them, several at once;
then what pushes back inside is released (Nocedal & Wright, Numerical Optimization, 2006, section 16.5).
"""

from saltus.inverse.kinematics.kinds import LOCKED
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel

PASSES = 30  # most changes of the set of fixed entries
LEAST = 1e-13  # the least pivot, as a part of the diagonal entry


@kernel
def normal_equations(space):
    """H ← Jᵀ J and g ← Jᵀ r; returns the largest diagonal entry."""
    J, r, H, g = space[0], space[1], space[4], space[6]
    n = len(g)
    for i in range(n):
        g[i] = 0.0
        for j in range(i + 1):
            H[i, j] = 0.0
    for row in range(len(r)):
        for i in range(n):
            a = J[row, i]
            if a != 0.0:
                g[i] += a * r[row]
                for j in range(i + 1):
                    H[i, j] += a * J[row, j]
    largest = 0.0
    for i in range(n):
        largest = max(largest, H[i, i])
    return largest


@kernel
def factor_free(H, damping, fixed, L):
    """L ← Cholesky factor of H + damping, its diagonal inverted; fixed entries are uncoupled."""
    n = len(fixed)
    for i in range(n):
        if fixed[i]:
            for j in range(i):
                L[i, j] = 0.0
            L[i, i] = 1.0
            continue
        for j in range(i):
            total = 0.0
            if not fixed[j]:
                total = H[i, j]
                for k in range(j):
                    total -= L[i, k] * L[j, k]
            L[i, j] = total * L[j, j]
        pivot = H[i, i] + damping
        least = LEAST * pivot + 1e-30
        for k in range(i):
            pivot -= L[i, k] * L[i, k]
        L[i, i] = 1.0 / sqrt(max(pivot, least))


@kernel
def solve_in_place(L, x, n):
    """x ← (L Lᵀ)⁻¹ x for a factor with inverted diagonal."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total * L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] *= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@kernel
def free_minimum(space, damping):
    """x ← the minimum over the free entries, with the others at the bound that `fixed` names (1 lower, 2 upper)."""
    H, L, g, x, room, fixed = space[4], space[5], space[6], space[7], space[8], space[9]
    n = len(g)
    factor_free(H, damping, fixed, L)
    for i in range(n):
        x[i] = -g[i]
    for i in range(n):
        if fixed[i] and fixed[i] < 3:
            at = room[i, fixed[i] - 1]
            for j in range(n):
                x[j] -= at * (H[i, j] if j <= i else H[j, i])
    for i in range(n):
        if fixed[i]:
            x[i] = 0.0 if fixed[i] == 3 else room[i, fixed[i] - 1]
    solve_in_place(L, x, n)


@kernel
def slope_at(H, g, x, damping, i):
    """Derivative of the quadratic function along entry i."""
    total = g[i] + damping * x[i]
    for j in range(len(g)):
        total += x[j] * (H[i, j] if j <= i else H[j, i])
    return total


@kernel
def fix_leavers(x, room, fixed):
    """Fix entries that leave their bounds; returns how many."""
    count = 0
    for i in range(len(x)):
        if fixed[i] == 0:
            if x[i] < room[i, 0]:
                fixed[i] = 1
                count += 1
            elif x[i] > room[i, 1]:
                fixed[i] = 2
                count += 1
    return count


@kernel
def release_worst(space, damping):
    """Release the fixed entry that pushes inside most; returns whether there is one."""
    H, g, x, fixed = space[4], space[6], space[7], space[9]
    worst, most = -1, 1e-14
    for i in range(len(x)):
        if fixed[i] == 1 or fixed[i] == 2:
            push = slope_at(H, g, x, damping, i)
            push = -push if fixed[i] == 1 else push
            if push > most:
                worst, most = i, push
    if worst >= 0:
        fixed[worst] = 0
    return worst >= 0


@kernel
def bounded_step(problem, space, damping):
    """x ← the damped step within the bounds `room`; returns the decrease of the cost that the model promises."""
    dofs = problem[4]
    H, g, x, room, fixed = space[4], space[6], space[7], space[8], space[9]
    n = len(g)
    for i in range(n):
        fixed[i] = 3 if dofs[i, LOCKED] else 0
    released = 0
    for _ in range(PASSES):
        free_minimum(space, damping)
        if fix_leavers(x, room, fixed):
            continue
        if released >= n or not release_worst(space, damping):
            break
        released += 1
    promised = 0.0
    for i in range(n):
        x[i] = min(max(x[i], room[i, 0]), room[i, 1])
    for i in range(n):
        promised -= 0.5 * x[i] * (g[i] + slope_at(H, g, x, 0.0, i))
    return promised
