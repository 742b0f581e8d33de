"""Blocks of constraint rows: the rows of one limit, dry friction, equality or contact, and products with the Jacobian.

A block has `dim` rows and a list of degrees of freedom that move it. The Jacobian entry of its degree of freedom c and
row r is row_J[J + c dim + r]. A block exists for all lanes if it acts in any; where it does not act its weights row_D
are zero. The rows of a contact are motions along its normal, its tangents and, for more than three dimensions,
rotations about these; the cost applies pyramids and cones to them (see `saltus.contact.rows.cost`), so that the four
edges of a pyramid share three rows.
"""

from saltus.contact.counts import NBLOCK, NEDGE, NEQUALITY, NFILL, NFLEXDOF, NJ, NROW
from saltus.number.conditions import has
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with

# kinds of blocks; kinds after FRICTION only push
EQUALITY = 0  # forces of either sign
FRICTION = 1  # dry friction of joints and tendons, bounded on both sides
UNILATERAL = 2  # limits, contacts without friction
PYRAMID, CONE = 3, 4  # contacts with friction, by the shape of its cone


@only_with("flexcontact", "broad", otherwise="m.chain_dof[place]")
@kernel(inline=True)
def chained_dof(m, d, place):
    """The degree of freedom at a place in the model's lists or, after these, in lists made at run time."""
    if place < m.nchaindof:
        return m.chain_dof[place]
    if has(m, "broad"):
        return d.found_dof[place - m.nchaindof]
    return d.flex_dof[place - m.nchaindof]


@only_with("broad", otherwise="m.chain_sign[place]")
@kernel(inline=True)
def chained_sign(m, d, place):
    """Side that a contact's degree of freedom moves: 1 the second body, -1 the first."""
    return d.found_sign[place - m.nchaindof]


@kernel
def clear_blocks(m, d):
    """Reset to no blocks."""
    d.count[NBLOCK] = 0
    d.count[NROW] = 0
    d.count[NJ] = 0
    d.count[NFILL] = 0
    d.count[NFLEXDOF] = 0
    d.count[NEQUALITY] = 0
    d.count[NEDGE] = -1
    d.constrained = 0.0 * d.time


@kernel
def add_block(m, d, kind, dim, chain, law, index, active):
    """Append a block of constraint number `index` that acts in the lanes where `active` holds; returns its number.

    The caller writes the rows.
    """
    dofs = m.chain_adr[chain], m.chain_num[chain], m.chain_fill[chain]
    return add_block_of(m, d, kind, dim, chain, dofs, law, index, active)


@kernel
def add_block_of(m, d, kind, dim, chain, dofs, law, index, active):
    """Append a block as `add_block`, with a list of degrees of freedom: (address, number, fill-in as in chain_fill).

    `chain`: a number that identifies this list.
    """
    b = counted(m, d, NBLOCK)
    first, num, fill = dofs
    # kind and addresses of the rows and of the Jacobian
    d.block_kind[b] = kind
    d.block_dim[b] = dim
    d.block_row[b] = counted(m, d, NROW)
    d.block_J[b] = counted(m, d, NJ)
    # degrees of freedom and parameters
    d.block_chain[b] = chain
    d.block_dofs[b] = first
    d.block_num[b] = num
    d.block_fill[b] = fill
    d.block_id[b] = index
    d.block_law[b] = law
    # totals; lanes in which any block acts
    count_to(m, d, NBLOCK, b + 1)
    if kind == EQUALITY:
        d.count[NEQUALITY] = b + 1
    count_to(m, d, NROW, counted(m, d, NROW) + dim)
    count_to(m, d, NJ, counted(m, d, NJ) + dim * num)
    count_to(m, d, NFILL, counted(m, d, NFILL) + fill)
    if not is_helper(m, d):
        d.constrained = where(active, 1.0 + 0.0 * d.time, d.constrained)
    return b


@only_with("threads", otherwise="False")
@kernel(inline=True)
def is_helper(m, d):
    """Whether this thread is a helper, which counts separately."""
    return d.part > 0


@only_with("threads", otherwise="d.count[which]")
@kernel(inline=True)
def counted(m, d, which):
    """Number of blocks, rows, entries, ... so far; in a helper thread, the counts of its own part."""
    return d.own_count[which] if d.part > 0 else d.count[which]


@kernel(inline=True)
def count_to(m, d, which, number):
    """Set the number that `counted` returns."""
    if is_helper(m, d):
        d.own_count[which] = number
    else:
        d.count[which] = number


@kernel
def times_block(m, d, b, x, y):
    """y ← J x for the rows of block b, for fields x [nv] and y [nrow]."""
    dim = d.block_dim[b]
    row = d.block_row[b]
    place = d.block_J[b]
    first = d.block_dofs[b]
    zero = 0.0 * d.time
    # three rows, as most contacts have: one pass over the degrees of freedom
    if dim == 3:
        y0 = y1 = y2 = zero
        for c in range(d.block_num[b]):
            xi = x[chained_dof(m, d, first + c)]
            y0 = y0 + d.row_J[place] * xi
            y1 = y1 + d.row_J[place + 1] * xi
            y2 = y2 + d.row_J[place + 2] * xi
            place += 3
        y[row] = y0
        y[row + 1] = y1
        y[row + 2] = y2
    else:
        # any other number: row by row
        for r in range(dim):
            total = zero
            for c in range(d.block_num[b]):
                total = total + d.row_J[place + c * dim + r] * x[chained_dof(m, d, first + c)]
            y[row + r] = total


@kernel
def add_transpose_block(m, d, b, f, x):
    """x ← x + Jᵀ f for the rows of block b, for fields f [nrow] and x [nv]."""
    dim = d.block_dim[b]
    row = d.block_row[b]
    place = d.block_J[b]
    first = d.block_dofs[b]
    if dim == 3:
        f0, f1, f2 = f[row], f[row + 1], f[row + 2]
        for c in range(d.block_num[b]):
            i = chained_dof(m, d, first + c)
            x[i] = x[i] + (d.row_J[place] * f0 + d.row_J[place + 1] * f1 + d.row_J[place + 2] * f2)
            place += 3
    else:
        for c in range(d.block_num[b]):
            i = chained_dof(m, d, first + c)
            total = x[i]
            for r in range(dim):
                total = total + d.row_J[place + r] * f[row + r]
            x[i] = total
            place += dim


@kernel(inline=True)
def times_edge(m, d, first, r, x):
    """Row r of J x among those of edges of fixed length, whose blocks begin with number `first`, for a field x [nv]."""
    place, total = d.block_J[first] + m.edgerow_J[r], 0.0 * d.time
    for side in range(2):
        i = m.edgerow_dof[r, side]
        if i >= 0:
            total = total + (d.row_J[place] * x[i] + d.row_J[place + 1] * x[i + 1] + d.row_J[place + 2] * x[i + 2])
            place += 3
    return total


@kernel(inline=True)
def add_transpose_edge(m, d, first, r, force, x):
    """x ← x + Jᵀ `force` for row r of edges of fixed length, as in `times_edge`."""
    place = d.block_J[first] + m.edgerow_J[r]
    for side in range(2):
        i = m.edgerow_dof[r, side]
        if i >= 0:
            x[i] = x[i] + d.row_J[place] * force
            x[i + 1] = x[i + 1] + d.row_J[place + 1] * force
            x[i + 2] = x[i + 2] + d.row_J[place + 2] * force
            place += 3


@kernel
def times_rows(m, d, x, y):
    """y ← J x for all rows, for fields x [nv] and y [nrow]."""
    first, last = edge_blocks(m, d)
    for b in range(first):
        times_block(m, d, b, x, y)
    for r in range(last - first):
        y[d.block_row[first] + r] = times_edge(m, d, first, r, x)
    for b in range(last, d.count[NBLOCK]):
        times_block(m, d, b, x, y)


@kernel
def add_transpose_rows(m, d, f, x):
    """x ← x + Jᵀ f for all rows, for fields f [nrow] and x [nv]."""
    first, last = edge_blocks(m, d)
    for b in range(first):
        add_transpose_block(m, d, b, f, x)
    for r in range(last - first):
        add_transpose_edge(m, d, first, r, f[d.block_row[first] + r], x)
    for b in range(last, d.count[NBLOCK]):
        add_transpose_block(m, d, b, f, x)


@kernel(inline=True)
def edge_blocks(m, d):
    """Range of the blocks of edge-length constraints (first, one past the last) if all are alike; else (0, 0).

    There are often hundreds of such blocks, hence the separate loops.
    """
    if d.count[NEDGE] < 0:
        return 0, 0
    return d.count[NEDGE], d.count[NEDGE] + m.nedgerow
