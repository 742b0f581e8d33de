"""Impacts located in time: a ball that comes to rest after infinitely many bounces, a cradle, and what a law decides.

The times of the ball's impacts are those of the closed form to the last digit but one; the cradle's balls leave as they
came, and another treatment of the same impact would have thrown them all.

    python examples/hard_contact.py [ball.png]
"""

import math
import sys

import numpy as np

import saltus

ball = saltus.Simulation("bouncing_ball", contact=saltus.Hard(restitution=0.8))
ball.qpos[0] = 1.0
trajectory = ball.run(5.0, sample=0.005)
events = trajectory.events
impacts = events["time"][events["kind"] == "impact"][:20]
first = math.sqrt(2 / 9.81)
expected = first * (1 + 2 * np.concatenate(([0.0], np.cumsum(0.8 ** np.arange(1, 20)))))
print(f"20 impacts, off by {np.abs(impacts / expected - 1).max():.1e} of their times")
rest = events["time"][events["kind"] == "zeno"][0]
print(f"infinitely many are over at {rest:.12f} s, {rest - 9 * first:+.1e} s from the closed form")
trajectory.plot(sys.argv[1] if len(sys.argv) > 1 else "ball.png")

balls = "".join(
    f'<body pos="{x} 0 0"><joint type="slide" axis="1 0 0"/>'
    f'<geom name="ball{k}" size="0.0625" mass="1" condim="1"/></body>'
    for k, x in enumerate([-0.25, 0.125, 0.25, 0.375, 0.5])  # the first is on its way to four that touch
)
row = f'<mujoco><option gravity="0 0 0"/><worldbody>{balls}</worldbody></mujoco>'
cradle = saltus.Simulation(row, contact=saltus.Hard(restitution=1.0))
cradle.qvel[0] = 1.0
print(cradle.impact_report())
run = cradle.run(1.0, sample=0.01)
print(f"velocities after: {np.array2string(run.qvel[-1], precision=12, suppress_small=True)} m/s")
