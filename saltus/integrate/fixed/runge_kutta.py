"""Explicit Runge-Kutta methods from a Butcher tableau, on the configuration manifold.

    q_i = q ⊕ h Σ a_ij k_j,   v_i = v + h Σ a_ij f(q_j, v_j),   k_j = dexp⁻¹(h Σ a_jl k_l) v_j

Orientations are advanced in the rotation vector from the step's start, whose rate is the image of the angular velocity
under the inverse differential of the exponential (Munthe-Kaas, High order Runge-Kutta methods on manifolds (1999)).
The order of a tableau therefore holds on ball and free joints too. MuJoCo combined angular velocities themselves before
its release 4.0, so that orientations had order 2, which a model may ask for (`saltus.model.semantics`). Actuator states
are integrated along: all of them are ordinary differential equations here, including the filter that MuJoCo calls
exact; their limits are applied at the step's end.
"""

from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.awake.counts import LISTED, SAVED
from saltus.dynamics.awake.walks import awake_coordinates, awake_dofs, awake_joints
from saltus.dynamics.motions import prescribe
from saltus.dynamics.tree.manifold import displace_awake
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_state
from saltus.integrate.tableau import ButcherTableau
from saltus.model.enums import BALL, FREE
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import acceleration
from saltus.solve.sleep.calls import place_everything
from saltus.solve.sleep.falling_asleep import fall_asleep
from saltus.solve.status import OK
from saltus.spatial.fields import load3, store3
from saltus.spatial.quaternions import dexp_inverse


@kernel
def step(m, d, h, tableau):
    """One step of h seconds with a tableau [s + 1, s + 1] of rows (c, a) and (·, b)."""
    stages = tableau.shape[0] - 1
    start = d.time
    save_state(m, d)
    clear_stages_of_sleep(m, d, stages)
    status = OK
    # stages k_i
    for s in range(stages):
        d.time = start + h * tableau[s, 0]
        stage_state(m, d, h, tableau, s, s)
        status = max(status, acceleration(m, d))
        store_slopes(m, d, s)
    fall_asleep_at(m, d)
    # the new state, with weights b
    stage_state(m, d, h, tableau, stages, stages)
    d.time = start + h
    prescribe(m, d)
    settle_activations(m, d)
    return status


@only_with("sleep")
@kernel
def clear_stages_of_sleep(m, d, stages):
    """Saved state, displacement and slopes of sleeping trees ← those of rest: some may wake between the stages."""
    if d.awake_count[SAVED] != d.awake_count[LISTED]:
        for k in range(m.nq):
            d.qpos_saved[k] = d.qpos[k]
        for i in range(m.nv):
            d.qvel_saved[i] = d.qvel[i]
            d.step_tangent[i] = 0.0 * d.time
            for s in range(stages):
                d.stage_qvel[s * m.nv + i] = d.stage_qacc[s * m.nv + i] = 0.0 * d.time
        d.awake_count[SAVED] = d.awake_count[LISTED]


@only_with("sleep")
@kernel
def fall_asleep_at(m, d):
    """Let trees fall asleep by their velocities at the start of the step, at their positions then."""
    for k in awake_coordinates(m, d):
        d.qpos[k] = d.qpos_saved[k]
    for i in awake_dofs(m, d):
        d.qvel[i] = d.qvel_saved[i]
    before = d.awake_count[LISTED]
    fall_asleep(m, d)
    if d.awake_count[LISTED] != before:
        place_everything(m, d)  # the last stage had other positions


@kernel
def stage_state(m, d, h, tableau, row, stages):
    """qpos, qvel, act ← the saved state advanced by h times the slopes weighted with a row of the tableau.

    Leaves the tangent vector from the step's start in step_tangent [nv], and divided by h in qstep [nv].
    """
    for i in awake_dofs(m, d):
        move = 0.0 * d.qvel_saved[i]
        gain = move
        for j in range(stages):
            weight = tableau[row, j + 1]
            move = move + weight * d.stage_qvel[j * m.nv + i]
            gain = gain + weight * d.stage_qacc[j * m.nv + i]
        d.qstep[i] = move
        d.qvel[i] = d.qvel_saved[i] + h * gain
    for i in awake_dofs(m, d):
        d.step_tangent[i] = h * d.qstep[i]
    displace_awake(m, d, d.qpos_saved, h, d.qstep, d.qpos)
    stage_activations(m, d, h, tableau, row, stages)


@only_with("act")
@kernel
def stage_activations(m, d, h, tableau, row, stages):
    """act ← act_saved plus h times the slopes of the actuator states weighted with a row of the tableau."""
    for k in range(m.nact):
        gain = 0.0 * d.act_saved[k]
        for j in range(stages):
            gain = gain + tableau[row, j + 1] * d.stage_act[j * m.nact + k]
        d.act[k] = d.act_saved[k] + h * gain


@only_with("act")
@kernel
def store_activation_slopes(m, d, s):
    """Store act_dot [nact] as the slopes of stage s."""
    for k in range(m.nact):
        d.stage_act[s * m.nact + k] = d.act_dot[k]


@kernel
def store_slopes(m, d, s):
    """Store the slopes of stage s: rates of the tangent vector step_tangent [nv], accelerations and act_dot."""
    at = s * m.nv
    store_activation_slopes(m, d, s)
    for i in awake_dofs(m, d):
        d.stage_qvel[at + i] = d.qvel[i]
        d.stage_qacc[at + i] = d.qacc[i]
    if not has(m, "uncorrected_rotations"):
        correct_rotations(m, d, at)


@kernel
def correct_rotations(m, d, at):
    """Slopes of rotations of the stage whose slopes begin at number `at`: dexp⁻¹(Θ) ω, in place of ω."""
    for j in awake_joints(m, d):
        kind = m.jnt_type[j]
        if kind == FREE or kind == BALL:
            i = m.jnt_dofadr[j]
            if kind == FREE:
                i += 3
            rate = dexp_inverse(load3(d.step_tangent, i), load3(d.qvel, i))
            store3(d.stage_qvel, at + i, rate)


def explicit_runge_kutta(tableau: ButcherTableau, *, reference: str = "") -> Integrator:
    """The integrator of an explicit Butcher tableau."""
    return Integrator(
        name=tableau.name,
        order=tableau.order,
        kind="explicit",
        reference=reference or tableau.reference,
        step=step,
        parameters=(tableau.table,),
        needs={"nstage": tableau.stages},
    )
