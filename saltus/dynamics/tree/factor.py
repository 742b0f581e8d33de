"""Sparse factorisation M = Lᵀ D L and solution of M x = b, on the tree's pattern (Featherstone 2008, 6.5)."""

from saltus.dynamics.awake.walks import awake_coupled, awake_coupled_back, awake_dofs, awake_entries
from saltus.number.components import is_zero
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with


@kernel
def factor(m, d):
    """Factor M.

    Reads M [nC]. Writes qLD [nC] (L below the diagonal, D on it) and qLDiagInv [nv]. An ancestor's own ancestors are
    the first entries of a row, so that rows combine without a search for columns. Prescribed dofs are left out, as
    those of an infinite inertia: 0 in qLDiagInv and in their rows and columns of L.
    """
    for k in awake_entries(m, d):
        d.qLD[k] = d.M[k]
    factor_in_place(m, d)


@kernel
def factor_in_place(m, d):
    """Factor the matrix that qLD [nC] already holds."""
    uncouple_prescribed(m, d)
    for r in awake_coupled_back(m, d):
        k = m.M_coupled[r]
        row = m.M_rowadr[k]
        count = m.M_rownnz[k] - 1
        inverse = 1.0 / d.qLD[row + count]
        # row k of L; subtract its outer product from its ancestors' rows
        for c in range(count - 1, -1, -1):
            i = m.M_colind[row + c]
            t = d.qLD[row + c] * inverse
            target = m.M_rowadr[i]
            for j in range(c + 1):
                d.qLD[target + j] = d.qLD[target + j] - t * d.qLD[row + j]
            d.qLD[row + c] = t
    for i in awake_dofs(m, d):
        d.qLDiagInv[i] = 1.0 / d.qLD[m.M_rowadr[i] + m.M_rownnz[i] - 1]
    if has(m, "prescribed"):
        for k in range(m.nmotion):
            d.qLDiagInv[m.motion_dofadr[k]] = 0.0 * d.time


@only_with("prescribed")
@kernel
def uncouple_prescribed(m, d):
    """Rows and columns of prescribed dofs in qLD [nC] ← 0, except the diagonal."""
    for i in range(m.nv):
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
            if m.dof_prescribed[i] or m.dof_prescribed[m.M_colind[k]]:
                d.qLD[k] = 0.0 * d.time


@kernel
def solve(m, d, x):
    """x ← (Lᵀ D L)⁻¹ x for a field x [nv]."""
    # x ← L⁻ᵀ x
    for r in awake_coupled_back(m, d):
        i = m.M_coupled[r]
        row = m.M_rowadr[i]
        xi = x[i]
        for k in range(m.M_rownnz[i] - 1):
            j = m.M_colind[row + k]
            x[j] = x[j] - d.qLD[row + k] * xi
    solve_rest(m, d, x)


@kernel
def solve_half(m, d, x, at):
    """x ← L⁻ᵀ x for nv entries of a field from index `at`; zero entries are skipped."""
    for i in range(m.nv - 1, -1, -1):
        xi = x[at + i]
        if not is_zero(xi):
            row = m.M_rowadr[i]
            for k in range(m.M_rownnz[i] - 1):
                j = at + m.M_colind[row + k]
                x[j] = x[j] - d.qLD[row + k] * xi


@kernel
def solve_rest(m, d, x):
    """x ← (D L)⁻¹ x for a field x [nv]: completes `solve` after `solve_half`."""
    for i in awake_dofs(m, d):
        x[i] = x[i] * d.qLDiagInv[i]
    for r in awake_coupled(m, d):
        i = m.M_coupled[r]
        row = m.M_rowadr[i]
        xi = x[i]
        for k in range(m.M_rownnz[i] - 1):
            xi = xi - d.qLD[row + k] * x[m.M_colind[row + k]]
        x[i] = xi


@kernel
def multiply(m, d, x, y):
    """y ← M x for fields x, y [nv]."""
    multiply_by(m, d, d.M, x, y)


@kernel
def multiply_by(m, d, matrix, x, y):
    """y ← A x for a symmetric A whose lower triangle is stored like M in the field matrix [nC], fields x, y [nv]."""
    for i in awake_dofs(m, d):
        y[i] = matrix[m.M_rowadr[i] + m.M_rownnz[i] - 1] * x[i]
    for r in awake_coupled(m, d):
        i = m.M_coupled[r]
        row = m.M_rowadr[i]
        total = y[i]
        for k in range(m.M_rownnz[i] - 1):
            j = m.M_colind[row + k]
            total = total + matrix[row + k] * x[j]
            y[j] = y[j] + matrix[row + k] * x[i]
        y[i] = total
