"""Sky and planes: where the cells of a checker lie, how they fade, and what planes hide.

References: the pinhole equation for points whose cell is known from the definition of the pattern; the mean of a square
wave, by summation; MuJoCo's mj_ray for what is in front.
"""

import numpy as np
import pytest
from helpers.pictures import samples

import saltus
from saltus.draw.raster.background import wave
from saltus.draw.raster.light import HORIZON, lit
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

FLOOR = """<mujoco><statistic extent="2"/><asset>
  <texture name="t" type="2d" builtin="checker" width="64" height="64" rgb1="1 0 0" rgb2="0 0 1"/>
  <material name="t" texture="t" texrepeat="2 2" texuniform="true"/></asset>
  <worldbody><geom type="plane" size="{size} 1" material="t" pos=".3 -.2 .1" euler="0 0 20"/>{more}</worldbody>
</mujoco>"""
CAMERA = Camera((0.3, 0, 0), 4.0, 50.0, -40.0)


def renderer(size="0 0", more="", camera=CAMERA):
    return Rasteriser(saltus.load(FLOOR.format(size=size, more=more)), View(camera=camera))


def plane_points(n, reach, seed=0):
    """Random points of the plane: its own coordinates [n, 2], in world axes [n, 3]."""
    uv = np.random.default_rng(seed).uniform(-reach, reach, (n, 2))
    c, s = np.cos(np.radians(20)), np.sin(np.radians(20))
    turned = uv @ [[c, s], [-s, c]]
    return uv, np.column_stack([turned + [0.3, -0.2], np.full(n, 0.1)])


def test_cells_of_the_checker():
    """Cells of 0.5 m; where both coordinates have the same sign next to the origin the colour is the second."""
    drawn = renderer()
    image = drawn.draw(Still([]))
    eye = drawn._viewpoint.at(drawn._poses.at([]))
    uv, points = plane_points(4000, 1.5)
    edge = np.abs(uv / 0.5 - np.round(uv / 0.5)).min(axis=1) * 0.5
    x, y, _ = eye.pixels(points).T
    inside = (x > 1) & (x < 639) & (y > 1) & (y < 479) & (edge > 0.03)
    assert inside.sum() > 2000
    even = np.floor(uv / 0.5).sum(axis=1) % 2 == 0
    pixel = image[y[inside].astype(int), x[inside].astype(int)].astype(int)
    blue = pixel[:, 2] > pixel[:, 0] + 150
    np.testing.assert_array_equal(blue, even[inside])


def test_a_finite_plane_ends_where_it_ends():
    drawn = renderer("1 .7")
    image = drawn.draw(Still([]))
    eye = drawn._viewpoint.at(drawn._poses.at([]))
    uv, points = plane_points(4000, 1.6)
    x, y, _ = eye.pixels(points).T
    away = np.maximum(np.abs(uv[:, 0]) - 1.0, np.abs(uv[:, 1]) - 0.7)
    edge = np.abs(uv / 0.5 - np.round(uv / 0.5)).min(axis=1) * 0.5
    chosen = (x > 1) & (x < 639) & (y > 1) & (y < 479) & (np.abs(away) > 0.03) & (edge > 0.03)
    pixel = image[y[chosen].astype(int), x[chosen].astype(int)].astype(int)
    coloured = np.abs(pixel[:, 2] - pixel[:, 0]) > 100
    np.testing.assert_array_equal(coloured, away[chosen] < 0)


def test_the_horizon_is_smooth():
    """At the horizon an infinite floor has the sky's colour; from row to row nothing jumps, and far cells are grey."""
    image = renderer(camera=Camera((0, 0, 1.0), 3.0, 50.0, 0.0)).draw(Still([])).astype(int)
    near = image[236:246].reshape(-1, 3)
    np.testing.assert_allclose(near.mean(axis=0), np.array(HORIZON) * 255, atol=6)
    assert np.abs(np.diff(image[200:260].mean(axis=1), axis=0)).max() < 6
    assert image[250].std(axis=0).max() < 3


def test_a_wave_averaged():
    """Over any width: the sum of the sign that the cells have, 1 from 0 to 1, -1 from 1 to 2."""
    for x, width in ((0.3, 0.1), (0.97, 0.2), (5.5, 1.7), (-3.2, 4.4), (100.25, 0.9)):
        fine = x + width * ((np.arange(200_000) + 0.5) / 200_000 - 0.5)
        expected = np.where(np.floor(fine) % 2 == 0, 1.0, -1.0).mean()
        assert wave.py_func(x, width) == pytest.approx(expected, abs=1e-4)


def test_planes_hide_what_is_below_and_are_gone_from_below():
    more = "<body pos='.3 0 -.2'><geom type='box' size='.2 .2 .2' rgba='0 1 0 1'/></body>"
    green = lambda image: ((image[:, :, 1].astype(int) - image.max(axis=2) == 0) & (image[:, :, 2] < 100)).sum()  # noqa: E731
    above = renderer("0 0", more)
    assert green(above.draw(Still([]))) == 0
    assert (samples(above, Still([]))[0] >= 0).any()  # it is there, behind the plane
    assert green(renderer("0 0", more, Camera((0.3, 0, 0), 4.0, 50.0, 40.0)).draw(Still([]))) > 1000
    # a box that reaches through: what is above is seen, up to where the plane cuts it
    cut = renderer("0 0", more.replace("-.2'", ".1'"), Camera((0.3, 0, 0.1), 2.0, 0.0, -20.0))
    image = cut.draw(Still([]))
    rows = np.flatnonzero((image[:, 320, 1] > 60) & (image[:, 320, 2] < 60) & (image[:, 320, 0] < 60))
    eye = cut._viewpoint.at(cut._poses.at([]))
    assert rows.max() + 1 == pytest.approx(eye.pixels([0.1, 0.0, 0.1])[1], abs=1.0)  # the box's front, at the plane


def test_two_planes_meet_where_they_should():
    """A wall and a floor: the line between them projects to where the colour changes."""
    text = """<mujoco><worldbody><geom type="plane" size="2 2 1" rgba="1 0 0 1"/>
      <geom type="plane" size="2 2 1" rgba="0 0 1 1" pos="0 1 0" euler="90 0 0"/></worldbody></mujoco>"""
    camera = Camera((0, 0.5, 0.3), 2.5, 80.0, -25.0)
    drawn = Rasteriser(saltus.load(text), View(camera=camera))
    image = drawn.draw(Still([])).astype(int)
    eye = drawn._viewpoint.at(drawn._poses.at([]))
    for x in (-0.5, 0.0, 0.4):
        column, row, _ = eye.pixels([x, 1.0, 0.0])
        for sign in (-3, 3):
            red, _, blue = image[int(row) + sign, int(column)]
            assert (red > blue) == (sign > 0)


def test_walls_are_lit_as_they_face_the_light():
    assert lit((0, 0, 1)) == pytest.approx(1.0)
    assert lit((0, -1, 0)) > lit((0, 1, 0)) > 0.3  # the key light comes from -y
