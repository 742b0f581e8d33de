"""Geoms are kept apart in inverse kinematics. Reference: MuJoCo's distance of geoms in what was found."""

import mujoco
import numpy as np
import pytest

import saltus

REACHER = """
<mujoco><worldbody>
  <geom name="post" type="capsule" fromto=".3 0 -1 .3 0 1" size=".04"/>
  <body name="cart"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="turn" axis="0 0 1"/><geom name="rod" type="capsule" fromto="0 0 0 .2 0 0" size=".03"/>
    <geom name="ball" type="sphere" pos="-.2 0 0" size=".03"/><site name="tip" pos=".2 0 0"/></body>
</worldbody></mujoco>"""


def distance(m, qpos, one, other):
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    return mujoco.mj_geomDistance(m, d, m.geom(one).id, m.geom(other).id, 10.0, None)


@pytest.mark.slow
def test_geoms_keep_their_distance():
    """Where the target is inside, all that is missing of the distance is its share by the weights, 1e-4."""
    model = saltus.load(REACHER)
    m = model.mujoco
    inside = [0.3, 0.0, 0.0]
    free = saltus.ik(model, {"tip": inside})
    assert free.reached
    assert distance(m, free.qpos, "rod", "post") < 0
    kept = saltus.ik(model, {"tip": inside}, collision=0.05)
    assert not kept.reached
    assert distance(m, kept.qpos, "rod", "post") == pytest.approx(0.05, abs=1e-4)
    assert kept.residual["tip"] == pytest.approx(0.04 + 0.03 + 0.05, abs=1e-3)
    assert "tip is" in kept.failed
    behind = saltus.ik(model, {"tip": [0.5, 0.05, 0.0]}, start=[0, 0.3, 0], collision=(0.05, [("post", "rod")]))
    assert behind.reached, behind.failed
    assert distance(m, behind.qpos, "rod", "post") >= 0.05 - 2e-6
    assert behind.residual["collision"] <= 1e-6
    with pytest.raises(saltus.OptionError, match="never touch"):
        saltus.ik(model, {"tip": inside}, collision=(0.05, [("ball", "rod")]))
    assert np.isfinite(kept.qpos).all()
