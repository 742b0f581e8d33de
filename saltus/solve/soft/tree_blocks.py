"""The Hessian M + Jᵀ W J of many trees as dense blocks: one for each tree, one for each pair that rows couple.

tree_hessian holds the lower triangles of trees, n x n by rows. pair_hessian holds the coupling of each pair of
`saltus.solve.soft.tree_pairs`, by columns: those of the lower tree's degrees of freedom, each as long as the upper tree
has some. Most worlds are of free bodies in contact with friction: three rows and six degrees of freedom a body have
code of their own.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import chained_dof
from saltus.contact.rows.cost import block_weight
from saltus.number.kernels import kernel


@kernel
def assemble_blocks(m, d):
    """tree_hessian, pair_hessian ← M + Σ Jᵀ W J, with W the curvatures at row_residual."""
    inertia_blocks(m, d)
    for b in range(d.count[NBLOCK]):
        block_weight(m, d, b)
        dim = d.block_dim[b]
        lower, upper = d.block_trees[b, 0], d.block_trees[b, 1]
        if dim == 3 and is_whole(m, d, b, lower, upper):
            add_free_bodies(m, d, b, lower, upper)
        else:
            add_rows(m, d, b, dim, lower, upper)


@kernel
def inertia_blocks(m, d):
    """Blocks of M; zeros between trees."""
    zero = 0.0 * d.time
    for t in range(m.nsolvertree):
        first, n, place = m.tree_dofadr[t], m.tree_dofnum[t], m.tree_blockadr[t]
        for k in range(n * n):
            d.tree_hessian[place + k] = zero
        for i in range(first, first + n):
            row = place + (i - first) * n - first
            for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i]):
                d.tree_hessian[row + m.M_colind[k]] = d.M[k]
        for p in range(d.near_adr[t], d.near_adr[t + 1]):
            for k in range(n * m.tree_dofnum[d.near_tree[p]]):
                d.pair_hessian[d.near_place[p] + k] = zero


@kernel(inline=True)
def is_whole(m, d, b, lower, upper):
    """Whether all trees of block b have six degrees of freedom, all of which it acts on."""
    split, count = d.block_split[b], d.block_num[b]
    if lower == upper:
        return count == 6 and m.tree_dofnum[lower] == 6
    return split == 6 and count == 12 and m.tree_dofnum[lower] == 6 and m.tree_dofnum[upper] == 6


@kernel
def add_free_bodies(m, d, b, lower, upper):
    """Three rows that act on one or two trees with six degrees of freedom."""
    place = d.block_J[b]
    add_six_by_six(d, d.tree_hessian, m.tree_blockadr[lower], place, place)
    if lower < upper:
        add_six_by_six(d, d.pair_hessian, d.block_pair[b], place, place + 18)
        add_six_by_six(d, d.tree_hessian, m.tree_blockadr[upper], place + 18, place + 18)


@kernel(inline=True)
def add_six_by_six(d, x, at, first, second):
    """x[at + 6 i + k] += (Jᵀ W J)[i, k] of three rows, for i, k of six degrees of freedom from `first`, `second` on."""
    w, J = d.block_weight, d.row_J
    w00, w01, w02, w11, w12, w22 = w[0], w[1], w[2], w[4], w[5], w[8]
    a0, a1, a2, a3, a4, a5 = J[second], J[second + 3], J[second + 6], J[second + 9], J[second + 12], J[second + 15]
    b0, b1, b2 = J[second + 1], J[second + 4], J[second + 7]
    b3, b4, b5 = J[second + 10], J[second + 13], J[second + 16]
    c0, c1, c2 = J[second + 2], J[second + 5], J[second + 8]
    c3, c4, c5 = J[second + 11], J[second + 14], J[second + 17]
    for i in range(6):
        j0, j1, j2 = J[first + 3 * i], J[first + 3 * i + 1], J[first + 3 * i + 2]
        t0 = w00 * j0 + w01 * j1 + w02 * j2
        t1 = w01 * j0 + w11 * j1 + w12 * j2
        t2 = w02 * j0 + w12 * j1 + w22 * j2
        k = at + 6 * i
        x[k] = x[k] + (t0 * a0 + t1 * b0 + t2 * c0)
        x[k + 1] = x[k + 1] + (t0 * a1 + t1 * b1 + t2 * c1)
        x[k + 2] = x[k + 2] + (t0 * a2 + t1 * b2 + t2 * c2)
        x[k + 3] = x[k + 3] + (t0 * a3 + t1 * b3 + t2 * c3)
        x[k + 4] = x[k + 4] + (t0 * a4 + t1 * b4 + t2 * c4)
        x[k + 5] = x[k + 5] + (t0 * a5 + t1 * b5 + t2 * c5)


@kernel
def add_rows(m, d, b, dim, lower, upper):
    """Any number of rows that act on any degrees of freedom of one or two trees."""
    J, first = d.block_J[b], d.block_dofs[b]
    split, pair = d.block_split[b], d.block_pair[b]
    low, high = m.tree_dofadr[lower], m.tree_dofadr[upper]
    for c in range(d.block_num[b]):
        i = chained_dof(m, d, first + c)
        tree, own = (lower, low) if c < split else (upper, high)
        row = m.tree_blockadr[tree] + (i - own) * m.tree_dofnum[tree] - own
        for r in range(dim):
            t = 0.0 * d.time
            for s in range(dim):
                t = t + d.block_weight[r * dim + s] * d.row_J[J + c * dim + s]
            # the lower tree's columns of a row of the upper tree, then those of its own tree
            begin = 0
            if c >= split:
                begin = split
                for e in range(split):
                    at = pair + (chained_dof(m, d, first + e) - low) * m.tree_dofnum[upper] + (i - high)
                    d.pair_hessian[at] = d.pair_hessian[at] + t * d.row_J[J + e * dim + r]
            for e in range(begin, c + 1):
                at = row + chained_dof(m, d, first + e)
                d.tree_hessian[at] = d.tree_hessian[at] + t * d.row_J[J + e * dim + r]
