"""What a pixel is blended from: order in depth, opacity, and smoothed edges.

References: the formula of the over operator (Porter, Duff 1984, "Compositing digital images"), out = a c + (1 - a) b,
with c and b taken from pictures of the opaque thing and of what is behind; rounding to whole values costs 1 each.
"""

import numpy as np
import pytest

import saltus
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

CAMERA = Camera((0, 0, 0), 3.0, 90.0, 0.0)


def picture(geoms, camera=CAMERA, **options):
    model = saltus.load(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    return Rasteriser(model, View(200, 160, camera=camera, **options)).draw(Still([])).astype(int)


def box(y, rgba, size=".5 .1 .5", x=0.0):
    return f'<geom type="box" size="{size}" pos="{x} {y} 0" rgba="{rgba}"/>'


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.9])
def test_opacity_blends_by_the_formula(alpha):
    behind = box(1, "1 0 0 1")
    clear, solid = picture(behind), picture(behind + box(0, "0 .6 1 1", ".3 .1 .3"))
    seen = picture(behind + box(0, f"0 .6 1 {alpha}", ".3 .1 .3"))
    np.testing.assert_allclose(seen, alpha * solid + (1 - alpha) * clear, atol=1.01)
    assert (np.abs(solid - clear) > 50).any()


def test_two_translucent_things_blend_from_behind():
    far, near = box(1, "1 0 0 {}", ".4 .1 .4", 0.1), box(0, "0 .6 1 {}", ".3 .1 .3", -0.1)
    nothing = picture("")
    both = picture(far.format(0.5) + near.format(0.3))
    swapped = picture(near.format(0.3) + far.format(0.5))  # the order in the file does not matter
    only_far, only_near = picture(far.format(1)), picture(near.format(1))
    red, blue = (np.abs(image - nothing).max(axis=2) > 0 for image in (only_far, only_near))
    behind = np.where(red[:, :, None], 0.5 * only_far + 0.5 * nothing, nothing)
    expected = np.where(blue[:, :, None], 0.3 * only_near + 0.7 * behind, behind)
    inner = np.ones_like(red)
    for image in (only_far, only_near):  # edges are blended by samples: leave them out here
        flat = np.abs(np.diff(image, axis=1, prepend=image[:, :1])).max(axis=2) + np.abs(
            np.diff(image, axis=0, prepend=image[:1])
        ).max(axis=2)
        edge = flat > 6
        inner &= ~(edge | np.roll(edge, 1, 0) | np.roll(edge, -1, 0) | np.roll(edge, 1, 1) | np.roll(edge, -1, 1))
    assert (red & blue & inner).sum() > 500
    np.testing.assert_allclose(both[inner], expected[inner], atol=2.01)
    np.testing.assert_array_equal(both, swapped)


@pytest.mark.parametrize("order", [1, -1])
def test_the_nearer_one_is_in_front_whatever_the_order(order):
    things = [box(1, "1 0 0 1"), box(0, "0 1 0 1", ".3 .1 .3"), box(-1, "0 0 1 1", ".1 .1 .1")]
    image = picture("".join(things[::order]))
    colours = [image[80, x].argmax() for x in (78, 85, 100)]
    assert colours == [0, 1, 2]


def test_what_is_translucent_is_hidden_by_what_is_opaque():
    hidden = picture(box(0, "0 1 0 1") + box(1, "1 0 0 .5", ".2 .1 .2"))
    np.testing.assert_array_equal(hidden, picture(box(0, "0 1 0 1")))


def test_edges_are_smooth():
    """A slanted edge has values between those on its sides, in steps of a quarter: all five shares occur."""
    edge = '<geom type="box" size=".5 .1 .5" rgba="0 0 0 1" euler="0 7 0"/>'
    image = picture(edge)
    row = image[:, 60:140].astype(float)
    sky, black = picture("")[:, 60:140].astype(float), image[80, 100].astype(float)
    share = ((sky - row) / (sky - black)).mean(axis=2)
    between = share[(share > 0.05) & (share < 0.95)]
    assert set(np.round(between * 4).astype(int)) == {1, 2, 3}
    assert np.abs(between * 4 - np.round(between * 4)).max() < 0.2


def test_shading_does_not_depend_on_how_finely_a_ball_is_divided():
    """Normals are interpolated in perspective: a ball near its camera has the colours of a similar one far away."""
    near, far = (picture(f'<geom size="{s}"/>', Camera((0, 0, 0), 5 * s, 30.0, -20.0)) for s in (1.0, 7.0))
    assert np.abs(near - far).max() <= 2


def test_a_sheet_is_seen_from_both_sides():
    """Two-sided surfaces are lit as the side that is seen faces the light."""
    text = """<mujoco><worldbody><flexcomp name="s" type="grid" dim="2" count="3 3 1" spacing=".5 .5 .5" rgba="1 0 0 1"
      radius=".001"/></worldbody></mujoco>"""
    model = saltus.load(text, ignore=["flex", "contact", "equality"])
    qpos = model.qpos0
    above, below = (
        Rasteriser(model, View(200, 160, camera=Camera((0, 0, 0), 3.0, 40.0, e))).draw(Still(qpos)).astype(int)
        for e in (-50.0, 50.0)
    )
    red = lambda image: image[80, 100]  # noqa: E731
    assert red(above)[0] > red(below)[0] + 30 > 80
    assert (above[:, :, 0] > above[:, :, 2] + 50).sum() == pytest.approx(
        (below[:, :, 0] > below[:, :, 2] + 50).sum(), rel=0.05
    )
