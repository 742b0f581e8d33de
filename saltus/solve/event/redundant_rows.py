"""Redundant rows of an active set whose constraints are not exactly satisfied.

Rows of an overconstrained loop are linearly dependent if it is closed. If it is open by ε, as at the stages of a step,
they are independent to first order in ε, and the smallest eigenvalues of the Delassus operator are of order ε², not
zero: forces along them would grow as 1/ε, and the loop would lock. The rank is therefore that of the closed mechanism,
kept from the last state with satisfied constraints; without such a state, eigenvalues of order ε² count as zero. (On
redundant constraints: García de Jalón & Gutiérrez-López, Multibody dynamics with redundant constraints and
singular mass matrix, Multibody System Dynamics 30 (2013).)
"""

from saltus.contact.counts import NBLOCK
from saltus.model.enums import ROWS
from saltus.number.functions import absolute, maximum, minimum
from saltus.number.kernels import kernel
from saltus.solve.cone.minimum_norm import RANK, minimum_norm, minimum_norm_of_rank

SATISFIED = 1e-9  # rad, or m on slides: rows violated by less have the rank of satisfied ones
LEAST_ENTRY = 1e-6  # relative to the largest entry of a block's Jacobian: a row with only smaller entries moves nothing
MARGIN, MOST = 10.0, 1e-3  # factor of ε, whose square bounds eigenvalues that count as zero; largest bound
HELD_ROWS, HELD_RANK, SHARED_ROWS = 0, 1, 2  # places in active_rank


@kernel
def least_forces(m, d):
    """hard_r ← the shortest r of least |W r - hard_q| of the posed problem, with the closed rank; returns the rank."""
    n = d.hard_count[ROWS]
    if m.neq == 0:  # only contacts, limits and friction
        rank, _ = minimum_norm(d, n, d.hard_W, d.hard_q, d.hard_r)
        return rank
    open_by = closure_error(d)
    most, small = n, RANK
    if not open_by <= SATISFIED:
        if d.active_rank[0, HELD_ROWS] == n:
            most = int(d.active_rank[0, HELD_RANK])
        else:
            small = maximum(small, minimum(MARGIN * open_by * (MARGIN * open_by), MOST))
    rank, _ = minimum_norm_of_rank(d, n, d.hard_W, d.hard_q, d.hard_r, most, small)
    if open_by <= SATISFIED:
        d.active_rank[0, HELD_ROWS], d.active_rank[0, HELD_RANK] = 0.0 * d.time + n, 0.0 * d.time + rank
    return rank


@kernel
def forget_rank(d):
    """Forget the rank and the shared forces of the active set, before it changes."""
    d.active_rank[0] = (0.0 * d.time, 0.0 * d.time, 0.0 * d.time)


@kernel
def closure_error(d):
    """Largest violation of the rows, over the largest entry of their Jacobian: rad, or m on slides.

    A row that moves nothing except by rounding, such as one normal to the plane of a loop, is scaled by its block's
    entries.
    """
    worst = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        dim = d.block_dim[b]
        of_block = 0.0 * d.time
        for k in range(dim):
            of_block = maximum(of_block, longest_entry(d, b, k))
        for k in range(dim):
            longest = maximum(longest_entry(d, b, k), LEAST_ENTRY * of_block)
            if longest > 0.0:
                worst = maximum(worst, absolute(d.row_pos[d.block_row[b] + k]) / longest)
    return worst


@kernel
def longest_entry(d, b, k):
    """Largest magnitude in the Jacobian of row k of block b."""
    longest, dim = 0.0 * d.time, d.block_dim[b]
    for c in range(d.block_num[b]):
        longest = maximum(longest, absolute(d.row_J[d.block_J[b] + c * dim + k]))
    return longest
