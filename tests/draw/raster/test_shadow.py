"""The shadow on a floor: where it falls, how dark it is, and where there is none.

Reference: projection along the direction to the key light, for a ball the shadow of its centre.
"""

import numpy as np
import pytest
from helpers.pictures import centroid

import saltus
from saltus.draw.raster.light import SHADOW, TO_KEY
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

BALL = """<mujoco><worldbody><geom type="plane" size="{size} 1" rgba=".6 .6 .6 1" {plane}/>
  <body><freejoint/><geom size=".05" rgba="{rgba}"/></body></worldbody></mujoco>"""
CAMERA = Camera((0, 0, 0), 3.0, 60.0, -50.0)


def difference(still, size="0 0", plane="", rgba="1 0 0 1", camera=CAMERA):
    """How much darker a picture is with the shadow than without, [height, width], and its renderer."""
    model = saltus.load(BALL.format(size=size, plane=plane, rgba=rgba))
    lit, dark = (Rasteriser(model, View(camera=camera, shadow=shadow)) for shadow in (False, True))
    return (lit.draw(still).astype(float) - dark.draw(still)).mean(axis=2), dark


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.5), (0.3, -0.4, 0.45), (-0.2, 0.5, 0.9)])
def test_the_shadow_falls_along_the_light(place):
    still = Still([*place, 1, 0, 0, 0])
    darker, renderer = difference(still)
    foot = np.array(place) - place[2] / TO_KEY[2] * np.array(TO_KEY)
    x, y, _ = renderer._viewpoint.at(renderer._poses.at(still.qpos)).pixels(foot)
    np.testing.assert_allclose(centroid(darker), (x, y), atol=0.5)


def test_on_a_slanted_floor():
    """The light meets the plane n·p = h at p - L (n·p - h)/(n·L)."""
    still = Still([0.1, 0.2, 0.7, 1, 0, 0, 0])
    darker, renderer = difference(still, plane='euler="20 -10 0" pos="0 0 .1"')
    pose = renderer._poses.at(still.qpos)
    row = renderer._floors.at(pose.xpos, pose.xquat)[0]
    origin, normal = row[:3], row[9:12]
    place, light = np.array([0.1, 0.2, 0.7]), np.array(TO_KEY)
    foot = place - light * (normal @ (place - origin)) / (normal @ light)
    x, y, _ = renderer._viewpoint.at(renderer._poses.at(still.qpos)).pixels(foot)
    np.testing.assert_allclose(centroid(darker), (x, y), atol=0.5)


def test_a_full_shadow_takes_its_share():
    """In the middle of a large shadow the floor has 1 - SHADOW of its brightness."""
    text = BALL.format(size="0 0", plane="", rgba="1 0 0 1").replace('size=".05"', 'type="box" size=".3 .3 .01"')
    model, still = saltus.load(text), Still([0, 0, 0.6, 1, 0, 0, 0])
    lit, dark = (Rasteriser(model, View(camera=CAMERA, shadow=s)).draw(still).astype(float) for s in (False, True))
    ratio = (dark / lit).min(axis=2)
    assert (
        np.quantile(ratio[ratio < 0.99], 0.1) == pytest.approx(1 - SHADOW, abs=0.01) and ratio.min() > 1 - SHADOW - 0.01
    )


def test_no_shadow_where_there_is_nothing_to_throw_or_to_catch_it():
    still = Still([0, 0, 0.5, 1, 0, 0, 0])
    assert difference(still, rgba="1 0 0 .5")[0].max() == 0  # translucent
    assert difference(still, size=".1 .1")[0].max() == 0  # beside the floor
    assert difference(still, camera=Camera((0, 0, 0), 3.0, 60.0, 40.0))[0].max() == 0  # from below
    assert difference(still, plane='euler="180 0 0"')[0].max() == 0  # away from the light
    assert difference(still)[0].max() > 20


def test_the_shadow_stays_on_its_floor():
    """A floor's edge cuts the shadow: beyond it nothing is darker."""
    still = Still([0.0, 0.0, 0.5, 1, 0, 0, 0])
    foot = np.array([0, 0, 0.5]) - 0.5 / TO_KEY[2] * np.array(TO_KEY)
    darker, _ = difference(still, size=f"{foot[0]:.6f} 2")  # its edge goes through the shadow's middle
    whole, _ = difference(still)
    assert darker.sum() == pytest.approx(0.5 * whole.sum(), rel=0.1)


def test_a_picture_may_have_any_size():
    """The blur at the borders reads nothing outside: pictures smaller than the blur, or with the shadow across."""
    model = saltus.load(BALL.format(size="0 0", plane="", rgba="1 0 0 1").replace(".05", ".5"))
    for width, height in ((1, 1), (3, 200), (200, 2), (17, 33)):
        image = Rasteriser(model, View(width, height, camera=CAMERA)).draw(Still([0, 0, 0.6, 1, 0, 0, 0]), text="t")
        assert image.shape == (height, width, 3)
