"""Where things are at a moment, tendons' paths included.

References: MuJoCo's mj_forward; the lengths that it gives tendons, which along spheres and cylinders are those of
geodesics, of which the path here is a polygon of at most 8 pieces an arc.
"""

import mujoco
import numpy as np
import pytest
from helpers.files import EVERYTHING, shared

import saltus
from saltus import OptionError
from saltus.draw.scene.poses import Poses
from saltus.draw.scene.scene import scene

TENDONS = """
<mujoco><worldbody>
  <site name="a" pos="-1 .02 .1"/><site name="b" pos="1 0 0"/>
  <site name="c" pos="-1 .3 0"/><site name="d" pos="1 .5 0"/>
  <site name="above" pos="0 0 .5"/><site name="inner" pos=".05 0 1"/>
  <body pos="0 0 0"><joint name="x" type="slide" axis="0 0 1"/><joint name="t" type="hinge" axis="0 1 0"/>
    <geom name="ball" size=".3" mass="1"/></body>
  <body pos="0 .4 0"><joint name="u" type="hinge" axis="1 0 0"/><joint name="v" type="slide" axis="0 0 1"/>
    <geom name="roll" type="cylinder" size=".2 .3" euler="80 0 0" mass="1"/><site name="e" pos="0 .3 .3"/></body>
  <site name="f" pos=".5 0 1"/><site name="g" pos="0 .5 1"/>
  <body pos=".1 .1 1"><geom name="ring" type="cylinder" size=".4 .3"/><joint name="w" type="slide"/></body>
</worldbody><tendon>
  <spatial name="over_ball" width=".01"><site site="a"/><geom geom="ball" sidesite="above"/><site site="b"/></spatial>
  <spatial name="over_roll" width=".01"><site site="c"/><geom geom="roll"/><site site="d"/></spatial>
  <spatial name="pulley" width=".01"><site site="a"/><geom geom="ball"/><site site="b"/><pulley divisor="2"/>
    <site site="c"/><site site="e"/><pulley divisor="2"/><site site="c"/><site site="d"/></spatial>
  <spatial name="around"><site site="f"/><geom geom="ring" sidesite="inner"/><site site="g"/></spatial>
  <fixed name="coupling"><joint joint="x" coef="1"/></fixed>
</tendon></mujoco>"""


@pytest.mark.parametrize("seed", range(6))
def test_tendons_are_as_long_as_mujoco_says(seed):
    model = saltus.load(TENDONS, ignore=EVERYTHING)
    m = model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = 0.25 * np.random.default_rng(seed).standard_normal(m.nq)
    mujoco.mj_forward(m, d)
    paths = Poses(model).at(d.qpos).tendons
    shown = scene(model).tendons
    assert [t.name for t in shown] == ["over_ball", "over_roll", "pulley", "pulley", "pulley", "around"]
    assert all(len(path) <= tendon.points for path, tendon in zip(paths, shown, strict=True))
    length = [np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in paths]
    seen = [length[0], length[1], length[2] + 0.5 * length[3] + 0.5 * length[4], length[5]]
    # a chord is shorter than its arc by angle²/24: at 300 degrees, as the last has, in 8 pieces 1.8 % of the arc
    np.testing.assert_allclose(seen, d.ten_length[:4], rtol=1e-2)


def test_arcs_lie_on_what_they_wrap():
    model = saltus.load(TENDONS, ignore=EVERYTHING)
    wrapped = 0
    for seed in range(8):
        qpos = 0.25 * np.random.default_rng(seed).standard_normal(model.nq)
        poses = Poses(model)
        pose = poses.at(qpos)
        centre = poses.data.geom_xpos[0]
        for path in (pose.tendons[0], pose.tendons[2]):
            distance = np.linalg.norm(path[1:-1] - centre, axis=1)
            np.testing.assert_allclose(distance, 0.3, atol=1e-6)
            wrapped += len(path) > 4
    assert wrapped > 8


@pytest.mark.parametrize("name", ["mujoco/humanoid", "mujoco/trampoline", "mujoco/newton_cradle"])
def test_poses_are_mujocos(name):
    model = saltus.load(shared(name), ignore=EVERYTHING)
    m = model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = m.qpos0 + 0.1 * np.random.default_rng(0).standard_normal(m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    mujoco.mj_forward(m, d)
    pose = Poses(model).at(d.qpos)
    for mine, theirs in (
        (pose.xpos, d.xpos),
        (pose.xquat, d.xquat),
        (pose.com, d.subtree_com[0]),
        (pose.subtree_com, d.subtree_com),
        (np.concatenate([np.zeros((0, 3)), *pose.flexes]), d.flexvert_xpos.reshape(-1, 3)),
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_mocap_bodies_are_where_they_are_put():
    model = saltus.load(
        "<mujoco><worldbody><body name='m' mocap='true' pos='1 2 3'><geom size='.1'/></body></worldbody></mujoco>"
    )
    poses = Poses(model)
    placed = poses.at([], [[4.0, 5.0, 6.0]], [[0.0, 1.0, 0.0, 0.0]])
    assert placed.xpos[1].tolist() == [4.0, 5.0, 6.0] and placed.xquat[1].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert poses.at([]).xpos[1].tolist() == [1.0, 2.0, 3.0]  # not where they were before
    assert scene(model).moving == (False, True)


@pytest.mark.parametrize(
    "values, word", [(([0.0],), "qpos"), (([0.0, 0.0, 0.0],), "qpos"), (([0.0, 0.0], [[0, 0, 0]]), "mocap_pos")]
)
def test_wrong_sizes_are_named(values, word):
    with pytest.raises(OptionError, match=word):
        Poses(saltus.load("double_pendulum")).at(*values)


def test_poses_are_copies():
    poses = Poses(saltus.load("pendulum"))
    first = poses.at([0.0])
    before = first.xpos.copy(), first.xquat.copy()
    poses.at([1.0])
    assert (first.xpos == before[0]).all() and (first.xquat == before[1]).all()
