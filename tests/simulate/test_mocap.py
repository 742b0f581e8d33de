"""Mocap bodies, moved from outside, in single runs and batches.

Law: MuJoCo 4.0's step with the same poses. Tolerance: its own integrators over 200 steps with constraints, 1e-9.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete

import saltus

HAND = """<mujoco><option timestep=".002" integrator="{}"/><size nuserdata="3"/><worldbody>
  <body name="hand" mocap="true" pos="0 0 1" quat="1 .2 0 0">
    <geom type="box" size=".2 .2 .02"/><body pos="0 0 .2"><geom size=".05"/></body>
  </body>
  <body name="load" pos=".1 0 .5"><freejoint/><geom type="box" size=".05 .1 .05"/></body>
  <body name="ball" pos=".02 0 1.2"><freejoint/><geom size=".05"/></body></worldbody>
  <equality><weld body1="hand" body2="load"/></equality>
  <keyframe><key name="there" mpos="1 2 3" mquat="0 1 0 0"/></keyframe></mujoco>"""


def pose(k):
    return [0.3 * np.sin(0.01 * k), 0, 1 + 0.1 * np.sin(0.03 * k)], [1, 0.2, 0.1 * np.sin(0.02 * k), 0]


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_motion_from_outside(integrator):
    """A hand that carries one body by a weld and another by contact."""
    m = complete(HAND.format(integrator))
    d, sim, batch = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), saltus.Batch(saltus.load(m), 3)
    for k in range(200):
        position, quat = pose(k)
        for each in (d, sim):
            each.mocap_pos[0], each.mocap_quat[0] = position, quat
        batch.mocap_pos, batch.mocap_quat = np.array(position), np.array(quat)
        mujoco.mj_step(m, d)
        sim.step()
        batch.step()
        np.testing.assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-9)
    assert d.ncon > 0
    np.testing.assert_allclose(batch.qpos, np.tile(d.qpos, (3, 1)), rtol=0, atol=1e-9)


def test_starts_and_keyframes():
    sim = saltus.Simulation(HAND.format("Euler"))
    np.testing.assert_allclose(sim.mocap_pos, [[0, 0, 1]])
    np.testing.assert_allclose(sim.mocap_quat[0] / sim.mocap_quat[0, 0], [1, 0.2, 0, 0])
    sim.reset("there")
    np.testing.assert_array_equal(sim.mocap_pos, [[1, 2, 3]])
    np.testing.assert_array_equal(sim.mocap_quat, [[0, 1, 0, 0]])
    np.testing.assert_allclose(sim.data.xpos[1], [1, 2, 3])
    batch = saltus.Batch(HAND.format("Euler"), 2)
    np.testing.assert_array_equal(batch.mocap_pos.shape, (2, 1, 3))


def test_userdata_is_kept():
    """It means nothing to the physics, is part of snapshots, and a controller may read it."""
    sim = saltus.Simulation(HAND.format("Euler"))
    assert sim.userdata.shape == (3,)
    sim.userdata[:] = [1, 2, 3]
    kept = sim.snapshot()
    sim.reset()
    assert not sim.userdata.any()
    sim.restore(kept)
    np.testing.assert_array_equal(sim.userdata, [1, 2, 3])
