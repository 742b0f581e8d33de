"""Constrained inverse dynamics: the forces under which a state has given accelerations.

    τ = M a + c(q, v) - f_passive - Jᵀ f(J a - a_ref)

Under the soft law the constraint forces f are a function of the accelerations a, so that nothing is solved (Todorov,
Convex and analytically-invertible dynamics with contacts and constraints (2014), section IV). τ is the sum of the
actuator and applied forces.
"""

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.cost import constraint_forces, row_residuals
from saltus.contact.rows.user_compliance import GIVEN
from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.equations import inverse_dynamics, joint_inertia
from saltus.dynamics.smooth import force_stage, position_stage
from saltus.dynamics.tree.factor import factor, solve
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import find_rows, grip, user_contact_forces


@kernel
def constrained_inverse(m, d):
    """qfrc_inverse [nv] ← actuator and applied forces (N, N m) for the accelerations qacc [nv] of continuous time."""
    evaluate(m, d)
    forces_for(m, d)


@kernel
def damped_inverse(m, d, h):
    """qfrc_inverse [nv] ← forces (N, N m) for qacc [nv] of an Euler step, (M + h B) qacc = M a with a of the forces.

    B: the slope of the dampers.
    """
    evaluate(m, d)
    # a = qacc + M⁻¹ h B qacc
    joint_inertia(m, d)
    factor(m, d)
    for i in range(m.nv):
        d.qstep[i] = h * m.implicit_damping * d.qfrc_damper_slope[i] * d.qacc[i]
    solve(m, d, d.qstep)
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] + d.qstep[i]
    forces_for(m, d)


@kernel
def evaluate(m, d):
    """Passive forces, constraint rows, contact forces of a user's law: all that depends on positions and velocities."""
    position_stage(m, d, 0)
    grip(m, d)
    force_stage(m, d, 0)
    user_contact_forces(m, d)
    rows_at_state(m, d)


@only_with("constraint")
@kernel
def rows_at_state(m, d):
    """Constraint rows of the present state."""
    find_rows(m, d)


@kernel
def forces_for(m, d):
    """qfrc_inverse [nv] ← M qacc + c - f_passive - Jᵀ f, after `evaluate`."""
    inverse_dynamics(m, d)
    for i in awake_dofs(m, d):
        d.qfrc_inverse[i] = d.qfrc_inverse[i] - d.qfrc_passive[i]
    take_off_constraints(m, d)


@only_with("constraint")
@kernel
def take_off_constraints(m, d):
    """qfrc_inverse [nv] ← qfrc_inverse less the constraint forces at the accelerations qacc."""
    if d.count[NBLOCK] > 0:
        row_residuals(m, d, d.qacc)
        constraint_forces(m, d)
        for i in awake_dofs(m, d):
            d.qfrc_inverse[i] = d.qfrc_inverse[i] - d.qfrc_constraint[i]
    take_off_touch(m, d)


@only_with(GIVEN)
@kernel
def take_off_touch(m, d):
    """qfrc_inverse [nv] ← qfrc_inverse less the contact forces of a user's law."""
    for i in awake_dofs(m, d):
        d.qfrc_inverse[i] = d.qfrc_inverse[i] - d.qfrc_compliant[i]
