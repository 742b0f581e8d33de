"""The lab with sliders, a button, a plot and drawings added: a pendulum on a spring that Python computes.

python examples/lab_extras.py [--no-browser]: it goes on until Ctrl-C.
"""

import contextlib
import sys

import saltus
from saltus import lab


def place(sim, angle):
    """Where the pendulum is put, and starts after a reset."""
    sim.qpos[0] = angle


def push(sim):
    """A jerk forwards."""
    sim.qvel[0] += 2.0


def spring(sim):
    """The torque of the spring, before every step."""
    sim.qfrc_applied[0] = -stiffness.value * sim.qpos[0]


def draw(sim):
    """Where the pull of the spring points, in the frame of the pendulum's body; and its torque in figures."""
    torque = float(sim.qfrc_applied[0])
    pull = lab.arrow([0, 0, -1], [-torque / 50, 0, -1], color="green", width=0.05, body="pendulum")
    return [pull, lab.text([0.3, 0, -1], f"{torque:.1f} N m", body="pendulum")]


sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
with lab.open(sim, browser="--no-browser" not in sys.argv) as view:
    stiffness = view.slider("stiffness", 0, 100, value=20, unit="N m/rad")
    view.slider("start", -3, 3, value=1, unit="rad", on_change=place)
    view.button("Push", push)
    view.plot("torque of the spring", lambda sim: sim.qfrc_applied[0], unit="N m")
    view.before_step(spring)
    view.draw(draw)
    print(f"lab: {view.url}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        view.wait()
