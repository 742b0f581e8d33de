"""Hessian M + Jᵀ W J of the constraint problem: assembly, factorisation and solution.

Stored as a dense lower triangle by rows, of which only the pattern of `saltus.solve.soft.hessian_pattern` is touched.
Factored as Lᵀ D L, eliminating from the tips of the tree, so that branches stay decoupled (Featherstone 2008, 6.5).
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import chained_dof
from saltus.contact.rows.cost import block_weight
from saltus.dynamics.awake.walks import awake_dofs, awake_dofs_back
from saltus.number.components import epsilon_of
from saltus.number.functions import maximum
from saltus.number.kernels import kernel, only_with

FEW_BITS = 16.0  # magnitude of a difference, in units of rounding, below which few of its digits are valid


@kernel
def hessian(m, d):
    """hessian ← M + Σ Jᵀ W J, with W the curvatures at row_residual."""
    hessian_of_inertia(m, d)
    for b in range(d.count[NBLOCK]):
        add_block(m, d, b)
    leave_out_prescribed(m, d)


@only_with("prescribed")
@kernel
def leave_out_prescribed(m, d):
    """Rows and columns of prescribed dofs in the hessian ← 0, except the diagonal, which is that of M."""
    for i in range(m.nv):
        row = i * (i + 1) // 2
        for c in range(d.hessian_num[i]):
            j = d.hessian_col[row + c]
            if m.dof_prescribed[i] or m.dof_prescribed[j]:
                d.hessian[row + j] = 0.0 * d.time
        if m.dof_prescribed[i]:
            d.hessian[row + i] = d.M[m.M_rowadr[i] + m.M_rownnz[i] - 1]


@kernel
def hessian_of_inertia(m, d):
    """hessian ← M, and zeros where constraints fill in."""
    for i in awake_dofs(m, d):
        place = i * (i + 1) // 2
        for c in range(d.hessian_num[i]):
            d.hessian[place + d.hessian_col[place + c]] = 0.0 * d.time
        first = m.M_rowadr[i]
        for k in range(first, first + m.M_rownnz[i]):
            d.hessian[place + m.M_colind[k]] = d.M[k]


@kernel
def add_block(m, d, b):
    """hessian += Jᵀ W J of block b."""
    block_weight(m, d, b)
    dim = d.block_dim[b]
    if dim == 1:
        add_one_row(m, d, b)
    elif dim == 3:
        add_three_rows(m, d, b)
    else:
        add_rows(m, d, b, dim)


@kernel
def add_one_row(m, d, b):
    """hessian += w j jᵀ."""
    weight = d.block_weight[0]
    place = d.block_J[b]
    first = d.block_dofs[b]
    for c in range(d.block_num[b]):
        i = chained_dof(m, d, first + c)
        target = i * (i + 1) // 2
        t = weight * d.row_J[place + c]
        for e in range(c + 1):
            j = chained_dof(m, d, first + e)
            d.hessian[target + j] = d.hessian[target + j] + t * d.row_J[place + e]


@kernel
def add_three_rows(m, d, b):
    """hessian += Jᵀ W J for three rows."""
    w = d.block_weight
    w00, w01, w02, w11, w12, w22 = w[0], w[1], w[2], w[4], w[5], w[8]
    place = d.block_J[b]
    first = d.block_dofs[b]
    for c in range(d.block_num[b]):
        i = chained_dof(m, d, first + c)
        target = i * (i + 1) // 2
        j0, j1, j2 = d.row_J[place + 3 * c], d.row_J[place + 3 * c + 1], d.row_J[place + 3 * c + 2]
        t0 = w00 * j0 + w01 * j1 + w02 * j2
        t1 = w01 * j0 + w11 * j1 + w12 * j2
        t2 = w02 * j0 + w12 * j1 + w22 * j2
        for e in range(c + 1):
            k = place + 3 * e
            at = target + chained_dof(m, d, first + e)
            d.hessian[at] = d.hessian[at] + (t0 * d.row_J[k] + t1 * d.row_J[k + 1] + t2 * d.row_J[k + 2])


@kernel
def add_rows(m, d, b, dim):
    """hessian += Jᵀ W J for any number of rows."""
    place = d.block_J[b]
    first = d.block_dofs[b]
    for c in range(d.block_num[b]):
        i = chained_dof(m, d, first + c)
        target = i * (i + 1) // 2
        for r in range(dim):
            t = 0.0 * d.time
            for s in range(dim):
                t = t + d.block_weight[r * dim + s] * d.row_J[place + c * dim + s]
            for e in range(c + 1):
                at = target + chained_dof(m, d, first + e)
                d.hessian[at] = d.hessian[at] + t * d.row_J[place + e * dim + r]


@kernel
def factor_hessian(m, d):
    """Factor the hessian: L below the diagonal, D⁻¹ on it, and in solve_least too.

    Returns the lanes in which stiff rows have left little more than rounding of an entry of D, which is at least that.
    """
    for k in awake_dofs(m, d):
        d.solve_edge[k] = epsilon_of(d.time) * d.hessian[k * (k + 1) // 2 + k]
    inexact = d.time != d.time
    for k in awake_dofs_back(m, d):
        row = k * (k + 1) // 2
        pivot = d.hessian[row + k]
        inexact = inexact | (pivot < FEW_BITS * d.solve_edge[k])
        inverse = 1.0 / maximum(pivot, d.solve_edge[k])
        d.hessian[row + k] = d.solve_least[k] = inverse
        for c in range(d.hessian_num[k] - 1, -1, -1):
            i = d.hessian_col[row + c]
            t = d.hessian[row + i] * inverse
            target = i * (i + 1) // 2
            for e in range(c + 1):
                j = d.hessian_col[row + e]
                d.hessian[target + j] = d.hessian[target + j] - t * d.hessian[row + j]
            d.hessian[row + i] = t
    return inexact


@kernel
def solve_hessian(m, d, x):
    """x ← (Lᵀ D L)⁻¹ x for a field x [nv]."""
    for i in awake_dofs_back(m, d):
        row = i * (i + 1) // 2
        xi = x[i]
        for c in range(d.hessian_num[i]):
            j = d.hessian_col[row + c]
            x[j] = x[j] - d.hessian[row + j] * xi
    for i in awake_dofs(m, d):
        row = i * (i + 1) // 2
        xi = x[i] * d.hessian[row + i]
        for c in range(d.hessian_num[i]):
            j = d.hessian_col[row + c]
            xi = xi - d.hessian[row + j] * x[j]
        x[i] = xi
