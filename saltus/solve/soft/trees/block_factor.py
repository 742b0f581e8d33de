"""Incomplete block factorisation of the Hessian of many trees, the preconditioner of conjugate gradients.

For H = L + D + Lᵀ, with D the blocks of trees and L those of pairs, elimination keeps changes of blocks of trees and
drops fill-in elsewhere:

    P = (D̂ + L) D̂⁻¹ (D̂ + L)ᵀ,    D̂_b = D_b - Σ_a L_ba D̂_a⁻¹ L_baᵀ = C_b C_bᵀ

(a diagonal incomplete factorisation by blocks: Saad, Iterative Methods for Sparse Linear Systems (2003), 10.2). It is
exact if no tree is coupled with more than one higher one, as in chains and rows of dominoes. Otherwise D̂_b can lose
definiteness and is replaced by D_b, as in symmetric Gauss-Seidel. In coordinates scaled by G = C⁻¹, H is

    G H Gᵀ = K + Kᵀ + E,    K = 1 + G L Gᵀ,    E = G D Gᵀ - 2

and P is K Kᵀ. All blocks are held by columns: G in tree_factor, E in tree_rest, K without its diagonal in pair_factor.
"""

from saltus.number.components import epsilon_of
from saltus.number.functions import any_lane, maximum, sqrt, where
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import acting, fetch_range
from saltus.solve.soft.trees.domains import LAST, PHASES, groups_of, meet_below

LARGEST = 50.0  # eigenvalue of D̂_b⁻¹ D_b above which D̂_b is replaced by D_b


@kernel
def factor_blocks(m, d, island, since):
    """Compute tree_factor, pair_factor and tree_rest of an island's tree_hessian and pair_hessian.

    Only factors that depend on blocks marked in tree_fresh and pair_fresh with at least `since` are computed; their
    trees are marked in tree_fresh.
    """
    for phase in range(PHASES):
        meet_below(m, d, island, phase)
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            if phase == LAST:
                fetch_factors(m, d, g)
            factor_group(m, d, g, since)


@only_with("threads")
@kernel
def fetch_factors(m, d, g):
    """Prefetch the factors of the lower trees of a group, including those of other threads, all at once."""
    if acting(m, d) > 1:
        for k in range(d.group_adr[g], d.group_adr[g + 1]):
            b = d.island_tree[k]
            for p in range(d.near_adr[b], d.near_adr[b + 1]):
                a = d.near_tree[p]
                n, place = m.tree_dofnum[a], m.tree_blockadr[a]
                fetch_range(m, d, d.tree_factor, place, place + n * n)


@kernel
def factor_group(m, d, g, since):
    """Compute the factors of a group, after the groups of earlier phases."""
    for k in range(d.group_adr[g], d.group_adr[g + 1]):
        b = d.island_tree[k]
        if depends_on_fresh(d, b, since):
            d.tree_fresh[b] = since
            if m.tree_dofnum[b] == 6:
                factor_tree(m, d, b, 6)
            else:
                factor_tree(m, d, b, m.tree_dofnum[b])


@kernel(inline=True)
def depends_on_fresh(d, b, since):
    """Whether the factor of tree b changes: with its own block, a pair's block, or the factor of a lower tree."""
    latest = d.tree_fresh[b]
    for p in range(d.near_adr[b], d.near_adr[b + 1]):
        latest = max(latest, d.pair_fresh[p], d.tree_fresh[d.near_tree[p]])
    return latest >= since


@kernel(inline=True)
def factor_tree(m, d, b, n):
    """The factors of tree b with n degrees of freedom, and of its pairs with lower trees."""
    zero = 0.0 * d.time
    place = m.tree_blockadr[b]
    first, last = d.near_adr[b], d.near_adr[b + 1]
    if first == last:
        factor_alone(d, place, n)
        return
    for p in range(first, last):
        scale_columns(m, d, p, n)
    # D̂_b, or D_b in the lanes where it has lost too many digits, or where elimination has overflown
    subtract_squares(m, d, b, n, zero + 1.0)
    kept = where(factor_and_rest(d, place, n) <= LARGEST, zero + 1.0, zero)
    if any_lane(kept < 0.5):
        subtract_squares(m, d, b, n, kept)
        factor_and_rest(d, place, n)
    for p in range(first, last):
        scale_rows(m, d, p, n, place)


@kernel(inline=True)
def factor_alone(d, place, n):
    """The factor of a tree that is coupled with no lower one: D̂ = D and E = -1, which is not kept."""
    for k in range(n * n):
        d.block_scratch[k] = d.tree_hessian[place + k]
    cholesky(d.block_scratch, n, d.tree_hessian, place, n + 1)
    inverse_factor(d, place, n)


@kernel(inline=True)
def scale_columns(m, d, p, n):
    """pair_factor ← V = L_ba G_aᵀ of pair p with upper tree b of n degrees of freedom."""
    a = d.near_tree[p]
    place, factor, na = d.near_place[p], m.tree_blockadr[a], m.tree_dofnum[a]
    if na == 6 and n == 6:
        product_of_six(d.pair_factor, place, d.pair_hessian, place, d.tree_factor, factor, 1, 6)
    else:
        block_product(d.pair_factor, place, d.pair_hessian, place, d.tree_factor, factor, 1, na, (n, na, na))


@kernel(inline=True)
def subtract_squares(m, d, b, n, kept):
    """tree_rest ← S = kept Σ_a V Vᵀ and block_scratch ← D_b - S."""
    zero = 0.0 * d.time
    place = m.tree_blockadr[b]
    for k in range(n * n):
        d.tree_rest[place + k] = zero
    for p in range(d.near_adr[b], d.near_adr[b + 1]):
        at, na = d.near_place[p], m.tree_dofnum[d.near_tree[p]]
        if na == 6 and n == 6:
            add_square_of_six(d, place, at)
        else:
            add_square(d, place, at, n, na)
    for k in range(n * n):
        square = kept * d.tree_rest[place + k]
        d.tree_rest[place + k] = square
        d.block_scratch[k] = d.tree_hessian[place + k] - square


@kernel(inline=True)
def factor_and_rest(d, place, n):
    """tree_factor ← G of D̂ in block_scratch, and tree_rest ← E = G S Gᵀ - 1 of S in tree_rest.

    S is used with the sum D̂ + S = D, since zeros of S then leave exactly -1, and a lane does not depend on contacts in
    other lanes. Returns a bound of the eigenvalues of D̂⁻¹ D, which are not below 1.
    """
    cholesky(d.block_scratch, n, d.tree_hessian, place, n + 1)
    inverse_factor(d, place, n)
    if n == 6:
        product_of_six(d.block_scratch, 0, d.tree_rest, place, d.tree_factor, place, 1, 6)
        product_of_six(d.tree_rest, place, d.tree_factor, place, d.block_scratch, 0, 6, 1)
    else:
        block_product(d.block_scratch, 0, d.tree_rest, place, d.tree_factor, place, 1, n, (n, n, n))
        block_product(d.tree_rest, place, d.tree_factor, place, d.block_scratch, 0, n, 1, (n, n, n))
    trace = 0.0 * d.time
    for i in range(n):
        entry = d.tree_rest[place + i * n + i]
        d.tree_rest[place + i * n + i] = entry - 1.0
        trace = trace + entry
    return trace + 1.0


@kernel(inline=True)
def scale_rows(m, d, p, n, factor):
    """pair_factor ← G_b V of pair p."""
    place, na = d.near_place[p], m.tree_dofnum[d.near_tree[p]]
    if na == 6 and n == 6:
        product_of_six(d.block_scratch, 0, d.tree_factor, factor, d.pair_factor, place, 6, 1)
    else:
        block_product(d.block_scratch, 0, d.tree_factor, factor, d.pair_factor, place, n, 1, (n, na, n))
    for k in range(n * na):
        d.pair_factor[place + k] = d.block_scratch[k]


@kernel(inline=True)
def cholesky(W, n, D, at, along):
    """W ← C of W = C Cᵀ, upper triangular n x n by columns, with the inverses of its diagonal.

    Eliminates from the tips of trees, so that branches stay decoupled. Pivots are at least at rounding of the numbers
    D[at], D[at + along], ...
    """
    for j in range(n - 1, -1, -1):
        pivot = maximum(W[j * n + j], epsilon_of(W[j * n + j]) * D[at + along * j])
        inverse = 1.0 / sqrt(pivot)
        W[j * n + j] = inverse
        for i in range(j):
            W[j * n + i] = W[j * n + i] * inverse
        for k in range(j):
            t = W[j * n + k]
            if n == 6 or any_lane(t != 0.0):
                for i in range(k + 1):
                    W[k * n + i] = W[k * n + i] - t * W[j * n + i]


@kernel(inline=True)
def inverse_factor(d, place, n):
    """tree_factor ← G = C⁻¹ of C in block_scratch, upper triangular, zeros below its diagonal included."""
    C, G = d.block_scratch, d.tree_factor
    zero = 0.0 * d.time
    for j in range(n):
        column = place + j * n
        for i in range(n):
            G[column + i] = zero
        G[column + j] = zero + 1.0
        for k in range(j, -1, -1):
            t = G[column + k] * C[k * n + k]
            G[column + k] = t
            if n == 6 or any_lane(t != 0.0):
                for i in range(k):
                    G[column + i] = G[column + i] - t * C[k * n + i]


# ---------------------------------------------------------------- products of blocks


@kernel(inline=True)
def block_product(x, at, A, a, B, b, along, across, extent):
    """x ← A B for fields by columns, B[k, j] at b + along j + across k; extent: rows of A, columns of x and of A."""
    n, columns, inner = extent
    for j in range(columns):
        for i in range(n):
            x[at + j * n + i] = A[a + i] * B[b + along * j]
        for k in range(1, inner):
            t = B[b + along * j + across * k]
            for i in range(n):
                x[at + j * n + i] = x[at + j * n + i] + A[a + k * n + i] * t


@kernel(inline=True)
def product_of_six(x, at, A, a, B, b, along, across):
    """x ← A B for 6 x 6 blocks by columns, in registers."""
    # no loop: the compiler would vectorise over numbers that are not contiguous
    column_of_six(x, at, A, a, B, b, across)
    column_of_six(x, at + 6, A, a, B, b + along, across)
    column_of_six(x, at + 12, A, a, B, b + 2 * along, across)
    column_of_six(x, at + 18, A, a, B, b + 3 * along, across)
    column_of_six(x, at + 24, A, a, B, b + 4 * along, across)
    column_of_six(x, at + 30, A, a, B, b + 5 * along, across)


@kernel(inline=True)
def column_of_six(x, at, A, a, B, b, across):
    """One column of `product_of_six`."""
    t0, t1, t2 = B[b], B[b + across], B[b + 2 * across]
    t3, t4, t5 = B[b + 3 * across], B[b + 4 * across], B[b + 5 * across]
    for i in range(6):
        k = a + i
        x[at + i] = (A[k] * t0 + A[k + 6] * t1 + A[k + 12] * t2) + (A[k + 18] * t3 + A[k + 24] * t4 + A[k + 30] * t5)


@kernel(inline=True)
def add_square(d, at, V, n, columns):
    """tree_rest += V Vᵀ for a block V of pair_factor."""
    for k in range(columns):
        for j in range(n):
            t = d.pair_factor[V + k * n + j]
            for i in range(n):
                d.tree_rest[at + j * n + i] = d.tree_rest[at + j * n + i] + d.pair_factor[V + k * n + i] * t


@kernel(inline=True)
def add_square_of_six(d, at, V):
    """Add V Vᵀ of a 6 x 6 block V of pair_factor to tree_rest, in registers."""
    add_column_of_six(d, at, V, V)
    add_column_of_six(d, at + 6, V, V + 1)
    add_column_of_six(d, at + 12, V, V + 2)
    add_column_of_six(d, at + 18, V, V + 3)
    add_column_of_six(d, at + 24, V, V + 4)
    add_column_of_six(d, at + 30, V, V + 5)


@kernel(inline=True)
def add_column_of_six(d, at, a, b):
    """One column of `add_square_of_six`."""
    V, x = d.pair_factor, d.tree_rest
    t0, t1, t2, t3, t4, t5 = V[b], V[b + 6], V[b + 12], V[b + 18], V[b + 24], V[b + 30]
    for i in range(6):
        k = a + i
        x[at + i] = x[at + i] + (
            (V[k] * t0 + V[k + 6] * t1 + V[k + 12] * t2) + (V[k + 18] * t3 + V[k + 24] * t4 + V[k + 30] * t5)
        )
