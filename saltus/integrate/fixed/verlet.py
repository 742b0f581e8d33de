"""The position Verlet (Störmer) method.

    q₁ = q₀ ⊕ (h v₀ + h²/2 a₀),   qₙ₊₁ = qₙ ⊕ (qₙ ⊖ qₙ₋₁ + h² aₙ),   vₙ = (qₙ₊₁ ⊖ qₙ₋₁) / 2h

In terms of the mean velocity w over the last step, so that differences of positions do not lose digits: w' = w + h a,
q' = q ⊕ h w', v' = w' + h/2 a'. The first step after the method is chosen, or after the state or the step size has been
changed from outside, is the starting one. a' is evaluated at the velocity w' + h/2 a, which preserves order two where
forces depend on velocity; actuator states are treated as in `velocity_verlet`.
"""

from saltus.dynamics.tree.manifold import displace
from saltus.integrate.fixed.velocity_verlet import correct_activations, predict_activations
from saltus.integrate.integrator import Integrator
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration


@kernel
def step(m, d, h):
    """One step of h seconds. memory = (size of the step that made it, or 0; w [nv])."""
    # w' = w + h a, or v + h/2 a in the starting step
    status = acceleration(m, d)
    going = d.memory[0] == h
    for i in range(m.nv):
        a = d.qacc[i]
        w = where(going, d.memory[1 + i] + h * a, d.qvel[i] + 0.5 * h * a)
        d.memory[1 + i] = w
        d.qvel[i] = w + 0.5 * h * a
    # q' = q ⊕ h w'
    for i in range(m.nv):
        d.qstep[i] = d.memory[1 + i]
    d.memory[0] = 0.0 * d.time + h
    displace(m, d.qpos, h, d.qstep, d.qpos)
    predict_activations(m, d, h)
    d.time = d.time + h
    # v' = w' + h/2 a'
    status = max(status, acceleration(m, d))
    correct_activations(m, d, h)
    for i in range(m.nv):
        d.qvel[i] = d.memory[1 + i] + 0.5 * h * d.qacc[i]
    return status


VERLET = Integrator(
    name="verlet",
    order=2,
    kind="symplectic",
    reference="Verlet (1967); Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), I.1.4",
    step=step,
    needs={"memory": (1, 1)},
)
