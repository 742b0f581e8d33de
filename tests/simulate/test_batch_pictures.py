"""Pictures of batches: each simulation's own, at its present state, whatever carries it.

References: pictures of single simulations at those states; a closed form of depth for a box under a camera.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError

TABLE = """<mujoco><statistic extent="2"/><worldbody><geom type="plane" size="3 3 1"/>
  <camera name="down" pos="0 0 3" fovy="60"/>
  <body name="box" pos="0 0 .5"><freejoint/><geom name="g" type="box" size=".3 .2 .1"/>
    <site name="s" size=".02"/></body>
</worldbody></mujoco>"""


def batch(n=3, **options):
    made = saltus.Batch(TABLE, n, **options)
    qpos = made.qpos
    qpos[:, 0] = 0.2 * np.arange(n)
    qpos[:, 2] = 0.5 + 0.3 * np.arange(n)
    made.qpos = qpos
    return made


@pytest.mark.parametrize("options", [{}, {"precision": "float32"}, {"contact": "hard"}], ids=str)
def test_pictures_are_those_of_single_simulations(options):
    """In float32 a corner may be at its next place on the grid of 1/1024 pixel."""
    many = batch(**options)
    many.step(20)
    images = many.render(40, 30, "down")
    assert images.shape == (3, 30, 40, 3) and images.dtype == np.uint8
    sim = saltus.Simulation(TABLE)
    for i in range(3):
        sim.qpos = many.qpos[i]
        one = np.asarray(sim.picture(width=40, height=30, camera="down"))
        assert (images[i] != one).mean() < (0.01 if options.get("precision") else 1e-3)


def test_depth_of_a_box_under_a_camera():
    """The camera at 3 m looks down: its axis meets the top of the box at 3 - (z + 0.1), the floor at 3 m."""
    images, depths = batch().render(41, 31, "down", depth=True)
    assert images.shape == (3, 31, 41, 3) and depths.shape == (3, 31, 41) and depths.dtype == np.float32
    np.testing.assert_allclose(depths[:, 15, 20], [2.4, 2.1, 3.0], rtol=1e-6)
    np.testing.assert_allclose(depths[:, 0, 0], 3.0, rtol=1e-6)


def test_some_simulations():
    many = batch()
    whole = many.render(40, 30, "down")
    np.testing.assert_array_equal(many.render(40, 30, "down", ids=[2, 0]), whole[[2, 0]])
    np.testing.assert_array_equal(many.render(40, 30, "down", ids=[False, True, False]), whole[[1]])
    assert many.render(40, 30, "down", ids=[]).shape == (0, 30, 40, 3)
    with pytest.raises(OptionError, match="ids must be whole numbers from 0 to 2"):
        many.render(ids=[3])


def test_threads_draw_the_same_pictures():
    """40 pictures are worth two threads."""
    one, two = (batch(40, threads=k).render(64, 64, depth=True) for k in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_last_view_is_kept_and_another_one_is_made():
    many = batch()
    first = many.render(40, 30, "down")
    assert (many.render(40, 30, "down", shadow=False) != first).any()
    np.testing.assert_array_equal(many.render(40, 30, "down"), first)


def test_refusals():
    with pytest.raises(OptionError, match=r"geom_size may differ .* batch.simulation\(i\).picture\(\)"):
        batch(vary=("geom_size", "body_mass")).render()
    with pytest.raises(OptionError, match=r"render: contacts are drawn by Simulation.picture"):
        batch().render(contacts=True)
    with pytest.raises(OptionError, match="unknown camera 'up'"):
        batch().render(camera="up")
    with pytest.raises(OptionError, match="width must be a whole number of pixels"):
        batch().render(0)


def test_states_that_are_not_finite_are_named():
    many = batch(4)
    qpos = many.qpos
    qpos[[1, 3], 0] = np.nan
    many.qpos = qpos
    with pytest.raises(OptionError, match=r"the pose of simulation 1 \(and 1 more of 4\) is not finite; reset them"):
        many.render(depth=True)
    assert many.render(40, 30, ids=[0, 2]).shape == (2, 30, 40, 3)


def test_masses_that_vary_have_no_influence():
    np.testing.assert_array_equal(batch(vary=("body_mass",)).render(), batch().render())
