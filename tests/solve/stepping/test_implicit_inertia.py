"""Implicit dampers in batches under `moreau_jean`: each lane does what a simulation alone does.

Reference: the same steps one at a time; the sums are the same, and 1e-14 is some roundings of them.
"""

import numpy as np
import pytest

import saltus

PAIR = """<mujoco><option timestep=".005"/><worldbody><body><joint name="a" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0"/><body pos=".4 0 0"><joint name="b" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".03" contype="0"/></body></body></worldbody>
  <tendon><fixed name="t" damping="{}"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
  <actuator><motor joint="a"/></actuator></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.5, 500.0])
def test_dampers_that_couple_joints(damping):
    """With few and with much damping of a tendon over both joints."""
    model = saltus.load(PAIR.format(damping))
    batch = saltus.Batch(model, 3, integrator="moreau_jean")
    batch.qvel[:] = np.random.default_rng(0).normal(size=(3, 2))
    start = batch.qvel.copy()
    batch.step(40)
    for k in range(3):
        sim = saltus.Simulation(model, "moreau_jean")
        sim.qvel[:] = start[k]
        sim.step(40)
        np.testing.assert_allclose(batch.qpos[k], sim.qpos, rtol=0, atol=1e-14)
        np.testing.assert_allclose(batch.qvel[k], sim.qvel, rtol=0, atol=1e-13)
