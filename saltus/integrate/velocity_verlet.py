"""Velocity Verlet.

    q' = q ⊕ h (v + h/2 a),   v' = v + h/2 (a + a'),   a' = a(q', v + h a)

Where forces depend on velocity (damping, servos, Coriolis forces), a' takes the velocity predicted by an Euler
step. Its error is of second order in h and enters v' multiplied by h, so the method stays of second order; it is
symplectic only where forces depend on position alone.
"""

from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import displace, save_state
from saltus.number.kernels import kernel
from saltus.solve.acceleration import acceleration


@kernel
def step(m, d, h):
    """One step of h seconds."""
    status = acceleration(m, d)
    save_state(m, d)
    for i in range(m.nv):
        d.qacc_saved[i] = d.qacc[i]
        d.qstep[i] = d.qvel[i] + 0.5 * h * d.qacc[i]
        d.qvel[i] = d.qvel[i] + h * d.qacc[i]
    displace(m, d.qpos_saved, h, d.qstep, d.qpos)
    d.time = d.time + h
    status = max(status, acceleration(m, d))
    for i in range(m.nv):
        d.qvel[i] = d.qvel_saved[i] + 0.5 * h * (d.qacc_saved[i] + d.qacc[i])
    return status


VELOCITY_VERLET = Integrator(
    name="velocity_verlet",
    order=2,
    kind="symplectic",
    reference="Swope, Andersen, Berens & Wilson (1982); Hairer, Lubich & Wanner (2006), I.1.4",
    step=step,
)
