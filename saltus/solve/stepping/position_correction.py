"""Taking back what positions violate after a step of time, without giving bodies any speed.

Velocities obey the law of contact, positions only as far as a step's end can be foreseen: bodies that hit between two
steps have gone a little into each other, and closed loops open by terms of second order. So positions are moved to
the nearest, in the metric of the inertia, that are right to first order (Gear, Gupta & Leimkuhler, Automatic
integration of Euler-Lagrange equations with constraints (1985); for contact Acary, Projected event-capturing
time-stepping schemes for nonsmooth mechanical systems with unilateral contact and Coulomb's friction (2013)):

    minimise ½ wᵀ M w   where   J_N w ≥ -(gap + h u_N + allowed),   J w = -violation of equalities

Only the potential energy changes, by the work of lifting out what had sunk in. The gap is that of the middle of the
next step, where contact is looked for, so that what already separates is left alone. A depth of `ALLOWED` h² stays, by
which a resting contact is known to be closed; beyond that, depth is taken back at `FASTEST` at most.
"""

from saltus.contact.counts import NBLOCK, NITER
from saltus.contact.rows.blocks import EQUALITY, FRICTION, times_block
from saltus.number.functions import absolute, clip
from saltus.number.kernels import kernel
from saltus.solve.stepping.nonlinear_gauss_seidel import effect_of_forces, sweeps

ALLOWED = 1.0  # m/s², rad/s²
LOOP = 1e-3  # of that, of equalities
FASTEST = 1.0  # m/s, rad/s
ROUGH = 1e-3  # of the largest violation
SWEEPS = 50


@kernel
def position_correction(m, d, h):
    """Displacement qstep [nv] (m, rad) that takes violations back; returns 1 if there is any, 0 if all is well.

    After a step of h seconds, with its new velocities in qvel, and the blocks, the dual problem and the factors of M of
    its middle. Overwrites row_residual, row_search and qacc_smooth [nv].
    """
    worst = displacements(m, d, h)
    if worst <= 0.0:
        return 0
    iterations = d.count[NITER]
    sweeps(m, d, d.row_search, ROUGH * worst, SWEEPS, 1)
    d.count[NITER] = iterations
    effect_of_forces(m, d, d.row_search, d.qacc_smooth, d.qstep)
    return 1


@kernel
def displacements(m, d, h):
    """row_residual ← minus how far each row is to be moved; returns the farthest, 0 if none need be."""
    allowed = ALLOWED * h * h
    worst = 0.0 * h
    for b in range(d.count[NBLOCK]):
        row, kind, dim = d.block_row[b], d.block_kind[b], d.block_dim[b]
        if kind == FRICTION:
            d.row_D[row] = 0.0
        elif kind == EQUALITY:
            for r in range(row, row + dim):
                d.row_residual[r] = clip(d.row_pos[r], -FASTEST * h, FASTEST * h)
                if absolute(d.row_pos[r]) > LOOP * allowed:
                    worst = max(worst, absolute(d.row_residual[r]))
        else:
            times_block(m, d, b, d.qvel, d.row_residual)
            depth = -(d.row_pos[row] + h * d.row_residual[row])
            d.row_residual[row] = -min(depth - allowed, FASTEST * h)
            if depth > 2.0 * allowed and d.row_D[row] > 0.0:
                worst = max(worst, -d.row_residual[row])
        for r in range(row, row + dim):
            d.row_search[r] = 0.0 * h
    return worst
