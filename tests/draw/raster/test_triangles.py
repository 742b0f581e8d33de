"""What is in front at each sample of a picture, and how far away: the rays that go through the samples decide.

References: MuJoCo's mj_ray, which meets the same geoms by closed forms; the projection of a sphere, which is a conic
with a known area. The rasteriser's round shapes are polygons that are at most 0.2 pixels from their circles: so what is
in front differs only at samples next to an edge.
"""

import mujoco
import numpy as np
import pytest
from helpers.pictures import covered, rays, samples

import saltus
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

SHAPES = """
<mujoco>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .5 0 0  0 .5 0  0 0 .5  .5 0 .5"/>
    <hfield name="hills" nrow="5" ncol="6" size=".5 .4 .3 .1"
     elevation="0 1 0 2 0 1  1 0 3 0 1 0  0 2 0 1 0 2  1 0 1 0 3 0  0 1 0 1 0 0"/>
  </asset>
  <worldbody>
    <geom type="sphere" size=".3" pos="-.9 0 .5"/>
    <geom type="capsule" size=".15 .3" pos="-.3 .2 .5" euler="40 20 0"/>
    <geom type="cylinder" size=".25 .2" pos=".4 0 .4" euler="60 0 30"/>
    <geom type="ellipsoid" size=".2 .35 .1" pos="1 .1 .5" euler="10 40 20"/>
    <geom type="box" size=".2 .3 .1" pos="-.5 -.5 .9" euler="20 30 10"/>
    <geom type="mesh" mesh="wedge" pos=".3 -.6 .7" euler="0 20 50"/>
    <geom type="hfield" hfield="hills" pos=".1 .8 -.1" euler="0 0 15"/>
    <body pos="0 0 1.2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <camera name="wide" pos=".2 -2.2 1.1" xyaxes="1 .1 0 0 .4 1" fovy="70"/>
  </worldbody>
</mujoco>"""
STILL = Still([0.1, -0.2, 1.1, 0.9, 0.3, 0.2, 0.1])


def compare(text, view, still, count=2500, seed=1):
    """Samples of the rasteriser and of rays at random pixels: items, geoms, depths, depths."""
    model = saltus.load(text)
    renderer = Rasteriser(model, view)
    item, depth = samples(renderer, still)
    pixels = np.random.default_rng(seed).integers([0, 0], [view.width, view.height], (count, 2))
    geoms, distances = rays(renderer, still, model.mujoco, pixels)
    return item[pixels[:, 1], pixels[:, 0]], geoms, depth[pixels[:, 1], pixels[:, 0]], distances


@pytest.mark.parametrize(
    "camera", ["wide", Camera((0.0, 0.0, 0.5), 2.5, 70.0, -35.0), Camera((0.0, 0.3, 0.5), 3.0, -60.0, 10.0, fovy=30.0)]
)
def test_every_shape_is_where_rays_meet_it(camera):
    """Drawn in the order of the geoms, an item's index is the geom's."""
    items, geoms, depth, distance = compare(SHAPES, View(320, 240, camera=camera), STILL)
    assert len(np.unique(geoms)) == 9  # all eight, and nothing
    same = items == geoms
    assert same.mean() > 0.995
    both = same & (geoms >= 0)
    off = np.abs(depth[both] - distance[both])
    assert np.median(off) < 1e-3 and np.quantile(off, 0.98) < 0.01


def test_flat_faces_are_exact():
    """Boxes have no deviation of their own: depths agree to the grid of 1/1024 pixel."""
    text = """<mujoco><worldbody>
      <geom type="box" size=".5 .3 .2" euler="20 30 40"/>
      <geom type="box" size=".1 .6 .3" euler="-10 30 70"/>
      <body pos="0 0 .5"><freejoint/><geom type="box" size=".2 .2 .2"/></body></worldbody></mujoco>"""
    view = View(320, 240, camera=Camera((0, 0, 0), 2.0, 50.0, -30.0))
    items, geoms, depth, distance = compare(text, view, STILL)
    same = items == geoms
    assert same.mean() > 0.9995
    both = same & (geoms >= 0)
    assert np.abs(depth[both] - distance[both]).max() < 1e-4


def test_what_reaches_behind_the_camera_is_clipped():
    """The camera is between long boxes that begin behind it."""
    text = """<mujoco><statistic extent="1"/><worldbody>
      <geom type="box" size="5 .3 .2" pos="0 .7 0" euler="0 4 3"/>
      <geom type="box" size="5 .3 .2" pos="0 -.6 -.3"/>
      <geom type="box" size="5 5 .1" pos="0 0 -.6"/>
      <body pos="0 0 2.5"><freejoint/><geom type="box" size=".2 .2 .2"/></body>
      <camera name="inside" pos="0 0 0" xyaxes="0 -1 0 0 0 1" fovy="80"/></worldbody></mujoco>"""
    still = Still([2.0, 0, 0, 1, 0, 0, 0])
    items, geoms, depth, distance = compare(text, View(320, 240, camera="inside"), still)
    same = items == geoms
    assert len(np.unique(geoms)) == 5
    assert same.mean() > 0.999
    both = same & (geoms >= 0)
    assert (np.abs(depth[both] - distance[both]) / distance[both]).max() < 1e-3


@pytest.mark.parametrize("pos", [(0.0, 0.0, 0.0), (0.7, 0.3, 0.4), (-0.6, -0.5, -0.6)])
@pytest.mark.parametrize("radius", [0.02, 0.3])
def test_a_sphere_covers_the_area_of_its_conic(pos, radius):
    """For a centre c at distance D the outline is (c·ray)² = |ray|² (D² - r²): an ellipse."""
    text = f"""<mujoco><worldbody><body><freejoint/><geom size="{radius}"/></body></worldbody></mujoco>"""
    camera = Camera((0, 0, 0), 3.0, 30.0, -20.0, fovy=50.0)
    renderer = Rasteriser(saltus.load(text), View(camera=camera))
    still = Still([*pos, 1, 0, 0, 0])
    eye = renderer._viewpoint.at(renderer._poses.at(still.qpos))
    relative = np.array(pos) - eye.pos
    across = np.hypot(relative @ eye.right, relative @ eye.up)
    ahead, k = relative @ eye.forward, relative @ relative - radius**2
    # (k - across²) x² - 2 across ahead x + k y² = ahead² - k, x in the direction across
    a = k - across**2
    rest = ahead**2 - k + (across * ahead) ** 2 / a
    area = np.pi * rest / np.sqrt(a * k) * eye.fx * eye.fy
    share = covered(renderer, still)
    assert abs(share.sum() - area) < 0.1 * 2 * np.sqrt(np.pi * area)  # a tenth of a pixel all around
    # its centre: that of the ellipse
    direction = np.array([relative @ eye.right, -(relative @ eye.up)]) / max(across, 1e-12)
    centre = np.array([eye.cx, eye.cy]) + direction * (across * ahead / a) * eye.fx
    rows, columns = np.indices(share.shape) + 0.5
    seen = np.array([(share * columns).sum(), (share * rows).sum()]) / share.sum()
    np.testing.assert_allclose(seen, centre, atol=0.1)


def test_surfaces_have_neither_gaps_nor_holes():
    """A finely divided field that fills the picture covers every sample, from above and at a slant."""
    heights = " ".join(f"{h:.2f}" for h in np.random.default_rng(0).uniform(0, 1, 900))
    text = f"""<mujoco><asset><hfield name="h" nrow="30" ncol="30" size="3 3 .1 .1" elevation="{heights}"/></asset>
      <worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>"""
    for elevation in (-90.0, -55.0):
        view = View(300, 200, camera=Camera((0, 0, 0), 1.2, 35.0, elevation))
        assert covered(Rasteriser(saltus.load(text), view), Still([])).min() == 1.0


def test_more_triangles_than_there_is_room_for(monkeypatch):
    """Room is made as needed; the picture is the same."""
    from saltus.draw import canvas

    model, view = saltus.load(SHAPES), View(160, 120)
    expected = Rasteriser(model, view).draw(STILL)
    monkeypatch.setattr(canvas, "FIRST_RECORDS", 7)
    np.testing.assert_array_equal(Rasteriser(model, view).draw(STILL), expected)


def test_items_are_placed_as_mujoco_places_geoms():
    model = saltus.load(SHAPES)
    renderer = Rasteriser(model, View())
    items = renderer._subject.at(renderer._poses.at(STILL.qpos))
    m = model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = STILL.qpos
    mujoco.mj_kinematics(m, d)
    np.testing.assert_allclose(items.numbers[:, :3], d.geom_xpos, atol=1e-12)
    np.testing.assert_allclose(items.numbers[:, 3:12], d.geom_xmat, atol=1e-12)
