"""The velocity Verlet method.

    q' = q ⊕ h (v + h/2 a),   v' = v + h/2 (a + a'),   a' = a(q', v + h a)

Where forces depend on velocity (damping, servos, Coriolis forces), a' is evaluated at the velocity predicted by an
Euler step. Its error is of second order in h and enters v' multiplied by h, so the method remains of order two; it is
symplectic only where forces depend on position alone. Actuator states are predicted in the same way and corrected with
the mean of both rates (Heun's method).
"""

from saltus.dynamics.actuator.activation import settle_activations
from saltus.dynamics.tree.manifold import displace
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import save_activations, save_state
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import acceleration


@kernel
def step(m, d, h):
    """One step of h seconds."""
    # a; mean velocity v + h/2 a, predicted velocity v + h a
    status = acceleration(m, d)
    save_state(m, d)
    for i in range(m.nv):
        d.qacc_saved[i] = d.qacc[i]
        d.qstep[i] = d.qvel[i] + 0.5 * h * d.qacc[i]
        d.qvel[i] = d.qvel[i] + h * d.qacc[i]
    # a' at q' and the prediction
    displace(m, d.qpos_saved, h, d.qstep, d.qpos)
    predict_activations(m, d, h)
    d.time = d.time + h
    status = max(status, acceleration(m, d))
    # v' with the mean of both accelerations
    correct_activations(m, d, h)
    for i in range(m.nv):
        d.qvel[i] = d.qvel_saved[i] + 0.5 * h * (d.qacc_saved[i] + d.qacc[i])
    return status


@only_with("act")
@kernel
def predict_activations(m, d, h):
    """act ← act + h act_dot; saves both in act_saved, act_dot_saved."""
    save_activations(m, d)
    for k in range(m.nact):
        d.act_dot_saved[k] = d.act_dot[k]
        d.act[k] = d.act[k] + h * d.act_dot[k]


@only_with("act")
@kernel
def correct_activations(m, d, h):
    """act ← act_saved plus h times the mean of act_dot_saved and act_dot, within the limits."""
    for k in range(m.nact):
        d.act[k] = d.act_saved[k] + 0.5 * h * (d.act_dot_saved[k] + d.act_dot[k])
    settle_activations(m, d)


VELOCITY_VERLET = Integrator(
    name="velocity_verlet",
    order=2,
    kind="symplectic",
    reference="Swope, Andersen, Berens & Wilson (1982); Hairer, Lubich & Wanner (2006), I.1.4",
    step=step,
)
