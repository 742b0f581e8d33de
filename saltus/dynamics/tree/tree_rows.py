"""Sparse matrices with the inertia matrix's pattern: each row holds the degrees of freedom coupled with its own."""

from saltus.dynamics.awake.walks import awake_dofs
from saltus.number.kernels import kernel, only_with


@kernel
def add_outer(m, matrix, J, dofs, first, count, weight):
    """matrix += weight J Jᵀ, for fields matrix [nC], J and dofs, of which entries first, first + 1, ... are used.

    Degrees of freedom ascend. Entries between those that M does not couple are dropped.
    """
    for c in range(first, first + count):
        i = dofs[c]
        scaled = weight * J[c]
        k = m.M_rowadr[i]
        end = k + m.M_rownnz[i]
        for e in range(first, c + 1):
            j = dofs[e]
            while k < end and m.M_colind[k] < j:
                k += 1
            if k < end and m.M_colind[k] == j:
                matrix[k] = matrix[k] + scaled * J[e]


@kernel
def clear_between_branches(m, d, matrix):
    """matrix ← 0 between degrees of freedom neither of which carries the other, for a field matrix [nC].

    Rows hold more than ancestors only where tendon armature couples branches.
    """
    for i in awake_dofs(m, d):
        k = m.M_rowadr[i] + m.M_rownnz[i] - 2
        ancestor = m.dof_parentid[i]
        while k >= m.M_rowadr[i]:
            if m.M_colind[k] == ancestor:
                ancestor = m.dof_parentid[ancestor]
            else:
                matrix[k] = 0.0 * matrix[k]
            k -= 1


@only_with("tendon_armature")
@kernel
def keep_to_branches(m, d):
    """`clear_between_branches` of lower and upper [nC]."""
    clear_between_branches(m, d, d.lower)
    clear_between_branches(m, d, d.upper)
