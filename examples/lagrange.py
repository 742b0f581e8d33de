"""The equations of the double pendulum: derived, shown, run, and written as code.

Lagrange's method in the joints' angles and in angles against the world; the same motion from both, and from the
numeric engine, which knows nothing of either. Then what a torque in the second joint is in angles against the world:
it turns the second rod forwards and the first backwards, and leaving the latter out is a common mistake.

    python examples/lagrange.py [pendulum.c]
"""

import sys

import numpy as np

import saltus

letters = {  # the lecture's: m1, m2 at the ends of rods of lengths l1, l2
    "body_mass[upper]": "m1",
    "body_mass[lower]": "m2",
    "body_ipos[upper][2]": "-l1",
    "body_pos[lower][2]": "-l1",
    "body_ipos[lower][2]": "-l2",
    "opt.gravity[2]": "-g",
}
absolute = saltus.derive("double_pendulum", "absolute", letters)
print("T =", absolute.kinetic)
print("V =", absolute.potential)
for equation in absolute.equations:
    print(equation.lhs, "=", equation.rhs)

print("\nThe same second of motion, from each of them and from the engine:")
engine = saltus.Simulation("double_pendulum", "rk4", timestep=0.001)
engine.run(1.0)
print("  engine  ", engine.qpos)
for orientation in ("relative", "absolute"):
    equations = saltus.derive("double_pendulum", orientation)
    sim = equations.simulation(integrator="rk4", timestep=0.001)
    sim.run(1.0)
    apart = abs(sim.qpos - engine.qpos).max()
    print(f"  {orientation}", sim.qpos, f"differs by {apart:.0e} rad; {equations.count_ops().total} operations")

print("\nA torque tau2 = 5 N m in the second joint, hanging at rest:")
hanging = absolute.from_joint([0.0, 0.0], [0.0, 0.0])
M, bias = absolute.lambdify()(*hanging)
print("  right, Q = (-tau2, tau2):", absolute.acceleration(*hanging, {"tau2": 5.0}))
print("  wrong, Q = (0, tau2):    ", np.linalg.solve(M, [0.0, 5.0] - bias))

path = sys.argv[1] if len(sys.argv) > 1 else "pendulum.c"
absolute.c(path)
print(f"\nwrote {path}")
