"""Position Verlet, the method of Störmer.

    q₁ = q₀ ⊕ (h v₀ + h²/2 a₀),   qₙ₊₁ = qₙ ⊕ (qₙ ⊖ qₙ₋₁ + h² aₙ),   vₙ = (qₙ₊₁ ⊖ qₙ₋₁) / 2h

Kept as the mean velocity w over the last step, so that differences of positions do not lose digits: w' = w + h a,
q' = q ⊕ h w', v' = w' + h/2 a'. The first step after the method is chosen, or after the state or step has been
changed from outside, is the initial one. a' takes the velocity w' + h/2 a, which keeps second order where forces
depend on velocity; states of actuators as in `velocity_verlet`.
"""

from saltus.dynamics.tree.manifold import displace
from saltus.integrate.fixed.velocity_verlet import correct_activations, predict_activations
from saltus.integrate.integrator import Integrator
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration


@kernel
def step(m, d, h):
    """One step of h seconds. memory = (the step it was made with or 0, w [nv])."""
    status = acceleration(m, d)
    going = d.memory[0] == h
    for i in range(m.nv):
        a = d.qacc[i]
        w = where(going, d.memory[1 + i] + h * a, d.qvel[i] + 0.5 * h * a)
        d.memory[1 + i] = w
        d.qvel[i] = w + 0.5 * h * a
    for i in range(m.nv):
        d.qstep[i] = d.memory[1 + i]
    d.memory[0] = 0.0 * d.time + h
    displace(m, d.qpos, h, d.qstep, d.qpos)
    predict_activations(m, d, h)
    d.time = d.time + h
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
