"""Cart and pole: equations of motion by Lagrange's method, an LQR law for them, and a run in which it balances."""

import numpy as np
from scipy.linalg import solve_discrete_are

import saltus

equations = saltus.derive("cart_pole")
print(*equations.equations, sep="\n")
sim = equations.simulation(integrator="rk4", timestep=0.01)
A, B = sim.linearize()  # of one step, upright and at rest; the state is x, theta, and their rates
Q, R = np.diag([1, 10, 1, 1]), np.array([[0.1]])
P = solve_discrete_are(A, B, Q, R)
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
sim.qpos = [0.0, 0.5]  # m, rad
run = sim.run(10, control=lambda sim: -K @ [*sim.qpos, *sim.qvel])
run.plot("balance.png", signals=("x", "theta", "ctrl"))
print(f"after 10 s: x = {run['x'][-1]:.1e} m, theta = {run['theta'][-1]:.1e} rad; at most {abs(run.ctrl).max():.1f} N")
