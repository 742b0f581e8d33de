"""Newton's direction of many trees: H s = -g by conjugate gradients with an incomplete block factorisation.

With K, E and G of `saltus.solve.soft.trees.block_factor`, and s = Gᵀ K⁻ᵀ y, the preconditioned system is

    A y = K⁻¹ G (-g),    A p = t + K⁻¹ (p + E t),    t = K⁻ᵀ p,

so that a product with H costs no more than the two solves that precondition it (Eisenstat, Efficient implementation of
a class of preconditioned conjugate gradient methods, SIAM J. Sci. Stat. Comput. 2 (1981)). The square of this residual
is gᵀ P⁻¹ g, an estimate of twice the remaining decrease of the cost.

Each island of trees is solved separately. The fields of the iteration are in the order of islands, in which the degrees
of freedom of an island are contiguous. A thread changes the entries of its own groups of trees, and waits for others
when it needs their numbers: in forward and backward substitution, and for sums.
"""

from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import acting, fetch_range, meet
from saltus.solve.soft.trees.domains import LAST, PHASES, dofs_of_group, groups_of, meet_below, sum_of_groups
from saltus.solve.soft.trees.islands import trees_of

MOST = 500  # iterations


@kernel
def begin_direction(m, d, island):
    """block_residual, block_direction ← K⁻¹ G (-g), block_solution ← 0; returns the square of the residual."""
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            scale_gradients(m, d, g)
    forward(m, d, island, d.block_residual)
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            d.group_sum[g, 0] = residual_square(d, dofs_of_group(m, d, g))
    meet(m, d)
    return sum_of_groups(d, island, 0)


@kernel
def scale_gradients(m, d, g):
    """block_residual ← G (-g) of a group's trees."""
    for k in range(d.group_adr[g], d.group_adr[g + 1]):
        b = d.island_tree[k]
        if m.tree_dofnum[b] == 6:
            scale_gradient(m, d, b, 6)
        else:
            scale_gradient(m, d, b, m.tree_dofnum[b])


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
def residual_square(d, dofs):
    """|block_residual|² of a group; also sets the first direction, and clears the solution."""
    square = 0.0 * d.time
    for i in range(dofs[0], dofs[1]):
        r = d.block_residual[i]
        d.block_direction[i] = r
        d.block_solution[i] = 0.0 * r
        square = square + r * r
    return square


@kernel
def iterate_direction(m, d, island, live, square, bound):
    """Conjugate gradients until the square of the residual is at its `bound` in all lanes that are live.

    Then solve_search ← s, which is a descent direction even after `MOST` iterations without convergence. Returns the
    lanes that are not at their bound.
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
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            scale_solutions(m, d, g)
    meet(m, d)
    return live & (square > bound)


@kernel
def scale_solutions(m, d, g):
    """solve_search ← Gᵀ x of a group's trees, x in block_solution."""
    for k in range(d.group_adr[g], d.group_adr[g + 1]):
        b = d.island_tree[k]
        if m.tree_dofnum[b] == 6:
            scale_solution(m, d, b, 6)
        else:
            scale_solution(m, d, b, m.tree_dofnum[b])


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
    """block_product ← A p - t of p = block_direction, block_half ← t; returns p · A p."""
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            first, last = dofs_of_group(m, d, g)
            for i in range(first, last):
                d.block_half[i] = d.block_direction[i]
    backward(m, d, island, d.block_half)
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            add_rest_of_group(m, d, g)
    forward(m, d, island, d.block_product)
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            d.group_sum[g, 1] = curvature_of(d, dofs_of_group(m, d, g))
    meet(m, d)
    return sum_of_groups(d, island, 1)


@kernel
def add_rest_of_group(m, d, g):
    """block_product ← p + E t of a group's trees."""
    for k in range(d.group_adr[g], d.group_adr[g + 1]):
        b = d.island_tree[k]
        if d.near_adr[b] == d.near_adr[b + 1]:
            subtract_half(m, d, b)
        elif m.tree_dofnum[b] == 6:
            add_rest(m, d, b, 6)
        else:
            add_rest(m, d, b, m.tree_dofnum[b])


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
def curvature_of(d, dofs):
    """p · A p of a group; block_product is kept, since other threads may still read it."""
    curvature = 0.0 * d.time
    for i in range(dofs[0], dofs[1]):
        curvature = curvature + d.block_direction[i] * (d.block_product[i] + d.block_half[i])
    return curvature


@kernel
def advance(m, d, island, alpha):
    """y += alpha p and r -= alpha A p; returns |r|²."""
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            d.group_sum[g, 0] = advance_group(d, dofs_of_group(m, d, g), alpha)
    meet(m, d)
    return sum_of_groups(d, island, 0)


@kernel(sums=True)
def advance_group(d, dofs, alpha):
    """Advance y += alpha p and r -= alpha A p for a group; returns |r|²."""
    square = 0.0 * alpha
    for i in range(dofs[0], dofs[1]):
        d.block_solution[i] = d.block_solution[i] + alpha * d.block_direction[i]
        r = d.block_residual[i] - alpha * (d.block_product[i] + d.block_half[i])
        d.block_residual[i] = r
        square = square + r * r
    return square


@kernel
def turn(m, d, island, beta):
    """p ← r + beta p."""
    for phase in range(PHASES):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            first, last = dofs_of_group(m, d, g)
            for i in range(first, last):
                d.block_direction[i] = d.block_residual[i] + beta * d.block_direction[i]


# ---------------------------------------------------------------- solves with K


@kernel
def forward(m, d, island, x):
    """x ← K⁻¹ x for an island's part of a field x [nv] in the order of islands."""
    for phase in range(PHASES):
        meet_below(m, d, island, phase)
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            if phase == LAST:
                fetch_lower(m, d, g, x)
            forward_group(m, d, g, x)


@kernel
def forward_group(m, d, g, x):
    """x ← K⁻¹ x for a group, after the groups of earlier phases."""
    for k in range(d.group_adr[g], d.group_adr[g + 1]):
        b = d.island_tree[k]
        if d.near_adr[b] == d.near_adr[b + 1]:
            continue
        if m.tree_dofnum[b] == 6:
            forward_six(m, d, b, x)
        else:
            for p in range(d.near_adr[b], d.near_adr[b + 1]):
                subtract(m, d, p, d.island_dofadr[b], m.tree_dofnum[b], x)


@kernel
def backward(m, d, island, x):
    """x ← K⁻ᵀ x for an island's part of a field x [nv] in the order of islands.

    A tree first gathers contributions of trees of other groups, then contributes to its own group.
    """
    for phase in range(PHASES - 1, -1, -1):
        begin, end = groups_of(m, d, island, phase)
        for g in range(begin, end):
            backward_group(m, d, g, phase == 0, x)
        meet_below(m, d, island, phase)
        if phase == LAST:
            fetch_phase(m, d, island, phase, x)


@only_with("threads")
@kernel
def fetch_lower(m, d, g, x):
    """Prefetch data of other threads that `forward_group` reads, all at once."""
    if acting(m, d) > 1:
        for k in range(d.group_adr[g], d.group_adr[g + 1]):
            b = d.island_tree[k]
            for p in range(d.near_adr[b], d.near_adr[b + 1]):
                a = d.near_tree[p]
                fetch_range(m, d, x, d.island_dofadr[a], d.island_dofadr[a] + m.tree_dofnum[a])


@only_with("threads")
@kernel
def fetch_phase(m, d, island, phase, x):
    """Prefetch a field's part of all groups of a phase that other threads' groups touch, all at once."""
    if acting(m, d) > 1:
        first, _ = trees_of(d, island)
        for g in range(first + d.phase_adr[island, phase], first + d.phase_adr[island, phase + 1]):
            begin, end = dofs_of_group(m, d, g)
            fetch_range(m, d, x, begin, end)


@kernel
def backward_group(m, d, g, domain, x):
    """x ← K⁻ᵀ x for a group, after the groups of later phases; all lower trees of a `domain` belong to it."""
    for k in range(d.group_adr[g + 1] - 1, d.group_adr[g] - 1, -1):
        b = d.island_tree[k]
        for u in range(d.outer_adr[b], d.outer_adr[b] + d.outer_num[b]):
            subtract_transpose(m, d, d.outer_pair[u], x)
        for p in range(d.near_adr[b], d.near_adr[b + 1]):
            if domain or d.tree_group[d.near_tree[p]] == d.tree_group[b]:
                subtract_transpose(m, d, p, x)


@kernel(inline=True)
def subtract(m, d, p, first, n, x):
    """x_b -= K_ba x_a of pair p, whose upper tree has n degrees of freedom from `first` on."""
    a, place = d.near_tree[p], d.near_place[p]
    for j in range(m.tree_dofnum[a]):
        xj = x[d.island_dofadr[a] + j]
        for i in range(n):
            x[first + i] = x[first + i] - d.pair_factor[place + j * n + i] * xj


@kernel(inline=True)
def subtract_transpose(m, d, p, x):
    """x_a -= K_baᵀ x_b of pair p."""
    a, b, place = d.near_tree[p], d.pair_upper[p], d.near_place[p]
    low, high, n = d.island_dofadr[a], d.island_dofadr[b], m.tree_dofnum[b]
    if n == 6:
        six = x[high], x[high + 1], x[high + 2], x[high + 3], x[high + 4], x[high + 5]
        for j in range(m.tree_dofnum[a]):
            x[low + j] = x[low + j] - column_times(d, place + 6 * j, six)
    else:
        for j in range(m.tree_dofnum[a]):
            total = x[low + j]
            for i in range(n):
                total = total - d.pair_factor[place + j * n + i] * x[high + i]
            x[low + j] = total


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
def column_times(d, k, y):
    """Product of a column of six of pair_factor, from k on, with six numbers."""
    K = d.pair_factor
    return (K[k] * y[0] + K[k + 1] * y[1] + K[k + 2] * y[2]) + (K[k + 3] * y[3] + K[k + 4] * y[4] + K[k + 5] * y[5])
