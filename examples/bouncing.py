"""What do the parameters of a soft contact mean? Ask before running, then watch a ball bounce.

`contact_law` turns solref and solimp into stiffness, damping, penetration at rest and restitution, and
`contact_parameters` goes the other way. Then a ball falls on a floor with a contact of the wanted behaviour.

The restitution of 0.6 that is asked for is that of an impact at 1 m/s (`speed`). The ball falls 0.5 m and comes with
sqrt(2 g 0.5 m) = 3.13 m/s. It sinks deeper, where the impedance has another value, and the law's own restitution
there is 0.616; steps of 0.5 ms add 0.003. Ask for the speed that matters: `contact_parameters(..., speed=3.13)`.

    python examples/bouncing.py
"""

from dataclasses import replace

import saltus

print(saltus.contact_law(solref=(0.02, 1), mass=1.0))

wanted = saltus.contact_parameters(penetration=1e-4, restitution=0.6, mass=1.0, timestep=0.0005)
print(f"\n0.1 mm at rest and a restitution of 0.6: solref = {wanted.solref[0]:.6g} {wanted.solref[1]:.6g}")

model = saltus.load("bouncing_ball").mujoco
model.geom_solref[model.geom("ball").id] = wanted.solref
model.geom_solimp[model.geom("ball").id] = wanted.solimp
sim = saltus.Simulation(saltus.load(model), "rk4", timestep=0.0005)
sim.qpos = 0.5
trajectory = sim.run(2.0, sample=0.001)
touching = trajectory.contact_state[:, 0]
bounces = trajectory.time[1:][touching[1:] & ~touching[:-1]]
print(f"touches at {', '.join(f'{t:.3f}' for t in bounces[:4])} s")
after = (trajectory.time > bounces[0]) & (trajectory.time < bounces[1])
apex = trajectory.qpos[after, 0].max()
print(f"apex {apex:.4f} m of 0.5 m: restitution {(apex / 0.5) ** 0.5:.3f}")
speed = (2 * wanted.gravity * 0.5) ** 0.5
print(f"the law at {wanted.speed:g} m/s: {wanted.restitution:.3f}, at {speed:.2f} m/s: ", end="")
print(f"{replace(wanted, speed=speed).restitution:.3f}")
