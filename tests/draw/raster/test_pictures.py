"""Depths of pixels, and the order of layers.

References: MuJoCo's mj_ray through the centre of each pixel, for things with flat faces, whose triangles are exact.
"""

import mujoco
import numpy as np
import pytest
from numba import njit

import saltus
from saltus.draw.raster.pictures import farthest_first
from saltus.draw.raster.triangles import ITEM_NUMBERS, POS
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.camera import Viewpoint
from saltus.draw.scene.poses import Poses
from saltus.draw.scene.scene import scene
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

TABLE = """<mujoco><statistic extent="2"/><asset>
    <mesh name="m" vertex="-.2 -.2 0  .2 -.2 0  0 .3 0  0 0 .4"/></asset>
  <worldbody><geom type="plane" size="3 3 1"/><geom type="box" size=".5 .4 .05" pos="0 0 .4"/>
    <geom type="box" size=".15 .15 .2" pos=".2 -.9 .2" euler="0 0 30"/>
    <geom type="mesh" mesh="m" pos="-.1 0 .5"/><geom size=".1" pos="-.3 -.2 .2" rgba="1 0 0 .3"/>
  </worldbody></mujoco>"""
VIEW = View(64, 48, Camera((0, 0, 0.3), 2.5, 40.0, -25.0))


@pytest.fixture(scope="module")
def seen():
    """Depths of pixels [h, w] as drawn, and of rays through their centres, with the geoms that these meet."""
    model = saltus.load(TABLE)
    depths = np.zeros((VIEW.height, VIEW.width), np.float32)
    Rasteriser(model, VIEW).draw(Still(model.qpos0), depths=depths)
    m = model.mujoco
    eye = Viewpoint(model, scene(model), VIEW).at(Poses(model).at(model.qpos0))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    rays, geoms, found = np.full(depths.shape, np.inf), np.full(depths.shape, -1), np.zeros(1, np.int32)
    for j in range(VIEW.height):
        for i in range(VIEW.width):
            x, y = (i + 0.5 - eye.cx) / eye.fx, (eye.cy - j - 0.5) / eye.fy
            ray = eye.forward + x * eye.right + y * eye.up
            distance = mujoco.mj_ray(m, d, eye.pos, ray / np.linalg.norm(ray), None, 1, -1, found, None)
            if distance >= 0:  # -2: something translucent
                rays[j, i] = distance / np.linalg.norm(ray)
                geoms[j, i] = found[0] if m.geom_rgba[found[0], 3] == 1 else -2
    return depths, rays, geoms


def inner(geoms):
    """Pixels whose neighbours show the same geom."""
    same = np.ones(geoms.shape, bool)
    for axis in (0, 1):
        for shift in (1, -1):
            same &= np.roll(geoms, shift, axis) == geoms
    same[[0, -1]] = same[:, [0, -1]] = False
    return same


def test_depths_are_those_of_rays_through_the_centres_of_pixels(seen):
    """Rounding: corners are on a grid of 1/1024 pixel, an error of the depth of so much of its change over a pixel."""
    depths, rays, geoms = seen
    chosen = inner(geoms) & (geoms >= 0)
    assert {0, 1, 2, 3} <= {*geoms[chosen]}
    near = np.where(np.isfinite(rays), rays, 1e3)
    change = np.maximum.reduce([abs(np.roll(near, k, axis) - near) for axis in (0, 1) for k in (1, -1)])
    # faces of one geom meet at edges, where a pixel has samples of two: there inverse depths have a kink
    kinks = [abs(np.roll(1 / near, 1, k) - 2 / near + np.roll(1 / near, -1, k)) for k in (0, 1)]
    smooth = chosen & (np.maximum(*kinks) < 1e-6)
    assert smooth.sum() > 0.8 * chosen.sum()
    error = abs(depths - rays)[smooth]
    assert (error <= change[smooth] * 4 / 1024 + 1e-6 * rays[smooth]).all()


def test_the_sky_is_infinitely_far(seen):
    depths, _, geoms = seen
    sky = inner(geoms) & (geoms == -1)
    assert sky.any() and np.isinf(depths[sky]).all()
    assert np.isfinite(depths[inner(geoms) & (geoms >= 0)]).all()


def test_translucent_things_have_no_depth(seen):
    depths, rays, geoms = seen
    chosen = inner(geoms) & (geoms == -2)
    assert chosen.any()
    assert (depths > rays + 0.05)[chosen].all()  # of what is behind


@njit
def sort(order, chosen, items, eye):
    farthest_first(order, chosen, items, eye)


def test_layers_go_from_the_farthest_to_the_nearest():
    rng = np.random.default_rng(0)
    items = np.zeros((9, ITEM_NUMBERS))
    items[:, POS : POS + 3] = rng.normal(size=(9, 3))
    items[7, POS : POS + 3] = items[3, POS : POS + 3]
    eye = np.concatenate([rng.normal(size=3), np.eye(3)[[1, 2, 0]].ravel(), np.ones(5)])
    chosen = np.array([1, 3, 4, 7, 8])
    order = np.zeros(5, np.int64)
    sort(order, chosen, items, eye)
    depth = items[:, POS] - eye[0]
    assert [*order] == [*chosen[np.argsort(-depth[chosen], kind="stable")]]
