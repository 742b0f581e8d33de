"""The dual problem of one island in one lane, in memory of its own.

Its unknowns are numbered from 0. Their forces f have bounds, and the gradient of their cost is (A + R) f + b (see
`saltus.solve.soft.dual`). Up to m.ndense unknowns, A + R is a dense matrix and the gradient is maintained: an unknown
that nothing moves costs nothing, and a change of force adds a column to it. Beyond, the gradient of an unknown is the
product of its row of G with y = Gᵀ f, which changes maintain instead.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION
from saltus.number.components import lane_get, lane_set
from saltus.number.functions import sqrt
from saltus.number.kernels import kernel
from saltus.solve.soft.dual import combination, first_tree, get, push, put, residual, unknowns

UNBOUNDED = 1e30  # N, N m: of the forces of equality constraints, and from above of those that only push


@kernel(inline=True)
def stride(n):
    """Entries from row to row of the dense matrices of n unknowns: whole registers."""
    return 8 * ((n + 7) // 8)


@kernel(inline=True)
def last_unknown(d, b, first):
    """One more than the number of the last unknown of the item with block b and first number `first`."""
    return first + (d.block_dim[b] if d.block_kind[b] == CONE else 1)


@kernel(inline=True)
def in_island(m, d, i, island, lane):
    """Whether degree of freedom i is part of an island in the lane."""
    return get(d.tree_island, m.dof_treeid[i], lane) == island


@kernel
def list_unknowns(m, d, island, lane):
    """dual_item ← the unknowns of an island in MuJoCo's order, a cone as one item.

    Returns the number of items and that of unknowns.
    """
    items, n = 0, 0
    for b in range(d.count[NBLOCK]):
        active = get(d.row_D, d.block_row[b], lane) > 0.0
        if active and get(d.tree_island, first_tree(m, d, b), lane) == island:
            for e in range(1 if d.block_kind[b] == CONE else unknowns(d, b)):
                d.dual_item[items] = (b, e, n)
                items += 1
                n += d.block_dim[b] if d.block_kind[b] == CONE else 1
    return items, n


@kernel
def take_up(m, d, island, items, n, lane):
    """island_* ← forces, bounds and gradient of the n unknowns, which dual_item lists as so many items."""
    for k in range(items):
        b, e, first = d.dual_item[k]
        row, kind = d.block_row[b], d.block_kind[b]
        for i in range(first, last_unknown(d, b, first)):
            r, s, w = combination(m, d, b, e + i - first)
            w = lane_get(w, lane)
            force = get(d.dual_force, 2 * row + e + i - first, lane)
            d.island_force[i] = force
            d.island_before[i] = force
            d.island_R[i] = 1.0 / get(d.row_D, row + r, lane)
            d.island_b[i] = get(d.row_residual, row + r, lane) + w * get(d.row_residual, row + s, lane)
            # bounds of a single force
            bound = 0.0 * force + UNBOUNDED
            if kind == FRICTION:
                bound = get(d.row_loss, row, lane)
            d.island_high[i] = bound
            d.island_low[i] = -bound if kind == EQUALITY or kind == FRICTION else 0.0 * force
    if n <= m.ndense:
        half_solve_all(m, d, island, items, n, lane)
        form_matrix(m, d, island, n, lane)
    else:
        begin_motion(m, d, items, island, lane)


@kernel
def half_solve_all(m, d, island, items, n, lane):
    """island_G ← Gᵀ = D^-½ L⁻ᵀ Jᵀ, a row for each degree of freedom."""
    width = stride(n)
    for i in range(m.nv):
        if in_island(m, d, i, island, lane):
            for j in range(width):
                d.island_G[i * width + j] = 0.0 * lane_get(d.time, lane)
    # Jᵀ
    for k in range(items):
        b, e, first = d.dual_item[k]
        dim, chain = d.block_dim[b], m.chain_adr[d.block_chain[b]]
        for i in range(first, last_unknown(d, b, first)):
            r, s, w = combination(m, d, b, e + i - first)
            w = lane_get(w, lane)
            for c in range(d.block_num[b]):
                place = d.block_J[b] + c * dim
                entry = get(d.row_J, place + r, lane) + w * get(d.row_J, place + s, lane)
                d.island_G[m.chain_dof[chain + c] * width + i] = entry
    # L⁻ᵀ from the leaves to the root, then D^-½
    for i in range(m.nv - 1, -1, -1):
        if in_island(m, d, i, island, lane):
            for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
                above, entry = m.M_colind[k] * width, get(d.qLD, k, lane)
                for j in range(width):
                    d.island_G[above + j] = d.island_G[above + j] - entry * d.island_G[i * width + j]
            scale = sqrt(get(d.qLDiagInv, i, lane))
            for j in range(width):
                d.island_G[i * width + j] = scale * d.island_G[i * width + j]


@kernel
def form_matrix(m, d, island, n, lane):
    """island_A ← A + R, its diagonal, and island_gap ← (A + R) f + b."""
    width = stride(n)
    for i in range(n):
        own = i * width
        # what is symmetric to rows before
        known = 8 * (i // 8)
        for j in range(known):
            d.island_A[own + j] = d.island_A[j * width + i]
        # A = G Gᵀ
        for j in range(known, width):
            d.island_A[own + j] = 0.0 * lane_get(d.time, lane)
        for c in range(m.nv):
            if in_island(m, d, c, island, lane) and d.island_G[c * width + i] != 0.0:
                entry = d.island_G[c * width + i]
                for j in range(known, width):
                    d.island_A[own + j] = d.island_A[own + j] + entry * d.island_G[c * width + j]
        d.island_A[own + i] = d.island_A[own + i] + d.island_R[i]
        d.island_diagonal[i] = d.island_A[own + i]
        d.island_inverse[i] = 1.0 / d.island_A[own + i]
    # gradient
    for j in range(width):
        d.island_gap[j] = d.island_b[j] if j < n else 0.0 * d.island_b[0]
    for i in range(n):
        if d.island_force[i] != 0.0:
            add_column(d, i, d.island_force[i], n)


@kernel(inline=True)
def add_column(d, i, change, n):
    """Update the gradient for a change of the force of unknown i of n."""
    width = stride(n)
    for j in range(width):
        d.island_gap[j] = d.island_gap[j] + change * d.island_A[i * width + j]


@kernel
def begin_motion(m, d, items, island, lane):
    """dual_y ← Gᵀ f, and the diagonal."""
    for i in range(m.nv):
        if in_island(m, d, i, island, lane):
            put(d.dual_y, i, lane, 0.0 * get(d.dual_y, i, lane))
    for k in range(items):
        b, e, first = d.dual_item[k]
        for i in range(first, last_unknown(d, b, first)):
            d.island_diagonal[i] = inertia(m, d, b, e + i - first, lane) + d.island_R[i]
            d.island_inverse[i] = 1.0 / d.island_diagonal[i]
            push_in_lane(m, d, b, e + i - first, d.island_force[i], lane)


@kernel
def inertia(m, d, b, e, lane):
    """Diagonal entry of A of unknown e of block b."""
    row = d.block_row[b]
    r, s, w = combination(m, d, b, e)
    own = d.dual_A[row + r, r]
    return lane_get(own + w * (2.0 * d.dual_A[row + r, s] + w * d.dual_A[row + s, s]), lane)


@kernel(inline=True)
def push_in_lane(m, d, b, e, change, lane):
    """Update dual_y in one lane for a change of the force of unknown e of block b."""
    push(m, d, b, e, lane_set(0.0 * d.time, lane, change))


@kernel
def give_back(d, items, lane):
    """dual_force ← the forces of the island."""
    for k in range(items):
        b, e, first = d.dual_item[k]
        for i in range(first, last_unknown(d, b, first)):
            put(d.dual_force, 2 * d.block_row[b] + e + i - first, lane, d.island_force[i])


@kernel(inline=True)
def gap(m, d, b, e, i, n, lane):
    """Gradient of the cost in unknown i of n, which is unknown e of block b."""
    if n <= m.ndense:
        return d.island_gap[i]
    r, s, w = combination(m, d, b, e)
    total = residual(m, d, b, r)
    if s != r:
        total = total + w * residual(m, d, b, s)
    return lane_get(total, lane) + d.island_R[i] * d.island_force[i]


@kernel(inline=True)
def spread(m, d, b, e, i, change, n, lane):
    """Update the gradient, or y, for a change of the force of unknown i of n, which is unknown e of block b."""
    if n <= m.ndense:
        add_column(d, i, change, n)
    else:
        push_in_lane(m, d, b, e, change, lane)


@kernel
def own_block(m, d, b, first, n, lane):
    """cone_block [dim, dim] ← the entries of A + R of a cone whose first unknown of n is `first`."""
    width, dim = stride(n), d.block_dim[b]
    for j in range(dim):
        for k in range(dim):
            if n <= m.ndense:
                d.cone_block[j, k] = d.island_A[(first + j) * width + first + k]
            else:
                d.cone_block[j, k] = lane_get(d.dual_A[d.block_row[b] + j, k], lane)
                if j == k:
                    d.cone_block[j, k] = d.cone_block[j, k] + d.island_R[first + j]
