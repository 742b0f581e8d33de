"""Tangents of a step of the semi-implicit Euler method, by the implicit function theorem at its solution.

Under constraints a step solves two problems, with dry friction, limits, equalities and contacts in s:

    g(a, x) = M a + c - f - Jᵀ force(J a - a_ref) = 0,    (M + h B) a' = M a

a' being the acceleration of the step. Tangents follow without a derivative of either solution:

    da = -H⁻¹ dg  at constant a,  H = M + Jᵀ W J,      (M + h B) da' = d(M a) - d(M + h B) a'

(Nocedal & Wright, Numerical Optimization (2006), A.2: the implicit function theorem). Both matrices are factored
once, in plain numbers. Each group of tangents needs forces, rows and inertia in dual numbers, and of them only those
that depend on its inputs: nothing but actuators for controls, no geometry for velocities.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.contact.collide import collide_again, collider_frames
from saltus.contact.counts import NBLOCK, NITER
from saltus.contact.rows.contacts import contact_rows
from saltus.contact.rows.cost import constraint_forces, row_residuals
from saltus.dynamics.equations import bias_force, joint_inertia
from saltus.dynamics.joint_space import inertia_solve
from saltus.dynamics.smooth import applied_forces, force_stage, position_stage
from saltus.dynamics.tree.factor import multiply
from saltus.dynamics.tree.rnea import newton_euler_backward, newton_euler_forward
from saltus.dynamics.tree.tendon_inertia import add_fixed_tendon_forces
from saltus.integrate.manifold import advance
from saltus.number.components import frozen
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import find_contacts, rows_without_contacts
from saltus.solve.soft.hessian import factor_hessian, hessian, solve_hessian
from saltus.solve.soft.newton import newton, search_direction, step

CONTROLS, VELOCITIES, POSITIONS = 0, 1, 2  # inputs with tangents, each with those before it

#: Features of models whose steps have these tangents.
SUPPORTED = frozenset(
    [
        *("tendon", "wrap", "tendon_force", "tendon_armature", "fluid", "mocap", "thin", "matrix_in_lanes"),
        *("actuation", "transmission", "act", "muscle", "hill", "servo", "dcmotor", "so3"),
        *("constraint", "contact", "cylinder", "box", "boxes", "ellipsoid", "convex", "field"),
        *("sense_limit", "sense_frame", "sense_motion", "sense_body", "sense_subtree", "sense_touch"),
        *("sense_geometry", "sense_contact", "rangefinder", "distance", "camera"),
    ]
)


# ---------------------------------------------------------------- free motion


@kernel
def free_tangents(m, p, d, h, level):
    """qacc [nv] of a step without constraints with its tangents, by inverse dynamics, which needs no inertia matrix."""
    # inverse dynamics M a + bias at the accelerations of p
    for i in range(m.nv):
        d.qacc[i] = p.qacc[i]
    if level == POSITIONS:
        position_stage(m, d, 0)
        newton_euler_forward(m, d, d, 1, m.keep_bodies)
        newton_euler_backward(m, d, d, d.qfrc_inverse)
    elif level == VELOCITIES:
        newton_euler_forward(m, p, d, 1, m.keep_bodies)
        newton_euler_backward(m, p, d, d.qfrc_inverse)
    # residual f - (M + h B) a
    applied_forces(m, d)
    if level >= VELOCITIES:
        add_fixed_tendon_forces(m, p, d, d.qfrc_inverse)
        for i in range(m.nv):
            inertia = m.dof_armature[i] + h * m.implicit_damping * d.qfrc_damper_slope[i]
            d.qfrc_tau[i] = d.qfrc_tau[i] - d.qfrc_inverse[i] - inertia * d.qacc[i]
    # da = (M + h B)⁻¹ of its tangents, with the factor in p
    for i in range(m.nv):
        d.qfrc_tau[i] = d.qfrc_tau[i] - frozen(d.qfrc_tau[i])
    inertia_solve(m, p, d, d.qfrc_tau, 0, d.qstep)
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] + d.qstep[i]


@kernel
def keep_positions(m, p, d):
    """Copy to d the position fields read by forces on bodies, which `free_tangents` computes only for positions."""
    for i in range(m.nv):
        for k in range(6):
            d.cdof[i, k] = p.cdof[i, k]
    for b in range(m.nbody):
        for k in range(3):
            d.xipos[b, k] = p.xipos[b, k]
            d.subtree_com[b, k] = p.subtree_com[b, k]
    keep_tendons(m, p, d)


@only_with("tendon")
@kernel
def keep_tendons(m, p, d):
    """Copy lengths and Jacobians of tendons from p to d."""
    for t in range(m.ntendon):
        d.ten_length[t] = p.ten_length[t]
    for k in range(m.ntenJ):
        d.ten_J[k] = p.ten_J[k]
    for t in range(m.nslip):
        d.slip_angle[t] = p.slip_angle[t]
    for k in range(m.nslipJ):
        d.slip_J[k] = p.slip_J[k]


# ---------------------------------------------------------------- with constraints


@only_with("constraint", otherwise="False")
@kernel
def is_constrained(m, p):
    """Whether any constraint acts in the step."""
    return p.count[NBLOCK] > 0


@only_with("constraint")
@kernel
def polish(m, p):
    """One more whole Newton step from the solution of the step in p, whose tolerance would show, and the Hessian there.

    Reads the rows, and what `newton` has left; iterates on if that is unconverged. Writes qacc_warmstart, hessian and,
    if it iterates, qfrc_tau.
    """
    if p.count[NBLOCK] > 0:
        if has(m, "tendon_armature"):
            joint_inertia(m, p)  # the step has added damping to M
        if p.count[NITER] >= m.opt_iterations:
            for i in range(m.nv):
                p.qfrc_tau[i] = p.qfrc_tau[i] - p.qfrc_constraint[i]
            newton(m, p)
        hessian(m, p)
        factor_hessian(m, p)
        search_direction(m, p)
        step(m, p, 1.0)


@kernel
def evaluate(m, d, level):
    """Tangents of the forces without constraints, in qfrc_tau, of rows and M, of the inputs of a level (see above)."""
    if level == POSITIONS:
        position_stage(m, d, 0)
        joint_inertia(m, d)
        move_contacts(m, d)
    if level >= VELOCITIES:
        force_stage(m, d, 0)
        bias_force(m, d, d)
        rows(m, d)
        for i in range(m.nv):
            d.qfrc_tau[i] = d.qfrc_tau[i] - d.qfrc_bias[i]
    else:
        applied_forces(m, d)  # the bias has no tangents


@only_with("contact")
@kernel
def move_contacts(m, d):
    """Contacts of the pairs that `keep_for_tangents` has found, with the tangents of the present positions."""
    collider_frames(m, d)
    collide_again(m, d)


@only_with("constraint")
@kernel
def rows(m, d):
    """Constraint rows of the dual state, those of contacts from the list of them."""
    rows_without_contacts(m, d)
    contact_rows(m, d)


@kernel
def constrained_tangents(m, p, d, h, level):
    """qacc [nv] of the step with its tangents."""
    evaluate(m, d, level)
    if has(m, "constraint") and p.count[NBLOCK] > 0:
        constrained_acceleration(m, p, d, level)
        if m.implicit_damping:
            damp_acceleration(m, p, d, h, level)
    else:
        unconstrained_acceleration(m, p, d, h, level)


@only_with("constraint")
@kernel
def constrained_acceleration(m, p, d, level):
    """qacc [nv] ← a with its tangents da = -H⁻¹ dg; reads the forces without constraints from qfrc_tau."""
    for i in range(m.nv):
        d.qacc[i] = p.qacc_warmstart[i]
    if level >= VELOCITIES:
        row_residuals(m, d, d.qacc)
        constraint_forces(m, d)
        for i in range(m.nv):
            d.qfrc_tau[i] = d.qfrc_tau[i] + d.qfrc_constraint[i]
    if level == POSITIONS:
        multiply(m, d, d.qacc, d.solve_Ma)
        for i in range(m.nv):
            d.qfrc_tau[i] = d.qfrc_tau[i] - d.solve_Ma[i]
    for i in range(m.nv):
        d.solve_search[i] = d.qfrc_tau[i] - frozen(d.qfrc_tau[i])
    solve_hessian(m, p, d.solve_search)
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] + d.solve_search[i]


@only_with("constraint")
@kernel
def damp_acceleration(m, p, d, h, level):
    """qacc [nv] ← a' with its tangents, from a: da' = da - (M + h B)⁻¹ (h B da + h dB a' - dM (a - a')).

    The accelerations of the step, a', are in p.
    """
    if level == POSITIONS:
        for i in range(m.nv):
            d.qstep[i] = p.qacc_warmstart[i] - p.qacc[i]
        multiply(m, d, d.qstep, d.solve_Ma)
    for i in range(m.nv):
        change = d.qacc[i] - frozen(d.qacc[i])
        slope = d.qfrc_damper_slope[i]
        force = h * (slope * change + (slope - frozen(slope)) * p.qacc[i])
        if level == POSITIONS:
            force = force - (d.solve_Ma[i] - frozen(d.solve_Ma[i]))
        d.qfrc_tau[i] = force
        d.qacc[i] = p.qacc[i] + change
    inertia_solve(m, p, d, d.qfrc_tau, 0, d.qstep)
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] - d.qstep[i]


@kernel
def unconstrained_acceleration(m, p, d, h, level):
    """qacc [nv] of the step with its tangents da' = (M + h B)⁻¹ d(f - (M + h B) a') from the forces f in qfrc_tau."""
    for i in range(m.nv):
        d.qacc[i] = p.qacc[i]
    if level == POSITIONS:
        multiply(m, d, d.qacc, d.qfrc_inverse)
        for i in range(m.nv):
            d.qfrc_tau[i] = d.qfrc_tau[i] - d.qfrc_inverse[i]
    for i in range(m.nv):
        force = d.qfrc_tau[i] - h * m.implicit_damping * d.qfrc_damper_slope[i] * d.qacc[i]
        d.qfrc_tau[i] = force - frozen(force)
    inertia_solve(m, p, d, d.qfrc_tau, 0, d.qstep)
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] + d.qstep[i]


# ---------------------------------------------------------------- steps


@kernel
def tangent_step(m, p, d, h, level):
    """Tangents of the step from a dual state in d, after `step` and `keep_for_tangents` on p at the same values.

    `level`: the inputs with tangents in d, CONTROLS (and actuator states), VELOCITIES or POSITIONS. Levels must not
    fall from call to call: what they do not depend on is left as it is.
    """
    # more than free motion with motors on hinges and slides, and tendons
    if has(m, "constraint", "actuation", "transmission", "act", "fluid", "mocap"):
        constrained_tangents(m, p, d, h, level)
    else:
        free_tangents(m, p, d, h, level)
    advance(m, d, h)


@kernel
def keep_for_tangents(m, p, d):
    """Prepare what all calls of `tangent_step` share: in p the factored Hessian, in d what a call may leave as it is.

    d holds the state without tangents.
    """
    if has(m, "constraint", "actuation", "transmission", "act", "fluid", "mocap"):
        polish(m, p)
        position_stage(m, d, 0)
        newton_euler_forward(m, d, d, 0, m.keep_bodies)
        find_contacts(m, d)
    else:
        keep_positions(m, p, d)
