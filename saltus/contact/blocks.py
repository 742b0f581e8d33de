"""Blocks of constraint rows: what one limit, equality or contact asks of the accelerations.

A block has `dim` rows and a chain of degrees of freedom that move it. The Jacobian's entries of chain dof c and row r
are row_J[J + c dim + r]. A block is there for all lanes if it acts in any; where it does not act its weights row_D are
zero. The rows of a contact are motions along its normal, its tangents and, for more than three dimensions, rotations
about these; pyramids and cones are cut from them by the cost (see `saltus.contact.cost`), so that four edges of a
pyramid share three rows.
"""

from saltus.contact.counts import NBLOCK, NFILL, NJ, NROW
from saltus.number.functions import where
from saltus.number.kernels import kernel

EQUALITY, FRICTION, UNILATERAL, PYRAMID, CONE = range(5)


@kernel
def clear_blocks(m, d):
    """No blocks yet."""
    d.count[NBLOCK] = 0
    d.count[NROW] = 0
    d.count[NJ] = 0
    d.count[NFILL] = 0
    d.constrained = 0.0 * d.time


@kernel
def add_block(m, d, kind, dim, chain, law, index, active):
    """Append a block that acts in the lanes where `active` holds; returns its number. `index`: what it belongs to.

    Its rows are still to be written.
    """
    b = d.count[NBLOCK]
    d.block_kind[b] = kind
    d.block_dim[b] = dim
    d.block_row[b] = d.count[NROW]
    d.block_J[b] = d.count[NJ]
    d.block_chain[b] = chain
    d.block_num[b] = m.chain_num[chain]
    d.block_id[b] = index
    d.block_law[b] = law
    d.count[NBLOCK] = b + 1
    d.count[NROW] = d.count[NROW] + dim
    d.count[NJ] = d.count[NJ] + dim * m.chain_num[chain]
    d.count[NFILL] = d.count[NFILL] + m.chain_fill[chain]
    d.constrained = where(active, 1.0 + 0.0 * d.time, d.constrained)
    return b


@kernel
def times_block(m, d, b, x, y):
    """y ← J x for the rows of block b, for fields x [nv] and y [nrow]."""
    dim = d.block_dim[b]
    row = d.block_row[b]
    place = d.block_J[b]
    first = m.chain_adr[d.block_chain[b]]
    zero = 0.0 * d.time
    if dim == 3:
        y0 = y1 = y2 = zero
        for c in range(d.block_num[b]):
            xi = x[m.chain_dof[first + c]]
            y0 = y0 + d.row_J[place] * xi
            y1 = y1 + d.row_J[place + 1] * xi
            y2 = y2 + d.row_J[place + 2] * xi
            place += 3
        y[row] = y0
        y[row + 1] = y1
        y[row + 2] = y2
    else:
        for r in range(dim):
            total = zero
            for c in range(d.block_num[b]):
                total = total + d.row_J[place + c * dim + r] * x[m.chain_dof[first + c]]
            y[row + r] = total


@kernel
def add_transpose_block(m, d, b, f, x):
    """x ← x + Jᵀ f for the rows of block b, for fields f [nrow] and x [nv]."""
    dim = d.block_dim[b]
    row = d.block_row[b]
    place = d.block_J[b]
    first = m.chain_adr[d.block_chain[b]]
    if dim == 3:
        f0, f1, f2 = f[row], f[row + 1], f[row + 2]
        for c in range(d.block_num[b]):
            i = m.chain_dof[first + c]
            x[i] = x[i] + (d.row_J[place] * f0 + d.row_J[place + 1] * f1 + d.row_J[place + 2] * f2)
            place += 3
    else:
        for c in range(d.block_num[b]):
            i = m.chain_dof[first + c]
            total = x[i]
            for r in range(dim):
                total = total + d.row_J[place + r] * f[row + r]
            x[i] = total
            place += dim
