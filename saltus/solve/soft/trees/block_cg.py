"""Newton's direction of many trees: H s = -g by conjugate gradients with an incomplete block factorisation.

With K, E and G of `saltus.solve.soft.trees.block_factor`, and s = Gᵀ K⁻ᵀ y, the preconditioned system is

    A y = K⁻¹ G (-g),    A p = t + K⁻¹ (p + E t),    t = K⁻ᵀ p,

so that a product with H costs no more than the two solves that precondition it (Eisenstat, Efficient implementation of
a class of preconditioned conjugate gradient methods, SIAM J. Sci. Stat. Comput. 2 (1981)). The square of the residual
there is gᵀ P⁻¹ g, an estimate of twice the decrease of the cost that is still to be had.

Each island of trees is solved by itself. The fields of the iteration are in the order of islands: there the degrees of
freedom of an island lie side by side.
"""

from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel
from saltus.solve.soft.trees.islands import dofs_of, tree_runs_of

MOST = 500  # iterations


@kernel
def begin_direction(m, d, island):
    """block_residual, block_direction ← K⁻¹ G (-g), block_solution ← 0; returns the square of the residual."""
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.tree_run[k, 0], d.tree_run[k, 1]):
            if m.tree_dofnum[b] == 6:
                scale_gradient(m, d, b, 6)
            else:
                scale_gradient(m, d, b, m.tree_dofnum[b])
    forward(m, d, island, d.block_residual)
    return residual_square(m, d, island)


@kernel(inline=True)
def scale_gradient(m, d, b, n):
    """block_residual ← G (-g) of tree b; G is upper triangular."""
    first, to, place = m.tree_dofadr[b], d.island_dofadr[b], m.tree_blockadr[b]
    for i in range(n):
        total = 0.0 * d.time
        for k in range(i, n):
            total = total - d.tree_factor[place + k * n + i] * d.solve_gradient[first + k]
        d.block_residual[to + i] = total


@kernel(sums=True)
def residual_square(m, d, island):
    """|block_residual|², with the first direction, and no solution yet."""
    square = 0.0 * d.time
    first, last = dofs_of(m, d, island)
    for i in range(first, last):
        r = d.block_residual[i]
        d.block_direction[i] = r
        d.block_solution[i] = 0.0 * r
        square = square + r * r
    return square


@kernel
def iterate_direction(m, d, island, live, square, bound):
    """Conjugate gradients until the square of the residual is at its `bound` in all lanes that are live.

    Then solve_search ← s. After `MOST` iterations it is as good as it has become: a direction of descent in any case.
    Returns the lanes that are not at their bound.
    """
    for _ in range(MOST):
        live = live & (square > bound)
        if not any_lane(live):
            break
        curvature = product(m, d, island)
        alpha = where(live, square / curvature, 0.0 * square)
        after = advance(m, d, island, alpha)
        turn(m, d, island, where(live, after / square, 0.0 * square))
        square = where(live, after, square)
    backward(m, d, island, d.block_solution)
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.tree_run[k, 0], d.tree_run[k, 1]):
            if m.tree_dofnum[b] == 6:
                scale_solution(m, d, b, 6)
            else:
                scale_solution(m, d, b, m.tree_dofnum[b])
    return live & (square > bound)


@kernel(inline=True)
def scale_solution(m, d, b, n):
    """solve_search ← Gᵀ x of tree b, x in block_solution."""
    first, to, place = d.island_dofadr[b], m.tree_dofadr[b], m.tree_blockadr[b]
    for k in range(n):
        total = 0.0 * d.time
        for i in range(k + 1):
            total = total + d.tree_factor[place + k * n + i] * d.block_solution[first + i]
        d.solve_search[to + k] = total


@kernel
def product(m, d, island):
    """block_product ← A p of p = block_direction; returns p · A p."""
    begin, end = dofs_of(m, d, island)
    for i in range(begin, end):
        d.block_half[i] = d.block_direction[i]
    backward(m, d, island, d.block_half)
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.tree_run[k, 0], d.tree_run[k, 1]):
            if d.near_adr[b] == d.near_adr[b + 1]:
                subtract_half(m, d, b)
            elif m.tree_dofnum[b] == 6:
                add_rest(m, d, b, 6)
            else:
                add_rest(m, d, b, m.tree_dofnum[b])
    forward(m, d, island, d.block_product)
    return finish_product(m, d, island)


@kernel(inline=True)
def subtract_half(m, d, b):
    """block_product ← p + E t of tree b that is coupled with no lower one: E = -1."""
    first = d.island_dofadr[b]
    for i in range(first, first + m.tree_dofnum[b]):
        d.block_product[i] = d.block_direction[i] - d.block_half[i]


@kernel(inline=True)
def add_rest(m, d, b, n):
    """block_product ← p + E t of tree b."""
    first, place = d.island_dofadr[b], m.tree_blockadr[b]
    for i in range(n):
        total = d.block_direction[first + i]
        for j in range(n):
            total = total + d.tree_rest[place + i * n + j] * d.block_half[first + j]
        d.block_product[first + i] = total


@kernel(sums=True)
def finish_product(m, d, island):
    """block_product += t; returns p · A p."""
    curvature = 0.0 * d.time
    first, last = dofs_of(m, d, island)
    for i in range(first, last):
        q = d.block_product[i] + d.block_half[i]
        d.block_product[i] = q
        curvature = curvature + d.block_direction[i] * q
    return curvature


@kernel(sums=True)
def advance(m, d, island, alpha):
    """y += alpha p and r -= alpha A p; returns |r|²."""
    square = 0.0 * alpha
    first, last = dofs_of(m, d, island)
    for i in range(first, last):
        d.block_solution[i] = d.block_solution[i] + alpha * d.block_direction[i]
        r = d.block_residual[i] - alpha * d.block_product[i]
        d.block_residual[i] = r
        square = square + r * r
    return square


@kernel
def turn(m, d, island, beta):
    """p ← r + beta p."""
    first, last = dofs_of(m, d, island)
    for i in range(first, last):
        d.block_direction[i] = d.block_residual[i] + beta * d.block_direction[i]


# ---------------------------------------------------------------- solves with K


@kernel
def forward(m, d, island, x):
    """x ← K⁻¹ x for an island's part of a field x [nv] in the order of islands."""
    first, last = tree_runs_of(d, island)
    for k in range(first, last):
        for b in range(d.tree_run[k, 0], d.tree_run[k, 1]):
            if d.near_adr[b] < d.near_adr[b + 1]:
                if m.tree_dofnum[b] == 6:
                    forward_six(m, d, b, x)
                else:
                    for p in range(d.near_adr[b], d.near_adr[b + 1]):
                        subtract(m, d, p, d.island_dofadr[b], m.tree_dofnum[b], x)


@kernel
def backward(m, d, island, x):
    """x ← K⁻ᵀ x for an island's part of a field x [nv] in the order of islands."""
    first, last = tree_runs_of(d, island)
    for k in range(last - 1, first - 1, -1):
        for b in range(d.tree_run[k, 1] - 1, d.tree_run[k, 0] - 1, -1):
            if d.near_adr[b] < d.near_adr[b + 1]:
                if m.tree_dofnum[b] == 6:
                    backward_six(m, d, b, x)
                else:
                    for p in range(d.near_adr[b], d.near_adr[b + 1]):
                        subtract_transpose(m, d, p, d.island_dofadr[b], m.tree_dofnum[b], x)


@kernel(inline=True)
def subtract(m, d, p, first, n, x):
    """x_b -= K_ba x_a of pair p, whose upper tree has n degrees of freedom from `first` on."""
    a, place = d.near_tree[p], d.near_place[p]
    for j in range(m.tree_dofnum[a]):
        xj = x[d.island_dofadr[a] + j]
        for i in range(n):
            x[first + i] = x[first + i] - d.pair_factor[place + j * n + i] * xj


@kernel(inline=True)
def subtract_transpose(m, d, p, first, n, x):
    """x_a -= K_baᵀ x_b of pair p, whose upper tree has n degrees of freedom from `first` on."""
    a, place = d.near_tree[p], d.near_place[p]
    for j in range(m.tree_dofnum[a]):
        total = x[d.island_dofadr[a] + j]
        for i in range(n):
            total = total - d.pair_factor[place + j * n + i] * x[first + i]
        x[d.island_dofadr[a] + j] = total


@kernel(inline=True)
def forward_six(m, d, b, x):
    """x_b -= Σ_a K_ba x_a of tree b with six degrees of freedom."""
    first, K = d.island_dofadr[b], d.pair_factor
    x0, x1, x2, x3, x4, x5 = x[first], x[first + 1], x[first + 2], x[first + 3], x[first + 4], x[first + 5]
    for p in range(d.near_adr[b], d.near_adr[b + 1]):
        a, place = d.near_tree[p], d.near_place[p]
        low = d.island_dofadr[a]
        for j in range(m.tree_dofnum[a]):
            k, xj = place + 6 * j, x[low + j]
            x0 = x0 - K[k] * xj
            x1 = x1 - K[k + 1] * xj
            x2 = x2 - K[k + 2] * xj
            x3 = x3 - K[k + 3] * xj
            x4 = x4 - K[k + 4] * xj
            x5 = x5 - K[k + 5] * xj
    x[first], x[first + 1], x[first + 2], x[first + 3], x[first + 4], x[first + 5] = x0, x1, x2, x3, x4, x5


@kernel(inline=True)
def backward_six(m, d, b, x):
    """x_a -= K_baᵀ x_b for all lower trees a of tree b with six degrees of freedom."""
    first, K = d.island_dofadr[b], d.pair_factor
    x0, x1, x2, x3, x4, x5 = x[first], x[first + 1], x[first + 2], x[first + 3], x[first + 4], x[first + 5]
    for p in range(d.near_adr[b], d.near_adr[b + 1]):
        a, place = d.near_tree[p], d.near_place[p]
        low = d.island_dofadr[a]
        for j in range(m.tree_dofnum[a]):
            k = place + 6 * j
            x[low + j] = x[low + j] - (
                (K[k] * x0 + K[k + 1] * x1 + K[k + 2] * x2) + (K[k + 3] * x3 + K[k + 4] * x4 + K[k + 5] * x5)
            )
