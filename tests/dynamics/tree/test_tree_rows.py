"""Sparse matrices on the tree's pattern. Reference: NumPy's outer product, less what the pattern has no room for."""

import numpy as np
from helpers.tree_matrices import pattern, tree_matrix

from saltus.dynamics.tree.tree_rows import add_outer, clear_between_branches
from saltus.number.kernels import interpret


def test_an_outer_product_is_added_where_there_is_room():
    m, d, dense = tree_matrix(1)
    rng, (rows, columns) = np.random.default_rng(1), pattern(m)
    dofs = np.r_[99, np.sort(rng.permutation(m.nv)[: m.nv // 2]), 99]
    J = rng.normal(size=len(dofs))
    spread = np.zeros(m.nv)
    spread[dofs[1:-1]] = J[1:-1]
    matrix = d.M.copy()
    interpret(add_outer)(m, matrix, J, dofs, 1, len(dofs) - 2, -0.7)
    np.testing.assert_allclose(matrix, (dense - 0.7 * np.outer(spread, spread))[rows, columns], atol=1e-13)
    assert np.any(matrix != d.M)


def test_between_branches_all_is_cleared():
    """Rows of all that came before, as armature of tendons has them: only those on the way to the root stay."""
    m, d, _ = tree_matrix(2)
    m.M_rownnz = np.arange(1, m.nv + 1)
    m.M_rowadr = np.cumsum(m.M_rownnz) - m.M_rownnz
    m.M_colind = np.concatenate([np.arange(k) for k in m.M_rownnz])
    matrix = np.ones(len(m.M_colind))
    interpret(clear_between_branches)(m, d, matrix)
    for i in range(m.nv):
        way, k = set(), i
        while k >= 0:
            way.add(k)
            k = m.dof_parentid[k]
        row = matrix[m.M_rowadr[i] : m.M_rowadr[i] + i + 1]
        assert set(np.flatnonzero(row)) == way
