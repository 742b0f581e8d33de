"""Newton's method for soft constraints in worlds of many trees: inexact steps, whose work grows with the contacts.

The cost, its gradient, the line search and the ends are those of `saltus.solve.soft.newton`. A direction need not be
exact while constraints change their states: conjugate gradients end at a part of the first residual that falls with
the square of the progress of the last step (Eisenstat & Walker, Choosing the forcing terms in an inexact Newton method,
SIAM J. Sci. Comput. 17 (1996), choice 2). A lane ends with a direction that is as good as an exact one.
"""

from saltus.contact.counts import NITER
from saltus.number.functions import any_lane, clip, where
from saltus.number.kernels import kernel
from saltus.solve.soft.line_search import line_search
from saltus.solve.soft.newton import (
    along_search,
    begin,
    decrease_by_rounding,
    forces_reached,
    gradient,
    is_rough,
    step,
)
from saltus.solve.soft.trees.block_cg import begin_direction, iterate_direction
from saltus.solve.soft.trees.block_factor import factor_blocks
from saltus.solve.soft.trees.tree_blocks import assemble_blocks
from saltus.solve.soft.trees.tree_pairs import tree_pairs

COARSE, FINE = 1e-2, 1e-5  # residuals at which conjugate gradients end, relative to the first


@kernel
def newton_by_trees(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if it did not converge in some lane, else 0.

    Reads and writes what `saltus.solve.soft.newton.newton` does.
    """
    tree_pairs(m, d)
    begin(m, d)
    live = d.constrained > 0.5
    lost = decrease_by_rounding(m, d)
    d.count[NITER] = 0
    rough = live
    coarse = d.constrained < 0.0  # lanes whose last direction was not as good as an exact one
    before = 0.0 * lost
    for _ in range(m.opt_iterations):
        # gradient M a - f - Jᵀ force, convergence
        size, noise = gradient(m, d)
        rough = is_rough(m, d, size, noise)
        live = live & (rough | (coarse & (size > noise)))
        if not any_lane(live):
            break
        d.count[NITER] = d.count[NITER] + 1
        # Newton direction, to a part of the first residual
        assemble_blocks(m, d, d.count[NITER] == 1)
        factor_blocks(m, d)
        square = begin_direction(m, d)
        part = forcing(m, d, square, before, lost)
        before = square
        short = iterate_direction(m, d, live, square, part * part * square)
        # exact line search along it
        slope = along_search(m, d)
        promising = (-0.5 * m.opt_scale * slope >= m.opt_tolerance) & (-slope > lost)
        step(m, d, line_search(m, d, live, slope))
        coarse = (part > FINE) | short
        live = live & (promising | coarse)
    else:
        size, noise = gradient(m, d)
        rough = is_rough(m, d, size, noise)
        live = live & rough
    forces_reached(m, d, rough)
    return 1 if any_lane(live) else 0


@kernel
def forcing(m, d, square, before, lost):
    """The part of the residual at which conjugate gradients end, from its square now and in the last iteration.

    `before`: 0 in the first one. Where no other step may follow, or this one promises too little for it, the direction
    is as good as an exact one.
    """
    zero = 0.0 * square
    # progress of the last step, as a part of the squares
    progress = where(before > 0.0, square / where(before > 0.0, before, zero + 1.0), zero + COARSE)
    part = clip(progress, zero + FINE, zero + COARSE)
    last = (0.5 * m.opt_scale * square < m.opt_tolerance) | (square <= lost)
    return where(last, zero + FINE, part) if d.count[NITER] < m.opt_iterations else zero + FINE
