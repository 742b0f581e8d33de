"""Actuators that pull on contacts.

Law: MuJoCo 4.0's `adhesion` actuator; a box held at a ceiling hangs when the pull exceeds its weight. Tolerance: moment
arms follow from contacts that agree to 1e-13; accelerations through the constraint solver, 1e-8.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete, put
from helpers.plain_or_slow import plain_or_slow

import saltus

GRIPPER = """<mujoco><option cone="{cone}"/><worldbody>
  <geom name="ceiling" type="plane" pos="0 0 1" euler="180 0 0" size="2 2 .1" margin=".02" gap=".02"/>
  <body name="box" pos="0 0 .895" euler="3 0 0"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="ball" pos="0 0 .6"><freejoint/><geom size=".1" mass="1" margin=".01" gap=".01"/></body></worldbody>
  <actuator><adhesion body="box" ctrlrange="0 1" gain="30"/><adhesion body="ball" ctrlrange="0 1" gain="3"/></actuator>
</mujoco>"""


def dense_moment(m, d):
    out = np.zeros((m.nout, m.nv))
    mujoco.mju_sparse2dense(out, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    return out


@plain_or_slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_moment_arms_and_accelerations(cone):
    """With contacts that act, contacts in the gap, and none."""
    m = complete(GRIPPER.format(cone=cone))
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    d.ctrl[:] = 0.9, 0.5
    seen = set()
    for k in range(60):
        mujoco.mj_step(m, d, 5)
        if k == 30:
            d.ctrl[:] = 0.1, 0.5
        mujoco.mj_forward(m, d)
        put(sim, d)
        np.testing.assert_allclose(sim.data.actuator_moment, dense_moment(m, d), rtol=0, atol=1e-12)
        np.testing.assert_allclose(sim.data.qfrc_actuator, d.qfrc_actuator, rtol=0, atol=1e-10)
        scale = max(1.0, abs(d.qacc).max())
        np.testing.assert_allclose(sim.data.qacc, d.qacc, rtol=0, atol=1e-8 * scale)
        seen.add((d.ncon > 0, d.nefc > 0))
    assert {(True, True), (False, False)} <= seen


@pytest.mark.slow
def test_it_holds_a_weight():
    """Up to its own weight of 9.81 N the box stays at the ceiling, beyond it falls."""
    for pull, stays in ((12.0, True), (8.0, False)):
        sim = saltus.Simulation(GRIPPER.format(cone="elliptic"))
        sim.ctrl[0] = pull / 30
        sim.step(500)
        assert (sim.qpos[2] > 0.85) == stays


@pytest.mark.slow
def test_lanes_equal_floats():
    sim = saltus.Simulation(GRIPPER.format(cone="elliptic"))
    batch = saltus.Batch(GRIPPER.format(cone="elliptic"), 3)
    sim.ctrl[:] = 0.5, 0.2
    batch.ctrl = np.array([0.5, 0.2])
    sim.step(50)
    batch.step(50)
    np.testing.assert_allclose(batch.qpos, np.tile(sim.qpos, (3, 1)), rtol=0, atol=1e-9)
