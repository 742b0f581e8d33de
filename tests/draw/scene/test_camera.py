"""From where a picture is taken, and at which pixel a point is seen.

References: the pinhole equation written out; MuJoCo's mj_forward for the cameras of a model in each of their modes, and
mjvScene's frustum, which needs no graphics, for their lenses; in pictures, where small balls appear.
"""

import math

import mujoco
import numpy as np
import pytest
from helpers.pictures import centroid, covered

import saltus
from saltus import OptionError
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.camera import Viewpoint
from saltus.draw.scene.poses import Poses
from saltus.draw.scene.scene import scene
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

CAMERAS = """
<mujoco><worldbody>
  <body name="a" pos=".3 0 1"><freejoint/><geom size=".1" pos=".05 0 0" mass="1"/>
    <camera name="fixed" pos="0 -2 0" xyaxes="1 0 0 0 0 1" fovy="60"/>
    <camera name="track" mode="track" pos="1 -2 .5" xyaxes="1 .2 0 0 0 1"/>
    <camera name="trackcom" mode="trackcom" pos="-1 -2 1" xyaxes="1 0 0 0 .3 1"/>
    <camera name="targetbody" mode="targetbody" target="b" pos="0 -1 1"/>
    <camera name="targetbodycom" mode="targetbodycom" target="b" pos=".5 -1 1"/>
    <body pos=".3 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size=".03 .2" mass="1"/></body>
  </body>
  <body name="b" pos="0 1 .5"><freejoint/><geom size=".05"/><geom size=".02" pos="0 0 .3" mass="2"/></body>
  <camera name="lens" pos="0 -3 1" xyaxes="1 0 0 0 0 1" resolution="640 480" sensorsize="6.4e-3 4.8e-3"
   focal="5e-3 7e-3" principal="3e-4 -2e-4"/>
  <camera name="parallel" pos="0 -3 1" xyaxes="1 0 0 0 0 1" projection="orthographic" fovy="2.5"/>
</worldbody></mujoco>"""
MODES = ["fixed", "track", "trackcom", "targetbody", "targetbodycom"]


def moved(m, seed=0):
    d = mujoco.MjData(m)
    d.qpos[:] = m.qpos0 + 0.3 * np.random.default_rng(seed).standard_normal(m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    mujoco.mj_forward(m, d)
    return d


def viewpoint(model, **options):
    view = View(**options)
    return Viewpoint(model, scene(model), view)


@pytest.mark.parametrize("name", MODES)
def test_modes_of_the_models_cameras(name):
    model = saltus.load(CAMERAS)
    d = moved(model.mujoco)
    number = model.mujoco.camera(name).id
    eye = viewpoint(model, camera=name).at(Poses(model).at(d.qpos))
    right, up, back = d.cam_xmat[number].reshape(3, 3).T
    for mine, theirs in ((eye.pos, d.cam_xpos[number]), (eye.right, right), (eye.up, up), (eye.forward, -back)):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    same = viewpoint(model, camera=number).at(Poses(model).at(d.qpos))
    np.testing.assert_array_equal(same.numbers(), eye.numbers())


@pytest.mark.parametrize("name", [*MODES, "lens"])
def test_lenses_are_mujocos(name):
    """The corners of the picture lie on the edges of the frustum that MuJoCo's scene has for the camera."""
    model = saltus.load(CAMERAS)
    m = model.mujoco
    d = moved(m)
    camera = mujoco.MjvCamera()
    camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, m.camera(name).id
    shown = mujoco.MjvScene(m, 100)
    everything = mujoco.mjtCatBit.mjCAT_ALL.value
    mujoco.mjv_updateScene(m, d, mujoco.MjvOption(), mujoco.MjvPerturb(), camera, everything, shown)
    frustum = shown.camera[0]
    width, height = 640, 480
    eye = viewpoint(model, camera=name, width=width, height=height).at(Poses(model).at(d.qpos))
    near, bottom, top = frustum.frustum_near, frustum.frustum_bottom, frustum.frustum_top
    half = frustum.frustum_width or 0.5 * (top - bottom) * width / height
    assert (eye.cy / eye.fy, (height - eye.cy) / eye.fy) == pytest.approx((top / near, -bottom / near), rel=1e-5)
    left, right = (frustum.frustum_center - half) / near, (frustum.frustum_center + half) / near
    assert (-eye.cx / eye.fx, (width - eye.cx) / eye.fx) == pytest.approx((left, right), rel=1e-5)


def test_an_orthographic_camera_keeps_sizes():
    """fovy is the height of what is seen, at any distance."""
    model = saltus.load(CAMERAS)
    eye = viewpoint(model, camera="parallel", width=640, height=480).at(Poses(model).at(model.qpos0))
    for depth in (1.0, 5.0):
        for x, z in ((0.0, 1.25), (1.0, -1.25), (-0.5, 0.3)):
            column, row, _ = eye.pixels([x, -3 + depth, 1 + z])
            assert (column, row) == pytest.approx((320 + 480 * x / 2.5, 240 - 480 * z / 2.5), abs=2.0)


def test_a_free_camera_is_a_pinhole():
    """x = W/2 + f X/Z, y = H/2 - f Y/Z with f = H/2 / tan(fovy/2), from azimuth and elevation by rotation matrices."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        azimuth, elevation = rng.uniform(-180, 180), rng.uniform(-89, 89)
        distance, fovy, lookat = rng.uniform(0.5, 5), rng.uniform(10, 90), rng.uniform(-1, 1, 3)
        camera = Camera(tuple(lookat), distance, azimuth, elevation, fovy)
        model = saltus.load("spring")
        eye = viewpoint(model, camera=camera, width=300, height=200).at(Poses(model).at([0.0]))
        a, e = np.radians([azimuth, elevation])
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        pitch = np.array([[np.cos(e), 0, -np.sin(e)], [0, 1, 0], [np.sin(e), 0, np.cos(e)]])
        axes = turn @ pitch  # columns: forward, left, up
        point = lookat + rng.uniform(-0.2, 0.2, 3) * distance
        forward, left, up = axes.T @ (point - lookat + distance * axes[:, 0])
        focal = 100 / math.tan(math.radians(fovy) / 2)
        expected = 150 - focal * left / forward, 100 - focal * up / forward, forward
        np.testing.assert_allclose(eye.pixels(point), expected, rtol=1e-10)


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (0.4, 0.2, -0.1), (-0.5, 0.7, 0.3)])
def test_a_small_ball_appears_where_its_centre_projects(place):
    model = saltus.load("<mujoco><worldbody><body><freejoint/><geom size='.01'/></body></worldbody></mujoco>")
    renderer = Rasteriser(model, View(camera=Camera((0, 0, 0), 2.0, 60.0, -25.0)))
    still = Still([*place, 1, 0, 0, 0])
    x, y, _ = renderer._viewpoint.at(renderer._poses.at(still.qpos)).pixels(place)
    np.testing.assert_allclose(centroid(covered(renderer, still)), (x, y), atol=0.15)


def test_following_keeps_the_body_in_the_middle():
    """What is followed is the centre of mass of the body and of what hangs on it."""
    model = saltus.load(CAMERAS)
    d = moved(model.mujoco, seed=5)
    camera = Camera((9, 9, 9), 2.0, 60.0, -25.0)
    for name in ("a", "b"):
        eye = viewpoint(model, camera=camera, follow=name).at(Poses(model).at(d.qpos))
        com = d.subtree_com[model.id("body", name)]
        np.testing.assert_allclose(eye.pixels(com), (320, 240, 2.0), rtol=1e-12)


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(camera="trak"), ["camera", "trak", "did you mean 'track'"]),
        (dict(camera=7), ["no camera 7", "0 to 6"]),
        (dict(camera=-1), ["no camera -1"]),
        (dict(follow="torso"), ["body", "torso"]),
    ],
)
def test_what_is_not_there_is_named(options, words):
    with pytest.raises(OptionError) as error:
        viewpoint(saltus.load(CAMERAS), **options)
    assert all(word in str(error.value) for word in words)


def test_a_model_without_cameras():
    with pytest.raises(OptionError, match="it has none"):
        viewpoint(saltus.load("spring"), camera=0)
    with pytest.raises(OptionError, match="it has none"):
        viewpoint(saltus.load("spring"), camera="front")
