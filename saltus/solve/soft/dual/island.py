"""Dual problems of islands, each in one lane, in separate memory.

Several islands are held at once. problem[s] is (lane, number of the first unknown, number of unknowns, number of items,
address of the matrix). An item, (block, index in it, number of its first unknown), is one unknown, or all of a cone,
which are updated together.

The forces f have bounds, and the gradient of their cost is (A + R) f + b (see `saltus.solve.soft.dual.problem`). Up to
m.ndense unknowns, A + R is a dense matrix and the gradient is maintained: an unchanged unknown costs nothing, and a
change of force adds a column to the gradient. Beyond, y = Gᵀ f is maintained instead, and the gradient of an unknown is
the product of its row of G with y.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION
from saltus.number.components import lane_get, lane_set
from saltus.number.conditions import has_lanes
from saltus.number.functions import clip, sqrt
from saltus.number.intrinsics.blocks import AT_ONCE, add_multiple
from saltus.number.kernels import kernel
from saltus.number.permutation import SEED
from saltus.solve.soft.dual.problem import combination, first_tree, get, push, put, residual, unknowns

# the columns of `unknown`: force, bounds, 1/(A + R) and A + R on the diagonal, forces before and after the last
# extrapolation, R; together, since the order of updates is random
FORCE, LOW, HIGH, INVERSE, DIAGONAL, BEFORE, START, SOFTNESS = range(8)
UNBOUNDED = 1e30  # N, N m: bound of the forces of equality constraints, and upper bound of forces that only push


@kernel(inline=True)
def stride(n):
    """Row length of the dense matrices of n unknowns: whole registers."""
    return 8 * ((n + 7) // 8)


@kernel(inline=True)
def last_unknown(d, b, first):
    """One more than the number of the last unknown of the item with block b and first number `first`."""
    return first + (d.block_dim[b] if d.block_kind[b] == CONE else 1)


@kernel(inline=True)
def in_island(m, d, i, island, lane):
    """Whether degree of freedom i is part of an island in the lane."""
    return get(d.tree_island, m.dof_treeid[i], lane) == island


@kernel(inline=True)
def acts_in(m, d, b, island, lane):
    """Whether block b acts in the lane and is part of an island."""
    active = get(d.row_D, d.block_row[b], lane) > 0.0
    return active and get(d.tree_island, first_tree(m, d, b), lane) == island


@kernel
def unknowns_of(m, d, island, lane):
    """Number of an island's unknowns in a lane."""
    n = 0
    for b in range(d.count[NBLOCK]):
        if acts_in(m, d, b, island, lane):
            n += unknowns(d, b)
    return n


@kernel(inline=True)
def after(m, d, count):
    """First free unknown, and first free entry of a matrix, after `count` islands."""
    if count == 0:
        return 0, 0
    _, first, n, _, place = d.problem[count - 1]
    return first + stride(n), place + (n * stride(n) if n <= m.ndense else 0)


@kernel
def room_for(m, d, count, n):
    """Whether there is memory for n unknowns beside those of `count` islands."""
    first, place = after(m, d, count)
    matrix = n * stride(n) if n <= m.ndense else 0
    return count < m.nproblem and first + stride(n) <= m.nitem and place + matrix <= m.nisland_A


@kernel
def take_up(m, d, count, island, n, lane):
    """problem[count] ← the island's n unknowns in a lane, with their forces, bounds and gradient."""
    first, place = after(m, d, count)
    items = list_unknowns(m, d, island, first, lane)
    problem = (lane, first, n, items, place)
    d.problem[count] = problem
    d.problem_random[count] = SEED
    d.problem_momentum[count] = 0
    for k in range(first, first + items):
        d.dual_order[k] = k
        take_up_item(m, d, k, lane)
    if n <= m.ndense:
        form_matrix(m, d, problem, half_solve_all(m, d, island, problem))
    else:
        begin_motion(m, d, island, problem)


@kernel
def list_unknowns(m, d, island, first, lane):
    """dual_item ← the unknowns of an island in MuJoCo's order, a cone as one item, numbered from `first` on.

    Returns the number of items.
    """
    items, i = first, first
    for b in range(d.count[NBLOCK]):
        if acts_in(m, d, b, island, lane):
            for e in range(1 if d.block_kind[b] == CONE else unknowns(d, b)):
                d.dual_item[items] = (b, e, i)
                items += 1
                i += d.block_dim[b] if d.block_kind[b] == CONE else 1
    return items - first


@kernel
def take_up_item(m, d, k, lane):
    """Forces, bounds, R and b of the unknowns of item k."""
    b, e, first = d.dual_item[k]
    row, kind = d.block_row[b], d.block_kind[b]
    for i in range(first, last_unknown(d, b, first)):
        r, s, w = combination(m, d, b, e + i - first)
        w = lane_get(w, lane)
        force = get(d.dual_force, 2 * row + e + i - first, lane)
        d.unknown[i, FORCE] = force
        d.unknown[i, BEFORE] = force
        d.unknown[i, SOFTNESS] = 1.0 / get(d.row_D, row + r, lane)
        d.island_b[i] = get(d.row_residual, row + r, lane) + w * get(d.row_residual, row + s, lane)
        # bounds of a single force
        bound = 0.0 * force + UNBOUNDED
        if kind == FRICTION:
            bound = get(d.row_loss, row, lane)
        d.unknown[i, HIGH] = bound
        d.unknown[i, LOW] = -bound if kind == EQUALITY or kind == FRICTION else 0.0 * force


@kernel
def half_solve_all(m, d, island, problem):
    """island_G ← Gᵀ = D^-½ L⁻ᵀ Jᵀ, a row for each of the island's degrees of freedom; returns their number."""
    lane, begin, n, items, _ = problem
    width, rows = stride(n), 0
    for i in range(m.nv):
        d.island_touched[i] = 0
        if in_island(m, d, i, island, lane):
            d.island_row[i] = rows * width
            for j in range(width):
                d.island_G[rows * width + j] = 0.0 * lane_get(d.time, lane)
            rows += 1
    # Jᵀ
    for k in range(begin, begin + items):
        b, e, first = d.dual_item[k]
        dim, chain = d.block_dim[b], m.chain_adr[d.block_chain[b]]
        for i in range(first, last_unknown(d, b, first)):
            r, s, w = combination(m, d, b, e + i - first)
            w = lane_get(w, lane)
            for c in range(d.block_num[b]):
                place = d.block_J[b] + c * dim
                entry = get(d.row_J, place + r, lane) + w * get(d.row_J, place + s, lane)
                d.island_G[d.island_row[m.chain_dof[chain + c]] + i - begin] = entry
                d.island_touched[m.chain_dof[chain + c]] = 1
    # L⁻ᵀ from the leaves to the root, then D^-½; rows that nothing has touched are zero
    for i in range(m.nv - 1, -1, -1):
        if d.island_touched[i]:
            own = d.island_row[i]
            for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
                above, entry = d.island_row[m.M_colind[k]], get(d.qLD, k, lane)
                d.island_touched[m.M_colind[k]] = 1
                add_row(d, d.island_G, above, -entry, d.island_G, own, width)
            scale = sqrt(get(d.qLDiagInv, i, lane))
            for j in range(width):
                d.island_G[own + j] = scale * d.island_G[own + j]
    return rows


@kernel
def form_matrix(m, d, problem, rows):
    """island_A ← A + R, its diagonal, and island_gap ← (A + R) f + b, from `rows` rows of island_G."""
    lane, begin, n, _, place = problem
    width = stride(n)
    # A = G Gᵀ: each row from the register with its diagonal entry on; four rows of Gᵀ at a time
    for i in range(n):
        for j in range(8 * (i // 8), width):
            d.island_A[place + i * width + j] = 0.0 * lane_get(d.time, lane)
    fours = rows - rows % 4
    for c in range(0, fours, 4):
        for i in range(n):
            add_four(d, place, i, c * width, width)
    for c in range(fours, rows):
        for i in range(n):
            entry = d.island_G[c * width + i]
            for j in range(8 * (i // 8), width):
                here = place + i * width + j
                d.island_A[here] = d.island_A[here] + entry * d.island_G[c * width + j]
    # add R, and complete the symmetric part
    for i in range(n):
        own = place + i * width
        for j in range(8 * (i // 8)):
            d.island_A[own + j] = d.island_A[place + j * width + i]
        d.island_A[own + i] = d.island_A[own + i] + d.unknown[begin + i, SOFTNESS]
        d.unknown[begin + i, DIAGONAL] = d.island_A[own + i]
        d.unknown[begin + i, INVERSE] = 1.0 / d.island_A[own + i]
    # gradient
    for j in range(width):
        d.island_gap[begin + j] = d.island_b[begin + j] if j < n else 0.0 * d.island_b[begin]
    for i in range(begin, begin + n):
        if d.unknown[i, FORCE] != 0.0:
            add_column(d, i, d.unknown[i, FORCE], problem)


@kernel(inline=True)
def add_four(d, place, i, first, width):
    """Add the product of four consecutive rows of island_G to row i of island_A."""
    second, third, fourth = first + width, first + 2 * width, first + 3 * width
    g0, g1, g2, g3 = d.island_G[first + i], d.island_G[second + i], d.island_G[third + i], d.island_G[fourth + i]
    if g0 != 0.0 or g1 != 0.0 or g2 != 0.0 or g3 != 0.0:
        for j in range(8 * (i // 8), width):
            total = d.island_A[place + i * width + j]
            total = total + g0 * d.island_G[first + j]
            total = total + g1 * d.island_G[second + j]
            total = total + g2 * d.island_G[third + j]
            d.island_A[place + i * width + j] = total + g3 * d.island_G[fourth + j]


@kernel(inline=True)
def add_column(d, i, change, problem):
    """Update the gradient for a change of the force of unknown i."""
    _, begin, n, _, place = problem
    width = stride(n)
    column = place + (i - begin) * width
    add_row(d, d.island_gap, begin, change, d.island_A, column, width)


@kernel(inline=True)
def add_row(d, target, i, factor, source, j, width):
    """Add `factor` times `width` entries of a field, from entry j on, to those of another from i on.

    The islands of lanes take turns, so that wide registers pay; a single one waits for what narrow ones have sooner.
    """
    if has_lanes(d):
        for k in range(0, width, AT_ONCE):
            add_multiple(target, i + k, factor, source, j + k)
    else:
        for k in range(width):
            target[i + k] = target[i + k] + factor * source[j + k]


@kernel
def begin_motion(m, d, island, problem):
    """dual_y ← Gᵀ f, and the diagonal."""
    lane, begin, _, items, _ = problem
    for i in range(m.nv):
        if in_island(m, d, i, island, lane):
            put(d.dual_y, i, lane, 0.0 * get(d.dual_y, i, lane))
    for k in range(begin, begin + items):
        b, e, first = d.dual_item[k]
        for i in range(first, last_unknown(d, b, first)):
            d.unknown[i, DIAGONAL] = inertia(m, d, b, e + i - first, lane) + d.unknown[i, SOFTNESS]
            d.unknown[i, INVERSE] = 1.0 / d.unknown[i, DIAGONAL]
            push_in_lane(m, d, b, e + i - first, d.unknown[i, FORCE], lane)


@kernel
def inertia(m, d, b, e, lane):
    """Diagonal entry of A of unknown e of block b."""
    row = d.block_row[b]
    r, s, w = combination(m, d, b, e)
    own = d.dual_A[row + r, r]
    return lane_get(own + w * (2.0 * d.dual_A[row + r, s] + w * d.dual_A[row + s, s]), lane)


@kernel
def push_in_lane(m, d, b, e, change, lane):
    """Update dual_y in one lane for a change of the force of unknown e of block b."""
    push(m, d, b, e, lane_set(0.0 * d.time, lane, change))


@kernel
def give_back(d, s):
    """dual_force ← the forces of island s."""
    lane, begin, _, items, _ = d.problem[s]
    for k in range(begin, begin + items):
        b, e, first = d.dual_item[k]
        for i in range(first, last_unknown(d, b, first)):
            put(d.dual_force, 2 * d.block_row[b] + e + i - first, lane, d.unknown[i, FORCE])


@kernel(inline=True)
def bounded_minimum(d, i, slope):
    """The force of unknown i at which the cost is least within its bounds, where the gradient is `slope` now.

    Also returns the change of the force, and the decrease of the cost.
    """
    old = d.unknown[i, FORCE]
    new = clip(old - slope * d.unknown[i, INVERSE], d.unknown[i, LOW], d.unknown[i, HIGH])
    change = new - old
    return new, change, -change * (0.5 * change * d.unknown[i, DIAGONAL] + slope)


@kernel(inline=True)
def gap(m, d, b, e, i, problem):
    """Gradient of the cost in unknown i, which is unknown e of block b."""
    if problem[2] <= m.ndense:
        return d.island_gap[i]
    return lane_get(edge_residual(m, d, b, e), problem[0]) + d.unknown[i, SOFTNESS] * d.unknown[i, FORCE]


@kernel
def edge_residual(m, d, b, e):
    """Residual A f + b of unknown e of block b."""
    r, s, w = combination(m, d, b, e)
    total = residual(m, d, b, r)
    if s != r:
        total = total + w * residual(m, d, b, s)
    return total


@kernel(inline=True)
def spread(m, d, b, e, i, change, problem):
    """Update the gradient, or y, for a change of the force of unknown i, which is unknown e of block b."""
    if problem[2] <= m.ndense:
        add_column(d, i, change, problem)
    else:
        push_in_lane(m, d, b, e, change, problem[0])


@kernel
def own_block(m, d, b, first, problem):
    """cone_block [dim, dim] ← the entries of A + R of a cone whose first unknown is `first`."""
    lane, begin, n, _, place = problem
    width, dim = stride(n), d.block_dim[b]
    for j in range(dim):
        for k in range(dim):
            if n <= m.ndense:
                d.cone_block[j, k] = d.island_A[place + (first - begin + j) * width + first - begin + k]
            else:
                d.cone_block[j, k] = lane_get(d.dual_A[d.block_row[b] + j, k], lane)
                if j == k:
                    d.cone_block[j, k] = d.cone_block[j, k] + d.unknown[first + j, SOFTNESS]
