"""Position correction after a time step: projection of violations without adding velocity.

Velocities satisfy the contact law, positions only as far as the end of a step can be predicted: bodies that collide
within a step have penetrated a little, and closed loops open by second-order terms. Positions therefore move to the
nearest ones, in the metric of the inertia, that satisfy the constraints to first order (Gear, Gupta & Leimkuhler,
Automatic integration of Euler-Lagrange equations with constraints (1985); for contact Acary, Projected event-capturing
time-stepping schemes for nonsmooth mechanical systems with unilateral contact and Coulomb's friction (2013)):

    minimise ½ wᵀ M w   where   J_N w ≥ -(gap + h u_N + allowed),   J w = -violation of equalities

Only the potential energy changes, by the work of lifting out the penetration. The gap is that of the middle of the next
step, where contacts are detected, so that separating contacts are left alone. A depth of `ALLOWED` h² stays, which
keeps resting contacts closed; beyond that, depth is removed at `FASTEST` at most.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NBLOCK, NITER
from saltus.contact.rows.blocks import EQUALITY, FRICTION, times_block
from saltus.number.components import zero_like
from saltus.number.conditions import has
from saltus.number.functions import absolute, any_lane, clip, maximum, minimum, where
from saltus.number.kernels import kernel
from saltus.solve.stepping.nonlinear_gauss_seidel import effect_of_forces, sweeps

ALLOWED = 1.0  # m/s², rad/s²
LOOP = 1e-3  # allowed violation of equalities, relative to ALLOWED
FASTEST = 1.0  # m/s, rad/s
ROUGH = 1e-3  # tolerance relative to the largest violation
SWEEPS = 50


@kernel
def position_correction(m, d, h):
    """Displacement qstep [nv] (m, rad) that removes violations; returns the lanes in which there are any.

    Call it after a step of h seconds, with the new velocities in qvel, and the blocks, the dual problem and the factors
    of M of its middle. Overwrites row_residual, row_search and qacc_smooth [nv].
    """
    worst = displacements(m, d, h)
    violated = worst > 0.0
    if not any_lane(violated):
        return violated
    iterations, zero = d.count[NITER], zero_like(worst)
    sweeps(m, d, d.row_search, ROUGH * worst, where(violated, zero + SWEEPS, zero), 1)
    d.count[NITER] = iterations
    effect_of_forces(m, d, d.row_search, d.qacc_smooth, d.qstep)
    return violated


@kernel
def displacements(m, d, h):
    """row_residual ← minus the required displacement of each row; returns the largest, 0 if none is needed."""
    allowed = ALLOWED * h * h
    worst = zero_like(d.time)
    for b in range(d.count[NBLOCK]):
        row, kind, dim = d.block_row[b], d.block_kind[b], d.block_dim[b]
        if kind == FRICTION:
            d.row_D[row] = 0.0
        elif kind == EQUALITY:
            # equality: the violation, at limited speed
            for r in range(row, row + dim):
                d.row_residual[r] = clip(d.row_pos[r], -FASTEST * h, FASTEST * h)
                open_ = (absolute(d.row_pos[r]) > LOOP * allowed) & (d.row_D[row] >= 0.0)
                if any_lane(open_):
                    worst = where(open_, maximum(worst, absolute(d.row_residual[r])), worst)
        else:
            # limit or contact: depth beyond the allowed one, at the middle of the next step
            times_block(m, d, b, d.qvel, d.row_residual)
            if has(m, "movers"):
                # with motion that does not come from degrees of freedom
                times_block(m, d, b, d.qacc, d.row_residual)
                d.row_residual[row] = d.row_velocity[row] + h * d.row_residual[row]
            depth = -(d.row_pos[row] + h * d.row_residual[row])
            d.row_residual[row] = -minimum(depth - allowed, zero_like(depth) + FASTEST * h)
            deep = (depth > 2.0 * allowed) & (d.row_D[row] > 0.0)
            if any_lane(deep):
                worst = where(deep, maximum(worst, -d.row_residual[row]), worst)
        # start without multipliers
        for r in range(row, row + dim):
            d.row_search[r] = 0.0 * h
    return worst
