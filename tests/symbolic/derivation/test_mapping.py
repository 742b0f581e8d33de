"""States go to other coordinates and come back the same; what they stand for is where MuJoCo puts the bodies."""

import mujoco
import numpy as np
import pytest
from helpers.derived import SPATIAL, Numbers, random_state
from helpers.planar_tree import planar_tree

import saltus
from saltus.symbolic import derive

MODELS = ["double_pendulum", "cart_pole", "spring", "top", "free_body", "chain", SPATIAL]
MODELS += [planar_tree(seed, bodies=4, normal=seed % 3, floating=seed > 3) for seed in range(7)]


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ["relative", "absolute", "maximal"])
@pytest.mark.parametrize("model", MODELS, ids=[m if len(m) < 20 else f"model{k}" for k, m in enumerate(MODELS)])
def test_there_and_back(model, orientation):
    e = derive(model, orientation)
    for seed in range(3):
        qpos, qvel = random_state(e, seed)
        back, rates = e.to_joint(*e.from_joint(qpos, qvel))
        for joint in e.mechanism.joints:
            if joint.kind in ("free", "ball"):  # a quaternion and its negative are the same orientation
                part = slice(joint.qposadr + joint.nq - 4, joint.qposadr + joint.nq)
                back[part] *= np.sign(back[part] @ qpos[part])
        assert np.allclose(back, qpos, atol=1e-12) and np.allclose(rates, qvel, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ["relative", "absolute", "maximal"])
@pytest.mark.parametrize("model", MODELS, ids=[m if len(m) < 20 else f"model{k}" for k, m in enumerate(MODELS)])
def test_bodies_are_where_mujoco_puts_them(model, orientation):
    e = derive(model, orientation)
    qpos, qvel = random_state(e)
    places, velocities = Numbers(e)(*e.from_joint(qpos, qvel), "positions", "velocities")
    m = e.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = qpos, qvel
    mujoco.mj_forward(m, d)
    assert np.allclose(places, d.xipos, atol=1e-12)
    for b in range(1, m.nbody):
        found = np.zeros(6)
        mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, b, found, 0)
        there = found[3:] + np.cross(found[:3], d.xipos[b] - d.xpos[b])
        assert np.allclose(velocities[b], there, atol=1e-11)


@pytest.mark.parametrize("orientation", ["relative", "absolute", "maximal"])
def test_states_of_the_wrong_size(orientation):
    e = derive("double_pendulum", orientation)
    with pytest.raises(saltus.OptionError, match="qpos has 3 numbers; expected 2"):
        e.from_joint([1, 2, 3], [1, 2])
    n = len(e.q)
    with pytest.raises(saltus.OptionError, match=f"v has 1 numbers; expected {n}"):
        e.to_joint(np.zeros(n), [1])


def test_lists_are_taken_and_left_alone():
    e = derive("double_pendulum", "absolute")
    qpos = np.array([0.1, 0.2])
    q, _ = e.from_joint(qpos, [0, 0])
    q += 1
    assert np.array_equal(qpos, [0.1, 0.2])
