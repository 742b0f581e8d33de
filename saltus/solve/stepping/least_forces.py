"""Forces of least norm among those with the same effect, if the contact laws do not determine them.

Forces of four ropes on a rigid body, or at the corners of a box on a floor, are not determined: the result of a
Gauss-Seidel iteration depends on the order of its sweeps. Among the forces f - r with Jᵀ r = 0 on active rows, those of
least norm are the projection of f onto the range of J, as in `saltus.solve.event.constrained_acceleration`. It is found
by conjugate gradients for least squares (Björck, Numerical Methods for Least Squares Problems (1996), section 7.4),
which ends after as many iterations as J has different singular values. A sliding contact keeps the ratio of its forces;
dry friction at its bound and separating constraints keep their forces. If the projection leaves a cone, forces move as
far towards it as the cones allow.
"""

from saltus.contact.counts import NBLOCK, NROW
from saltus.contact.rows.acting import end_speed, stays_closed
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, add_transpose_rows, times_block
from saltus.number.functions import MINVAL, absolute, sqrt
from saltus.number.kernels import kernel
from saltus.solve.stepping.breakaway import step_friction

BOUND = 1.0 - 1e-6  # fraction of its bound from which friction counts as at it
ROUNDING = 1e-12  # relative change of Jᵀ f that ends the iteration
KEPT = 1e-9  # relative change of Jᵀ f up to which forces are accepted
HALVINGS = 30  # halvings of the path to the forces of least norm


@kernel
def least_forces(m, d):
    """row_force ← the forces of least norm with the same Jᵀ f, after a solution with its qacc [nv].

    Overwrites row_residual, row_search, dual_y and slope [nv].
    """
    for b in range(d.count[NBLOCK]):
        d.block_free[b] = free_rows(m, d, b)
    if not null_part(m, d):
        return
    # bisection: the largest part of the way within the cones
    way, part = 0.0, 1.0
    for _ in range(HALVINGS):
        if way + part <= 1.0 and within_cones(m, d, way + part):
            way = way + part
        part = 0.5 * part
    for r in range(d.count[NROW]):
        d.row_force[r] = d.row_force[r] - way * d.row_residual[r]


@kernel
def free_rows(m, d, b):
    """Number of free forces of block b: its rows, 1 for all of them in one ratio, 0 for none."""
    row, kind, dim = d.block_row[b], d.block_kind[b], d.block_dim[b]
    if kind == EQUALITY:
        return dim
    if kind == FRICTION:
        return 1 if absolute(d.row_force[row]) < BOUND * d.row_loss[row] else 0
    if not stays_closed(m, d, b):
        return 0
    if kind != CONE or not slides(m, d, b):
        return dim
    return 1 if d.row_force[row] > 0.0 else 0


@kernel
def slides(m, d, b):
    """Whether a contact has a velocity along its tangents, or about them, at the end of the step."""
    found = False
    for k in range(1, d.block_dim[b]):
        found = found or absolute(end_speed(m, d, b, k)) > m.opt_speed_tolerance
    return found


@kernel
def friction(m, d, b, way):
    """|f_T / μ| of a contact at the forces f - way r, whose bound is the normal force (N)."""
    row, square = d.block_row[b], 0.0 * d.time
    for k in range(1, d.block_dim[b]):
        force = d.row_force[row + k] - way * d.row_residual[row + k]
        part = force / max(step_friction(m, d, b, k), MINVAL)
        square = square + part * part
    return sqrt(square)


@kernel
def within_cones(m, d, way):
    """Whether the forces f - way r are within the bounds of all free blocks."""
    for b in range(d.count[NBLOCK]):
        row, kind = d.block_row[b], d.block_kind[b]
        if kind != EQUALITY and d.block_free[b] > 0:
            force = d.row_force[row] - way * d.row_residual[row]
            if kind == FRICTION:
                if absolute(force) > d.row_loss[row]:
                    return False
            elif force < 0.0 or (kind == CONE and d.block_free[b] > 1 and friction(m, d, b, way) > force):
                return False
    return True


# ---------------------------------------------------------------- conjugate gradients


@kernel
def null_part(m, d):
    """row_residual ← r, the part of the free forces without effect, Jᵀ r = 0; returns whether it was found."""
    p, q, r, s = d.slope, d.row_search, d.row_residual, d.dual_y
    begin_with_forces(d)
    before = effect(m, d, r, s)
    for i in range(m.nv):
        p[i] = s[i]
    first = before
    for _ in range(2 * m.nv + d.count[NROW]):
        if not before > (ROUNDING * ROUNDING) * first:
            break
        # minimum along p, then the next direction
        length = motion(m, d, p, q)
        if not length > 0.0:
            break
        for k in range(d.count[NROW]):
            r[k] = r[k] - before / length * q[k]
        now = effect(m, d, r, s)
        for i in range(m.nv):
            p[i] = s[i] + now / before * p[i]
        before = now
    return before <= (KEPT * KEPT) * first


@kernel
def begin_with_forces(d):
    """row_residual ← the forces of the free blocks."""
    for b in range(d.count[NBLOCK]):
        for k in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            d.row_residual[k] = d.row_force[k] if d.block_free[b] > 0 else 0.0 * d.time


@kernel
def effect(m, d, f, x):
    """x [nv] ← Jᵀ f for forces f of the free blocks; returns |x|²."""
    for i in range(m.nv):
        x[i] = 0.0 * d.time
    add_transpose_rows(m, d, f, x)
    square = 0.0 * d.time
    for i in range(m.nv):
        square = square + x[i] * x[i]
    return square


@kernel
def motion(m, d, x, y):
    """y [nrow] ← J x of the free blocks, where forces in one ratio count as one; returns |y|²."""
    square = 0.0 * d.time
    for b in range(d.count[NBLOCK]):
        row, dim, free = d.block_row[b], d.block_dim[b], d.block_free[b]
        times_block(m, d, b, x, y)
        if free == 0:
            for k in range(row, row + dim):
                y[k] = 0.0 * d.time
        elif free < dim:
            normal = d.row_force[row]
            for k in range(row + 1, row + dim):
                y[row] = y[row] + d.row_force[k] / normal * y[k]
            for k in range(row + 1, row + dim):
                y[k] = d.row_force[k] / normal * y[row]
        for k in range(row, row + free):
            square = square + y[k] * y[k]
    return square
