"""The default view fills the picture with models that stay in place, and views of recordings show the whole motion.

References: the projection of points known in closed form, and pixels of drawn pictures.
"""

import numpy as np
import pytest

import saltus
from saltus.draw.scene.camera import free_eye
from saltus.draw.scene.framing import FARTHEST, motion_camera
from saltus.draw.scene.scene import GROUPS, scene

BALL = """
<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
  <body name="ball" pos="0 0 .3"><joint name="x" type="slide" axis="1 0 0"/>
    <geom size=".1" rgba="1 0 0 1"/></body></worldbody></mujoco>"""
NO_MOCAP = np.zeros((0, 3)), np.zeros((0, 4))


def spread(camera, points):
    """Extent of points in the picture, as a fraction of its half width and height; 1 is the border."""
    x, y, _ = free_eye(camera, 640, 480, 1e-3).pixels(np.array(points)).T
    return max(abs(x / 320 - 1).max(), abs(y / 240 - 1).max())


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum"])
def test_a_pendulum_fills_the_picture_on_its_whole_circle(name):
    """The circle of the outermost point, whose radius is the length of the stretched chain, nearly meets the border."""
    model = saltus.load(name)
    data = saltus.Simulation(model, "rk4")
    data.qpos[:] = 0.0
    far = data.data.geom_xpos
    pivot = data.data.xanchor[0]
    radius = np.linalg.norm(far[:, [0, 2]] - pivot[[0, 2]], axis=1).max()
    angle = np.linspace(0, 2 * np.pi, 60)
    circle = pivot + radius * np.column_stack([np.sin(angle), 0 * angle, np.cos(angle)])
    assert 0.7 < spread(scene(model).camera, circle) < 1.0


def test_a_recorded_motion_stays_in_the_picture():
    """A ball that goes far to the right is seen at the start and at the end, which the default view does not show."""
    model = saltus.load(BALL)
    usual = scene(model).camera
    ends = [(0.0, 0.0, 0.3), (8.0, 0.0, 0.3)]
    assert spread(usual, ends) > 1
    states = [(np.array([x]), *NO_MOCAP) for x in np.linspace(0, 8, 50)]
    camera = motion_camera(model.mujoco, GROUPS, states)
    assert 0.7 < spread(camera, ends) < 1
    assert (camera.azimuth, camera.elevation) == (usual.azimuth, usual.elevation)
    run = saltus.Trajectory(np.linspace(0, 1, 50), [q for q, _, _ in states], np.zeros((50, 1)), model=model)
    for time, side in ((0.0, slice(0, 320)), (1.0, slice(320, 640))):
        image = np.asarray(run.picture(time=time), int)
        red = (image[..., 0] > 150) & (image[..., 1] < 90)
        assert red[:, side].sum() > 20 and red.sum() == red[:, side].sum()


def test_a_motion_within_the_default_view_keeps_it():
    model = saltus.load(BALL)
    states = [(np.array([x]), *NO_MOCAP) for x in (0.0, 0.05)]
    assert motion_camera(model.mujoco, GROUPS, states) == scene(model).camera


def test_a_motion_without_end_keeps_the_default_view():
    """A model that would be a speck is better lost at the end than everywhere."""
    model = saltus.load(BALL)
    far = 4 * FARTHEST * scene(model).camera.distance
    for end in (far, np.nan):
        states = [(np.array([x]), *NO_MOCAP) for x in (0.0, end)]
        assert motion_camera(model.mujoco, GROUPS, states) == scene(model).camera
