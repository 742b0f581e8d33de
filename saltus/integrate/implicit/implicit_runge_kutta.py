"""Implicit Runge-Kutta methods by simplified Newton iteration, on the configuration manifold.

The method is applied to positions and joint momenta p = M v: Gauss methods are then symplectic on hinges and slides
(Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), theorem VI.4.2). The unknowns are the slopes k_i of
all stages: rates of the tangent vector Θ_i = h Σ a_ij k_j from the step's start. They give q_i = q ⊕ Θ_i and
v_i = dexp(Θ_i) k_i, and the residual M(q_i) v_i - p - h Σ a_ij dp_j/dt must vanish. The slopes of actuator states are
unknowns too. See Hairer & Wanner, Solving Ordinary Differential Equations II (1996), IV.8, and Munthe-Kaas (1999) for
rotations.
"""

import numpy as np

from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.joint_space import inertia_factor, inertia_solve
from saltus.dynamics.smooth import applied_forces, position_stage
from saltus.dynamics.tree.manifold import displace
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.integrate.fixed.runge_kutta import stage_state
from saltus.integrate.fixed.user_momenta import joint_momenta
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_state
from saltus.integrate.tableau import ButcherTableau
from saltus.model.enums import BALL, FREE
from saltus.number.functions import absolute, any_lane, maximum, where
from saltus.number.kernels import kernel
from saltus.solve.constrain import constrain, grip
from saltus.solve.status import NOT_CONVERGED, OK
from saltus.spatial.fields import load3, store3
from saltus.spatial.quaternions import dexp

DIFFERENCE = 1.5e-8  # relative step of the Jacobian's finite differences; affects only the speed of convergence
TOLERANCE = 1e-14
RESOLVED = 1e-3  # rad, m in a step: motion to be resolved to nine digits
ITERATIONS = 50


@kernel
def step(m, d, h, tableau, polish):
    """One step of h seconds; `polish` more iterations are made after convergence, for the tangents of duals.

    Lanes that have converged keep their solution while others iterate. Returns a status.
    """
    # starting values: the slopes at the step's start
    width = m.nv + m.nact
    n = (tableau.shape[0] - 1) * width
    start = d.time
    save_state(m, d)
    momentum_form(m, d)
    for i in range(m.nv):
        d.momentum_saved[i] = d.momentum[i]
    for k in range(n):
        i = k % width
        if i < m.nv:
            d.stage_unknown[k] = d.qvel_saved[i]
        else:
            d.stage_unknown[k] = d.act_dot[i - m.nv]
    # Jacobian, factored once
    residual(m, d, h, tableau, start)
    newton_matrix(m, d, h, tableau, start, n)
    factor_dense(d, n)
    last = 1e300 + 0.0 * d.time
    least = RESOLVED / h + 0.0 * d.time
    active = last > 0.0
    status = solved = OK
    extra = polish
    # simplified Newton iteration
    for iteration in range(ITERATIONS):
        size, scale = correct(m, d, n, active)
        solved = residual(m, d, h, tableau, start)
        # converged, or stagnating at rounding errors, as where forces cancel
        live = (size > TOLERANCE * scale) & ((size < 0.5 * last) | (size > 1e-9 * maximum(scale, least)))
        last = size
        if polish == 0:
            live = live & active
            active = live
        if not any_lane(live):
            extra -= 1
            if extra < 0:
                break
        if iteration == ITERATIONS - 1:
            status = NOT_CONVERGED
    d.time = start + h
    final_state(m, d, h, tableau)
    return max(status, solved)


@kernel
def correct(m, d, n, active):
    """One Newton iteration with the factored Jacobian; returns the largest change and the largest unknown."""
    solve_dense(d, n, d.stage_residual)
    size = 0.0 * d.time
    scale = size + 1e-300
    for k in range(n):
        change = d.stage_residual[k]
        d.stage_unknown[k] = where(active, d.stage_unknown[k] - change, d.stage_unknown[k])
        size = maximum(size, absolute(change))
        scale = maximum(scale, absolute(d.stage_unknown[k]))
    return size, scale


@kernel
def momentum_form(m, d):
    """Joint momenta and their rates at the current state; returns the status of the constraint forces."""
    position_stage(m, d, 0)
    grip(m, d)
    newton_euler_forward(m, d, d, 0, 1)
    applied_forces(m, d)
    status = constrain(m, d)
    joint_momenta(m, d)
    return status


@kernel
def residual(m, d, h, tableau, start):
    """Residual at the slopes stage_unknown [s (nv + nact)]; returns a status.

    Writes stage_residual: p_i - p - h Σ a_ij dp_j/dt for momenta, and the unknown less act_dot for actuator states; and
    the rates dp_j/dt, to stage_qacc. Overwrites time, qvel, act, qstep, step_tangent.
    """
    stages = tableau.shape[0] - 1
    nv = m.nv
    width = nv + m.nact
    status = OK
    for s in range(stages):
        # stage state: Θ_i = h Σ a_ij k_j, q_i = q ⊕ Θ_i, v_i = dexp(Θ_i) k_i
        for i in range(nv):
            move = 0.0 * d.time
            for j in range(stages):
                move = move + tableau[s, j + 1] * d.stage_unknown[j * width + i]
            d.qstep[i] = move
            d.step_tangent[i] = h * move
            d.qvel[i] = d.stage_unknown[s * width + i]
        displace(m, d.qpos_saved, h, d.qstep, d.qpos)
        angular_velocities(m, d)
        for k in range(m.nact):
            gain = 0.0 * d.time
            for j in range(stages):
                gain = gain + tableau[s, j + 1] * d.stage_unknown[j * width + nv + k]
            d.act[k] = d.act_saved[k] + h * gain
        # momenta p_i - p and their rates
        d.time = start + h * tableau[s, 0]
        status = max(status, momentum_form(m, d))
        for i in range(nv):
            d.stage_residual[s * width + i] = d.momentum[i] - d.momentum_saved[i]
            d.stage_qacc[s * nv + i] = d.momentum_rate[i]
        for k in range(m.nact):
            row = s * width + nv + k
            d.stage_residual[row] = d.stage_unknown[row] - d.act_dot[k]
    # - h Σ a_ij dp_j/dt
    for s in range(stages):
        for i in range(nv):
            gain = 0.0 * d.time
            for j in range(stages):
                gain = gain + tableau[s, j + 1] * d.stage_qacc[j * nv + i]
            d.stage_residual[s * width + i] = d.stage_residual[s * width + i] - h * gain
    return status


@kernel
def angular_velocities(m, d):
    """qvel ← dexp(Θ) k on ball and free joints, with k in qvel and Θ in step_tangent."""
    for j in range(m.njnt):
        kind = m.jnt_type[j]
        if kind == FREE or kind == BALL:
            i = m.jnt_dofadr[j]
            if kind == FREE:
                i += 3
            store3(d.qvel, i, dexp(load3(d.step_tangent, i), load3(d.qvel, i)))


@kernel
def newton_matrix(m, d, h, tableau, start, n):
    """Jacobian [n, n] of the residual by forward differences. Overwrites stage_trial, preserves stage_residual."""
    for k in range(n):
        d.stage_trial[k] = d.stage_residual[k]
    for c in range(n):
        kept = d.stage_unknown[c]
        eps = DIFFERENCE * (1.0 + absolute(kept))
        d.stage_unknown[c] = kept + eps
        residual(m, d, h, tableau, start)
        for r in range(n):
            d.jacobian[r * n + c] = (d.stage_residual[r] - d.stage_trial[r]) / eps
        d.stage_unknown[c] = kept
    for k in range(n):
        d.stage_residual[k] = d.stage_trial[k]


@kernel
def factor_dense(d, n):
    """jacobian ← its factors L U, diagonal inverted. No pivoting: the matrix is the inertia plus a multiple of h."""
    for k in range(n):
        inverse = 1.0 / d.jacobian[k * n + k]
        d.jacobian[k * n + k] = inverse
        for i in range(k + 1, n):
            t = d.jacobian[i * n + k] * inverse
            d.jacobian[i * n + k] = t
            for j in range(k + 1, n):
                d.jacobian[i * n + j] = d.jacobian[i * n + j] - t * d.jacobian[k * n + j]


@kernel
def solve_dense(d, n, x):
    """x ← (L U)⁻¹ x for a field x [n]."""
    # forward, then backward substitution
    for i in range(n):
        total = x[i]
        for j in range(i):
            total = total - d.jacobian[i * n + j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total = total - d.jacobian[i * n + j] * x[j]
        x[i] = total * d.jacobian[i * n + i]


@kernel
def final_state(m, d, h, tableau):
    """The state at the step's end from the slopes and the rates of momentum of all stages."""
    # q' = q ⊕ h Σ b_i k_i
    stages = tableau.shape[0] - 1
    width = m.nv + m.nact
    for s in range(stages):
        for i in range(m.nv):
            d.stage_qvel[s * m.nv + i] = d.stage_unknown[s * width + i]
        for k in range(m.nact):
            d.stage_act[s * m.nact + k] = d.stage_unknown[s * width + m.nv + k]
    stage_state(m, d, h, tableau, stages, stages)
    settle_activations(m, d)
    # p' = p + h Σ b_i dp_i/dt
    for i in range(m.nv):
        gain = 0.0 * d.time
        for j in range(stages):
            gain = gain + tableau[stages, j + 1] * d.stage_qacc[j * m.nv + i]
        d.momentum[i] = d.momentum_saved[i] + h * gain
    # v' = M(q')⁻¹ p'
    position_stage(m, d, 0)
    inertia_factor(m, d, 0.0, d.qfrc_damper_slope)
    inertia_solve(m, d, d, d.momentum, 0, d.qvel)


def implicit_runge_kutta(tableau: ButcherTableau, *, kind: str = "implicit", reference: str = "") -> Integrator:
    """The integrator of an implicit Butcher tableau."""
    return Integrator(
        name=tableau.name,
        order=tableau.order,
        kind=kind,
        reference=reference or tableau.reference,
        step=step,
        parameters=(tableau.table, np.int64(0)),
        needs={"nstage": tableau.stages, "newton": True},
    )
