"""The semi-implicit update on the configuration manifold, and the saved state of a step."""

from saltus.dynamics.actuator.activation import advance_activations
from saltus.dynamics.awake.walks import awake_coordinates, awake_dofs
from saltus.dynamics.motions import prescribe
from saltus.dynamics.tree.manifold import displace_awake
from saltus.number.kernels import kernel, only_with
from saltus.solve.sleep.falling_asleep import fall_asleep


@kernel
def advance(m, d, h):
    """v' = v + h a, q' = q ⊕ h v', t' = t + h, with the accelerations a in qacc [nv]; actuator states likewise.

    Trees that fall asleep first keep their positions. Prescribed motions have their values at t'.
    """
    advance_activations(m, d, h)
    fall_asleep(m, d)
    for i in awake_dofs(m, d):
        d.qvel[i] = d.qvel[i] + h * d.qacc[i]
    displace_awake(m, d, d.qpos, h, d.qvel, d.qpos)
    d.time = d.time + h
    prescribe(m, d)


@kernel
def save_state(m, d):
    """Save the state in qpos_saved, qvel_saved, act_saved."""
    for k in awake_coordinates(m, d):
        d.qpos_saved[k] = d.qpos[k]
    for i in awake_dofs(m, d):
        d.qvel_saved[i] = d.qvel[i]
    save_activations(m, d)


@only_with("act")
@kernel
def save_activations(m, d):
    """Save the actuator states in act_saved [nact]."""
    for k in range(m.nact):
        d.act_saved[k] = d.act[k]
