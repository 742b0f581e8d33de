"""Derivatives of a step of the semi-implicit Euler method by its state and controls, in closed form.

With the equations of `saltus.integrate.fixed.euler_tangents`, for all directions at once:

    da = H⁻¹ (df - d(M a + c) + d(Jᵀ force)),    (M + h B) da' = M da + dM (a - a') - h dB a'

Inverse dynamics M a + c is differentiated by recursive sums over subtrees, forces of constraints contact by contact,
and springs, dampers and motors, each of which depends on its own joint alone, by dual numbers in three directions that
all share. All matrices are plain numbers.

Arrays: motions, axes, wrenches, matrices as in `saltus.dynamics.tree.inverse_derivative`, pair and grounds as in
`saltus.solve.soft.force_derivative`; columns [2, nv, n], n >= 2 nv + nu: first by positions, velocities and controls.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.rows.cost import row_forces
from saltus.dynamics.actuator.actuation import motors
from saltus.dynamics.equations import joint_inertia
from saltus.dynamics.passive import dampers, springs
from saltus.dynamics.tree.factor import factor_in_place
from saltus.dynamics.tree.inverse_derivative import (
    add_inertia,
    differentiate_motions,
    first_of_joint,
    subtract_inverse,
    sum_over_subtrees,
)
from saltus.integrate.fixed.euler_tangents import is_constrained, polish
from saltus.model.enums import BALL, FREE
from saltus.number.components import seed, tangent_of, value_of
from saltus.number.functions import sincos, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.solve.soft.force_derivative import add_constraint_derivatives
from saltus.spatial.motions import cross_motion, dot6, velocity_at
from saltus.spatial.vectors import cross, sub3

LENGTH, SPEED, CONTROL = 0, 1, 2  # directions of the dual Data
BY_ALL, REST = 0, 1  # places in columns
WORK = 7  # arrays
SMALL_ANGLE = 1e-4  # rad, below which the series of the exponential's derivative are exact to rounding


@kernel
def jacobian(m, p, d, h, state, work, A, B):
    """A [2 nv, 2 nv] and B [2 nv, nu] of a step that p has taken from a state (qpos, qvel, act, ctrl).

    work: motions, axes, wrenches, matrices, pair, grounds, columns. d: dual Data, whose contents are overwritten.
    """
    qpos, qvel, _, ctrl = state
    motions, axes, wrenches, matrices, pair, grounds, columns = work
    constrained = is_constrained(m, p)
    if constrained:
        polish(m, p)
    else:
        joint_inertia(m, p)
    # accelerations a in qstep, and a - a' in qfrc_tau
    for i in range(m.nv):
        p.qstep[i] = p.qacc[i]
    if constrained:
        take_solution(m, p)
    for i in range(m.nv):
        p.qfrc_tau[i] = p.qstep[i] - p.qacc[i]
    differentiate_motions(m, p, qvel, p.qstep, p.qfrc_tau, motions, axes)
    sum_over_subtrees(m, p, motions, wrenches, matrices)
    # columns of df - d(M a + c) + d(Jᵀ force)
    for i in range(m.nv):
        for j in range(columns.shape[2]):
            columns[BY_ALL, i, j] = columns[REST, i, j] = 0.0
    subtract_inverse(m, p, axes, wrenches, matrices, columns[BY_ALL])
    add_joint_forces(m, p, d, h, (qpos, qvel, ctrl), columns)
    if p.has_xfrc:
        add_applied_forces(m, p, columns[BY_ALL])
    if constrained:
        add_constraint_derivatives(m, p, d, (motions, axes, pair, grounds), columns[BY_ALL])
    solve_columns(m, p, h, constrained, axes, wrenches, columns)
    advance_columns(m, p, h, columns, A, B)


@only_with("constraint")
@kernel
def take_solution(m, p):
    """qstep [nv] ← the accelerations at which the forces of constraints are; row_force ← these forces."""
    for i in range(m.nv):
        p.qstep[i] = p.qacc_warmstart[i]
    row_forces(m, p)


# ---------------------------------------------------------------- forces


@kernel
def add_joint_forces(m, p, d, h, state, columns):
    """Springs, dampers and motors; in the rest, -h dB a'."""
    qpos, qvel, ctrl = state
    by_all, rest = columns[BY_ALL], columns[REST]
    for k in range(m.nq):
        d.qpos[k] = seed(qpos[k], LENGTH)
    for i in range(m.nv):
        d.qvel[i] = seed(qvel[i], SPEED)
    for c in range(m.nu):
        d.ctrl[c] = seed(ctrl[c], CONTROL)
    springs(m, d)
    dampers(m, d)
    motors(m, d)
    for i in range(m.nv):
        by_all[i, i] += tangent_of(d.qfrc_spring[i], LENGTH)
        by_all[i, m.nv + i] += tangent_of(d.qfrc_damper[i], SPEED)
        rest[i, m.nv + i] -= h * m.implicit_damping * tangent_of(d.qfrc_damper_slope[i], SPEED) * p.qacc[i]
    for o in range(m.nactuator):
        j = m.out_obj1[o]
        i = m.jnt_dofadr[j]
        if m.jnt_actfrclimited[j] and saturated(m, d, j, i):
            continue
        force = m.actuator_gear[o, 0] * d.actuator_force[o]
        by_all[i, i] += tangent_of(force, LENGTH)
        by_all[i, m.nv + i] += tangent_of(force, SPEED)
        by_all[i, 2 * m.nv + m.actuator_ctrladr[o]] += tangent_of(force, CONTROL)


@kernel
def saturated(m, d, j, i):
    """Whether the range of joint j clips the force of all motors on its degree of freedom i."""
    total = 0.0
    for o in range(m.nactuator):
        if m.out_obj1[o] == j:
            total += value_of(m.actuator_gear[o, 0] * d.actuator_force[o])
    return total < m.jnt_actfrcrange[j, 0] or total > m.jnt_actfrcrange[j, 1]


@kernel
def add_applied_forces(m, p, by_all):
    """Cartesian forces, which move with the centres of mass of their bodies and do not turn."""
    for b in range(1, m.nbody):
        f = p.xfrc_applied[b]
        arm = sub3(p.xipos[b], p.subtree_com[m.body_rootid[b]])
        force = f[0], f[1], f[2]
        moment = cross(arm, force)
        wrench = (
            f[3] + moment[0],
            f[4] + moment[1],
            f[5] + moment[2],
            force[0],
            force[1],
            force[2],
        )
        j = m.body_lastdof[b]
        while j >= 0:
            s = p.cdof[j]
            change = cross(velocity_at(s, arm), force)
            start = first_of_joint(m, j)
            i = m.body_lastdof[b]
            while i >= 0:
                axis = p.cdof[i]
                total = axis[0] * change[0] + axis[1] * change[1] + axis[2] * change[2]
                if i >= start:
                    total = total + dot6(cross_motion(s, axis), wrench)
                by_all[i, j] += total
                i = m.dof_parentid[i]
            j = m.dof_parentid[j]


# ---------------------------------------------------------------- solution


@kernel
def solve_columns(m, p, h, constrained, axes, wrenches, columns):
    """columns[0] ← derivatives of the accelerations a' of the step."""
    by_all, rest = columns[BY_ALL], columns[REST]
    damped = m.implicit_damping != 0
    if constrained:
        solve_constrained(m, p, by_all)
        if not damped:
            return
        # da' = da + (M + h B)⁻¹ (dM (a - a') - h dB a' - h B da)
        add_inertia(m, p, axes, wrenches, rest)
        for i in range(m.nv):
            slope = h * p.qfrc_damper_slope[i]
            for j in range(by_all.shape[1]):
                rest[i, j] -= slope * by_all[i, j]
        factor_damped(m, p, h)
        solve_inertia(m, p, rest)
    else:
        # da' = (M + h B)⁻¹ (df - d(M a' + c) - h dB a')
        factor_damped(m, p, h)
    for i in range(m.nv):
        for j in range(by_all.shape[1]):
            by_all[i, j] += rest[i, j]
    if not constrained:
        solve_inertia(m, p, by_all)


@kernel
def factor_damped(m, p, h):
    """Factor M + h B, with B the slopes of dampers, into qLD."""
    for k in range(m.nC):
        p.qLD[k] = p.M[k]
    if m.implicit_damping:
        for i in range(m.nv):
            k = m.M_rowadr[i] + m.M_rownnz[i] - 1
            p.qLD[k] = p.qLD[k] + h * p.qfrc_damper_slope[i]
    factor_in_place(m, p)


@kernel
def solve_inertia(m, p, x):
    """x ← (Lᵀ D L)⁻¹ x for the columns of an array x [nv, n], with the factor in qLD."""
    n = x.shape[1]
    i = m.nv - 1
    while i >= 0:
        row, num = m.M_rowadr[i], m.M_rownnz[i] - 1
        if num > 1 and m.M_rownnz[i - 1] == num and m.M_colind[row + num - 1] == i - 1:
            # two rows that are alike but for the first's entry of the second
            before = m.M_rowadr[i - 1]
            subtract(x, i - 1, p.qLD[row + num - 1], i)
            for k in range(num - 1):
                one, other, j = p.qLD[row + k], p.qLD[before + k], m.M_colind[row + k]
                for c in range(n):
                    x[j, c] = x[j, c] - one * x[i, c] - other * x[i - 1, c]
            i -= 2
            continue
        for k in range(num):
            subtract(x, m.M_colind[row + k], p.qLD[row + k], i)
        i -= 1
    for i in range(m.nv):
        row, num, inverse = m.M_rowadr[i], m.M_rownnz[i] - 1, p.qLDiagInv[i]
        for c in range(n):
            x[i, c] *= inverse
        k = 0
        while k + 4 <= num:
            place = row + k
            at = m.M_colind[place], m.M_colind[place + 1], m.M_colind[place + 2], m.M_colind[place + 3]
            subtract_four(x, i, (p.qLD[place], p.qLD[place + 1], p.qLD[place + 2], p.qLD[place + 3]), at)
            k += 4
        while k < num:
            subtract(x, i, p.qLD[row + k], m.M_colind[row + k])
            k += 1


@kernel(inline=True)
def subtract(x, i, factor, j):
    """Row i of x [nv, n] -= factor times row j."""
    for c in range(x.shape[1]):
        x[i, c] -= factor * x[j, c]


@kernel(inline=True)
def subtract_four(x, i, factors, rows):
    """Row i of x [nv, n] -= four factors times four rows."""
    for c in range(x.shape[1]):
        two = x[i, c] - factors[0] * x[rows[0], c] - factors[1] * x[rows[1], c]
        x[i, c] = two - factors[2] * x[rows[2], c] - factors[3] * x[rows[3], c]


@only_with("constraint")
@kernel
def solve_constrained(m, p, x):
    """x ← H⁻¹ x for the columns of an array x [nv, n], with the factored Hessian (see `solve_hessian`)."""
    n = x.shape[1]
    i = m.nv - 1
    while i >= 0:
        row, num = i * (i + 1) // 2, p.hessian_num[i]
        if num > 1 and p.hessian_num[i - 1] == num - 1 and p.hessian_col[row + num - 1] == i - 1:
            # two rows that are alike but for the first's entry of the second
            subtract(x, i - 1, p.hessian[row + i - 1], i)
            for k in range(num - 1):
                j = p.hessian_col[row + k]
                one, other = p.hessian[row + j], p.hessian[row - i + j]
                for c in range(n):
                    x[j, c] = x[j, c] - one * x[i, c] - other * x[i - 1, c]
            i -= 2
            continue
        for k in range(num):
            j = p.hessian_col[row + k]
            subtract(x, j, p.hessian[row + j], i)
        i -= 1
    for i in range(m.nv):
        row, num = i * (i + 1) // 2, p.hessian_num[i]
        inverse = p.hessian[row + i]
        for c in range(n):
            x[i, c] *= inverse
        k = 0
        while k + 4 <= num:
            place = row + k
            at = p.hessian_col[place], p.hessian_col[place + 1], p.hessian_col[place + 2], p.hessian_col[place + 3]
            of = p.hessian[row + at[0]], p.hessian[row + at[1]], p.hessian[row + at[2]], p.hessian[row + at[3]]
            subtract_four(x, i, of, at)
            k += 4
        while k < num:
            j = p.hessian_col[row + k]
            subtract(x, i, p.hessian[row + j], j)
            k += 1


# ---------------------------------------------------------------- next state


@kernel
def advance_columns(m, p, h, columns, A, B):
    """Derivatives of v' = v + h a' and q' = q ⊕ h v' from those of a'; reads v' from qvel."""
    nv, by_all = m.nv, columns[BY_ALL]
    for i in range(nv):
        for j in range(2 * nv):
            A[nv + i, j] = h * by_all[i, j]
            A[i, j] = h * A[nv + i, j]
        for c in range(m.nu):
            B[nv + i, c] = h * by_all[i, 2 * nv + c]
            B[i, c] = h * B[nv + i, c]
        A[nv + i, nv + i] += 1.0
        A[i, nv + i] += h
        A[i, i] += 1.0
    for j in range(m.njnt):
        kind, i = m.jnt_type[j], m.jnt_dofadr[j]
        if kind == FREE:
            turn_rows(p, h, i + 3, nv, A, B)
        elif kind == BALL:
            turn_rows(p, h, i, nv, A, B)


@kernel
def turn_rows(p, h, i, nv, A, B):
    """Rows i to i + 2 of A and B for a rotation q' = q exp(h v'): dq' = exp(h v')ᵀ dq + h J dv', J: the right Jacobian.

    Until then they hold h dv' + dq (Chirikjian, Stochastic Models, Information Theory, and Lie Groups 2 (2012), 10.86).
    """
    x, y, z = h * p.qvel[i], h * p.qvel[i + 1], h * p.qvel[i + 2]
    square = x * x + y * y + z * z
    angle = sqrt(square)
    if angle < SMALL_ANGLE:
        first, second, third = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        half = sincos(0.5 * angle)
        first, second = 2.0 * half[0] * half[1] / angle, 2.0 * half[0] * half[0] / square
        third = (1.0 - first) / square
    for k in range(3):
        A[i + k, i + k] -= 1.0
    for c in range(A.shape[1]):
        u, v, w = A[i, c], A[i + 1, c], A[i + 2, c]
        A[i, c], A[i + 1, c], A[i + 2, c] = turned(x, y, z, second, third, square, u, v, w)
    for c in range(B.shape[1]):
        u, v, w = B[i, c], B[i + 1, c], B[i + 2, c]
        B[i, c], B[i + 1, c], B[i + 2, c] = turned(x, y, z, second, third, square, u, v, w)
    # rotation by -h v': 1 - sin/θ [x] + (1 - cos)/θ² [x]²
    for k in range(3):
        unit = (1.0 if k == 0 else 0.0), (1.0 if k == 1 else 0.0), (1.0 if k == 2 else 0.0)
        column = turned(x, y, z, first, second, square, unit[0], unit[1], unit[2])
        A[i, i + k] += column[0]
        A[i + 1, i + k] += column[1]
        A[i + 2, i + k] += column[2]


@kernel(inline=True)
def turned(x, y, z, first, second, square, u, v, w):
    """r - first (x × r) + second (x × (x × r)) for vectors (x, y, z) and r = (u, v, w)."""
    along = x * u + y * v + z * w
    return (
        u - first * (y * w - z * v) + second * (x * along - square * u),
        v - first * (z * u - x * w) + second * (y * along - square * v),
        w - first * (x * v - y * u) + second * (z * along - square * w),
    )
