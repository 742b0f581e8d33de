"""Reference motions as prescribed motions (`functions`). Reference: the motion's own positions and derivatives.

Tolerance: rounding of polynomials of fifth order.
"""

import numpy as np

import saltus
from saltus.trajectories.functions import pose_function, scalar_function

MOVED = """
<mujoco><worldbody><body name="hand" mocap="true"><geom size=".1" contype="0"/></body>
  <body pos="1 0 0"><joint name="q" axis="0 1 0"/><geom size=".1" contype="0"/></body></worldbody></mujoco>"""
FREE = '<mujoco><worldbody><body><freejoint name="r"/><geom size=".1"/></body></worldbody></mujoco>'
HINGE = '<mujoco><worldbody><body><joint name="q"/><geom size=".1"/></body></worldbody></mujoco>'


def test_a_mocap_body_and_a_joint_follow_motions():
    points = [[0, 0, 0, 1, 0, 0, 0], [1, 2, 3, 0.8, 0.6, 0, 0], [1, 2, 2, 0.8, 0, 0.6, 0]]
    way = saltus.minimum_jerk(FREE, points, [0.1, 0.5, 1.0])
    swing = saltus.gait(HINGE, [[0], [1], [0.5]], [0, 0.3, 0.6], 0.5)
    motions = {"hand": way.pose("r"), "q": swing.position("q")}
    assert {f.__qualname__.split(".")[0] for f in motions.values()} == {
        pose_function.__name__,
        scalar_function.__name__,
    }
    sim = saltus.Simulation(MOVED, "rk4", motions=motions)
    for _ in range(5):
        sim.step(120)
        sim.forward()
        assert np.allclose(np.r_[sim.mocap_pos[0], sim.mocap_quat[0]], way.qpos(sim.time), rtol=0, atol=1e-12)
        found, wanted = (sim.qpos, sim.qvel, sim.data.qacc), (swing.qpos, swing.qvel, swing.qacc)
        for value, read in zip(found, wanted, strict=True):
            assert np.allclose(value, read(sim.time), rtol=0, atol=1e-9)


def test_functions_of_motions_can_be_called():
    """In plain Python too, before, within and behind a motion, also with whole numbers."""
    points = [[0, 0, 0, 1, 0, 0, 0], [1, 2, 3, 0.8, 0.6, 0, 0], [1, 2, 2, 0.8, 0, 0.6, 0]]
    way = saltus.minimum_jerk(FREE, points, [0.1, 0.5, 2.0])
    swing = saltus.gait(HINGE, [[0], [1], [0.5]], [0, 0.3, 0.6], 0.5, start=0.2)
    pose, position = way.pose("r"), swing.position("q")
    for t in (-0.3, 0, 0.1, 0.37, 0.5, 1, 2.0, 3.7):
        np.testing.assert_allclose(np.concatenate(pose(t)), way.qpos(t), rtol=0, atol=1e-12)
        np.testing.assert_allclose(position(t), swing.qpos(t)[0], rtol=0, atol=1e-12)
