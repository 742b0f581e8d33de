"""Simplified Newton iteration for the stages of a step, in the coordinates W = T⁻¹ Z that part the linear systems.

    (Λ / h - J) ΔW = T⁻¹ F(Z) - Λ W / h

Hairer & Wanner, Solving Ordinary Differential Equations II (1996), IV.8: starting values from the polynomial of the
step before, and an end by the rate of convergence.
"""

from saltus.integrate.radau.matrices import solve_pair, solve_real
from saltus.integrate.radau.memory import COUNT_ITERATIONS, ITERATIONS, PAST, RATE
from saltus.integrate.radau.states import stage, width
from saltus.integrate.radau.tableau import ALPHA, BETA, FROM_STAGES, NODES, POLYNOMIAL, REAL, STAGES, TO_STAGES
from saltus.number.components import epsilon_of
from saltus.number.functions import any_lane, maximum, minimum, power, sqrt, where
from saltus.number.kernels import kernel
from saltus.solve.status import OK

MOST = 8  # iterations
FAILED = 0  # in place of the number of iterations


@kernel
def first_guess(m, d, h, live):
    """stage_change ← the polynomial of the step before, continued, or 0; and the same in newton_state."""
    columns = width(m)
    known = live & (d.memory[PAST] > 0.0)
    past = where(known, d.memory[PAST], 1.0 + 0.0 * h)
    for s in range(STAGES):
        theta = 1.0 + NODES[s] * h / past
        for k in range(columns):
            value = polynomial(d.stage_past, k, columns, theta) - d.stage_past[2 * columns + k]
            d.stage_change[s * columns + k] = where(known, value, 0.0 * h)
    transform(m, d.stage_change, d.newton_state, FROM_STAGES)


@kernel(inline=True)
def polynomial(change, k, columns, theta):
    """Entry k of the collocation polynomial at the fraction theta of a step, from the stages Z_i in a field."""
    z0, z1, z2 = change[k], change[columns + k], change[2 * columns + k]
    first = POLYNOMIAL[0] * z0 + POLYNOMIAL[1] * z1 + POLYNOMIAL[2] * z2
    second = POLYNOMIAL[3] * z0 + POLYNOMIAL[4] * z1 + POLYNOMIAL[5] * z2
    third = POLYNOMIAL[6] * z0 + POLYNOMIAL[7] * z1 + POLYNOMIAL[8] * z2
    return theta * (first + theta * (second + theta * third))


@kernel
def transform(m, source, target, matrix):
    """target ← a 3 x 3 matrix times the three states in source."""
    columns = width(m)
    for k in range(columns):
        z0, z1, z2 = source[k], source[columns + k], source[2 * columns + k]
        for s in range(STAGES):
            target[s * columns + k] = matrix[3 * s] * z0 + matrix[3 * s + 1] * z1 + matrix[3 * s + 2] * z2


@kernel
def right_sides(m, d, h):
    """newton_change ← T⁻¹ F - Λ W / h, from the slopes of the stages and newton_state."""
    columns = width(m)
    for k in range(columns):
        f0, f1, f2 = slope_of(m, d, 1, k), slope_of(m, d, 2, k), slope_of(m, d, 3, k)
        w0, w1, w2 = d.newton_state[k], d.newton_state[columns + k], d.newton_state[2 * columns + k]
        t = FROM_STAGES
        d.newton_change[k] = t[0] * f0 + t[1] * f1 + t[2] * f2 - REAL / h * w0
        even = t[3] * f0 + t[4] * f1 + t[5] * f2
        odd = t[6] * f0 + t[7] * f1 + t[8] * f2
        d.newton_change[columns + k] = even - (ALPHA * w1 - BETA * w2) / h
        d.newton_change[2 * columns + k] = odd - (BETA * w1 + ALPHA * w2) / h


@kernel(inline=True)
def slope_of(m, d, s, k):
    """Entry k of the slopes of stage s, as `saltus.integrate.fixed.runge_kutta` stores them."""
    if k < m.nv:
        return d.stage_qvel[s * m.nv + k]
    if k < 2 * m.nv:
        return d.stage_qacc[s * m.nv + k - m.nv]
    return d.stage_act[s * m.nact + k - 2 * m.nv]


@kernel
def size_of(m, d, change, states):
    """Root mean square of the entries of the first states in a field, each divided by its error_scale."""
    columns = width(m)
    total = 0.0 * d.time
    for k in range(states * columns):
        part = change[k] / d.error_scale[k % columns]
        total = total + part * part
    return sqrt(total / maximum(1.0 * states * columns, 1.0))


@kernel
def solve_stages(m, d, h, relative, live):
    """Solve for the stages of a step of h seconds from the saved state at d.time, with Newton's factored matrices.

    `relative`: relative tolerance of the step's error. Leaves the stages in stage_change, the number of iterations,
    FAILED without convergence, and their rate in memory, and the step's start in the time. Returns a status.
    """
    start, status = d.time, OK
    goal = maximum(10.0 * epsilon_of(h) / relative, minimum(0.03, sqrt(relative)))
    before = rate = none = 0.0 * h
    d.memory[ITERATIONS] = where(live, FAILED + none, d.memory[ITERATIONS])
    going = live
    for k in range(MOST):
        for s in range(STAGES):
            status = max(status, stage(m, d, h, start, s, going))
        right_sides(m, d, h)
        solve_real(m, d, h, d.newton_change, 0)
        solve_pair(m, d, h, d.newton_change, width(m))
        size = size_of(m, d, d.newton_change, STAGES)
        d.memory[COUNT_ITERATIONS] = d.memory[COUNT_ITERATIONS] + where(going, 1.0 + none, none)
        # an end of iterations that do not converge, or not within MOST; the second one may meet a contact that begins
        if k > 0:
            rate = where(going, size / before, rate)
        going = going & (size < 1e300)
        if k > 1:
            going = going & (rate < 1.0) & (power(rate, 1.0 * (MOST - k)) / (1.0 - rate) * size <= goal)
        if not any_lane(going):
            break
        for j in range(STAGES * width(m)):
            d.newton_state[j] = where(going, d.newton_state[j] + d.newton_change[j], d.newton_state[j])
        transform(m, d.newton_state, d.stage_change, TO_STAGES)
        reached = size == 0.0
        if k > 0:
            reached = reached | ((rate < 1.0) & (rate / (1.0 - rate) * size < goal))
        d.memory[ITERATIONS] = where(going & reached, 1.0 * (k + 1) + none, d.memory[ITERATIONS])
        going = going & (d.memory[ITERATIONS] < 0.5)
        if not any_lane(going):
            break
        before = where(going, size, before)
    d.memory[RATE] = where(live, rate, d.memory[RATE])
    d.time = start
    return status
