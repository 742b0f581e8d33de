"""Views, cameras and stills: what they accept, and that a refusal names the option."""

import numpy as np
import pytest

from saltus import OptionError
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View


@pytest.mark.parametrize(
    "options, word",
    [
        (dict(width=0), "width"),
        (dict(width=2.5), "width"),
        (dict(width=True), "width"),
        (dict(height=-3), "height"),
        (dict(height=100_000), "height"),
        (dict(camera=1.5), "camera"),
        (dict(camera=True), "camera"),
        (dict(follow=3), "follow"),
        (dict(follow="torso", camera="front"), "follow"),
        (dict(follow="torso", camera=0), "follow"),
        (dict(contacts=1), "contacts"),
        (dict(com="yes"), "com"),
        (dict(shadow=None), "shadow"),
        (dict(sites=0), "sites"),
        (dict(tendons=[]), "tendons"),
        (dict(groups=(0, 7)), "groups"),
        (dict(groups="ab"), "groups"),
        (dict(groups=3), "groups"),
    ],
)
def test_bad_options_are_named(options, word):
    with pytest.raises(OptionError, match=word):
        View(**options)


def test_an_unknown_option_is_named_with_the_one_that_was_meant():
    with pytest.raises(OptionError, match=r"'heigth'; did you mean 'height'"):
        View.of(heigth=100)
    assert View.of(width=np.int64(320), contacts=True) == View(320, contacts=True)


@pytest.mark.parametrize(
    "values, word",
    [
        (((0, 0), 1, 0, 0), "lookat"),
        ((None, 1, 0, 0), "lookat"),
        (((0, 0, np.nan), 1, 0, 0), "lookat"),
        (((0, 0, 0), 0, 0, 0), "distance"),
        (((0, 0, 0), -1, 0, 0), "distance"),
        (((0, 0, 0), "far", 0, 0), "distance"),
        (((0, 0, 0), 1, np.inf, 0), "azimuth"),
        (((0, 0, 0), 1, 0, None), "elevation"),
        (((0, 0, 0), 1, 0, 0, 180), "fovy"),
        (((0, 0, 0), 1, 0, 0, 0), "fovy"),
    ],
)
def test_bad_cameras_are_named(values, word):
    with pytest.raises(OptionError, match=f"camera {word}"):
        Camera(*values)


def test_a_camera_takes_any_numbers():
    camera = Camera(np.zeros(3, np.float32), np.int32(2), 90, np.float64(-20))
    assert camera == Camera((0.0, 0.0, 0.0), 2.0, 90.0, -20.0, 45.0)


@pytest.mark.parametrize(
    "values, word",
    [
        (dict(qpos=[[0.0]]), "qpos"),
        (dict(qpos="abc"), "qpos"),
        (dict(qpos=None), "qpos"),
        (dict(qpos=[0.0], mocap_pos=[0, 0, 0]), "mocap_pos"),
        (dict(qpos=[0.0], mocap_quat=[[1, 0, 0]]), "mocap_quat"),
        (dict(qpos=[0.0], contacts=np.zeros((2, 6))), "contacts"),
    ],
)
def test_bad_stills_are_named(values, word):
    with pytest.raises(OptionError, match=word):
        Still(**values)


def test_a_still_keeps_what_it_was_given():
    qpos = np.zeros(2)
    still = Still(qpos, contacts=[])
    qpos[:] = 1.0
    assert still.qpos.tolist() == [0.0, 0.0] and still.contacts is not None and still.contacts.shape == (0, 8)
