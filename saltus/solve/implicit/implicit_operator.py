"""Matrix of a step that is implicit in forces: inertia, and the derivatives of forces and constraints.

    A = M + s K + r D + Jᵀ W J

M, with the joint terms on its diagonal, is stored like the inertia; K and D are of deformable bodies (see
`saltus.dynamics.flex.tangent`), W are the curvatures of constraint rows at row_residual (see
`saltus.contact.rows.cost`). A is applied as an operator, never assembled. The preconditioner is A restricted
to the pattern of M, on lone bodies to their diagonal blocks, and on rods to a band (see `rod_band`): exact without
other deformable bodies if rows act on one branch each.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import (
    EQUALITY,
    add_transpose_block,
    add_transpose_edge,
    add_transpose_rows,
    chained_dof,
    edge_blocks,
    times_block,
    times_edge,
    times_rows,
)
from saltus.contact.rows.cost import block_weight
from saltus.dynamics.flex.forces import on_body
from saltus.dynamics.flex.tangent import add_flex_tangent, vertex_blocks
from saltus.dynamics.flex.twist_tangent import twist_diagonal
from saltus.dynamics.tree.factor import factor_in_place, multiply, solve
from saltus.number.conditions import has
from saltus.number.functions import any_lane
from saltus.number.kernels import kernel, only_with
from saltus.solve.implicit.rod_band import (
    add_held_times,
    add_to_band,
    all_in_band,
    begin_band,
    factor_band,
    hold_band,
    in_band,
    in_factor,
    is_held,
    mark_all_dirty,
    mark_dirty,
    near_in_band,
    solve_band,
)
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import dot3, sub3


@kernel
def metric_times(m, d, p, q):
    """q ← (M + s K + r D) p for fields p, q [nv]; without constraint rows."""
    multiply(m, d, p, q)
    if is_held(m, d):
        add_held_times(m, d, p, q)
    else:
        add_flex_tangent(m, d, p, q)


@only_with("constraint")
@kernel
def add_rows_times(m, d, p, q):
    """q ← q + Jᵀ W J p for fields p, q [nv]; nothing under event location. Overwrites row_search and row_force."""
    if has(m, "event"):
        return
    if has(m, "rodband"):
        add_known_times(m, d, p, q)
        return
    times_rows(m, d, p, d.row_search)
    for b in range(d.count[NBLOCK]):
        dim, row = d.block_dim[b], d.block_row[b]
        if d.block_kind[b] == EQUALITY:
            for r in range(row, row + dim):
                d.row_force[r] = d.row_D[r] * d.row_search[r]
        else:
            block_weight(m, d, b)
            for r in range(dim):
                total = 0.0 * d.time
                for s in range(dim):
                    total = total + d.block_weight[r * dim + s] * d.row_search[row + s]
                d.row_force[row + r] = total
    add_transpose_rows(m, d, d.row_force, q)


@only_with("rodband")
@kernel
def add_known_times(m, d, p, q):
    """`add_rows_times` with the curvatures W of the last factor, block by block."""
    first, last = edge_blocks(m, d)
    for b in range(first):
        add_block_times(m, d, b, p, q)
    # edges of fixed length: one row each
    for r in range(last - first):
        force = d.row_D[d.block_row[first] + r] * times_edge(m, d, first, r, p)
        add_transpose_edge(m, d, first, r, force, q)
    for b in range(last, d.count[NBLOCK]):
        add_block_times(m, d, b, p, q)


@only_with("rodband")
@kernel
def add_block_times(m, d, b, p, q):
    """q ← q + Jᵀ W J p for block b, with W from row_curvature."""
    dim, row = d.block_dim[b], d.block_row[b]
    if not any_lane(d.row_curvature[row, 0] != 0.0):
        return  # no other entry of W is positive then
    if dim == 3:
        add_three_rows_times(m, d, b, p, q)
        return
    times_block(m, d, b, p, d.row_search)
    for r in range(dim):
        total = 0.0 * d.time
        for s in range(dim):
            total = total + d.row_curvature[row + r, s] * d.row_search[row + s]
        d.row_force[row + r] = total
    add_transpose_block(m, d, b, d.row_force, q)


@only_with("rodband")
@kernel
def add_three_rows_times(m, d, b, p, q):
    """`add_block_times` of a block of three rows."""
    first, num, w = d.block_dofs[b], d.block_num[b], d.row_curvature
    row, place = d.block_row[b], d.block_J[b]
    y0 = y1 = y2 = 0.0 * d.time
    for c in range(num):
        x = p[chained_dof(m, d, first + c)]
        y0 = y0 + d.row_J[place] * x
        y1 = y1 + d.row_J[place + 1] * x
        y2 = y2 + d.row_J[place + 2] * x
        place += 3
    f0 = w[row, 0] * y0 + w[row, 1] * y1 + w[row, 2] * y2
    f1 = w[row + 1, 0] * y0 + w[row + 1, 1] * y1 + w[row + 1, 2] * y2
    f2 = w[row + 2, 0] * y0 + w[row + 2, 1] * y1 + w[row + 2, 2] * y2
    place = d.block_J[b]
    for c in range(num):
        i = chained_dof(m, d, first + c)
        q[i] = q[i] + (d.row_J[place] * f0 + d.row_J[place + 1] * f1 + d.row_J[place + 2] * f2)
        place += 3


@kernel
def metric_factor(m, d):
    """Factor the preconditioner of A, for `metric_solve`: in qLD [nC] for trees, in metric_block for lone bodies."""
    for k in range(m.nC):
        d.qLD[k] = d.M[k]
    begin_blocks(m, d, d.M)
    begin_band(m, d)
    vertex_entries(m, d)
    hold_band(m, d)
    row_entries(m, d)
    factor_in_place(m, d)
    factor_band(m, d)
    for b in range(m.nbody):
        if has_own_block(m, b):
            factor_block(d, m.body_dofadr[b], m.body_dofnum[b])


@kernel
def renew_factor(m, d, kept):
    """`metric_factor`, unless the last one is of the same matrix: A without rows is as then (`kept`), and all W are.

    Only for rods in a band, whose factor takes most of the time.
    """
    same = same_curvatures(m, d)
    if not kept and has(m, "rodband"):
        mark_all_dirty(m, d)
    if not (kept and same):
        metric_factor(m, d)


@only_with("rodband", otherwise="False")
@kernel
def same_curvatures(m, d):
    """Whether all W are those of the last call, in all lanes; row_curvature ← the present ones."""
    if not has(m, "constraint") or has(m, "event"):
        return True
    same = True
    for b in range(d.count[NBLOCK]):
        block_weight(m, d, b)
        dim, row = d.block_dim[b], d.block_row[b]
        alike = True
        for r in range(dim):
            for s in range(dim):
                w = d.block_weight[r * dim + s]
                if any_lane(w != d.row_curvature[row + r, s]):
                    alike = False
                d.row_curvature[row + r, s] = w
        if not alike:
            mark_dirty(m, d, d.block_dofs[b], d.block_num[b])
            same = False
    return same


@kernel
def begin_blocks(m, d, matrix):
    """metric_block ← the diagonal of a field [nC] that is stored like M."""
    zero = 0.0 * d.time
    for i in range(m.nv):
        d.metric_block[i] = (zero, zero, zero)
        if stands_alone(m, i):
            d.metric_block[i, i - first_dof(m, i)] = matrix[m.M_rowadr[i] + m.M_rownnz[i] - 1]


@kernel(inline=True)
def stands_alone(m, i):
    """Whether the inertia is diagonal at degree of freedom i and its body has at most three, as vertices have."""
    return m.dof_simple[i] and m.body_dofnum[m.dof_bodyid[i]] <= 3


@kernel(inline=True)
def has_own_block(m, b):
    """Whether body b moves, stands alone, and is no vertex in the band of a rod."""
    if m.body_dofnum[b] == 0 or not stands_alone(m, m.body_dofadr[b]):
        return False
    return not (has(m, "rodband") and in_band(m, b))


@kernel(inline=True)
def first_dof(m, i):
    """The first degree of freedom of i's body."""
    return m.body_dofadr[m.dof_bodyid[i]]


@kernel
def add_entry(m, d, i, j, value):
    """Add to entries (i, j) and (j, i) of the preconditioner; entries outside its pattern are dropped."""
    if j > i:
        i, j = j, i
    if stands_alone(m, i):
        first = first_dof(m, i)
        if has(m, "rodband") and m.dof_band[i] >= 0:
            add_to_band(m, d, i, j, value)
        elif j >= first:
            d.metric_block[i, j - first] = d.metric_block[i, j - first] + value
    else:
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i]):
            if m.M_colind[k] == j:
                d.qLD[k] = d.qLD[k] + value


@only_with("flex")
@kernel
def vertex_entries(m, d):
    """Add the diagonal vertex blocks of deformable bodies to the preconditioner, but for what metric_held holds."""
    if is_held(m, d):
        return
    vertex_blocks(m, d)
    for v in range(m.nflexvert):
        if on_body(m, v) and not is_vertex_held(m, d, m.flexvert_bodyid[v]):
            vertex_entry(m, d, v)
    twist_entries(m, d)


@only_with("rodtwist")
@kernel
def twist_entries(m, d):
    """Add the diagonal of the joints that twist rods."""
    twist_diagonal(m, d, d.metric_stiffness, d.metric_damping)
    for e in range(m.nrodedge):
        i = m.rodedge_dofadr[e]
        if m.rodedge_bodyid[e] < 0 and not is_dof_held(m, d, i):
            add_entry(m, d, i, i, d.rodedge_drag[e])


@only_with("rodband", otherwise="False")
@kernel(inline=True)
def is_vertex_held(m, d, body):
    """Whether the block of the vertex on a body is in metric_held."""
    return in_band(m, body) and not d.band_fresh[0]


@only_with("rodband", otherwise="False")
@kernel(inline=True)
def is_dof_held(m, d, i):
    """Whether the torsion of a degree of freedom that twists a rod is in metric_held."""
    return m.dof_band[i] >= 0 and not d.band_fresh[0]


@kernel
def vertex_entry(m, d, v):
    """Add the diagonal block of vertex v."""
    b = m.flexvert_bodyid[v]
    arm = sub3(d.flexvert_xpos[v], d.subtree_com[m.body_rootid[b]])
    k = d.flexvert_block[v]
    i = m.body_lastdof[b]
    while i >= 0:
        x = velocity_at(d.cdof[i], arm)
        stress = (
            k[0] * x[0] + k[1] * x[1] + k[2] * x[2],
            k[1] * x[0] + k[3] * x[1] + k[4] * x[2],
            k[2] * x[0] + k[4] * x[1] + k[5] * x[2],
        )
        j = i
        while j >= 0:
            add_entry(m, d, i, j, dot3(stress, velocity_at(d.cdof[j], arm)))
            j = m.dof_parentid[j]
        i = m.dof_parentid[i]


@only_with("constraint")
@kernel
def row_entries(m, d):
    """Add Jᵀ W J of soft rows to the preconditioner; nothing under event location.

    Tendons across branches add only the diagonal, since a part of their block may be indefinite; edges of rods in a
    band add all of it.
    """
    if has(m, "event"):
        return
    for b in range(d.count[NBLOCK]):
        block_weight(m, d, b)
        dim = d.block_dim[b]
        if has(m, "rodband") and dim == 3:
            three_row_entries(m, d, b)
            continue
        place, first = d.block_J[b], d.block_dofs[b]
        diagonal = dim == 1 and d.block_fill[b] and not all_in_band(m, d, first, d.block_num[b])
        for c in range(d.block_num[b]):
            if not in_factor(m, d, chained_dof(m, d, first + c)):
                continue
            for e in range(c if diagonal else 0, c + 1):
                value = 0.0 * d.time
                for r in range(dim):
                    for s in range(dim):
                        weight = d.block_weight[r * dim + s]
                        value = value + d.row_J[place + c * dim + r] * weight * d.row_J[place + e * dim + s]
                add_entry(m, d, chained_dof(m, d, first + c), chained_dof(m, d, first + e), value)


@only_with("rodband")
@kernel
def three_row_entries(m, d, b):
    """Add Jᵀ W J of block b of three rows, W in block_weight, but for couplings between rods."""
    w = d.block_weight
    if not any_lane(w[0] != 0.0):
        return
    w00, w01, w02, w11, w12, w22 = w[0], w[1], w[2], w[4], w[5], w[8]
    place, first = d.block_J[b], d.block_dofs[b]
    for c in range(d.block_num[b]):
        i, k = chained_dof(m, d, first + c), place + 3 * c
        if not in_factor(m, d, i):
            continue
        j0, j1, j2 = d.row_J[k], d.row_J[k + 1], d.row_J[k + 2]
        t0 = w00 * j0 + w01 * j1 + w02 * j2
        t1 = w01 * j0 + w11 * j1 + w12 * j2
        t2 = w02 * j0 + w12 * j1 + w22 * j2
        for e in range(c + 1):
            j, k = chained_dof(m, d, first + e), place + 3 * e
            if m.dof_band[i] < 0 and m.dof_band[j] < 0:
                add_entry(m, d, i, j, t0 * d.row_J[k] + t1 * d.row_J[k + 1] + t2 * d.row_J[k + 2])
            elif near_in_band(m, i, j):
                add_to_band(m, d, i, j, t0 * d.row_J[k] + t1 * d.row_J[k + 1] + t2 * d.row_J[k + 2])


@kernel
def factor_block(d, first, count):
    """metric_block ← L D Lᵀ of a body's block: L below the diagonal, D⁻¹ on it."""
    for i in range(count):
        row = first + i
        left = d.metric_block[row, i]
        # u = L D of row i
        for j in range(i):
            u = d.metric_block[row, j]
            for k in range(j):
                u = u - d.metric_block[row, k] * d.metric_block[first + j, k]
            d.metric_block[row, j] = u
        # row i of L, and D⁻¹
        for j in range(i):
            u = d.metric_block[row, j]
            t = u * d.metric_block[first + j, j]
            left = left - u * t
            d.metric_block[row, j] = t
        d.metric_block[row, i] = 1.0 / left


@kernel
def metric_solve(m, d, r, z):
    """z ← P⁻¹ r for fields r, z [nv], with the preconditioner P of `metric_factor`."""
    for i in range(m.nv):
        z[i] = r[i]
    solve(m, d, z)
    for b in range(m.nbody):
        if has_own_block(m, b):
            solve_block(d, r, z, m.body_dofadr[b], m.body_dofnum[b])
    solve_band(m, d, r, z)


@kernel(inline=True)
def solve_block(d, r, z, first, count):
    """z ← (L D Lᵀ)⁻¹ r on the degrees of freedom of a body."""
    for i in range(count):
        x = r[first + i]
        for j in range(i):
            x = x - d.metric_block[first + i, j] * z[first + j]
        z[first + i] = x
    for i in range(count):
        z[first + i] = z[first + i] * d.metric_block[first + i, i]
    for i in range(count - 1, -1, -1):
        x = z[first + i]
        for j in range(i + 1, count):
            x = x - d.metric_block[first + j, i] * z[first + j]
        z[first + i] = x
