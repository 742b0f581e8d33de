"""How gains of a PID servo shape a pendulum's way to 1 rad: overshoot, settling time, and a figure of all runs."""

import saltus

sim = saltus.Simulation("pendulum", integrator="rk4", timestep=0.01)
runs = []
for kd in (20, 60, 120):  # N m s/rad
    sim.reset()
    sim.qpos = 0.0  # hanging
    runs.append(sim.run(10, sample=0.01, control=saltus.PID(kp=400, ki=200, kd=kd, target=1.0)))
    angle, time = runs[-1]["theta"], runs[-1].time
    settled = time[abs(angle - 1.0) > 0.02][-1]
    print(f"kd = {kd} N m s/rad: overshoot {100 * (angle.max() - 1.0):.1f} %, within 2 % after {settled:.2f} s")
runs[0].plot("pid.png", signals=("theta", "ctrl"), others=runs[1:])
