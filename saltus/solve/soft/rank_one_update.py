"""Rank-one updates of the factored Hessian for rows that become active or inactive.

A row, or an edge e of a pyramid, that becomes active adds w e eᵀ to the Hessian; one that becomes inactive removes it.
The factors follow at the cost of one path through the elimination tree (Gill, Golub, Murray & Saunders, Methods for
modifying matrix factorizations (1974), method C1). Where the removal of a much stiffer row has left few digits, they
are made anew. The Hessian of elliptic cones changes continuously and is always assembled anew.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import EQUALITY, PYRAMID, chained_dof
from saltus.contact.rows.cost import single_weight
from saltus.dynamics.awake.walks import awake_dofs, awake_dofs_back
from saltus.number.components import epsilon_of
from saltus.number.functions import any_lane, maximum, minimum, where
from saltus.number.kernels import kernel
from saltus.solve.soft.hessian import FEW_BITS, add_block, factor_hessian, hessian_of_inertia


@kernel
def update_hessian(m, d, live):
    """Update the factors to the weights of the rows at row_residual, in the lanes that are live."""
    rebuild(m, d, update_rows(m, d, live))


@kernel
def rebuild(m, d, lanes):
    """Rebuild the factors in some lanes from those of the inertia, by a rank-one update for each active row.

    Adding rows, however stiff, in this way keeps the digits of small entries of D. Cones are left out.
    """
    if any_lane(lanes):
        keep_factors(m, d)
        hessian_of_inertia(m, d)
        for b in range(d.count[NBLOCK]):
            if d.block_kind[b] == EQUALITY:
                add_block(m, d, b)
            else:
                forget_weights(d, b, lanes)
        factor_hessian(m, d)
        update_rows(m, d, lanes)
        restore_factors(m, d, lanes)


@kernel
def forget_weights(d, b, lanes):
    """Zero weights of a block's rows or edges in some lanes."""
    row = d.block_row[b]
    for r in range(row, row + d.block_dim[b]):
        d.row_upper[r] = where(lanes, 0.0 * d.row_upper[r], d.row_upper[r])
        d.row_lower[r] = where(lanes, 0.0 * d.row_lower[r], d.row_lower[r])


@kernel
def keep_factors(m, d):
    """hessian_before ← hessian, and the least entries of D⁻¹."""
    for i in awake_dofs(m, d):
        row = i * (i + 1) // 2
        d.solve_least_before[i] = d.solve_least[i]
        d.hessian_before[row + i] = d.hessian[row + i]
        for c in range(d.hessian_num[i]):
            j = row + d.hessian_col[row + c]
            d.hessian_before[j] = d.hessian[j]


@kernel
def restore_factors(m, d, lanes):
    """Restore the kept factors, except in some lanes, so that no lane's factors depend on its neighbours."""
    for i in awake_dofs(m, d):
        row = i * (i + 1) // 2
        d.solve_least[i] = where(lanes, d.solve_least[i], d.solve_least_before[i])
        d.hessian[row + i] = where(lanes, d.hessian[row + i], d.hessian_before[row + i])
        for c in range(d.hessian_num[i]):
            j = row + d.hessian_col[row + c]
            d.hessian[j] = where(lanes, d.hessian[j], d.hessian_before[j])


@kernel
def update_rows(m, d, live):
    """Update the factors by rank one; returns the lanes in which they have become inexact."""
    inexact = d.time != d.time
    for b in range(d.count[NBLOCK]):
        kind = d.block_kind[b]
        row = d.block_row[b]
        if kind == PYRAMID:
            inexact = inexact | update_pyramid(m, d, b, row, live)
        elif kind != EQUALITY:
            weight = single_weight(d, kind, row)
            change = where(live, weight - d.row_upper[row], 0.0 * weight)
            d.row_upper[row] = d.row_upper[row] + change
            if any_lane(change != 0.0):
                load_edge(m, d, b, 0, 0.0)
                inexact = inexact | rank_one(m, d, change)
    return inexact


@kernel
def update_pyramid(m, d, b, row, live):
    """Update the factors for the edges of a pyramid by rank one; returns the lanes in which they are inexact."""
    inexact = d.time != d.time
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
            inexact = inexact | rank_one(m, d, upper)
        if any_lane(lower != 0.0):
            load_edge(m, d, b, k, -mu)
            inexact = inexact | rank_one(m, d, lower)
    return inexact


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
    """Factors of H + weight e eᵀ with e = solve_edge; clears edge_mark.

    Returns the lanes in which an entry of D has become so much smaller than before (D⁻¹ larger than solve_least) that
    few of its digits are valid.
    """
    # method C1, from the tips of the tree along the path of the edge
    one = 1.0 + 0.0 * weight
    small = FEW_BITS * epsilon_of(one) * one
    inexact = one != one
    for k in awake_dofs_back(m, d):
        if d.edge_mark[k]:
            d.edge_mark[k] = 0
            row = k * (k + 1) // 2
            p = d.solve_edge[k]
            inverse = d.hessian[row + k]
            # positive up to rounding, since the remaining matrix is positive definite
            shrink = one / maximum(one + weight * p * p * inverse, epsilon_of(one) * one)
            gain = weight * p * inverse * shrink
            d.hessian[row + k] = inverse * shrink
            d.solve_least[k] = minimum(d.solve_least[k], inverse * shrink)
            inexact = inexact | (d.solve_least[k] < small * inverse * shrink)
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
    return inexact
