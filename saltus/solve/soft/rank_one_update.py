"""Rank-one updates of the factored Hessian for rows that become active or inactive.

A row, or an edge e of a pyramid, that becomes active adds w e eᵀ to the Hessian; one that becomes inactive removes it.
The factors follow at the cost of one path through the elimination tree (Gill, Golub, Murray & Saunders, Methods for
modifying matrix factorizations (1974), method C1). The Hessian of elliptic cones changes continuously and is assembled
anew.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import EQUALITY, PYRAMID, chained_dof
from saltus.contact.rows.cost import single_weight
from saltus.dynamics.awake.walks import awake_dofs_back
from saltus.number.components import epsilon_of
from saltus.number.functions import any_lane, maximum, where
from saltus.number.kernels import kernel


@kernel
def update_hessian(m, d, live):
    """Update the factors to the weights of the rows at row_residual, in the lanes that are live."""
    for b in range(d.count[NBLOCK]):
        kind = d.block_kind[b]
        row = d.block_row[b]
        if kind == PYRAMID:
            update_pyramid(m, d, b, row, live)
        elif kind != EQUALITY:
            weight = single_weight(d, kind, row)
            change = where(live, weight - d.row_upper[row], 0.0 * weight)
            d.row_upper[row] = d.row_upper[row] + change
            if any_lane(change != 0.0):
                load_edge(m, d, b, 0, 0.0)
                rank_one(m, d, change)


@kernel
def update_pyramid(m, d, b, row, live):
    """`update_hessian` for the edges of a pyramid."""
    law = d.block_law[b]
    u0 = d.row_residual[row]
    weight = d.row_D[row]
    zero = 0.0 * u0
    for k in range(1, d.block_dim[b]):
        mu = m.law_friction[law, k - 1]
        across = mu * d.row_residual[row + k]
        upper = where(live, where(u0 + across < 0.0, weight, zero) - d.row_upper[row + k], zero)
        lower = where(live, where(u0 - across < 0.0, weight, zero) - d.row_lower[row + k], zero)
        d.row_upper[row + k] = d.row_upper[row + k] + upper
        d.row_lower[row + k] = d.row_lower[row + k] + lower
        if any_lane(upper != 0.0):
            load_edge(m, d, b, k, mu)
            rank_one(m, d, upper)
        if any_lane(lower != 0.0):
            load_edge(m, d, b, k, -mu)
            rank_one(m, d, lower)


@kernel
def load_edge(m, d, b, k, slope):
    """solve_edge ← row 0 of block b plus slope times row k; marks its pattern in edge_mark."""
    dim = d.block_dim[b]
    place = d.block_J[b]
    first = d.block_dofs[b]
    for c in range(d.block_num[b]):
        i = chained_dof(m, d, first + c)
        d.edge_mark[i] = 1
        if k > 0:
            d.solve_edge[i] = d.row_J[place] + slope * d.row_J[place + k]
        else:
            d.solve_edge[i] = d.row_J[place]
        place += dim


@kernel
def rank_one(m, d, weight):
    """Factors of H + weight e eᵀ with e = solve_edge; clears edge_mark."""
    # method C1, from the tips of the tree along the path of the edge
    one = 1.0 + 0.0 * weight
    for k in awake_dofs_back(m, d):
        if d.edge_mark[k]:
            d.edge_mark[k] = 0
            row = k * (k + 1) // 2
            p = d.solve_edge[k]
            inverse = d.hessian[row + k]
            # positive but for rounding, since the remaining matrix is positive definite
            shrink = one / maximum(one + weight * p * p * inverse, epsilon_of(one) * one)
            gain = weight * p * inverse * shrink
            d.hessian[row + k] = inverse * shrink
            weight = weight * shrink
            # column k of L, and the part of the edge that is passed on
            for c in range(d.hessian_num[k]):
                j = d.hessian_col[row + c]
                before = d.hessian[row + j]
                if d.edge_mark[j]:
                    e = d.solve_edge[j] - p * before
                else:
                    d.edge_mark[j] = 1
                    e = -p * before
                d.solve_edge[j] = e
                d.hessian[row + j] = before + gain * e
