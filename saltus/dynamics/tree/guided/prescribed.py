"""Forward dynamics with prescribed joints: hybrid dynamics (Featherstone 2008, section 9.2).

The accelerations a_p of the prescribed dofs p are given; those of the free dofs f follow from

    M_ff a_f = force_f - M_fp a_p

The factor of M leaves out the rows and columns of p (see `saltus.dynamics.tree.factor`), so that M⁻¹ has zeros there:
no force moves prescribed dofs. The forces that the prescription needs are rows p of M a - force.
"""

from saltus.dynamics.tree.factor import multiply, solve
from saltus.number.kernels import kernel, only_with


@kernel
def solve_hybrid(m, d, x):
    """x ← accelerations under the forces x, a field [nv], by the factor of M; reads M if any dofs are prescribed."""
    take_prescribed(m, d, x, d.M)
    solve(m, d, x)
    put_prescribed(m, d, x)


@kernel
def take_prescribed(m, d, x, matrix):
    """x ← x - A_fp a_p for a field x [nv] of forces; A is stored like M in the field matrix [nC]."""
    take_prescribed_at(m, d, x, 0, matrix)


@only_with("prescribed")
@kernel
def take_prescribed_at(m, d, x, at, matrix):
    """x ← x - A_fp a_p for the nv entries of a field x from index `at`; see `take_prescribed`."""
    for i in range(m.nv):
        first, last = m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1
        for k in range(first, last):
            j = m.M_colind[k]
            x[at + i] = x[at + i] - matrix[k] * d.qacc_prescribed[j]
            x[at + j] = x[at + j] - matrix[k] * d.qacc_prescribed[i]


@only_with("prescribed")
@kernel
def separate_prescribed(m, d, x):
    """x ← x - A_fp a_p for a field x [nv], and 0 for A's rows and columns p in lower, upper [nC], 1 on its diagonal."""
    for i in range(m.nv):
        first, last = m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1
        for k in range(first, last):
            j = m.M_colind[k]
            x[i] = x[i] - d.lower[k] * d.qacc_prescribed[j]
            x[j] = x[j] - d.upper[k] * d.qacc_prescribed[i]
            if m.dof_prescribed[i] or m.dof_prescribed[j]:
                d.lower[k] = d.upper[k] = 0.0 * d.time
        if m.dof_prescribed[i]:
            d.lower[last] = 1.0 + 0.0 * d.time


@only_with("prescribed")
@kernel
def put_prescribed(m, d, x):
    """x_p ← a_p for a field x [nv] of accelerations."""
    for k in range(m.nmotion):
        i = m.motion_dofadr[k]
        x[i] = d.qacc_prescribed[i]


@only_with("prescribed")
@kernel
def prescribed_forces(m, d):
    """qfrc_prescribed [nv] (N, N m) ← M a + bias - all other forces at prescribed dofs, 0 elsewhere.

    Reads M, qacc, qfrc_tau, which holds the constraint forces, and qfrc_bias.
    """
    multiply(m, d, d.qacc, d.qfrc_prescribed)
    for i in range(m.nv):
        needed = d.qfrc_prescribed[i] + d.qfrc_bias[i] - d.qfrc_tau[i]
        d.qfrc_prescribed[i] = needed * m.dof_prescribed[i]
