"""Sparsity pattern of the Hessian M + Jᵀ W J and of its factor.

The inertia couples a degree of freedom with its ancestors. A constraint between a body and the world adds no entries;
one between two branches couples its whole chain, and elimination from the tips then causes fill-in. The pattern of the
factor comes from symbolic elimination on bit sets (George & Liu, Computer Solution of Large Sparse Positive Definite
Systems (1981), chapter 5), and is reused while the same constraints are active.
"""

from saltus.contact.counts import NBLOCK, NFILL, NPATTERN
from saltus.contact.rows.blocks import chained_dof
from saltus.dynamics.awake.walks import awake_dofs, awake_dofs_back
from saltus.model.layout import BITS
from saltus.number.components import trailing_zeros
from saltus.number.kernels import kernel


@kernel
def hessian_pattern(m, d):
    """Columns below the diagonal: number hessian_num [nv], and hessian_col (row i from place i (i + 1)/2 on)."""
    if same_chains(m, d):
        return
    d.count[NPATTERN] = 1 + d.count[NFILL]
    if d.count[NFILL] == 0:
        for i in awake_dofs(m, d):
            d.hessian_num[i] = m.M_rownnz[i] - 1
            for c in range(m.M_rownnz[i] - 1):
                d.hessian_col[i * (i + 1) // 2 + c] = m.M_colind[m.M_rowadr[i] + c]
    else:
        mark_entries(m, d)
        eliminate(m, d)
        list_columns(m, d)


@kernel
def same_chains(m, d):
    """Whether the chains that cause fill-in are those of the last pattern; stores the new ones."""
    same = d.count[NPATTERN] == 1 + d.count[NFILL]
    n = 0
    if d.count[NFILL] > 0:
        for b in range(d.count[NBLOCK]):
            chain = d.block_chain[b]
            if d.block_fill[b]:
                if d.hessian_chain[n] != chain:
                    same = False
                    d.hessian_chain[n] = chain
                n += 1
    return same


@kernel
def mark_entries(m, d):
    """Bits of the entries of M and of each chain's pairs."""
    words = m.nv // BITS + 1
    for k in range(words * m.nv):
        d.hessian_bits[k] = 0
    for i in awake_dofs(m, d):
        for c in range(m.M_rownnz[i] - 1):
            j = m.M_colind[m.M_rowadr[i] + c]
            d.hessian_bits[i * words + j // BITS] = d.hessian_bits[i * words + j // BITS] | (1 << (j % BITS))
    before = m.nv * words
    for b in range(d.count[NBLOCK]):
        if d.block_fill[b]:
            mark_pairs(m, d, b, before, words)


@kernel
def mark_pairs(m, d, b, before, words):
    """Bits of all pairs of degrees of freedom of block b; `before`: place of a spare row of bits."""
    for w in range(words):
        d.hessian_bits[before + w] = 0
    for c in range(d.block_num[b]):
        i = chained_dof(m, d, d.block_dofs[b] + c)
        for w in range(words):
            d.hessian_bits[i * words + w] = d.hessian_bits[i * words + w] | d.hessian_bits[before + w]
        d.hessian_bits[before + i // BITS] = d.hessian_bits[before + i // BITS] | (1 << (i % BITS))


@kernel
def eliminate(m, d):
    """Symbolic elimination: each index passes its couplings to its nearest neighbour."""
    words = m.nv // BITS + 1
    for k in awake_dofs_back(m, d):
        nearest = -1
        for w in range(words):
            bits = d.hessian_bits[k * words + w]
            if bits != 0:
                nearest = w * BITS + highest_bit(bits)
        # pass the couplings on to the nearest neighbour, without itself
        if nearest >= 0:
            for w in range(words):
                d.hessian_bits[nearest * words + w] = (
                    d.hessian_bits[nearest * words + w] | d.hessian_bits[k * words + w]
                )
            own = nearest * words + nearest // BITS
            d.hessian_bits[own] = d.hessian_bits[own] & ~(1 << (nearest % BITS))


@kernel
def highest_bit(bits):
    """Position of the highest bit set."""
    last = 0
    while bits != 0:
        last = trailing_zeros(bits)
        bits = bits & (bits - 1)
    return last


@kernel
def list_columns(m, d):
    """Columns of each row from its bits, in ascending order."""
    words = m.nv // BITS + 1
    for i in awake_dofs(m, d):
        place = i * (i + 1) // 2
        n = 0
        for w in range(words):
            bits = d.hessian_bits[i * words + w]
            while bits != 0:
                d.hessian_col[place + n] = w * BITS + trailing_zeros(bits)
                n += 1
                bits = bits & (bits - 1)
        d.hessian_num[i] = n
