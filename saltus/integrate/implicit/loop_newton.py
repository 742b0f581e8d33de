"""Steps of `energy_momentum` for mechanisms with closed loops, whose constraints hold exactly at the end of the step.

    r(a) = Gᵀ λ,   g(q'(a)) = 0

with r the residual of the balance of momenta (`saltus.integrate.implicit.step_balance`) and G the discrete derivatives
of the constraints g (`saltus.integrate.implicit.loop_rows`), by Newton's method on the accelerations a and the
multipliers λ (Betsch & Steinmann, Conservation properties of a time FE method, part III: Mechanical systems with
holonomic constraints, IJNME 53 (2002)). Derivatives by a are found by differences. Where rows are redundant, the
multipliers are those of least norm, by a complete orthogonal decomposition; the rank is that at the start of the step,
where the loops are closed: off the constraints, redundant rows seem to be independent (see
`saltus.solve.event.redundant_rows`).
"""

from saltus.integrate.implicit.loop_rows import loop_rows
from saltus.integrate.implicit.newton_convergence import LEAST, begin_balance, change_size, far
from saltus.integrate.implicit.step_balance import advance_unknowns, begin_differences, evaluate, least_fraction
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel
from saltus.solve.cone.minimum_norm import RANK, minimum_norm_of_rank
from saltus.solve.status import NOT_CONVERGED, OK

ITERATIONS = 30
RENEWED = 4  # iterations between two matrices, after the second one, which has multipliers
TOLERANCE = 1e-13  # change of velocity of an iteration, relative to the largest
OPEN = 1e-9  # m, rad: largest violation after a step


@kernel
def close_loops(m, d, h, start):
    """qacc [nv] ← the accelerations of a step of h seconds from the saved state; returns a status.

    Writes loop_force [nlooprow], the multipliers (N, N m).
    """
    rows, rank = rank_of_loops(m, d, h)
    for r in range(rows):
        d.loop_force[r] = 0.0 * d.time
    begin_balance(m, d)
    last = 0.0 * d.time + 1e300
    for k in range(ITERATIONS):
        evaluate(m, d, h, start)
        if k == 0 or k % RENEWED == 1:
            loop_tangent(m, d, h, start, rows)
        solve_loops(m, d, h, rows, rank)
        size, scale = change_size(m, d, h, d.qvel_saved)
        advance_unknowns(m, d, least_fraction(m, d, h))
        if not far(size, scale, last, TOLERANCE, LEAST / h):
            break
        last = size
    else:
        return NOT_CONVERGED
    evaluate(m, d, h, start)
    return OK if violation(d, rows) <= OPEN else NOT_CONVERGED


@kernel
def rank_of_loops(m, d, h):
    """Number of rows of active loops, and their rank at the start of the step; leaves that as the state."""
    # rows of a step without motion
    for k in range(m.nq):
        d.qpos[k] = d.qpos_saved[k]
    for i in range(m.nv):
        d.qvel[i] = 0.0 * d.time
    rows = loop_rows(m, d, h)
    # rank of G Gᵀ
    for r in range(rows):
        d.hard_q[r] = 0.0 * d.time
        for s in range(rows):
            total = 0.0 * d.time
            for i in range(m.nv):
                total = total + d.loop_J[r * m.nv + i] * d.loop_J[s * m.nv + i]
            d.hard_W[r * rows + s] = total
    rank, _ = minimum_norm_of_rank(d, rows, d.hard_W, d.hard_q, d.hard_r, rows, RANK)
    return rows, rank


@kernel
def loop_tangent(m, d, h, start, rows):
    """jacobian [nv, nv] ← derivatives of r - Gᵀ λ, loop_tangent [nlooprow, nv] ← 2/h² of those of g; by qacc."""
    take_forces(m, d, rows)
    for r in range(rows):
        d.loop_gap_kept[r] = d.loop_gap[r]
    eps = begin_differences(m, d, h)
    for c in range(m.nv):
        kept = d.qacc[c]
        d.qacc[c] = kept + eps
        evaluate(m, d, h, start)
        take_forces(m, d, rows)
        for i in range(m.nv):
            d.jacobian[i * m.nv + c] = (d.metric_force[i] - d.metric_product[i]) / eps
        for r in range(rows):
            d.loop_tangent[r * m.nv + c] = 2.0 / (h * h) * (d.loop_gap[r] - d.loop_gap_kept[r]) / eps
        d.qacc[c] = kept
    evaluate(m, d, h, start)


@kernel
def take_forces(m, d, rows):
    """metric_force ← metric_force - Gᵀ λ."""
    for r in range(rows):
        for i in range(m.nv):
            d.metric_force[i] = d.metric_force[i] - d.loop_J[r * m.nv + i] * d.loop_force[r]


@kernel
def solve_loops(m, d, h, rows, rank):
    """metric_change [nv], loop_force [nlooprow] ← Newton's change of qacc, and multipliers of least norm after it."""
    nv, n = m.nv, m.nv + rows
    # multipliers over the mean entry of the matrix, so that all rows are of one size
    unit = 0.0 * d.time
    for i in range(nv):
        unit = unit + absolute(d.jacobian[i * nv + i]) / nv
    # [A, -Gᵀ; 2/h² ∂g/∂a, 0]
    for i in range(n):
        for j in range(n):
            entry = 0.0 * d.time
            if i < nv and j < nv:
                entry = d.jacobian[i * nv + j]
            elif i < nv:
                entry = -unit * d.loop_J[(j - nv) * nv + i]
            elif j < nv:
                entry = unit * d.loop_tangent[(i - nv) * nv + j]
            d.hard_W[i * n + j] = entry
    for i in range(nv):
        d.hard_q[i] = -d.metric_force[i]
    for r in range(rows):
        d.hard_q[nv + r] = -unit * 2.0 / (h * h) * d.loop_gap[r]
    minimum_norm_of_rank(d, n, d.hard_W, d.hard_q, d.hard_r, nv + rank, RANK)
    for i in range(nv):
        d.metric_change[i] = d.hard_r[i]
    for r in range(rows):
        d.loop_force[r] = unit * d.hard_r[nv + r]


@kernel
def violation(d, rows):
    """Largest violation of the loops after the step (m, rad)."""
    worst = 0.0 * d.time
    for r in range(rows):
        worst = maximum(worst, absolute(d.loop_gap[r]))
    return worst
