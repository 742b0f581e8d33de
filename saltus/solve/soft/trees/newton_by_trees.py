"""Newton's method for soft constraints in worlds of many trees, island by island.

Nothing couples islands: each has its own iterations, convergence and line search, so that none waits for the worst
(MuJoCo documentation, Computation: Constraint islands). The cost, its gradient, the line search and the ends are those
of `saltus.solve.soft.newton`. The direction of a small island is exact. In a large one, where it need not be while
constraints change their states, the steps are inexact, and the work grows with the contacts: conjugate gradients end at
a part of the first residual that falls with the square of the progress of the last step (Eisenstat & Walker, Choosing
the forcing terms in an inexact Newton method, SIAM J. Sci. Comput. 17 (1996), choice 2). A lane ends with a direction
that is as good as an exact one.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NISLAND, NITER
from saltus.dynamics.awake.walks import awake_tree_count
from saltus.number.components import lane_count
from saltus.number.functions import any_lane, clip, where
from saltus.number.kernels import kernel
from saltus.solve.soft.trees.block_cg import begin_direction, iterate_direction
from saltus.solve.soft.trees.block_factor import factor_blocks
from saltus.solve.soft.trees.island_cost import (
    along_island,
    begin_island,
    island_gradient,
    multiply_trees,
    reach_forces,
    search_island,
    step_island,
)
from saltus.solve.soft.trees.island_factor import solve_island_exactly, solve_tree
from saltus.solve.soft.trees.islands import constraint_islands, dofs_of, one_island, trees_of
from saltus.solve.soft.trees.tree_blocks import assemble_blocks, inertia_blocks
from saltus.solve.soft.trees.tree_pairs import tree_pairs

COARSE, FINE = 1e-2, 1e-5  # residuals at which conjugate gradients end, relative to the first


@kernel
def newton_by_trees(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if it did not converge in some lane, else 0.

    Reads and writes what `saltus.solve.soft.newton.newton` does. Lanes have all trees as one island, since one of them
    would otherwise feel which trees touch in the others.
    """
    tree_pairs(m, d)
    if lane_count(d.time) == 1:
        constraint_islands(m, d)
    else:
        one_island(m, d)
    d.count[NITER] = 0
    unconverged = 0
    for island in range(d.count[NISLAND]):
        unconverged = unconverged | solve_island(m, d, island)
    for k in range(d.island_treeadr[d.count[NISLAND]], awake_tree_count(m, d)):
        accelerate_freely(m, d, d.island_tree[k])
    return unconverged


@kernel
def accelerate_freely(m, d, t):
    """qacc_warmstart ← M⁻¹ f of a tree without rows, where it begins when it gets some; qfrc_constraint ← 0."""
    multiply_trees(m, d, t, t + 1, d.qacc_warmstart, d.solve_Ma)
    for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        d.qfrc_constraint[i] = 0.0 * d.time
        d.solve_gradient[i] = d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i])
    d.tree_fresh[t] = 1
    inertia_blocks(m, d, t)
    solve_tree(m, d, t)
    for i in range(m.tree_dofnum[t]):
        k = m.tree_dofadr[t] + i
        d.qacc_warmstart[k] = d.qacc_warmstart[k] + d.block_solution[d.island_dofadr[t] + i]


@kernel
def solve_island(m, d, island):
    """Newton's method for one island; returns 1 if it did not converge in some lane, else 0."""
    lost, scale = begin_island(m, d, island)
    exact = is_small(m, d, island)
    live = d.constrained > 0.5
    rough = live
    coarse = d.constrained < 0.0  # lanes whose last direction was not as good as an exact one
    before = 0.0 * lost
    for iteration in range(m.opt_iterations):
        # gradient M a - f - Jᵀ force, convergence
        size, noise = island_gradient(m, d, island)
        rough = is_rough(m, d, scale * size, size > noise)
        live = live & (rough | (coarse & (size > noise)))
        if not any_lane(live):
            break
        d.count[NITER] = max(d.count[NITER], iteration + 1)
        # Newton direction, exact or to a part of the first residual
        assemble_blocks(m, d, island, iteration == 0)
        if exact:
            solve_island_exactly(m, d, island)
        else:
            factor_blocks(m, d, island)
            square = begin_direction(m, d, island)
            part = forcing(m, d, iteration, square, before, lost, scale)
            before = square
            short = iterate_direction(m, d, island, live, square, part * part * square)
            coarse = (part > FINE) | short
        # exact line search along it
        slope = along_island(m, d, island)
        promising = (-0.5 * scale * slope >= m.opt_tolerance) & (-slope > lost)
        step_island(m, d, island, search_island(m, d, island, live, slope, scale))
        live = live & (promising | coarse)
    else:
        size, noise = island_gradient(m, d, island)
        rough = is_rough(m, d, scale * size, size > noise)
        live = live & rough
    reach_forces(m, d, island, rough)
    return 1 if any_lane(live) else 0


@kernel(inline=True)
def is_small(m, d, island):
    """Whether an island is a single tree, or has few of them: its direction is exact."""
    first, last = trees_of(d, island)
    begin, end = dofs_of(m, d, island)
    return last == first + 1 or (last - first <= m.nfewtrees and end - begin <= m.ndensedof)


@kernel(inline=True)
def is_rough(m, d, size, above_noise):
    """Lanes with active rows whose gradient, scaled to `size`, is above both the tolerance and rounding."""
    return (d.constrained > 0.5) & (size >= m.opt_tolerance) & above_noise


@kernel
def forcing(m, d, iteration, square, before, lost, scale):
    """The part of the residual at which conjugate gradients end, from its square now and in the last iteration.

    `before`: 0 in the first one. Where no other step may follow, or this one promises too little for it, the direction
    is as good as an exact one.
    """
    zero = 0.0 * square
    # progress of the last step, as a part of the squares
    progress = where(before > 0.0, square / where(before > 0.0, before, zero + 1.0), zero + COARSE)
    part = clip(progress, zero + FINE, zero + COARSE)
    last = (0.5 * scale * square < m.opt_tolerance) | (square <= lost)
    return where(last, zero + FINE, part) if iteration + 1 < m.opt_iterations else zero + FINE
