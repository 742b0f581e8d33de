"""A standing humanoid is pushed forwards at its chest with 150 N for 0.2 s: a film with the contact forces."""

import saltus


def push(sim):
    sim.body("chest").xfrc_applied[0] = 150.0 if 0.5 <= sim.time < 0.7 else 0.0  # N


run = saltus.Simulation("humanoid").run(3, control=push, record="xpos[head]")
print(f"the head ends {run['xpos[head]'][-1, 2]:.2f} m above the floor")
run.video("push.mp4", fps=30, contacts=True)
