"""How accurate is a run? Ask for its certificate.

A double pendulum for three seconds under three integrators. `certify=True` repeats each run with half and a quarter of
the step: the differences show the order that the method really has here, and bound the error. Then the same for a run
whose steps are too large for so long a time, which the certificate finds out.

    python examples/accuracy.py
"""

import saltus

exact = saltus.Simulation("double_pendulum", "dopri5", tolerance=(1e-13, 1e-14)).run(3.0)
for integrator in ("euler", "velocity_verlet", "rk4"):
    trajectory = saltus.Simulation("double_pendulum", integrator, timestep=0.005).run(3.0, certify=True)
    certificate = trajectory.certificate
    true_error = abs(trajectory.qpos[-1] - exact.qpos[-1]).max()
    stated = f"stated error {certificate.final_error:.1e} rad, true error {true_error:.1e} rad"
    print(f"{integrator:16s} {stated}, observed order {certificate.observed_order:.2f}")

print()
print(saltus.Simulation("double_pendulum", "euler", timestep=0.05).run(20.0, certify=True).certificate)
