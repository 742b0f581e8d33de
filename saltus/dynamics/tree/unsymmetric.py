"""Solution of A x = b for an unsymmetric A on the tree's pattern, by elimination from the tips, without fill-in.

A is stored like M: along each dof's row of ancestors, `lower` has A[i, j] and `upper` has A[j, i]; the diagonal, last
in the row, is in `lower`.
"""

from saltus.dynamics.awake.walks import awake_dofs, awake_dofs_back
from saltus.number.kernels import kernel


@kernel
def unsymmetric_solve(m, d, x):
    """x ← A⁻¹ x for a field x [nv]; overwrites lower and upper [nC]."""
    unsymmetric_factor(m, d)
    solve_factored(m, d, x)


@kernel
def unsymmetric_factor(m, d):
    """Factor A in place: lower, upper [nC] ← the factors that `solve_factored` uses."""
    for k in awake_dofs_back(m, d):
        row = m.M_rowadr[k]
        count = m.M_rownnz[k] - 1
        inverse = 1.0 / d.lower[row + count]
        d.lower[row + count] = inverse
        for c in range(count - 1, -1, -1):
            # subtract a multiple of row k from row i of A
            i = m.M_colind[row + c]
            t = d.upper[row + c] * inverse
            target = m.M_rowadr[i]
            for j in range(c + 1):
                d.lower[target + j] = d.lower[target + j] - t * d.lower[row + j]
            # subtract in column i, for k's ancestors above i
            u = d.lower[row + c]
            for j in range(c):
                s = d.upper[row + j] * inverse
                d.upper[target + j] = d.upper[target + j] - s * u


@kernel
def solve_factored(m, d, x):
    """x ← A⁻¹ x for a field x [nv], after `unsymmetric_factor`."""
    # backward sweep, tips to base
    for k in awake_dofs_back(m, d):
        row = m.M_rowadr[k]
        count = m.M_rownnz[k] - 1
        for c in range(count):
            i = m.M_colind[row + c]
            x[i] = x[i] - d.upper[row + c] * d.lower[row + count] * x[k]
    # forward sweep, base to tips
    for i in awake_dofs(m, d):
        row = m.M_rowadr[i]
        count = m.M_rownnz[i] - 1
        xi = x[i]
        for k in range(count):
            xi = xi - d.lower[row + k] * x[m.M_colind[row + k]]
        x[i] = xi * d.lower[row + count]
