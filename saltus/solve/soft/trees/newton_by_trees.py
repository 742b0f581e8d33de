"""Newton's method for soft constraints in worlds of many trees, island by island.

Islands are independent: each has its own iterations, convergence and line search, so that none waits for the slowest
(MuJoCo documentation, Computation: Constraint islands). Cost, gradient, line search and convergence tests are those of
`saltus.solve.soft.newton`. The direction of a small island is exact. In a large one, steps are inexact while
constraints change their states, and the work grows with the contacts: conjugate gradients end at a fraction of the
first residual that falls with the square of the progress of the last step (Eisenstat & Walker, Choosing the forcing
terms in an inexact Newton method, SIAM J. Sci. Comput. 17 (1996), choice 2). The last direction of a lane is as good as
an exact one.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.counts import NISLAND, NITER, NSTAMP
from saltus.contact.tasks import SOLVE_ISLAND, SOLVE_ISLANDS
from saltus.dynamics.awake.walks import awake_tree_count
from saltus.number.components import lane_count
from saltus.number.functions import any_lane, clip, where
from saltus.number.kernels import kernel, only_with
from saltus.number.threads.team import act_alone, acting, begin, finish, next_turn, report, reported
from saltus.solve.soft.trees.block_cg import begin_direction, iterate_direction
from saltus.solve.soft.trees.block_factor import factor_blocks
from saltus.solve.soft.trees.couplings import couplings
from saltus.solve.soft.trees.domains import is_cut
from saltus.solve.soft.trees.island_cost import (
    along_island,
    begin_island,
    island_gradient,
    multiply_trees,
    reach_forces,
    step_island,
)
from saltus.solve.soft.trees.island_factor import solve_island_exactly, solve_tree
from saltus.solve.soft.trees.island_search import search_island
from saltus.solve.soft.trees.islands import is_small
from saltus.solve.soft.trees.tree_blocks import EVERYTHING, assemble_blocks, inertia_blocks

COARSE, FINE = 1e-2, 1e-5  # residuals at which conjugate gradients end, relative to the first
HANDFULS = 8  # number of handfuls of islands, or of trees without rows, that each thread takes one after another


@kernel
def newton_by_trees(m, d):
    """Accelerations and forces of the constraint problem; returns 1 if it did not converge in some lane, else 0.

    Reads and writes the fields of `saltus.solve.soft.newton.newton`. Lanes have all trees as one island, since results
    of a lane would otherwise depend on contacts in other lanes.
    """
    lanes = lane_count(d.time) > 1
    couplings(m, d, lanes, not lanes)
    islands = d.count[NISLAND]
    d.count[NITER] = 0
    d.count[NSTAMP] = d.count[NSTAMP] + m.opt_iterations
    unconverged = 0
    # islands that are cut into domains, shared by all threads
    blocks = d.island_blockadr[islands]
    for island in range(islands):
        if is_cut(d, island):
            begin(m, d, SOLVE_ISLAND, island, True)
            unconverged = max(unconverged, solve_together(m, d, island))
            finish(m, d)
            blocks -= d.island_blockadr[island + 1] - d.island_blockadr[island]
    # other islands, and trees without rows: one thread each
    freely = awake_tree_count(m, d) - d.island_treeadr[islands]
    threads = begin(m, d, SOLVE_ISLANDS, islands, blocks + freely >= m.nshared)
    found = solve_apart(m, d, islands)
    finish(m, d)
    for part in range(threads):
        found = reported(m, d, part, 0) if part > 0 else found
        unconverged = max(unconverged, found & 1)
        d.count[NITER] = max(d.count[NITER], found >> 1)
    return unconverged


@only_with("many_trees", otherwise="0")
@kernel
def solve_together(m, d, island):
    """Newton's method for an island shared by all threads; returns 1 if it did not converge, else 0."""
    unconverged, iterations = solve_island(m, d, island)
    if d.part == 0:
        d.count[NITER] = max(d.count[NITER], iterations)
    return unconverged


@only_with("many_trees", otherwise="0")
@kernel
def solve_apart(m, d, islands):
    """Newton's method for undivided islands, and for trees without rows, as they are assigned to this thread.

    Returns, and reports to the leader, twice the largest number of iterations, plus one if any did not converge.
    """
    threads = acting(m, d)
    act_alone(m, d)
    unconverged = most = 0
    freely = d.island_treeadr[islands]
    trees = awake_tree_count(m, d)
    things = islands + (trees - freely)
    handful = max(1, things // (HANDFULS * threads))
    first, last = next_things(m, d, threads, 0, handful, things)
    taken = 0
    while first < last:
        for thing in range(first, last):
            if thing >= islands:
                accelerate_freely(m, d, d.island_tree[freely + (thing - islands)])
            elif not is_cut(d, thing):
                failed, iterations = solve_island(m, d, thing)
                unconverged, most = max(unconverged, failed), max(most, iterations)
        taken += 1
        first, last = next_things(m, d, threads, taken, handful, things)
    report(m, d, 0, 2 * most + unconverged)
    return 2 * most + unconverged


@kernel
def next_things(m, d, threads, taken, handful, things):
    """The next range of things for this thread, which has taken `taken` ranges; an empty one for none.

    A single thread takes everything at once. Of two threads one begins with the first things, the other with the last,
    so that each has similar work from step to step.
    """
    if threads == 1:
        return (0, things) if taken == 0 else (0, 0)
    ranges = (things + handful - 1) // handful
    turn = next_turn(m, d)
    if turn >= ranges:
        return 0, 0
    if threads == 2:
        turn = taken if d.part == 0 else ranges - 1 - taken
    return handful * turn, min(handful * (turn + 1), things)


@kernel
def accelerate_freely(m, d, t):
    """qacc_warmstart ← M⁻¹ f of a tree without rows, the start once it has some; qfrc_constraint ← 0."""
    multiply_trees(m, d, t, t + 1, d.qacc_warmstart, d.solve_Ma)
    for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        d.qfrc_constraint[i] = 0.0 * d.time
        d.solve_gradient[i] = d.solve_Ma[i] - (d.qfrc_tau[i] - d.qfrc_bias[i])
    inertia_blocks(m, d, t, EVERYTHING)
    solve_tree(m, d, t)
    for i in range(m.tree_dofnum[t]):
        k = m.tree_dofadr[t] + i
        d.qacc_warmstart[k] = d.qacc_warmstart[k] + d.block_solution[d.island_dofadr[t] + i]


@kernel
def solve_island(m, d, island):
    """Newton's method for one island; returns 1 if it did not converge in some lane, else 0, and the iterations."""
    lost, scale = begin_island(m, d, island)
    exact = is_small(m, d, island)
    live = d.constrained > 0.5
    rough = live
    coarse = d.constrained < 0.0  # lanes whose last direction was inexact
    before = 0.0 * lost
    iterations, stamp = 0, d.count[NSTAMP] - m.opt_iterations
    for iteration in range(m.opt_iterations):
        # gradient M a - f - Jᵀ force, convergence
        size, noise = island_gradient(m, d, island)
        rough = is_rough(m, d, scale * size, size > noise)
        live = live & (rough | (coarse & (size > noise)))
        if not any_lane(live):
            break
        iterations += 1
        # Newton direction, exact or to a fraction of the first residual
        since = stamp + iteration if iteration > 0 else EVERYTHING
        assemble_blocks(m, d, island, since)
        if exact:
            solve_island_exactly(m, d, island)
        else:
            factor_blocks(m, d, island, since)
            square = begin_direction(m, d, island)
            part = forcing(m, iteration, square, before, lost, scale)
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
    return (1 if any_lane(live) else 0), iterations


@kernel(inline=True)
def is_rough(m, d, size, above_noise):
    """Lanes with active rows whose gradient, scaled to `size`, is above both the tolerance and rounding."""
    return (d.constrained > 0.5) & (size >= m.opt_tolerance) & above_noise


@kernel
def forcing(m, iteration, square, before, lost, scale):
    """Fraction of the residual at which conjugate gradients end, from its square now and in the last iteration.

    `before`: 0 in the first iteration. If no other step may follow, or this one promises too little for another, the
    direction is as good as an exact one.
    """
    zero = 0.0 * square
    # progress of the last step, as a fraction of the squares
    progress = where(before > 0.0, square / where(before > 0.0, before, zero + 1.0), zero + COARSE)
    part = clip(progress, zero + FINE, zero + COARSE)
    last = (0.5 * scale * square < m.opt_tolerance) | (square <= lost)
    return where(last, zero + FINE, part) if iteration + 1 < m.opt_iterations else zero + FINE
