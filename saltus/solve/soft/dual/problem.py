"""The dual problem of soft constraints with forces as unknowns: matrices, and conversions between forces and motion.

The forces f minimise ½ fᵀ (A + R) f + fᵀ b within the bounds of each kind of constraint, with the Delassus operator
A = J M⁻¹ Jᵀ, b = J a₀ - a_ref, R = 1/row_D and a₀ the unconstrained accelerations (MuJoCo documentation, Computation:
Constraint model: Dual problem). From M = Lᵀ D L follows A = G Gᵀ with G = J L⁻¹ D^-½, whose rows have entries only for
the degrees of freedom of a block's chain and their ancestors. With y = Gᵀ f maintained, the residual of a row costs one
dot product, and only the diagonal blocks of A are formed.

Unknowns are row forces, and edge forces for a pyramid: edges 2k and 2k + 1 are the normal plus and minus friction
times tangent k. Unknown e of the block whose rows begin at `row` is dual_force[2 row + e].

If lanes diverge, as in Gauss-Seidel with its random order, `get` and `put` access the entry of a field in one lane.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import PYRAMID, add_transpose_block, times_block
from saltus.contact.rows.cost import row_forces, row_residuals
from saltus.dynamics.tree.factor import factor, solve
from saltus.dynamics.tree.guided.prescribed import solve_hybrid
from saltus.number.components import lane_count, lane_get, lane_set
from saltus.number.functions import sqrt, where
from saltus.number.kernels import kernel

WORSE = 1e-10  # J/s²: an update that raises the cost by more is undone


@kernel(inline=True)
def get(field, i, lane):
    """Entry i of a field in one lane."""
    return lane_get(field[i], lane)


@kernel(inline=True)
def put(field, i, lane, value):
    """Set entry i of a field in one lane."""
    field[i] = lane_set(field[i], lane, value)


@kernel
def unfold_forces(m, d):
    """dual_force ← the forces of the primal problem at row_residual."""
    row_forces(m, d)
    for b in range(d.count[NBLOCK]):
        row = d.block_row[b]
        if d.block_kind[b] == PYRAMID:
            weight = d.row_D[row]
            zero = 0.0 * weight
            for k in range(1, d.block_dim[b]):
                across = m.law_friction[d.block_law[b], k - 1] * d.row_residual[row + k]
                upper, lower = d.row_residual[row] + across, d.row_residual[row] - across
                d.dual_force[2 * (row + k - 1)] = where(upper < 0.0, -weight * upper, zero)
                d.dual_force[2 * (row + k - 1) + 1] = where(lower < 0.0, -weight * lower, zero)
        else:
            for r in range(d.block_dim[b]):
                d.dual_force[2 * row + r] = d.row_force[row + r]


@kernel
def dual_problem(m, d):
    """qacc_smooth ← a₀, row_residual ← b, dual_G ← G, dual_A ← A's diagonal blocks, and the factors of M.

    Reads M, qfrc_tau, qfrc_bias, the blocks.
    """
    smooth_accelerations(m, d)
    free_residuals(m, d)
    dual_matrices(m, d)


@kernel
def smooth_accelerations(m, d):
    """qacc_smooth ← the unconstrained accelerations a₀, and the factors of M."""
    factor(m, d)
    for i in range(m.nv):
        d.qacc_smooth[i] = d.qfrc_tau[i] - d.qfrc_bias[i]
    solve_hybrid(m, d, d.qacc_smooth)


@kernel
def free_residuals(m, d):
    """row_residual ← b = J a₀ - a_ref, with a₀ in qacc_smooth."""
    for b in range(d.count[NBLOCK]):
        times_block(m, d, b, d.qacc_smooth, d.row_residual)
        for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            d.row_residual[r] = d.row_residual[r] - d.row_aref[r]


@kernel
def dual_matrices(m, d):
    """dual_G ← G and dual_A ← diagonal blocks of A, from the factors of M."""
    place = 0
    for b in range(d.count[NBLOCK]):
        d.dual_place[b] = place
        dim, row, chain = d.block_dim[b], d.block_row[b], d.block_chain[b]
        for r in range(dim):
            half_solve(m, d, b, r)
        for r in range(dim):
            for s in range(r + 1):
                total = 0.0 * d.time
                for c in range(m.support_num[chain]):
                    total = total + d.dual_G[place + c * dim + r] * d.dual_G[place + c * dim + s]
                d.dual_A[row + r, s] = total
                d.dual_A[row + s, r] = total
        place += dim * m.support_num[chain]


@kernel
def half_solve(m, d, b, r):
    """Row r of block b of G from that of J. Uses dual_y as scratch."""
    dim, chain = d.block_dim[b], d.block_chain[b]
    first, count = m.support_adr[chain], m.support_num[chain]
    for c in range(count):
        d.dual_y[m.support_dof[first + c]] = 0.0 * d.time
    for c in range(d.block_num[b]):
        d.dual_y[m.chain_dof[m.chain_adr[chain] + c]] = d.row_J[d.block_J[b] + c * dim + r]
    for c in range(count - 1, -1, -1):
        i = m.support_dof[first + c]
        x = d.dual_y[i]
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
            d.dual_y[m.M_colind[k]] = d.dual_y[m.M_colind[k]] - d.qLD[k] * x
        d.dual_G[d.dual_place[b] + c * dim + r] = x * sqrt(d.qLDiagInv[i])


@kernel
def fold_forces(m, d):
    """row_force and qfrc_constraint [nv] (N, N m) from dual_force."""
    for i in range(m.nv):
        d.qfrc_constraint[i] = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        row = d.block_row[b]
        if d.block_kind[b] == PYRAMID:
            normal = 0.0 * d.time
            for k in range(1, d.block_dim[b]):
                upper, lower = d.dual_force[2 * (row + k - 1)], d.dual_force[2 * (row + k - 1) + 1]
                normal = normal + (upper + lower)
                d.row_force[row + k] = m.law_friction[d.block_law[b], k - 1] * (upper - lower)
            d.row_force[row] = normal
        else:
            for r in range(d.block_dim[b]):
                d.row_force[row + r] = d.dual_force[2 * row + r]
        add_transpose_block(m, d, b, d.row_force, d.qfrc_constraint)


@kernel
def finish_dual(m, d):
    """Row and joint forces, and the accelerations with them, in the lanes with active rows.

    Writes row_force, qfrc_constraint [nv] (N, N m), qacc_warmstart [nv] and row_residual. Overwrites dual_y.
    """
    fold_forces(m, d)
    acts = d.constrained > 0.5
    # dual_y is free from here on
    for i in range(m.nv):
        d.dual_y[i] = d.qfrc_constraint[i]
    solve(m, d, d.dual_y)
    for i in range(m.nv):
        d.qacc_warmstart[i] = where(acts, d.qacc_smooth[i] + d.dual_y[i], d.qacc_warmstart[i])
    row_residuals(m, d, d.qacc_warmstart)


@kernel
def forces_to_motion(m, d):
    """dual_y ← Gᵀ f."""
    for i in range(m.nv):
        d.dual_y[i] = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        active = acts(d, b)
        for e in range(unknowns(d, b)):
            force = d.dual_force[2 * d.block_row[b] + e]
            push(m, d, b, e, where(active, force, 0.0 * force))


@kernel(inline=True)
def acts(d, b):
    """The lanes in which block b is active."""
    return d.row_D[d.block_row[b]] > 0.0


@kernel
def unknowns(d, b):
    """Number of unknowns of block b."""
    dim = d.block_dim[b]
    return 2 * (dim - 1) if d.block_kind[b] == PYRAMID else dim


@kernel(inline=True)
def combination(m, d, b, e):
    """(r, s, w): unknown e of block b acts along row r, and along w times row s if s differs from r."""
    if d.block_kind[b] == PYRAMID:
        mu = m.law_friction[d.block_law[b], e // 2] + 0.0 * d.time
        return 0, e // 2 + 1, mu * (1.0 - 2.0 * (e % 2))
    return e, e, 0.0 * d.time


@kernel
def residual(m, d, b, r):
    """Residual A f + b of row r of block b."""
    place, dim = d.dual_place[b] + r, d.block_dim[b]
    first = m.support_adr[d.block_chain[b]]
    total = d.row_residual[d.block_row[b] + r]
    for c in range(first, first + m.support_num[d.block_chain[b]]):
        total = total + d.dual_G[place] * d.dual_y[m.support_dof[c]]
        place += dim
    return total


@kernel
def push(m, d, b, e, change):
    """Update dual_y for a change of the force of unknown e of block b."""
    r, s, w = combination(m, d, b, e)
    push_row(m, d, b, r, change)
    if s != r:
        push_row(m, d, b, s, w * change)


@kernel
def push_row(m, d, b, r, change):
    """Update dual_y for a change of the force along row r of block b."""
    place, dim = d.dual_place[b] + r, d.block_dim[b]
    first = m.support_adr[d.block_chain[b]]
    for c in range(first, first + m.support_num[d.block_chain[b]]):
        i = m.support_dof[c]
        d.dual_y[i] = d.dual_y[i] + change * d.dual_G[place]
        place += dim


# ---------------------------------------------------------------- islands


@kernel
def find_islands(m, d):
    """tree_island ← constraint islands of each lane: trees that constraints couple have the number of the first.

    By union-find (Cormen et al., Introduction to Algorithms, chapter on disjoint sets).
    """
    for t in range(m.ntree):
        d.tree_island[t] = t + 0.0 * d.time
    if m.ntree > 1:
        for b in range(d.count[NBLOCK]):
            couple_trees(m, d, b)
        for lane in range(lane_count(d.time)):
            for t in range(m.ntree):
                put(d.tree_island, t, lane, get(d.tree_island, root_of(d, t, lane), lane))


@kernel
def couple_trees(m, d, b):
    """Unite the islands of the trees that block b moves, in the lanes where it acts."""
    first = m.chain_adr[d.block_chain[b]]
    before = m.dof_treeid[m.chain_dof[first]]
    for c in range(first + 1, first + d.block_num[b]):
        tree = m.dof_treeid[m.chain_dof[c]]
        if tree != before:
            for lane in range(lane_count(d.time)):
                if get(d.row_D, d.block_row[b], lane) > 0.0:
                    one, other = root_of(d, before, lane), root_of(d, tree, lane)
                    put(d.tree_island, max(one, other), lane, get(d.tree_island, min(one, other), lane))
        before = tree


@kernel
def root_of(d, t, lane):
    """The tree that represents the island of tree t in a lane."""
    above = int(get(d.tree_island, t, lane))
    while above != t:
        t = above
        above = int(get(d.tree_island, t, lane))
    return t


@kernel(inline=True)
def first_tree(m, d, b):
    """The tree of the first degree of freedom that block b moves."""
    return m.dof_treeid[m.chain_dof[m.chain_adr[d.block_chain[b]]]]


@kernel(inline=True)
def belongs(m, d, b, island):
    """The lanes in which block b acts and is part of an island."""
    return acts(d, b) & (d.tree_island[first_tree(m, d, b)] == island)


@kernel
def island_scale(m, d, island):
    """Scale of an island's cost for comparison with a tolerance: 1/(trace of its M), as in MuJoCo 4.0."""
    total = 0.0 * d.time
    if not m.opt_islands:
        return total + m.opt_scale
    for i in range(m.nv):
        own = d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1]
        total = total + where(d.tree_island[m.dof_treeid[i]] == island, own, 0.0 * own)
    return 1.0 / total
