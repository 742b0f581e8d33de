"""Solver for contact problems: forces or impulses that satisfy the laws of all blocks.

Blocks are those of `saltus.model.fields.constraint.cone`.

The problem is scaled so that the diagonal block of W of each block has a mean diagonal of one, which gives forces and
velocities of all blocks the same unit (the root of an energy or power):

    z = r / (d s),  A = d W d,  b = d q / s,  d_i = 1/√(mean diagonal of i's block),  s = max |d q|

The residual is that of the natural map (`saltus.solve.cone.residual`) in these units, the largest of all blocks:
dimensionless and independent of the masses and of the size of q. It is relative to q alone, so that forces that grow
without bound, as where there is no solution, cannot hide it.

Newton's method from the warm start solves nearly all problems. The others are restarted from Gauss-Seidel sweeps, and
then solved by the proximal point method (Rockafellar, SIAM J. Control Optim. 14 (1976); Acary, Brémond & Huber
(2018)): y + α (z - z_k) in place of y, with z_k the last result and α decreasing while steps succeed.

Uncoupled blocks, such as the contacts of bodies side by side, form separate problems: islands, which are solved one
after the other at the common scale s.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL, BOUNDED, PRESSED
from saltus.number.functions import absolute, maximum, minimum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.cone.gauss_seidel import gauss_seidel
from saltus.solve.cone.islands import give_island, islands_of_blocks, keep_whole, restore_whole, take_island
from saltus.solve.cone.minimum_norm_forces import least_force
from saltus.solve.cone.newton import newton
from saltus.solve.cone.residual import residual, velocity

# residual that callers request, largest residual that they accept, and rounding level of a solution relative to its
# largest force or acceleration
TOLERANCE, SOLVED, ROUNDING = 1e-12, 1e-10, 1e-9
NEWTON, INNER = 60, 30  # iterations from the start, and within a proximal step
SWEEPS = 30
PROXIMAL = 60  # proximal steps
FIRST, LARGEST, LEAST = 0.1, 10.0, 1e-8  # α
FALLS, RISES = 0.2, 10.0
FLAT = 1e-12  # smallest diagonal of a block, relative to the largest, that sets its scale


@kernel
def solve_cones(p, tolerance):
    """hard_r, hard_u ← a solution of the problem in `p`, from the warm start hard_r; returns its scaled residual.

    Among several solutions with the same velocities, the one of least |r|. The residual is at most `tolerance` if the
    problem was solved; otherwise, as where there is no solution, the best forces found remain (for data that are not
    finite: zeros, and the residual inf). hard_iterations ← number of Newton steps taken.
    """
    size = scale(p)
    if not size < 1e300:
        return _give_up(p)
    p.hard_proximal[0] = 0.0
    p.hard_iterations[0] = 0
    rest = solve_island(p, tolerance) if islands_of_blocks(p) == 1 else solve_islands(p, tolerance)
    if rest >= 1e300:
        return _give_up(p)
    # back to units: r, and u = W r + q
    n = p.hard_count[ROWS]
    for i in range(n):
        p.hard_r[i] = p.hard_scale[i] * size * p.hard_z[i]
    for i in range(n):
        total = p.hard_q[i]
        for j in range(n):
            total = total + p.hard_W[i * n + j] * p.hard_r[j]
        p.hard_u[i] = total
    return rest


@kernel
def solve_islands(p, tolerance):
    """Solve the islands of the scaled problem separately; returns the largest residual."""
    blocks, n, worst = p.hard_count[BLOCKS], p.hard_count[ROWS], 0.0
    keep_whole(p)
    for island in range(blocks):
        if p.hard_whole_island[island] == island:  # first block of the island
            take_island(p, island, blocks, n)
            rest = solve_island(p, tolerance)
            give_island(p, island, blocks)
            worst = worst if rest <= worst else rest
    restore_whole(p, blocks, n)
    return worst


@kernel
def solve_island(p, tolerance):
    """hard_z, hard_y ← a solution of the scaled problem from the warm start hard_z; returns its residual.

    The residual is at least 1e300 if numbers are not finite.
    """
    # Newton from the warm start; restarts where it fails
    rest = newton(p, tolerance, NEWTON)
    if rest >= 1e300:
        return rest
    if not rest <= tolerance:
        rest = _again(p, tolerance, rest)
    # indeterminate forces: take those of least norm
    return least_force(p, tolerance, rest) if rest <= tolerance else rest


@kernel
def scale(p):
    """hard_scale, hard_A, hard_b, hard_z, hard_bound ← the scaled problem; returns s, 1 for q = 0."""
    n = p.hard_count[ROWS]
    # mean diagonal of each block
    largest = 0.0
    for k in range(p.hard_count[BLOCKS]):
        first, dim = p.hard_row[k], p.hard_dim[k]
        mean = 0.0
        for i in range(first, first + dim):
            mean = mean + absolute(p.hard_W[i * n + i]) / dim
        for i in range(first, first + dim):
            # rows of a bilateral block may have different units
            own = absolute(p.hard_W[i * n + i]) if p.hard_kind[k] == BILATERAL else mean
            p.hard_scale[i] = own
            largest = maximum(largest, own)
    # d = 1/√(mean diagonal) and s = max |d q|
    size = 0.0
    for i in range(n):
        own = maximum(p.hard_scale[i], FLAT * largest)
        p.hard_scale[i] = 1.0 / sqrt(own) if own > 0.0 else 1.0
        entry = absolute(p.hard_scale[i] * p.hard_q[i])
        size = size if entry <= size else entry
    size = size if size != 0.0 else 1.0
    # scaled problem: b = d q / s, z = r / (d s), A = d W d
    for i in range(n):
        p.hard_b[i] = p.hard_scale[i] * p.hard_q[i] / size
        p.hard_z[i] = p.hard_r[i] / (p.hard_scale[i] * size)
        for j in range(n):
            p.hard_A[i * n + j] = p.hard_scale[i] * p.hard_W[i * n + j] * p.hard_scale[j]
    for k in range(p.hard_count[BLOCKS]):
        if p.hard_kind[k] == BOUNDED:
            p.hard_bound[k] = p.hard_mu[k] / (p.hard_scale[p.hard_row[k]] * size)
        elif p.hard_kind[k] == PRESSED:  # a factor of the scaled normal force
            normal = p.hard_row[k - p.hard_parent[k]]
            p.hard_bound[k] = p.hard_mu[k] * p.hard_scale[normal] / p.hard_scale[p.hard_row[k]]
    return size


@kernel
def _give_up(p):
    for i in range(p.hard_count[ROWS]):
        p.hard_r[i] = 0.0
        p.hard_u[i] = p.hard_q[i]
    return 1e300 * 1e300


@kernel
def _again(p, tolerance, rest):
    """hard_z ← the best of further attempts and the present result, of residual `rest`; returns the best residual."""
    n = p.hard_count[ROWS]
    # Newton after Gauss-Seidel sweeps from zero
    for i in range(n):
        p.hard_kept[i] = p.hard_z[i]
        p.hard_z[i] = 0.0
    gauss_seidel(p, SWEEPS)
    size = newton(p, tolerance, NEWTON)
    rest = _keep(p, size, rest)
    # proximal point iterations
    alpha = FIRST
    for _ in range(PROXIMAL):
        if rest <= tolerance:
            break
        size, solved = _proximal_step(p, tolerance, alpha, size)
        rest = _keep(p, size, rest)
        alpha = maximum(FALLS * alpha, LEAST) if solved else minimum(RISES * alpha, LARGEST)
    for i in range(n):
        p.hard_z[i] = p.hard_kept[i]
    velocity(p)
    return rest


@kernel
def _proximal_step(p, tolerance, alpha, size):
    """hard_z, of residual `size`, ← the solution with α (z - hard_z) added to y, or Gauss-Seidel sweeps if that fails.

    Returns the residual, and whether the solution was found.
    """
    n = p.hard_count[ROWS]
    for i in range(n):
        p.hard_anchor[i] = p.hard_z[i]
    p.hard_proximal[0] = alpha
    inner = newton(p, 0.1 * tolerance, INNER)
    p.hard_proximal[0] = 0.0
    solved = inner <= maximum(tolerance, 0.1 * size)
    if not solved:
        for i in range(n):
            p.hard_z[i] = p.hard_anchor[i]
        gauss_seidel(p, SWEEPS)
    velocity(p)
    return residual(p), solved


@kernel
def _keep(p, size, rest):
    """hard_kept ← hard_z if its residual `size` is the smaller; returns the smaller."""
    if size < rest or rest != rest:
        for i in range(p.hard_count[ROWS]):
            p.hard_kept[i] = p.hard_z[i]
        return size
    return rest
