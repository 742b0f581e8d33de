"""Newton's direction of a small island: H s = -g by a Cholesky factorisation of its Hessian as one dense matrix.

H = C Cᵀ with C upper triangular: trees are eliminated from their tips, the last one first, and what this leaves zero
costs nothing. The direction is exact, where conjugate gradients would need several iterations.
"""

from saltus.number.functions import any_lane
from saltus.number.kernels import kernel
from saltus.solve.soft.trees.block_factor import cholesky
from saltus.solve.soft.trees.islands import dofs_of, trees_of


@kernel
def solve_island_exactly(m, d, island):
    """solve_search ← -H⁻¹ g of an island's degrees of freedom, from tree_hessian, pair_hessian and solve_gradient."""
    first, last = trees_of(d, island)
    only = d.island_tree[first]
    if last > first + 1:
        n = gather_island(m, d, island)
        cholesky(d.block_scratch, n, d.block_half, d.island_dofadr[only], 1)
        solve_factored(d, n, d.island_dofadr[only])
    else:
        solve_tree(m, d, only)
    for k in range(first, last):
        t = d.island_tree[k]
        for i in range(m.tree_dofnum[t]):
            d.solve_search[m.tree_dofadr[t] + i] = d.block_solution[d.island_dofadr[t] + i]


@kernel
def solve_tree(m, d, t):
    """block_solution ← s of tree t alone."""
    if m.tree_dofnum[t] == 6:
        factor_and_solve(m, d, t, 6)
    else:
        factor_and_solve(m, d, t, m.tree_dofnum[t])


@kernel(inline=True)
def factor_and_solve(m, d, t, n):
    """`solve_tree` for n degrees of freedom."""
    place, to = m.tree_blockadr[t], d.island_dofadr[t]
    for k in range(n * n):
        d.block_scratch[k] = d.tree_hessian[place + k]
    for i in range(n):
        d.block_solution[to + i] = -d.solve_gradient[m.tree_dofadr[t] + i]
    cholesky(d.block_scratch, n, d.tree_hessian, place, n + 1)
    solve_factored(d, n, to)


@kernel
def gather_island(m, d, island):
    """block_scratch ← upper triangle of H by columns; block_half ← its diagonal, block_solution ← -g.

    Returns the number of degrees of freedom.
    """
    begin, end = dofs_of(m, d, island)
    n = end - begin
    for k in range(n * n):
        d.block_scratch[k] = 0.0 * d.time
    first, last = trees_of(d, island)
    for k in range(first, last):
        t = d.island_tree[k]
        at = d.island_dofadr[t] - begin
        gather_tree(m, d, t, at, n)
        for p in range(d.near_adr[t], d.near_adr[t + 1]):
            gather_pair(m, d, p, t, d.island_dofadr[d.near_tree[p]] - begin, at, n)
        for i in range(m.tree_dofnum[t]):
            d.block_half[begin + at + i] = d.block_scratch[(at + i) * n + at + i]
            d.block_solution[begin + at + i] = -d.solve_gradient[m.tree_dofadr[t] + i]
    return n


@kernel(inline=True)
def gather_tree(m, d, t, at, n):
    """The block of tree t, whose degrees of freedom begin at `at` of n."""
    place, own = m.tree_blockadr[t], m.tree_dofnum[t]
    for j in range(own):
        for i in range(j + 1):
            d.block_scratch[(at + j) * n + at + i] = d.tree_hessian[place + j * own + i]


@kernel(inline=True)
def gather_pair(m, d, p, t, low, at, n):
    """The block of pair p with upper tree t; degrees of freedom of its trees begin at `low` and `at` of n."""
    place, upper = d.near_place[p], m.tree_dofnum[t]
    for j in range(m.tree_dofnum[d.near_tree[p]]):
        for i in range(upper):
            d.block_scratch[(at + i) * n + low + j] = d.pair_hessian[place + j * upper + i]


@kernel(inline=True)
def solve_factored(d, n, to):
    """n numbers x of block_solution from `to` on ← (C Cᵀ)⁻¹ x, with C of `cholesky` in block_scratch."""
    C, x = d.block_scratch, d.block_solution
    for j in range(n - 1, -1, -1):
        t = x[to + j] * C[j * n + j]
        x[to + j] = t
        if n == 6 or any_lane(t != 0.0):
            for i in range(j):
                x[to + i] = x[to + i] - C[j * n + i] * t
    for j in range(n):
        total = x[to + j]
        for i in range(j):
            total = total - C[j * n + i] * x[to + i]
        x[to + j] = total * C[j * n + j]
