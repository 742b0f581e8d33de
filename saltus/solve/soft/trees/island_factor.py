"""Newton's direction of a small island: H s = -g by a Cholesky factorisation of its Hessian as one dense matrix.

H = C Cᵀ with C upper triangular: trees are eliminated from their tips, the last one first, and zeros that remain cost
nothing. The direction is exact; conjugate gradients would need several iterations.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.number.components import epsilon_of
from saltus.number.functions import any_lane, maximum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.soft.trees.block_factor import cholesky
from saltus.solve.soft.trees.islands import dofs_of, trees_of

PANEL = 4  # columns that are eliminated together


@kernel
def solve_island_exactly(m, d, island):
    """solve_search ← -H⁻¹ g of an island's degrees of freedom, from tree_hessian, pair_hessian and solve_gradient."""
    first, last = trees_of(d, island)
    only = d.island_tree[first]
    if last > first + 1:
        n = gather_island(m, d, island)
        padded_cholesky(d, n, d.block_half, d.island_dofadr[only], 1)
        solve_factored(d, n, padded(n), d.island_dofadr[only])
    else:
        solve_tree(m, d, only)
    for k in range(first, last):
        t = d.island_tree[k]
        for i in range(m.tree_dofnum[t]):
            d.solve_search[m.tree_dofadr[t] + i] = d.block_solution[d.island_dofadr[t] + i]


@kernel
def solve_tree(m, d, t):
    """block_solution ← s of a single tree t."""
    n, place, to = m.tree_dofnum[t], m.tree_blockadr[t], d.island_dofadr[t]
    for i in range(n):
        d.block_solution[to + i] = -d.solve_gradient[m.tree_dofadr[t] + i]
    if n == 6:
        for k in range(36):
            d.block_scratch[k] = d.tree_hessian[place + k]
        cholesky(d.block_scratch, 6, d.tree_hessian, place, 7)
        solve_factored(d, 6, 6, to)
    else:
        gather_tree(m, d, t, 0, padded(n))
        padded_cholesky(d, n, d.tree_hessian, place, n + 1)
        solve_factored(d, n, padded(n), to)


@kernel
def gather_island(m, d, island):
    """block_scratch ← upper triangle of H by columns; block_half ← its diagonal, block_solution ← -g.

    Returns the number of degrees of freedom.
    """
    begin, end = dofs_of(m, d, island)
    n = end - begin
    length = padded(n)
    for k in range(n * length):
        d.block_scratch[k] = 0.0 * d.time
    first, last = trees_of(d, island)
    for k in range(first, last):
        t = d.island_tree[k]
        at = d.island_dofadr[t] - begin
        gather_tree(m, d, t, at, length)
        for p in range(d.near_adr[t], d.near_adr[t + 1]):
            gather_pair(m, d, p, t, d.island_dofadr[d.near_tree[p]] - begin, at, length)
        for i in range(m.tree_dofnum[t]):
            d.block_half[begin + at + i] = d.block_scratch[(at + i) * length + at + i]
            d.block_solution[begin + at + i] = -d.solve_gradient[m.tree_dofadr[t] + i]
    return n


@kernel(inline=True)
def gather_tree(m, d, t, at, length):
    """Copy the block of tree t, whose degrees of freedom begin at `at`, to columns of this length."""
    place, n = m.tree_blockadr[t], m.tree_dofnum[t]
    for j in range(n):
        for i in range(j + 1):
            d.block_scratch[(at + j) * length + at + i] = d.tree_hessian[place + j * n + i]


@kernel(inline=True)
def gather_pair(m, d, p, t, low, at, length):
    """Copy the block of pair p with upper tree t; degrees of freedom of its trees begin at `low` and `at`."""
    place, n = d.near_place[p], m.tree_dofnum[t]
    for j in range(m.tree_dofnum[d.near_tree[p]]):
        for i in range(n):
            d.block_scratch[(at + i) * length + low + j] = d.pair_hessian[place + j * n + i]


# ---------------------------------------------------------------- one dense matrix


@kernel(inline=True)
def padded(n):
    """Length of the columns of a matrix of n rows: a multiple of eight."""
    return 8 * ((n + 7) // 8)


@kernel
def padded_cholesky(d, n, D, at, along):
    """`cholesky` of block_scratch with padded columns, four at a time, since reading them takes most of the time.

    Loop lengths are multiples of eight: entries that they change below the diagonal are never read.
    """
    W, length = d.block_scratch, padded(n)
    for j in range(n - 1, -1, -PANEL):
        low = max(j - PANEL + 1, 0)
        for c in range(j, low - 1, -1):
            scale_column(W, c * length, c, epsilon_of(d.time) * D[at + along * c])
            for k in range(low, c):
                subtract_column(W, k, length, c * length)
        for k in range(low):  # empty if the panel has fewer columns
            subtract_four_columns(W, k, length, j * length)


@kernel(inline=True)
def scale_column(W, column, c, least):
    """Scale column c of the remaining matrix, with pivot at least `least`, to that of C; its diagonal is inverted."""
    inverse = 1.0 / sqrt(maximum(W[column + c], least))
    W[column + c] = inverse
    for i in range(c):
        W[column + i] = W[column + i] * inverse


@kernel(inline=True)
def subtract_column(W, k, length, column):
    """Subtract from column k of the remaining matrix its part along a column of C."""
    t = W[column + k]
    if any_lane(t != 0.0):
        for i in range(padded(k + 1)):
            W[k * length + i] = W[k * length + i] - t * W[column + i]


@kernel(inline=True)
def subtract_four_columns(W, k, length, a):
    """Subtract from column k of the remaining matrix its part along four columns of C, the last beginning at a."""
    b, c, e = a - length, a - 2 * length, a - 3 * length
    r, s, t, u = W[a + k], W[b + k], W[c + k], W[e + k]
    if any_lane((r != 0.0) | (s != 0.0) | (t != 0.0) | (u != 0.0)):
        for i in range(padded(k + 1)):
            W[k * length + i] = W[k * length + i] - ((r * W[a + i] + s * W[b + i]) + (t * W[c + i] + u * W[e + i]))


@kernel(inline=True)
def solve_factored(d, n, length, to):
    """n numbers x of block_solution from `to` on ← (C Cᵀ)⁻¹ x, with C in block_scratch by columns of this length."""
    C, x = d.block_scratch, d.block_solution
    for j in range(n - 1, -1, -1):
        t = x[to + j] * C[j * length + j]
        x[to + j] = t
        if n == 6 or any_lane(t != 0.0):
            for i in range(j):
                x[to + i] = x[to + i] - C[j * length + i] * t
    for j in range(n):
        total = x[to + j]
        for i in range(j):
            total = total - C[j * length + i] * x[to + i]
        x[to + j] = total * C[j * length + j]
