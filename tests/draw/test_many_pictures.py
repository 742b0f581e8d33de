"""Pictures of many states: each is the one that `Rasteriser` draws by itself, from any camera, of any scene.

Reference: the rasteriser of single pictures, whose own tests compare it with rays and projections.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.draw import canvas, many_pictures
from saltus.draw.many_pictures import ManyPictures, States
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

WORLD = """<mujoco><statistic extent="2"/><asset><texture name="t" type="2d" builtin="checker" width="8" height="8"/>
    <material name="t" texture="t" texuniform="true"/>
    <mesh name="m" vertex="-.2 -.2 0  .2 -.2 0  0 .3 0  0 0 .4"/></asset>
  <worldbody><geom type="plane" size="0 0 1" material="t"/>{floor}
    <camera name="wide" pos="0 -3 2" xyaxes="1 0 0 0 .5 1"/>
    <camera name="flat" pos="0 -3 1" xyaxes="1 0 0 0 .2 1" projection="orthographic" fovy="3"/>
    <camera name="watch" pos="2 -2 1" mode="targetbody" target="a"/>
    <body name="a" pos="0 0 1"><freejoint/><geom type="capsule" size=".1 .3"/>
      <geom size=".12" pos=".4 0 0" rgba=".2 .6 .9 .5"/>
      <geom type="box" size=".1 .2 .3" pos="-.4 0 0" rgba="1 .5 0 .4"/>
      <camera name="own" pos="-1.5 0 .5" xyaxes="0 -1 0 .3 0 1"/><site name="a" size=".03" rgba="1 0 0 1"/>
      <body pos="0 0 .4"><joint axis="0 1 0"/><geom type="mesh" mesh="m"/>
        <geom type="cylinder" size=".1 .1" pos="0 .4 0"/>
        <geom type="ellipsoid" size=".1 .2 .05" pos="0 -.4 0"/></body></body>{more}
  </worldbody>{tendon}</mujoco>"""
PLAIN = dict(floor="", more="", tendon="")
LIFT = PLAIN | {"floor": '<body name="lift" mocap="true" pos="0 0 .2"><geom type="plane" size="1 1 1"/></body>'}
ROPE = PLAIN | {
    "tendon": '<tendon><spatial width=".02"><site site="a"/><site site="b"/></spatial></tendon>',
    "more": '<site name="b" pos="0 0 2"/>',
}


def states(model, n=3):
    """States with all bodies turned, and where MuJoCo's kinematics put the bodies."""
    m, rng = model.mujoco, np.random.default_rng(0)
    d, found = mujoco.MjData(m), []
    for _ in range(n):
        mujoco.mj_integratePos(m, d.qpos, 0.4 * rng.normal(size=m.nv), 1.0)
        d.mocap_pos += 0.2 * rng.normal(size=d.mocap_pos.shape)
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        fields = d.qpos, d.mocap_pos, d.mocap_quat, d.xpos, d.xquat, d.subtree_com
        found.append([x.copy() for x in fields])
    return States(*(np.stack(column) for column in zip(*found, strict=True)))


def alone(model, view, many):
    """Pictures and depths of single states."""
    drawing, images, depths = Rasteriser(model, view), [], []
    for k in range(len(many.qpos)):
        depths.append(np.zeros((view.height, view.width), np.float32))
        still = Still(many.qpos[k], many.mocap_pos[k], many.mocap_quat[k])
        images.append(drawing.draw(still, depths=depths[-1]))
    return np.stack(images), np.stack(depths)


def together(model, view, many, pieces=((0, 0, 2), (1, 2, 3))):
    n = len(many.qpos)
    images, depths = np.zeros((n, view.height, view.width, 3), np.uint8), np.zeros((n, view.height, view.width), "f4")
    drawing = ManyPictures(model, view)
    for piece in pieces:
        drawing.work(many, images, depths)(*piece)
    return images, depths


@pytest.mark.parametrize(
    ("scene", "view"),
    [
        (PLAIN, {}),
        (PLAIN, {"camera": "wide", "shadow": False}),
        (PLAIN, {"camera": "flat"}),
        (PLAIN, {"camera": "own", "sites": False}),
        (PLAIN, {"camera": "watch"}),
        (PLAIN, {"follow": "a", "camera": Camera((0, 0, 0), 2.5, 60.0, -20.0)}),
        (PLAIN, {"camera": Camera((0, 0, 1), 1.0, 60.0, -20.0)}),
        (LIFT, {"camera": "wide"}),
        (ROPE, {"camera": "wide"}),
        (ROPE, {"camera": "wide", "tendons": False}),
    ],
    ids=str,
)
def test_pictures_are_those_of_single_states(scene, view):
    """Poses differ by rounding, which may move a corner to its next place on the grid: some samples may differ."""
    model = saltus.load(WORLD.format(**scene))
    view = View(width=72, height=40, **view)
    many = states(model)
    (images, depths), (one, one_depths) = together(model, view, many), alone(model, view, many)
    assert len({image.tobytes() for image in images}) == 3
    assert (images != one).mean() < 1e-3
    assert (~np.isclose(depths, one_depths, rtol=1e-5)).mean() < 1e-3


def test_more_triangles_than_there_is_room_for(monkeypatch):
    model, view = saltus.load(WORLD.format(**PLAIN)), View(width=72, height=40)
    expected = together(model, view, states(model))
    monkeypatch.setattr(many_pictures, "FIRST_RECORDS", 7)
    found = together(model, view, states(model))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_order_and_pieces_do_not_matter():
    """A worker draws the sky again only when the camera has moved; buffers are clean after each picture."""
    model, view = saltus.load(WORLD.format(**PLAIN)), View(width=72, height=40, camera="own")
    many = states(model, 4)
    expected = together(model, view, many, ((0, 0, 4),))
    found = together(model, view, many, ((0, 2, 4), (0, 1, 2), (0, 0, 1)))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_picture_of_the_ground_from_below_has_no_shadow():
    """The shadow lies on the side that the light falls on."""
    model = saltus.load(WORLD.format(**PLAIN))
    camera = Camera((0, 0, -1), 3.0, 90.0, 20.0)
    many = states(model)
    lit, dark = (together(model, View(72, 40, camera, shadow=shadow), many) for shadow in (True, False))
    np.testing.assert_array_equal(lit[0], dark[0])
    assert canvas.blur_of(40) == 1
