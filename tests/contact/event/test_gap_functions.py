"""Gap functions: contact points that a pair does not have at a pose are absent, not far away.

Reference: MuJoCo's contacts of the same pose, whose number a margin wide enough makes that of all points.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.contact.counts import NCON
from saltus.contact.event.gap_functions import ABSENT
from saltus.simulate.engine import loops

pytestmark = pytest.mark.usefixtures("one_hard_layout")

PAIR = """<mujoco>
  <default><geom margin="10"/></default>
  <worldbody>
    <body><freejoint/><geom type="capsule" size="0.05 0.1"/></body>
    <body><freejoint/><geom type="box" size="0.1 0.07 0.05"/></body>
  </worldbody>
</mujoco>"""


def test_points_that_do_not_exist_are_absent():
    sim = saltus.Simulation(PAIR, contact="hard")
    m, d = sim.engine.m, sim.engine.d
    model = mujoco.MjModel.from_xml_string(PAIR)
    data = mujoco.MjData(model)
    rng, counts = np.random.default_rng(0), set()
    for _ in range(50):
        pose = rng.normal(size=14)
        pose[:3], pose[7:10] = 0.03 * pose[:3] + [0.0, 0.0, 0.12], 0.0
        pose[3:7] /= np.linalg.norm(pose[3:7])
        pose[10:14] /= np.linalg.norm(pose[10:14])
        data.qpos[:] = d.views["qpos"][:] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        loops.gaps(m, d)
        there = d.views["slot_contact"] >= 0
        assert there.sum() == d.views["count"][NCON] == data.ncon
        assert (d.views["gap"][there] < 1.0).all() and (d.views["gap"][~there] == ABSENT).all()
        counts.add(data.ncon)
    assert counts == {1, 2}
