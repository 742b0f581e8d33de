"""The energy-momentum method: an implicit step that conserves energy and momenta of mechanisms exactly.

    (p' - p + ψ × p̄)/h = D + f(q_m, v_m) + f_e + Jᵀ f_c(J a),   v' = v + h a,   q' = q ⊕ h v_m,   v_m = (v + v')/2

p and p' are the joint momenta M(q) v and M(q') v', and D is the discrete gradient of kinetic energy and weight (see
`saltus.dynamics.balance.momentum_balance`): the energy grows by exactly the work h v_m · (f + f_c) of all that is no
spring, as with Betsch & Steinmann, Constrained integration of rigid body dynamics, CMAME 191 (2001), but in joint
coordinates. Momenta of free mechanisms are conserved, linear and angular. The translation of a free joint moves so that
the centre of mass of its tree moves by h times the mean of its velocities; v_m is that motion over h.

f_e are elastic forces as means along the path, of joint and tendon springs (`saltus.dynamics.balance.mean_springs`) and
deformable bodies: for vertices that move from x to x', f_e · (x' - x) = U(x) - U(x') (see
`saltus.dynamics.flex.mean_forces`; Simo & Tarnow, The discrete energy-momentum method, ZAMP 43 (1992); Gonzalez, Time
integration and discrete Hamiltonian systems, J. Nonlinear Sci. 6 (1996)). All other forces f are those at the midpoint
q_m = q ⊕ h/2 v_m. With located events of hard contact and with user-given equations of motion, the balance is that of
the midpoint rule, M(q_m) a = f, and of second order.

Soft constraints enter with their geometry at q ⊕ h/2 v and the velocities v_m (see `saltus.solve.soft.middle_rows`),
and their forces f_c as functions of a: stiff contact is implicit, like everything else. The equations are solved by a
simplified Newton iteration on a with the matrix M + h²/4 K + h/2 D, K and D of deformable bodies, joints and their
servos; other forces enter the residual alone. Without deformable bodies and constraint rows, Broyden's method improves
the steps, and where that does not suffice, the matrix is found by differences. Actuator states are predicted at the
midpoint and then advanced with their rates there. The equations have a solution that Newton's method finds in steps of
up to about a radian of rotation.

Under hard contact, loops are closed exactly at the end of each step, by forces that do no work, while no contact,
limit or dry friction acts (see `saltus.integrate.implicit.loop_newton`).
"""

from saltus.contact.counts import NBLOCK, NLOST
from saltus.contact.event.modes import loops_alone
from saltus.contact.rows.blocks import clear_blocks
from saltus.contact.rows.cost import constraint_forces, row_residuals
from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.balance.mean_springs import remember_lengths
from saltus.dynamics.balance.momentum_balance import move_free_trees
from saltus.dynamics.equations import EQUATIONS, joint_inertia
from saltus.dynamics.flex.tangent import flex_tangent
from saltus.dynamics.smooth import applied_forces, position_stage
from saltus.dynamics.stiffness import joint_stiffness
from saltus.dynamics.tree.manifold import displace
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.integrate.implicit.implicit_runge_kutta import factor_dense, solve_dense
from saltus.integrate.implicit.loop_newton import close_loops
from saltus.integrate.implicit.newton_convergence import LEAST, begin_balance, change_size, far, remember_balance
from saltus.integrate.implicit.secants import forget_secants, improve_change
from saltus.integrate.implicit.step_balance import advance_unknowns, begin_differences, evaluate, least_fraction
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_state
from saltus.model.layout import DENSE, SECANTS
from saltus.number.conditions import has
from saltus.number.functions import any_lane, maximum, where
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import find_rows, grip, user_contact_forces
from saltus.solve.implicit.implicit_newton import balance_change
from saltus.solve.soft.middle_rows import rows_of_middle
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED, OK

ITERATIONS = 60
HALVINGS = 6
RENEWED = 6  # steps of Broyden's method between two matrices that are found by differences
PRESSURE = 1.0 / 64.0  # see `saltus.dynamics.flex.tangent`
LINEAR = 1e-2  # tolerance of conjugate gradients
# an iteration's change of velocity relative to the largest velocity, without and with deformable bodies
RIGID, ELASTIC = 1e-13, 1e-10


@kernel
def step(m, d, h):
    """One step of h seconds; returns a status. Lanes that have converged keep their solution while others iterate."""
    # midpoint prediction, warm start and residual
    start = d.time
    save_state(m, d)
    if has(m, "tendon_force"):
        position_stage(m, d, 0)
        remember_lengths(m, d, d.ten_length_start)
    if has(m, "loops"):  # noqa: SIM102 (decided when the kernel is compiled)
        if loops_alone(m, d):
            predict_activations(m, d, h)
            status = close_loops(m, d, h, start)
            end(m, d, h, start)
            return status
    predict(m, d, h)
    begin_balance(m, d)
    status = evaluate(m, d, h, start)
    wrong = imbalance(m, d)
    live = 0.0 * wrong < 1.0
    last = older = 0.0 * wrong + 1e300
    # simplified Newton iteration on a
    for k in range(ITERATIONS):
        # the tangent matrix is kept where secants improve it, and where they do not suffice, found by differences
        improves = not has(m, "flex", EQUATIONS, "event") and (not has(m, "constraint") or d.count[NBLOCK] == 0)
        differs = improves and k >= SECANTS and m.nv <= DENSE
        since = (k - SECANTS) % RENEWED if differs else k % SECANTS
        if differs and since == 0:
            difference_tangent(m, d, h, start)
        elif not improves or since == 0:
            tangent(m, d, h)
        if differs:
            dense_change(m, d, live)
        else:
            balance_change(m, d, live, LINEAR, False, 0.0 * d.time)
        if improves:
            improve_change(m, d, since)
        size, scale = change_size(m, d, h, d.qvel_saved)
        going = far(size, scale, last, ELASTIC if has(m, "flex") else RIGID, LEAST / h)
        last, older = maximum(size, older), size
        # the last step in full, without another residual
        if not any_lane(live & going):
            advance_unknowns(m, d, where(live, 1.0 + 0.0 * size, 0.0 * size))
            break
        # damped step
        status, wrong, damped = go(m, d, h, start, live, live & (size > 1e-6 * scale), wrong)
        if improves:
            forget_secants(m, d, since, damped)
        live = live & going
    else:
        status = max(status, NOT_CONVERGED)
    # v' and q'
    end(m, d, h, start)
    return CONTACTS_FULL if d.count[NLOST] > 0 else status


@kernel
def predict(m, d, h):
    """Predicted actuator states at the midpoint, and constraint rows at q ⊕ h/2 v."""
    predict_activations(m, d, h)
    displace(m, d.qpos_saved, 0.5 * h, d.qvel_saved, d.qpos)
    if not has(m, "event"):  # with located events the active set is enforced with the forces
        soft_rows(m, d, h)


@only_with("act")
@kernel
def predict_activations(m, d, h):
    """act ← act + h/2 act_dot."""
    position_stage(m, d, 0)
    grip(m, d)
    newton_euler_forward(m, d, d, 0, 1)
    applied_forces(m, d)
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + 0.5 * h * d.act_dot[k]


@only_with("constraint")
@kernel
def soft_rows(m, d, h):
    """Soft constraint rows of a step, and forces of a user-defined contact law, at the current positions."""
    position_stage(m, d, 0)
    grip(m, d)
    user_contact_forces(m, d)
    find_rows(m, d)
    rows_of_middle(m, d, h)


@kernel
def imbalance(m, d):
    """Square of the residual forces; also computes the residuals and forces of soft rows at qacc."""
    if has(m, "constraint") and not has(m, "event"):
        row_residuals(m, d, d.qacc)
        constraint_forces(m, d)
    total = 0.0 * d.time
    for i in range(m.nv):
        force = d.metric_force[i]
        if has(m, "constraint") and not has(m, "event"):
            force = force - d.qfrc_constraint[i]
        total = total + force * force
    return total


@kernel
def tangent(m, d, h):
    """The Newton matrix: M ← M + h²/4 K + h/2 D of joints at the current state; also the part of deformable bodies."""
    joint_inertia(m, d)
    joint_stiffness(m, d)
    for i in range(m.nv):
        k = m.M_rowadr[i] + m.M_rownnz[i] - 1
        d.M[k] = d.M[k] + 0.25 * h * h * d.qfrc_spring_slope[i] + 0.5 * h * d.slope[i]
    flex_tangent(m, d, 0.25 * h * h, 0.5 * h, PRESSURE)


@kernel
def difference_tangent(m, d, h, start):
    """jacobian [nv, nv] ← factors of the derivatives of metric_force by qacc, from differences."""
    eps = begin_differences(m, d, h)
    for c in range(m.nv):
        kept = d.qacc[c]
        d.qacc[c] = kept + eps
        evaluate(m, d, h, start)
        for r in range(m.nv):
            d.jacobian[r * m.nv + c] = (d.metric_force[r] - d.metric_product[r]) / eps
        d.qacc[c] = kept
    factor_dense(d, m.nv)
    evaluate(m, d, h, start)


@kernel
def dense_change(m, d, live):
    """metric_change ← -J⁻¹ metric_force in the lanes that are live, 0 in the others, with J of `difference_tangent`."""
    for i in range(m.nv):
        d.metric_change[i] = where(live, -d.metric_force[i], 0.0 * d.metric_force[i])
    solve_dense(d, m.nv, d.metric_change)


@kernel
def go(m, d, h, start, live, watched, wrong):
    """Damped Newton step on qacc in the lanes that are live, halved while the residual exceeds `wrong`.

    Only lanes in `watched` are checked. Returns a status, the squared residual, and the lanes whose step was halved.
    """
    for i in range(m.nv):
        d.qacc_saved[i] = d.qacc[i]
    alpha = where(live, least_fraction(m, d, h), 0.0 * wrong)
    status, new = OK, wrong
    for _ in range(HALVINGS):
        for i in range(m.nv):
            d.qacc[i] = d.qacc_saved[i] + alpha * d.metric_change[i]
        status = evaluate(m, d, h, start)
        new = imbalance(m, d)
        worse = watched & (new > wrong)
        if not any_lane(worse):
            break
        alpha = where(worse, 0.5 * alpha, alpha)
    return status, new, live & (alpha < 1.0)


@kernel
def middle(m, d, h):
    """Evaluate again the forces of the step of h seconds just taken; leaves its midpoint as the state."""
    act_between(m, d)
    evaluate(m, d, h, d.time - h)
    imbalance(m, d)
    if has(m, "loops"):  # whose forces do no work
        clear_blocks(m, d)


@only_with("act")
@kernel
def act_between(m, d):
    """act ← actuator states at the midpoint."""
    for k in range(m.nact):
        d.act[k] = 0.5 * (d.act_saved[k] + d.act[k])


@kernel
def end(m, d, h, start):
    """The state at the end of the step."""
    for i in range(m.nv):
        d.qvel[i] = d.qvel_saved[i] + 0.5 * h * d.qacc[i]
    displace(m, d.qpos_saved, h, d.qvel, d.qpos)
    move_balanced_trees(m, d, h)
    for i in range(m.nv):
        d.qvel[i] = d.qvel_saved[i] + h * d.qacc[i]
    d.time = start + h
    end_activations(m, d, h)
    remember_balance(m, d)


@kernel
def move_balanced_trees(m, d, h):
    """Move free trees with their centres of mass, where momenta are balanced."""
    if has(m, "loops"):
        if loops_alone(m, d):
            move_free_trees(m, d, h)
            displace(m, d.qpos_saved, h, d.qvel, d.qpos)
    elif not has(m, EQUATIONS, "event"):
        move_free_trees(m, d, h)
        displace(m, d.qpos_saved, h, d.qvel, d.qpos)


@only_with("act")
@kernel
def end_activations(m, d, h):
    """act ← act + h act_dot, with the rates at the midpoint, within the limits."""
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + h * d.act_dot[k]
    settle_activations(m, d)


ENERGY_MOMENTUM = Integrator(
    name="energy_momentum",
    order=2,
    kind="implicit",
    reference="Simo & Tarnow, The discrete energy-momentum method, ZAMP 43 (1992)",
    step=step,
    leaves="middle",
    needs={"pcg": True, "balance": True},
)
