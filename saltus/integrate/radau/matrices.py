"""Newton's matrices with the positions eliminated: their factors, and solutions.

With q' = v, and x' = J_q q + J_x x for velocities and actuator states x, the system (c - J) (q, x) = (r, s) becomes

    (c - J_x - J_q P / c) x = s + J_q r / c,   q = (r + P x) / c,   P x = v

for the real c = REAL / h and the complex c = (ALPHA + i BETA) / h; a complex matrix of n rows is a real one of 2 n.
Factors with partial pivoting: Golub & Van Loan, Matrix Computations (2013), algorithm 3.4.1.
"""

from saltus.integrate.radau.memory import COUNT_FACTORS
from saltus.integrate.radau.states import width
from saltus.integrate.radau.tableau import ALPHA, BETA, REAL
from saltus.number.functions import absolute, any_lane, where
from saltus.number.kernels import kernel


@kernel
def factor_both(m, d, h, live):
    """Factors of Newton's matrices for a step of h seconds, into newton_real, newton_pair and their pivots.

    Lanes that are not live have them already, or need none.
    """
    n, columns = m.nv + m.nact, width(m)
    real, alpha, beta = REAL / h, ALPHA / h, BETA / h
    square = alpha * alpha + beta * beta
    for r in range(n):
        for c in range(n):
            by_rate = d.slope_matrix[r * columns + m.nv + c]
            by_place = d.slope_matrix[r * columns + c] if c < m.nv else 0.0 * h
            one = 1.0 if r == c else 0.0
            # real eigenvalue
            d.newton_real[r * n + c] = one * real - by_rate - by_place / real
            # complex one: 1 / c = (alpha - i beta) / |c|²
            even = one * alpha - by_rate - by_place * alpha / square
            odd = one * beta + by_place * beta / square
            d.newton_pair[r * 2 * n + c] = even
            d.newton_pair[r * 2 * n + n + c] = -odd
            d.newton_pair[(n + r) * 2 * n + c] = odd
            d.newton_pair[(n + r) * 2 * n + n + c] = even
    factor(d.newton_real, d.newton_real_pivot, n)
    factor(d.newton_pair, d.newton_pair_pivot, 2 * n)
    d.newton_length = h
    d.memory[COUNT_FACTORS] = where(live, d.memory[COUNT_FACTORS] + 1.0, d.memory[COUNT_FACTORS])


@kernel
def factor(matrix, pivot, n):
    """matrix ← its factors L U with the diagonal of U inverted; pivot [n] ← the rows that were exchanged."""
    for k in range(n):
        # the largest entry of the column
        most = absolute(matrix[k * n + k])
        best = 0.0 * most + k
        for i in range(k + 1, n):
            larger = absolute(matrix[i * n + k]) > most
            most = where(larger, absolute(matrix[i * n + k]), most)
            best = where(larger, 0.0 * most + i, best)
        pivot[k] = best
        for i in range(k + 1, n):
            here = best == i
            if any_lane(here):
                for j in range(n):
                    exchange(matrix, k * n + j, i * n + j, here)
        # elimination
        inverse = 1.0 / matrix[k * n + k]
        matrix[k * n + k] = inverse
        for i in range(k + 1, n):
            t = matrix[i * n + k] * inverse
            matrix[i * n + k] = t
            for j in range(k + 1, n):
                matrix[i * n + j] = matrix[i * n + j] - t * matrix[k * n + j]


@kernel(inline=True)
def exchange(x, i, j, here):
    """Exchange two entries of a field, in the lanes where `here` is true."""
    one, other = x[i], x[j]
    x[i] = where(here, other, one)
    x[j] = where(here, one, other)


@kernel
def solve(matrix, pivot, n, x):
    """x ← the solution for the right side x [n], by the factors of `factor`."""
    for k in range(n):
        for i in range(k + 1, n):
            here = pivot[k] == i
            if any_lane(here):
                exchange(x, k, i, here)
    for i in range(n):
        total = x[i]
        for j in range(i):
            total = total - matrix[i * n + j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total = total - matrix[i * n + j] * x[j]
        x[i] = total * matrix[i * n + i]


@kernel
def solve_real(m, d, h, change, first):
    """The state from entry `first` of a field ← (REAL / h - J)⁻¹ times itself."""
    n, columns = m.nv + m.nact, width(m)
    c = REAL / h
    for r in range(n):
        total = change[first + m.nv + r]
        for i in range(m.nv):
            total = total + d.slope_matrix[r * columns + i] * (change[first + i] / c)
        d.newton_side[r] = total
    solve(d.newton_real, d.newton_real_pivot, n, d.newton_side)
    for i in range(m.nv):
        change[first + i] = (change[first + i] + d.newton_side[i]) / c
    for r in range(n):
        change[first + m.nv + r] = d.newton_side[r]


@kernel
def solve_pair(m, d, h, change, first):
    """Two states from entry `first` of a field, real and imaginary part ← ((ALPHA + i BETA) / h - J)⁻¹ times them."""
    n, columns = m.nv + m.nact, width(m)
    other = first + columns
    square = ALPHA * ALPHA + BETA * BETA
    even, odd = ALPHA * h / square, -BETA * h / square  # 1 / c
    for r in range(n):
        real, imaginary = change[first + m.nv + r], change[other + m.nv + r]
        for i in range(m.nv):
            slope = d.slope_matrix[r * columns + i]
            real = real + slope * (even * change[first + i] - odd * change[other + i])
            imaginary = imaginary + slope * (odd * change[first + i] + even * change[other + i])
        d.newton_side[r] = real
        d.newton_side[n + r] = imaginary
    solve(d.newton_pair, d.newton_pair_pivot, 2 * n, d.newton_side)
    for i in range(m.nv):
        real, imaginary = change[first + i] + d.newton_side[i], change[other + i] + d.newton_side[n + i]
        change[first + i] = even * real - odd * imaginary
        change[other + i] = odd * real + even * imaginary
    for r in range(n):
        change[first + m.nv + r] = d.newton_side[r]
        change[other + m.nv + r] = d.newton_side[n + r]
