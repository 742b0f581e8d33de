"""A little of everything that is compiled, for machines on which the other tests would take hours: emulated ones.

References: the recursion of semi-implicit Euler, written out; free fall and Newton's law of restitution. A step rounds
some ten times, so that 1e-13 bounds what 20 steps of a pendulum differ by; a parabola is what dopri5 finds exactly.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import saltus
from saltus.number.processor import architecture, cpu_name, register_bits

G, LENGTH, STEP = 9.81, 2.0, 0.05
STARTS = np.linspace(-3.0, 3.0, 8)


def swung(theta, steps):
    """Angles and velocities of pendulums after steps of semi-implicit Euler from rest."""
    omega = np.zeros_like(theta)
    for _ in range(steps):
        omega = omega - STEP * G / LENGTH * np.sin(theta)
        theta = theta + STEP * omega
    return theta, omega


def test_steps_of_one_pendulum():
    sim = saltus.Simulation("pendulum", "euler")
    sim.qpos[:] = STARTS[1]
    sim.step(20)
    theta, omega = swung(STARTS[1:2], 20)
    np.testing.assert_allclose(np.append(sim.qpos, sim.qvel), np.append(theta, omega), rtol=0, atol=1e-13)


def test_pendulums_in_lanes():
    """Each lane is a pendulum of its own, and the same bits wherever it is."""
    batch, turned = (saltus.Batch("pendulum", 8, threads=1, integrator="euler") for _ in range(2))
    batch.qpos, turned.qpos = STARTS[:, None], STARTS[::-1, None]
    batch.step(20)
    turned.step(20)
    np.testing.assert_allclose(batch.qpos[:, 0], swung(STARTS, 20)[0], rtol=0, atol=1e-13)
    assert np.array_equal(batch.qpos, turned.qpos[::-1])


@pytest.mark.slow
def test_a_hard_bounce():
    """Dropped by 0.5 m, with restitution 1/2: it touches after √(2 h/g) and rises with half its velocity."""
    sim = saltus.Simulation("bouncing_ball", contact=saltus.Hard(restitution=0.5))
    sim.reset("dropped")
    fall = np.sqrt(2 * 0.5 / G)
    run = sim.run(0.5, certify=False)
    left = 0.5 - fall
    expected = 0.5 * G * fall * left - 0.5 * G * left**2
    assert run.qpos[-1, 0] == pytest.approx(expected, abs=1e-10)


AGAIN = """
import saltus
from saltus.number.cache import storage
made, write_whole = [], storage.write_whole
storage.write_whole = lambda path, content: (made.append(str(path)), write_whole(path, content))
sim = saltus.Simulation("pendulum", "euler")
sim.qpos[:] = {start!r}
sim.step(20)
print(sim.qpos.tobytes().hex(), sum(path.endswith(".nbc") for path in made))
"""


def test_another_process_finds_what_was_compiled():
    """Under a key that names the architecture; it compiles nothing, and the bits are the same."""
    assert cpu_name().split("-")[0] == architecture() and register_bits() in (128, 256, 512)
    sim = saltus.Simulation("pendulum", "euler")
    sim.qpos[:] = STARTS[2]
    sim.step(20)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = AGAIN.format(start=float(STARTS[2]))
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [sim.qpos.tobytes().hex(), "0"]
