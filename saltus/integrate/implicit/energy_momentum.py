"""The energy-momentum method: an implicit step of any size that conserves the energy of elastic bodies.

    M a = f(q_m, v_m) + f_e + Jᵀ f_c(J a),   v' = v + h a,   q' = q ⊕ h v_m,   v_m = (v + v')/2,   q_m = q ⊕ h/2 v_m

Inertia and forces are those at the midpoint of the step, as in the implicit midpoint rule, except for the elastic
forces f_e: for vertices that move from x to x' these are a mean along the path, f_e · (x' - x) = U(x) - U(x') exactly
(see `saltus.dynamics.flex.mean_forces`). The energy of free sheets and solids is thus conserved, as are linear and
angular momentum (Simo & Tarnow, The discrete energy-momentum method, ZAMP 43 (1992); Gonzalez, Time integration and
discrete Hamiltonian systems, J. Nonlinear Sci. 6 (1996)). For springs of joints it is the midpoint rule itself.

Soft constraints enter with their geometry at q ⊕ h/2 v and velocities v, and their forces f_c as functions of a: stiff
contact is implicit, like everything else. The equations are solved by a simplified Newton iteration on a with the
matrix M + h²/4 K + h/2 D, K and D of deformable bodies, joints and their servos; other forces enter the residual
alone. Actuator states are predicted at the midpoint and then advanced with their rates there.
"""

from saltus.contact.counts import NLOST
from saltus.contact.rows.cost import constraint_forces, row_residuals
from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.equations import inverse_dynamics, joint_inertia
from saltus.dynamics.flex.mean_forces import add_mean_flex_forces
from saltus.dynamics.flex.tangent import flex_tangent
from saltus.dynamics.passive import joint_and_tendon_forces, sum_passive
from saltus.dynamics.smooth import add_driving_forces, applied_forces, position_stage
from saltus.dynamics.stiffness import joint_stiffness
from saltus.dynamics.tendon.length import tendon_velocities
from saltus.dynamics.tree.manifold import displace
from saltus.dynamics.tree.rnea import newton_euler_forward
from saltus.integrate.implicit.newton_convergence import LEAST, begin_balance, change_size, far, remember_balance
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_state
from saltus.number.conditions import has
from saltus.number.functions import any_lane, where
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import add_touch, find_rows, grip, user_contact_forces
from saltus.solve.event.constrained_acceleration import enforce_active_set, row_drifts
from saltus.solve.implicit.implicit_newton import balance_change
from saltus.solve.status import CONTACTS_FULL, NOT_CONVERGED, OK

ITERATIONS = 60
HALVINGS = 6
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
    predict(m, d, h)
    begin_balance(m, d)
    status = evaluate(m, d, h, start)
    wrong = imbalance(m, d)
    live = 0.0 * wrong < 1.0
    last = 0.0 * wrong + 1e300
    # simplified Newton iteration on a
    for _ in range(ITERATIONS):
        tangent(m, d, h)
        balance_change(m, d, live, LINEAR)
        size, scale = change_size(m, d, h, d.qvel_saved)
        going = far(size, scale, last, ELASTIC if has(m, "flex") else RIGID, LEAST / h)
        last = size
        # the last step in full, without another residual
        if not any_lane(live & going):
            advance_unknowns(m, d, where(live, 1.0 + 0.0 * size, 0.0 * size))
            break
        # damped step
        status, wrong = go(m, d, h, start, live, live & (size > 1e-6 * scale), wrong)
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
        soft_rows(m, d)


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
def soft_rows(m, d):
    """Soft constraint rows, and forces of a user-defined contact law, at the current positions."""
    position_stage(m, d, 0)
    grip(m, d)
    user_contact_forces(m, d)
    find_rows(m, d)


@kernel
def evaluate(m, d, h, start):
    """metric_force [nv] ← M a - f - f_e at the accelerations qacc (N, N m), and the state at the midpoint.

    Returns a status.
    """
    # midpoint state
    for i in range(m.nv):
        d.qvel[i] = d.qvel_saved[i] + 0.5 * h * d.qacc[i]
    displace(m, d.qpos_saved, 0.5 * h, d.qvel, d.qpos)
    d.time = start + 0.5 * h
    row_drifts(m, d)
    position_stage(m, d, 0)
    if has(m, "adhere"):  # adhesive contacts attract at the positions of their rows
        grip(m, d)
    # forces f + f_e there
    newton_euler_forward(m, d, d, 0, 1)
    tendon_velocities(m, d)
    joint_and_tendon_forces(m, d)
    add_mean_flex_forces(m, d, h)
    sum_passive(m, d)
    add_driving_forces(m, d)
    add_touch(m, d, d.qfrc_tau)
    # residual by inverse dynamics
    status = enforce_active_set(m, d) if has(m, "event") else OK
    inverse_dynamics(m, d)
    for i in range(m.nv):
        d.metric_force[i] = d.qfrc_inverse[i] - d.qfrc_tau[i]
    return status


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
def advance_unknowns(m, d, alpha):
    """qacc ← qacc + alpha metric_change."""
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] + alpha * d.metric_change[i]


@kernel
def go(m, d, h, start, live, watched, wrong):
    """Damped Newton step on qacc in the lanes that are live, halved while the residual exceeds `wrong`.

    Only lanes in `watched` are checked. Returns a status and the squared residual.
    """
    for i in range(m.nv):
        d.qacc_saved[i] = d.qacc[i]
    alpha = where(live, 1.0 + 0.0 * wrong, 0.0 * wrong)
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
    return status, new


@kernel
def middle(m, d, h):
    """Evaluate again the forces of the step of h seconds just taken; leaves its midpoint as the state."""
    act_between(m, d)
    evaluate(m, d, h, d.time - h)
    imbalance(m, d)


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
        d.qstep[i] = d.qvel_saved[i] + 0.5 * h * d.qacc[i]
        d.qvel[i] = d.qvel_saved[i] + h * d.qacc[i]
    displace(m, d.qpos_saved, h, d.qstep, d.qpos)
    d.time = start + h
    end_activations(m, d, h)
    remember_balance(m, d)


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
    needs={"pcg": True},
)
