"""Minimum-norm contact forces with the velocities of a known solution.

Given the velocities u, the forces of each block may be anything in a convex set K: zero where it separates, the ray
opposite to the slip where it slides, the friction cone where it sticks. Where W is singular on these sets, many forces
give the same velocities. The least is the projection of the origin on their intersection,

    min ½ |x|²   with   Y x = Y x₀ = c,  x ∈ K,

x₀ the known solution and Y an orthonormal basis of the row space of W. It is x = P_K(Yᵀ λ), where λ maximises the dual

    cᵀ λ - ½ |w|² + ½ |w - P_K(w)|²,   w = Yᵀ λ

which is concave and once differentiable, with gradient c - Y P_K(w): semismooth Newton with a line search (as Qi & Sun,
A quadratically convergent Newton method for computing the nearest correlation matrix, SIAM J. Matrix Anal. 28 (2006),
for another cone). If no force is at the boundary of its set, one step is exact.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.model.fields.constraint.cone import BILATERAL, COULOMB, PRESSED, UNILATERAL
from saltus.number.functions import absolute, clip, maximum, sqrt
from saltus.number.kernels import kernel
from saltus.solve.cone.minimum_norm import PIVOT, RANK, is_full_rank, minimum_norm, orthogonal_decomposition, spread
from saltus.solve.cone.residual import project_on_cone, residual, velocity

AT_REST = 1e-9  # velocity relative to the largest of b that counts as zero
ITERATIONS, HALVINGS = 50, 30
ROUNDING = 4e-15  # rounding of Y x, relative to c
FIXED, RAY, SET = range(3)  # admissible forces of a block: a single one, a ray, the whole set of its law


@kernel
def least_force(p, tolerance, rest):
    """hard_z ← the solution of least |r| with the velocities of the present one, whose residual is `rest`.

    Returns the residual. Nothing changes if the minimum is not found to rounding or its residual exceeds `tolerance`,
    nor with torsional or rolling friction, whose sets depend on other forces.
    """
    for k in range(p.hard_count[BLOCKS]):
        if p.hard_kind[k] == PRESSED:
            return rest
    # forces are unique if the active rows are independent
    n = p.hard_count[ROWS]
    count = _active(p)
    if count == 0 or _is_regular(p, count):
        return rest
    rank = _basis(p, count)
    if rank == count or not _dual(p, rank):
        return rest
    # accept the least forces if their residual is within tolerance
    for i in range(n):
        p.hard_kept[i] = p.hard_z[i]
        p.hard_z[i] = p.hard_best[i] / p.hard_scale[i]
    velocity(p)
    after = residual(p)
    if after <= tolerance:
        return after
    for i in range(n):
        p.hard_z[i] = p.hard_kept[i]
    velocity(p)
    return rest


@kernel
def _active(p):
    """hard_case ← admissible forces of each block, hard_active ← rows whose force may change; returns their number."""
    n, count = p.hard_count[ROWS], 0
    for k in range(p.hard_count[BLOCKS]):
        i, kind = p.hard_row[k], p.hard_kind[k]
        case = SET
        if kind == COULOMB:
            y1, y2 = p.hard_y[i + 1], p.hard_y[i + 2]
            if p.hard_y[i] > AT_REST:
                case = FIXED
            elif y1 * y1 + y2 * y2 > AT_REST * AT_REST:
                case = RAY
        elif kind != BILATERAL and absolute(p.hard_y[i]) > AT_REST:
            case = FIXED
        p.hard_case[k] = case
        for row in range(i, i + p.hard_dim[k]):
            if case != FIXED and p.hard_A[row * n + row] != 0.0:
                p.hard_active[count] = row
                count += 1
    return count


@kernel
def _load_active(p, count):
    """hard_factor ← columns of A with respect to r (not z), restricted to active rows."""
    n = p.hard_count[ROWS]
    for i in range(count):
        for j in range(count):
            column = p.hard_active[j]
            p.hard_factor[i * count + j] = p.hard_A[p.hard_active[i] * n + column] / p.hard_scale[column]


@kernel
def _is_regular(p, count):
    """Whether elimination already shows that the forces are unique."""
    _load_active(p, count)
    return is_full_rank(p, count, PIVOT)


@kernel
def _basis(p, count):
    """hard_basis [rank, N] ← Y, with zero columns for inactive rows; returns the rank."""
    n = p.hard_count[ROWS]
    _load_active(p, count)
    rank = orthogonal_decomposition(p, count, count, RANK)
    for i in range(rank):
        for j in range(count):
            p.hard_rhs[j] = 0.0
        p.hard_rhs[i] = 1.0
        spread(p, count, rank, p.hard_step)
        for j in range(n):
            p.hard_basis[i * n + j] = 0.0
        for j in range(count):
            p.hard_basis[i * n + p.hard_active[j]] = p.hard_step[j]
    return rank


@kernel
def _dual(p, rank):
    """hard_best ← P_K(Yᵀ λ) at the maximum of the dual; returns whether it is found to rounding."""
    # c = Y x₀ and the start λ = c
    n = p.hard_count[ROWS]
    size = 0.0
    for i in range(rank):
        total = 0.0
        for j in range(n):
            total = total + p.hard_basis[i * n + j] * p.hard_scale[j] * p.hard_z[j]
        p.hard_target[i] = total
        p.hard_lambda[i] = total
        p.hard_step[i] = 0.0
        size = size + total * total
    value, miss = _dual_value(p, rank, 0.0)
    for _ in range(ITERATIONS):
        if miss <= ROUNDING * sqrt(size):
            return True
        # Newton direction (Y P_K' Yᵀ) Δλ = c - Y P_K(w)
        _dual_hessian(p, rank)
        minimum_norm(p, rank, p.hard_J, p.hard_F, p.hard_step)
        slope = 0.0
        for i in range(rank):
            slope = slope + p.hard_F[i] * p.hard_step[i]
        # backtracking line search
        t, before, missed = 1.0, value, miss
        value, miss = _dual_value(p, rank, t)
        for _ in range(HALVINGS):
            # near the maximum the value is at rounding, and the gradient decides
            if value >= before + 1e-4 * t * slope or miss <= 0.5 * missed:
                break
            t = 0.5 * t
            value, miss = _dual_value(p, rank, t)
        for i in range(rank):
            p.hard_lambda[i] = p.hard_lambda[i] + t * p.hard_step[i]
    return miss <= ROUNDING * sqrt(size)


@kernel
def _dual_value(p, rank, t):
    """The dual at λ + t step and |gradient|. hard_best ← P_K(w), hard_F ← the gradient, hard_slope ← P_K'."""
    n = p.hard_count[ROWS]
    # w = Yᵀ λ and the linear term cᵀ λ
    for j in range(n):
        p.hard_anchor[j] = 0.0
    value = 0.0
    for i in range(rank):
        along = p.hard_lambda[i] + t * p.hard_step[i]
        value = value + p.hard_target[i] * along
        for j in range(n):
            p.hard_anchor[j] = p.hard_anchor[j] + along * p.hard_basis[i * n + j]
    # -½ |w|² + ½ |w - P_K(w)|²
    _project(p)
    for j in range(n):
        w, away = p.hard_anchor[j], p.hard_anchor[j] - p.hard_best[j]
        value = value - 0.5 * w * w + 0.5 * away * away
    # gradient c - Y P_K(w)
    miss = 0.0
    for i in range(rank):
        total = p.hard_target[i]
        for j in range(n):
            total = total - p.hard_basis[i * n + j] * p.hard_best[j]
        p.hard_F[i] = total
        miss = miss + total * total
    return value, sqrt(miss)


@kernel
def _dual_hessian(p, rank):
    """hard_J [rank, rank] ← Y P_K' Yᵀ."""
    n = p.hard_count[ROWS]
    # rows Y P_K'
    for i in range(rank):
        for k in range(p.hard_count[BLOCKS]):
            first, dim = p.hard_row[k], p.hard_dim[k]
            for row in range(first, first + dim):
                at = i * n + row
                if p.hard_kind[k] == COULOMB:
                    s = p.hard_slope[row]
                    at_first = i * n + first
                    y0, y1, y2 = p.hard_basis[at_first], p.hard_basis[at_first + 1], p.hard_basis[at_first + 2]
                    p.hard_factor[at] = s[0] * y0 + s[1] * y1 + s[2] * y2
                else:
                    p.hard_factor[at] = p.hard_slope[row, 0] * p.hard_basis[at]
    # times Yᵀ
    for i in range(rank):
        for j in range(rank):
            total = 0.0
            for column in range(n):
                total = total + p.hard_factor[i * n + column] * p.hard_basis[j * n + column]
            p.hard_J[i * rank + j] = total


@kernel
def _project(p):
    """hard_best ← P_K(hard_anchor), hard_slope ← its derivative."""
    for k in range(p.hard_count[BLOCKS]):
        i, kind, case = p.hard_row[k], p.hard_kind[k], p.hard_case[k]
        if case == FIXED:
            # force determined by the velocity
            for row in range(i, i + p.hard_dim[k]):
                p.hard_best[row] = p.hard_scale[row] * p.hard_z[row]
                p.hard_slope[row] = (0.0, 0.0, 0.0)
        elif kind == COULOMB and case == RAY:
            # sliding contact: the ray opposite to the slip
            _project_on_ray(p, k, i)
        elif kind == COULOMB:
            # sticking contact: the friction cone
            _project_cone(p, k, i)
        else:
            # half-line, interval or line
            for row in range(i, i + p.hard_dim[k]):
                w = p.hard_anchor[row]
                x = w
                if kind == UNILATERAL:
                    x = maximum(w, 0.0)
                elif kind != BILATERAL:
                    bound = p.hard_scale[row] * p.hard_bound[k]
                    x = clip(w, -bound, bound)
                p.hard_best[row] = x
                p.hard_slope[row] = ((1.0 if x == w else 0.0) + 0.0 * w, 0.0 * w, 0.0 * w)


@kernel
def _project_on_ray(p, k, i):
    """Projection on the ray of (1, -μ y_T / |y_T|)."""
    y1, y2 = p.hard_y[i + 1], p.hard_y[i + 2]
    factor = -p.hard_mu[k] / sqrt(y1 * y1 + y2 * y2)
    g = (1.0 + 0.0 * factor, factor * y1, factor * y2)
    share = 1.0 / (1.0 + p.hard_mu[k] * p.hard_mu[k])
    along = share * (p.hard_anchor[i] + g[1] * p.hard_anchor[i + 1] + g[2] * p.hard_anchor[i + 2])
    if along < 0.0:
        along = share = 0.0 * along
    for c in range(3):
        p.hard_best[i + c] = along * g[c]
        p.hard_slope[i + c] = (share * g[c], share * g[c] * g[1], share * g[c] * g[2])


@kernel
def _project_cone(p, k, i):
    """Projection on the friction cone."""
    mu, w = p.hard_mu[k], (p.hard_anchor[i], p.hard_anchor[i + 1], p.hard_anchor[i + 2])
    length = sqrt(w[1] * w[1] + w[2] * w[2])
    x = project_on_cone(w[0], w[1], w[2], mu)
    inside, outside = length <= mu * w[0], x[0] == 0.0
    for c in range(3):
        p.hard_best[i + c] = x[c]
        own = 1.0 if inside else 0.0
        p.hard_slope[i + c] = (own if c == 0 else 0.0, own if c == 1 else 0.0, own if c == 2 else 0.0)
    if not inside and not outside:
        # along the generator nearest to w, and across it by the ratio of the distances from the axis
        g = (1.0 + 0.0 * mu, mu * w[1] / length, mu * w[2] / length)
        share, nearer = 1.0 / (1.0 + mu * mu), mu * x[0] / (length * length * length)
        t = (0.0 * mu, -w[2], w[1])
        for c in range(3):
            a, b = share * g[c], nearer * t[c]
            p.hard_slope[i + c] = (a + b * t[0], a * g[1] + b * t[1], a * g[2] + b * t[2])
