"""A step for levels of priority: each level in the null space of those above it, within bounds.

Level k is solved by damped least squares with its rows projected, A = J_k N, in the dual form
x ← x - Aᵀ (A Aᵀ + λ)⁻¹ (r_k + J_k x), which stays in the null space N of the levels above (Siciliano & Slotine, A
general framework for managing multiple tasks in highly redundant robotic systems, 1991). Rows of A are then made
orthonormal, Q, and N = 1 - Qᵀ Q. An entry that leaves its bounds is fixed at them, the worst first, and all levels are
solved again without it (Flacco, De Luca & Khatib, Control of redundant robots under hard joint constraints: saturation
in the null space, IEEE Transactions on Robotics 31, 2015).
"""

from saltus.inverse.kinematics.kinds import HAS_POSTURE, LEVELS, LOCKED, POSTURE_WEIGHT
from saltus.inverse.kinematics.search.bounded_step import solve_in_place
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel

DEPENDENT = 1e-6  # rows that lose all but this part by projection have no direction of their own


@kernel
def priority_step(m, problem, space, damping, levels):
    """x ← the step of the first `levels` levels within the bounds `room`; one more is the posture's."""
    dofs = problem[4]
    x, room, fixed = space[7], space[8], space[9]
    n = len(x)
    for i in range(n):
        fixed[i] = dofs[i, LOCKED]
        x[i] = 0.0
    for _ in range(n + 1):
        solve_levels(problem, space, damping, levels)
        worst, most = -1, 1e-12
        for i in range(n):
            beyond = max(room[i, 0] - x[i], x[i] - room[i, 1])
            if fixed[i] == 0 and beyond > most:
                worst, most = i, beyond
        if worst < 0:
            break
        fixed[worst] = 1
        x[worst] = min(max(x[worst], room[worst, 0]), room[worst, 1])
    for i in range(n):
        x[i] = min(max(x[i], room[i, 0]), room[i, 1])


@kernel
def solve_levels(problem, space, damping, levels):
    """x ← the step with its fixed entries as they are."""
    x, fixed, first_row = space[7], space[9], space[14]
    whole = problem[8]
    for i in range(len(x)):
        if not fixed[i]:
            x[i] = 0.0
    rank = 0
    for level in range(min(levels, whole[LEVELS])):
        first, last = first_row[level], first_row[level + 1]
        rank = project_rows(space, first, last, rank)
        add_level(space, first, last, damping)
        rank = extend_basis(space, first, last, rank)
    if whole[HAS_POSTURE] and levels > whole[LEVELS]:
        add_posture(problem, space, damping, rank)


@kernel
def project_rows(space, first, last, rank):
    """Rows first, ..., last - 1 of A ← those of J, free entries only, without their parts along Q; returns the rank."""
    J, fixed, A, Q = space[0], space[9], space[10], space[11]
    n = len(fixed)
    for row in range(first, last):
        for i in range(n):
            A[row, i] = 0.0 if fixed[i] else J[row, i]
        for q in range(rank):
            remove_part(A[row], Q[q])
    return rank


@kernel
def remove_part(a, q):
    """a ← a - q (q · a) for a unit vector q."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * q[i]
    for i in range(len(a)):
        a[i] -= total * q[i]


@kernel
def add_level(space, first, last, damping):
    """x ← x - Aᵀ (A Aᵀ + λ)⁻¹ (r + J x) for the rows of a level."""
    J, r, x, A, W, y = space[0], space[1], space[7], space[10], space[15], space[16]
    n, rows = len(x), last - first
    for i in range(rows):
        total = r[first + i]
        for k in range(n):
            total += J[first + i, k] * x[k]
        y[i] = -total
        for j in range(i + 1):
            total = damping if i == j else 0.0
            for k in range(n):
                total += A[first + i, k] * A[first + j, k]
            for k in range(j):
                total -= W[i, k] * W[j, k]
            W[i, j] = 1.0 / sqrt(max(total, 1e-3 * damping)) if i == j else total * W[j, j]
    solve_in_place(W, y, rows)
    for i in range(rows):
        for k in range(n):
            x[k] += A[first + i, k] * y[i]


@kernel
def extend_basis(space, first, last, rank):
    """Make the rows of A orthonormal, and append them to Q; returns the new rank."""
    J, A, Q = space[0], space[10], space[11]
    n = len(space[7])
    start = rank
    for row in range(first, last):
        whole = 0.0
        for i in range(n):
            whole += J[row, i] * J[row, i]
        for _ in range(2):  # once more against rounding
            for q in range(start, rank):
                remove_part(A[row], Q[q])
        square = 0.0
        for i in range(n):
            square += A[row, i] * A[row, i]
        if square > DEPENDENT * DEPENDENT * whole and rank < n:
            scale = 1.0 / sqrt(square)
            for i in range(n):
                Q[rank, i] = scale * A[row, i]
            rank += 1
    return rank


@kernel
def add_posture(problem, space, damping, rank):
    """x ← x + s N (posture ⊖ q - x), a step towards the posture in the null space; s = w² / (w² + λ)."""
    g, x, fixed, Q, y = space[6], space[7], space[9], space[11], space[17]
    weight = problem[9][POSTURE_WEIGHT]
    share = weight * weight / (weight * weight + damping)
    for i in range(len(x)):
        y[i] = 0.0 if fixed[i] else g[i] - x[i]
    for _ in range(2):
        for q in range(rank):
            remove_part(y, Q[q])
    for i in range(len(x)):
        x[i] += share * y[i]
