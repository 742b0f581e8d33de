"""The Hessian of a Data by differences of its forces, for tests of the ways in which it is assembled."""

import numpy as np

from saltus.contact.counts import NBLOCK, NROW


def blocks_of(m, d):
    """(first row, rows, degrees of freedom, Jacobian) of each block."""
    lists = np.concatenate([m.chain_dof, d.found_dof])  # of the model, and of pairs found at run time
    for b in range(d.count[NBLOCK]):
        adr, num, dim = d.block_dofs[b], d.block_num[b], d.block_dim[b]
        J = d.row_J[d.block_J[b] :][: num * dim].reshape(num, dim).T
        yield d.block_row[b], dim, lists[adr : adr + num], J


def hessian_by_differences(sim, m, d, forces):
    """M + Jᵀ W J, with W by central differences of the forces that the entry `forces` finds from row_residual."""
    return sim.full_M() + curvatures(m, d, forces)


def curvatures(m, d, forces):
    """Jᵀ W J, with W by central differences; row_residual and row_force are as before."""
    rows, wanted = slice(0, d.count[NROW]), np.zeros((m.nv, m.nv))
    residual, force = d.row_residual[rows].copy(), d.row_force[rows].copy()
    step = 1e-6 * np.maximum(1, np.abs(residual))
    for first, dim, dofs, J in blocks_of(m, d):
        W = np.zeros((dim, dim))
        for k in range(dim):
            sides = []
            for sign in (1, -1):
                d.row_residual[first + k] = residual[first + k] + sign * step[first + k]
                forces(m, d)
                sides.append(d.row_force[first : first + dim].copy())
            d.row_residual[first + k] = residual[first + k]
            W[:, k] = (sides[1] - sides[0]) / (2 * step[first + k])
        wanted[np.ix_(dofs, dofs)] += J.T @ W @ J
    d.row_force[rows] = force
    return wanted
