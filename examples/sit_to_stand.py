"""A man rises from a seat by eight muscles: contact, its events and the phases of the actuation as one hybrid system.

He leans forwards, rises once he leans far enough, and balances once he is off the seat; each muscle follows a stretch
reflex (see saltus/lab/scene/sit_to_stand.py). Contact is hard: what touches does not sink in, impacts are plastic,
friction is Coulomb's with 0.8. Events are located in time, those of contact and those that change the phase.

    python examples/sit_to_stand.py [sit_to_stand.mp4]
"""

import sys

import numpy as np

import saltus
from saltus.lab.scene.sit_to_stand import standing_up

PHASES = ("leaning", "rising", "standing")
sim = saltus.Simulation("sit_to_stand", contact="hard", control=standing_up())
run = sim.run(5, sample=1 / 60)

print("time      kind       of               impulse, N s")
for event in run.events:
    impulse = f"{event['impulse'][0]:.3f}" if event["kind"] == "impact" else ""
    what = " ".join(part for part in (event["other"], event["name"]) if part)
    print(f"{event['time']:.4f} s  {event['kind']:9s}  {what:20s} {impulse}".rstrip())

phase = run.actuation_state[:, 0].astype(int)
starts = np.flatnonzero(np.diff(phase, prepend=-1))
for first, last in zip(starts, [*starts[1:] - 1, len(run) - 1], strict=True):
    print(f"{PHASES[phase[first]]}: {run.time[first]:.2f} to {run.time[last]:.2f} s")

weight = 9.81 * sim.model.body_subtreemass[0]
points = run.names["contact"]
of = {place: [k for k, name in enumerate(points) if place in name.split()] for place in ("seat", "floor")}
print(f"weight {weight:.1f} N; upward forces:")
for time in (0.1, 0.8, 1.1, 1.5, 5.0):
    force = np.abs(run.contact_force[round(time * 60), :, 2])
    print(f"    {time:.1f} s: seat {force[of['seat']].sum():6.1f} N, floor {force[of['floor']].sum():6.1f} N")

com = run.qpos[-60:, :3]
print(f"in the last second he moves by at most {1000 * np.ptp(com[:, :2], axis=0).max():.1f} mm")

film = sys.argv[1] if len(sys.argv) > 1 else "sit_to_stand.mp4"
run.video(film, fps=30, contacts=True)
print(f"wrote {film}")
