"""Memory of a search, one array that is divided into parts.

With n degrees of freedom, K tasks, L levels of priority and one for the posture:

    0 J [rows, n], 1 r [rows]      Jacobian and residual, the rows of a level together
    2 norms [K], 3 costs [L + 1]   length of each residual (m, rad); half the square of each level's, the posture's
    4 H, 5 L [n, n], 6 g, 7 x [n]  a quadratic model of the cost, its factor, its gradient; a step
    8 room [n, 2], 9 fixed [n]     how far a step may go; what it holds (whole numbers)
    10 A [rows, n], 11 Q [n, n]    projected rows of a level, orthonormal rows of those above
    12 saved, 13 best [nq]         configurations: before a step, of the best search
    14 first_row [L + 1]           rows of each level (whole numbers)
    15 W [rows, rows], 16, 17      a factor, and vectors [rows] and [n], for steps by levels
    18 before [L + 1], 19 [nq]     costs and configuration before a step by levels
    20 least [L + 1]               costs of the best search
"""

from saltus.number.kernels import kernel


def memory_size(n: int, rows: int, tasks: int, levels: int, nq: int) -> int:
    """Number of real numbers; `levels`: L + 1."""
    return 2 * rows * n + rows * rows + 2 * rows + 3 * n * n + 5 * n + tasks + 3 * levels + 3 * nq


@kernel
def divided(work, n, rows, tasks, levels, nq, fixed, first_row):
    """The tuple of all parts."""
    J, at = matrix(work, 0, rows, n)
    r, at = vector(work, at, rows)
    norms, at = vector(work, at, tasks)
    costs, at = vector(work, at, levels)
    H, at = matrix(work, at, n, n)
    L, at = matrix(work, at, n, n)
    g, at = vector(work, at, n)
    x, at = vector(work, at, n)
    room, at = matrix(work, at, n, 2)
    A, at = matrix(work, at, rows, n)
    Q, at = matrix(work, at, n, n)
    saved, at = vector(work, at, nq)
    best, at = vector(work, at, nq)
    W, at = matrix(work, at, rows, rows)
    y, at = vector(work, at, rows)
    z, at = vector(work, at, n)
    before, at = vector(work, at, levels)
    origin, at = vector(work, at, nq)
    least, at = vector(work, at, levels)
    kept = saved, best, first_row, W, y, z, before, origin, least
    return (J, r, norms, costs, H, L, g, x, room, fixed, A, Q, *kept)


@kernel(inline=True)
def vector(work, at, n):
    """n numbers of the memory from a place on, and the place behind them."""
    return work[at : at + n], at + n


@kernel(inline=True)
def matrix(work, at, rows, columns):
    """A matrix in the memory from a place on, and the place behind it."""
    return work[at : at + rows * columns].reshape((rows, columns)), at + rows * columns
