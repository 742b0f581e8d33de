"""Newton's direction of many trees: H s = -g by conjugate gradients with an incomplete block factorisation.

With K, E and C of `saltus.solve.soft.block_factor`, and y = Kᵀ Cᵀ s, the preconditioned system is

    A y = K⁻¹ C⁻¹ (-g),    A p = t + K⁻¹ (p + E t),    t = K⁻ᵀ p,

so that a product with H costs no more than the two solves that precondition it (Eisenstat, Efficient implementation of
a class of preconditioned conjugate gradient methods, SIAM J. Sci. Stat. Comput. 2 (1981)). The square of the residual
there is gᵀ P⁻¹ g, an estimate of twice the decrease of the cost that is still to be had.
"""

from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel
from saltus.solve.soft.block_factor import solve_lower, solve_upper

MOST = 500  # iterations


@kernel
def begin_direction(m, d):
    """block_residual, block_direction ← K⁻¹ C⁻¹ (-g), block_solution ← 0; returns the square of the residual."""
    for i in range(m.nv):
        d.block_residual[i] = -d.solve_gradient[i]
    for b in range(m.nsolvertree):
        if m.tree_dofnum[b] == 6:
            solve_lower(d, m.tree_blockadr[b], 6, d.block_residual, m.tree_dofadr[b])
        else:
            solve_lower(d, m.tree_blockadr[b], m.tree_dofnum[b], d.block_residual, m.tree_dofadr[b])
    forward(m, d, d.block_residual)
    return residual_square(m, d)


@kernel(sums=True)
def residual_square(m, d):
    """|block_residual|², with the first direction, and no solution yet."""
    square = 0.0 * d.time
    for i in range(m.nv):
        r = d.block_residual[i]
        d.block_direction[i] = r
        d.block_solution[i] = 0.0 * r
        square = square + r * r
    return square


@kernel
def iterate_direction(m, d, live, square, bound):
    """Conjugate gradients until the square of the residual is at its `bound` in all lanes that are live.

    Then solve_search ← s. After `MOST` iterations it is as good as it has become: a direction of descent in any case.
    """
    for _ in range(MOST):
        live = live & (square > bound)
        if not any_lane(live):
            break
        curvature = product(m, d)
        alpha = where(live, square / curvature, 0.0 * square)
        after = advance(m, d, alpha)
        turn(m, d, where(live, after / square, 0.0 * square))
        square = where(live, after, square)
    # s = C⁻ᵀ K⁻ᵀ y
    for i in range(m.nv):
        d.solve_search[i] = d.block_solution[i]
    backward(m, d, d.solve_search)
    for b in range(m.nsolvertree):
        if m.tree_dofnum[b] == 6:
            solve_upper(d, m.tree_blockadr[b], 6, d.solve_search, m.tree_dofadr[b])
        else:
            solve_upper(d, m.tree_blockadr[b], m.tree_dofnum[b], d.solve_search, m.tree_dofadr[b])


@kernel
def product(m, d):
    """block_product ← A p of p = block_direction; returns p · A p."""
    for i in range(m.nv):
        d.block_half[i] = d.block_direction[i]
    backward(m, d, d.block_half)
    for b in range(m.nsolvertree):
        if d.near_adr[b] == d.near_adr[b + 1]:
            nothing_left(m, d, b)
        elif m.tree_dofnum[b] == 6:
            add_rest(m, d, b, 6)
        else:
            add_rest(m, d, b, m.tree_dofnum[b])
    forward(m, d, d.block_product)
    return finish_product(m, d)


@kernel(inline=True)
def nothing_left(m, d, b):
    """block_product ← p + E t of tree b that is coupled with no lower one: E = -1."""
    first = m.tree_dofadr[b]
    for i in range(first, first + m.tree_dofnum[b]):
        d.block_product[i] = d.block_direction[i] - d.block_half[i]


@kernel(inline=True)
def add_rest(m, d, b, n):
    """block_product ← p + E t of tree b."""
    first, place = m.tree_dofadr[b], m.tree_blockadr[b]
    for i in range(n):
        total = d.block_direction[first + i]
        for j in range(n):
            total = total + d.tree_rest[place + i * n + j] * d.block_half[first + j]
        d.block_product[first + i] = total


@kernel(sums=True)
def finish_product(m, d):
    """block_product += t; returns p · A p."""
    curvature = 0.0 * d.time
    for i in range(m.nv):
        q = d.block_product[i] + d.block_half[i]
        d.block_product[i] = q
        curvature = curvature + d.block_direction[i] * q
    return curvature


@kernel(sums=True)
def advance(m, d, alpha):
    """y += alpha p and r -= alpha A p; returns |r|²."""
    square = 0.0 * alpha
    for i in range(m.nv):
        d.block_solution[i] = d.block_solution[i] + alpha * d.block_direction[i]
        r = d.block_residual[i] - alpha * d.block_product[i]
        d.block_residual[i] = r
        square = square + r * r
    return square


@kernel
def turn(m, d, beta):
    """p ← r + beta p."""
    for i in range(m.nv):
        d.block_direction[i] = d.block_residual[i] + beta * d.block_direction[i]


# ---------------------------------------------------------------- solves with K


@kernel
def forward(m, d, x):
    """x ← K⁻¹ x for a field x [nv]."""
    for b in range(m.nsolvertree):
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            a = d.near_tree[p]
            if m.tree_dofnum[a] == 6 and m.tree_dofnum[b] == 6:
                subtract_six(d, d.near_place[p], x, m.tree_dofadr[a], m.tree_dofadr[b])
            else:
                subtract(d, d.near_place[p], x, m.tree_dofadr[a], m.tree_dofnum[a], m.tree_dofadr[b], m.tree_dofnum[b])


@kernel
def backward(m, d, x):
    """x ← K⁻ᵀ x for a field x [nv]."""
    for b in range(m.nsolvertree - 1, -1, -1):
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            a = d.near_tree[p]
            low, high, place = m.tree_dofadr[a], m.tree_dofadr[b], d.near_place[p]
            if m.tree_dofnum[a] == 6 and m.tree_dofnum[b] == 6:
                subtract_transpose(d, place, x, low, 6, high, 6)
            else:
                subtract_transpose(d, place, x, low, m.tree_dofnum[a], high, m.tree_dofnum[b])


@kernel(inline=True)
def subtract_six(d, place, x, low, high):
    """x_b -= K_ba x_a of trees with six degrees of freedom from `low` and `high` on."""
    x0, x1, x2, x3, x4, x5 = x[low], x[low + 1], x[low + 2], x[low + 3], x[low + 4], x[low + 5]
    K = d.pair_factor
    for i in range(6):
        k = place + i
        x[high + i] = x[high + i] - (
            (K[k] * x0 + K[k + 6] * x1 + K[k + 12] * x2) + (K[k + 18] * x3 + K[k + 24] * x4 + K[k + 30] * x5)
        )


@kernel(inline=True)
def subtract(d, place, x, low, na, high, nb):
    """x_b -= K_ba x_a."""
    for j in range(na):
        xj = x[low + j]
        for i in range(nb):
            x[high + i] = x[high + i] - d.pair_factor[place + j * nb + i] * xj


@kernel(inline=True)
def subtract_transpose(d, place, x, low, na, high, nb):
    """x_a -= K_baᵀ x_b."""
    for j in range(na):
        total = x[low + j]
        for i in range(nb):
            total = total - d.pair_factor[place + j * nb + i] * x[high + i]
        x[low + j] = total
