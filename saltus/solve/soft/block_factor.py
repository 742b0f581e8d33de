"""Incomplete block factorisation of the Hessian of many trees, as the preconditioner of conjugate gradients.

Of H = L + D + Lᵀ, with D the blocks of trees and L those of pairs, elimination keeps what it changes in blocks of
trees and drops what it would fill in elsewhere:

    P = (D̂ + L) D̂⁻¹ (D̂ + L)ᵀ,    D̂_b = D_b - Σ_a L_ba D̂_a⁻¹ L_baᵀ = C_b C_bᵀ

(a diagonal incomplete factorisation by blocks: Saad, Iterative Methods for Sparse Linear Systems (2003), 10.2). It is
exact where the pairs of trees form no cycles, as in chains and rows of dominoes. Where it is not, D̂_b can lose
definiteness; there it is D_b, as in symmetric Gauss-Seidel. In coordinates scaled by C, H is

    C⁻¹ H C⁻ᵀ = K + Kᵀ + E,    K = 1 + C⁻¹ L C⁻ᵀ,    E = C⁻¹ D C⁻ᵀ - 2

and P is K Kᵀ. tree_factor holds the lower triangles of C, with the inverses of their diagonals; pair_factor K without
its diagonal; tree_rest E, all of it.
"""

from saltus.number.components import epsilon_of
from saltus.number.functions import maximum, minimum, sqrt, where
from saltus.number.kernels import kernel

SOUND = 0.02  # least part of D_b that is left in D̂_b


@kernel
def factor_blocks(m, d):
    """tree_factor, pair_factor and tree_rest of tree_hessian and pair_hessian."""
    for b in range(m.nsolvertree):
        if m.tree_dofnum[b] == 6:
            factor_tree(m, d, b, 6)
        else:
            factor_tree(m, d, b, m.tree_dofnum[b])


@kernel(inline=True)
def factor_tree(m, d, b, n):
    """The factors of tree b with n degrees of freedom, and of its pairs with lower trees."""
    zero = 0.0 * d.time
    place = m.tree_blockadr[b]
    first, last = d.near_adr[b], d.near_adr[b + 1]
    if first == last:
        cholesky(d, place, n, zero + 1.0, zero)
        return
    # Σ_a V Vᵀ with V = L_ba C_a⁻ᵀ
    for k in range(n * n):
        d.tree_rest[place + k] = zero
    for p in range(first, last):
        a = d.near_tree[p]
        if m.tree_dofnum[a] == 6:
            scale_by_lower(d, d.near_place[p], n, m.tree_blockadr[a], 6)
            add_square(d, place, d.near_place[p], n, 6)
        else:
            scale_by_lower(d, d.near_place[p], n, m.tree_blockadr[a], m.tree_dofnum[a])
            add_square(d, place, d.near_place[p], n, m.tree_dofnum[a])
    # C_b, of D_b in the lanes where D̂_b would not be larger than SOUND D_b
    sound = cholesky(d, place, n, zero + (1.0 - SOUND), zero + 1.0) > 0.0
    kept = where(sound, zero + 1.0, zero)
    cholesky(d, place, n, zero + 1.0, kept)
    what_is_left(d, place, n, kept)
    for p in range(first, last):
        for column in range(m.tree_dofnum[d.near_tree[p]]):
            solve_lower(d, place, n, d.pair_factor, d.near_place[p] + column * n)


@kernel(inline=True)
def scale_by_lower(d, place, n, C, na):
    """pair_factor ← V = L_ba C_a⁻ᵀ at `place`, by columns of n; C: address of the factor of a."""
    for j in range(na):
        for i in range(n):
            total = d.pair_hessian[place + j * n + i]
            for k in range(j):
                total = total - d.tree_factor[C + j * na + k] * d.pair_factor[place + k * n + i]
            d.pair_factor[place + j * n + i] = total * d.tree_factor[C + j * na + j]


@kernel(inline=True)
def add_square(d, rest, place, n, na):
    """tree_rest += V Vᵀ, the lower triangle."""
    for i in range(n):
        for j in range(i + 1):
            total = d.tree_rest[rest + i * n + j]
            for k in range(na):
                total = total + d.pair_factor[place + k * n + i] * d.pair_factor[place + k * n + j]
            d.tree_rest[rest + i * n + j] = total


@kernel(inline=True)
def cholesky(d, place, n, part, kept):
    """tree_factor ← C of part D - kept Σ V Vᵀ = C Cᵀ; returns the least ratio of a pivot to its diagonal entry of D.

    Pivots are at least at rounding.
    """
    least = 0.0 * kept + 1.0
    for i in range(n):
        row = place + i * n
        for j in range(i + 1):
            total = part * d.tree_hessian[row + j] - kept * d.tree_rest[row + j]
            for k in range(j):
                total = total - d.tree_factor[row + k] * d.tree_factor[place + j * n + k]
            if j < i:
                d.tree_factor[row + j] = total * d.tree_factor[place + j * n + j]
            else:
                least = minimum(least, total / d.tree_hessian[row + i])
                total = maximum(total, epsilon_of(total) * d.tree_hessian[row + i])
                d.tree_factor[row + i] = 1.0 / sqrt(total)
    return least


@kernel(inline=True)
def what_is_left(d, place, n, kept):
    """tree_rest ← E = C⁻¹ (kept Σ V Vᵀ) C⁻ᵀ - 1, all of it."""
    for i in range(n):
        for j in range(i + 1):
            total = kept * d.tree_rest[place + i * n + j]
            d.tree_rest[place + i * n + j] = total
            d.tree_rest[place + j * n + i] = total
    # by rows (S C⁻ᵀ), then by columns
    for i in range(n):
        solve_lower(d, place, n, d.tree_rest, place + i * n)
    for i in range(n):
        row = place + i * n
        for j in range(n):
            total = d.tree_rest[row + j]
            for k in range(i):
                total = total - d.tree_factor[row + k] * d.tree_rest[place + k * n + j]
            d.tree_rest[row + j] = total * d.tree_factor[row + i]
    for i in range(n):
        d.tree_rest[place + i * n + i] = d.tree_rest[place + i * n + i] - 1.0


@kernel(inline=True)
def solve_lower(d, place, n, x, at):
    """x ← C⁻¹ x for n numbers of the field x from `at` on; `place`: address of C."""
    for i in range(n):
        total = x[at + i]
        for k in range(i):
            total = total - d.tree_factor[place + i * n + k] * x[at + k]
        x[at + i] = total * d.tree_factor[place + i * n + i]


@kernel(inline=True)
def solve_upper(d, place, n, x, at):
    """x ← C⁻ᵀ x for n numbers of the field x from `at` on; `place`: address of C."""
    for i in range(n - 1, -1, -1):
        total = x[at + i]
        for k in range(i + 1, n):
            total = total - d.tree_factor[place + k * n + i] * x[at + k]
        x[at + i] = total * d.tree_factor[place + i * n + i]
