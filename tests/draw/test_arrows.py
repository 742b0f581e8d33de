"""Contact points, the arrows of forces, and the centre of mass.

Reference: what the documentation says of an arrow's length, at the pixels that its ends project to.
"""

import numpy as np
import pytest

import saltus
from saltus.draw.arrows import metres_per_newton
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

BALL = """<mujoco><statistic extent="2"/><option gravity="0 0 -5"/><worldbody>
  <body><freejoint/><geom size=".05" mass="3" rgba=".5 .5 .5 .2"/></body>
  <body pos="5 0 0"><joint/><geom size=".05" mass="1"/></body></worldbody></mujoco>"""
CAMERA = Camera((0, 0, 0.3), 2.5, 90.0, 0.0)


def test_the_heaviest_mechanisms_weight_is_three_tenths_of_the_extent():
    assert metres_per_newton(saltus.load(BALL)) * 3 * 5 == pytest.approx(0.3 * 2)
    weightless = saltus.load(BALL.replace("0 0 -5", "0 0 0"))
    assert metres_per_newton(weightless) * 3 * 9.81 == pytest.approx(0.3 * 2)
    assert metres_per_newton(saltus.load("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")) == 0.0


def marked(force, point=(0.0, 0.0, 0.0), **view):
    """How a picture changes when a contact is marked, [height, width] bool, and where points project to."""
    model = saltus.load(BALL)
    renderer = Rasteriser(model, View(camera=CAMERA, contacts=True, **view))
    still = lambda contacts: Still(model.qpos0, contacts=contacts)  # noqa: E731
    plain, image = (renderer.draw(still(c)) for c in (None, [[*point, *force, -0.001]]))
    eye = renderer._viewpoint.at(renderer._poses.at(model.qpos0))
    return (image != plain).any(axis=2), eye.pixels, image.astype(int)


def test_an_arrow_goes_from_the_point_as_far_as_its_force():
    changed, pixels, image = marked((0.0, 0.0, 15.0))  # the ball's weight: 0.6 m
    top = np.flatnonzero(changed.any(axis=1)).min()
    assert top == pytest.approx(pixels([0.0, 0.0, 0.6])[1], abs=1.5)
    x, y, _ = pixels([0.0, 0.0, 0.3])
    red, green, blue = image[int(y), int(x)]
    assert green > 120 and green > red > blue
    half, _, _ = marked((0.0, 0.0, 7.5))
    assert np.flatnonzero(half.any(axis=1)).min() == pytest.approx(pixels([0.0, 0.0, 0.3])[1], abs=1.5)
    side, _, _ = marked((15.0, 0.0, 0.0))
    assert np.flatnonzero(side.any(axis=0)).max() == pytest.approx(pixels([0.6, 0.0, 0.0])[0], abs=1.5)


def test_a_blow_does_not_fill_the_picture():
    changed, pixels, _ = marked((0.0, 0.0, -1e9), point=(0.0, 0.0, 0.9))
    bottom = np.flatnonzero(changed.any(axis=1)).max()
    assert bottom < 479 or pixels([0.0, 0.0, 0.9 - 2.0])[1] > 479  # at most one extent: 2 m


def test_a_force_that_is_nothing_has_a_point_only():
    changed, pixels, image = marked((0.0, 0.0, 0.0))
    rows, columns = np.nonzero(changed)
    assert 8 <= np.ptp(rows) <= 14 and 8 <= np.ptp(columns) <= 14
    np.testing.assert_allclose((columns.mean() + 0.5, rows.mean() + 0.5), pixels([0.0, 0.0, 0.0])[:2], atol=0.6)
    assert image[int(rows.mean()), int(columns.mean()), 0] > 120


def test_marks_are_seen_through_what_is_in_front():
    model = saltus.load(BALL.replace(".5 .5 .5 .2", ".5 .5 .5 1"))
    renderer = Rasteriser(model, View(camera=CAMERA, contacts=True))
    plain, image = (renderer.draw(Still(model.qpos0, contacts=c)) for c in (None, [[0, 0, 0, 0, 0, 0, 0]]))
    assert (plain != image).any(axis=2).sum() > 50


def test_contacts_are_marked_if_asked_for_only():
    model = saltus.load(BALL)
    still = Still(model.qpos0, contacts=[[0.0, 0, 0.2, 0, 0, 15, 0]])
    off = Rasteriser(model, View(camera=CAMERA)).draw(still)
    assert (off == Rasteriser(model, View(camera=CAMERA)).draw(Still(model.qpos0))).all()


def test_the_centre_of_mass_is_marked_where_it_is():
    """(3 · 0 + 1 · 5)/4 along x."""
    model = saltus.load(BALL)
    camera = Camera((1.25, 0, 0), 2.0, 90.0, 0.0)
    plain, image = (Rasteriser(model, View(camera=camera, com=com)).draw(Still(model.qpos0)) for com in (False, True))
    rows, columns = np.nonzero((plain != image).any(axis=2))
    np.testing.assert_allclose((columns.mean() + 0.5, rows.mean() + 0.5), (320, 240), atol=0.6)


def test_the_centre_of_pressure_is_marked_where_it_is():
    """Where it is told, if it is asked for; without a force there is none."""
    model = saltus.load(BALL)
    camera = Camera((0.7, 0, 0.3), 2.0, 90.0, 0.0)
    on, off = (Rasteriser(model, View(camera=camera, cop=cop)) for cop in (True, False))
    pressed, bare = Still(model.qpos0, cop=[0.7, 0.0, 0.3]), Still(model.qpos0, cop=[np.nan] * 3)
    rows, columns = np.nonzero((on.draw(pressed) != off.draw(pressed)).any(axis=2))
    np.testing.assert_allclose((columns.mean() + 0.5, rows.mean() + 0.5), (320, 240), atol=0.6)
    np.testing.assert_array_equal(on.draw(bare), off.draw(bare))


@pytest.mark.parametrize("mode, stronger, weaker", [(1, 2, 0), (2, 0, 2)])
def test_modes_have_colours(mode, stronger, weaker):
    """What sticks is blue, what slips red."""
    model = saltus.load(BALL)
    renderer = Rasteriser(model, View(camera=CAMERA, contacts=True))
    image = renderer.draw(Still(model.qpos0, contacts=[[0, 0, 0, 0, 0, 0, 0, mode]])).astype(int)
    x, y, _ = renderer._viewpoint.at(renderer._poses.at(model.qpos0)).pixels([0.0, 0.0, 0.0])
    assert image[int(y), int(x), stronger] > image[int(y), int(x), weaker] + 60
