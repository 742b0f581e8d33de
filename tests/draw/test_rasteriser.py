"""Whole pictures: everything that a model has is there, at its place, and drawing one leaves no trace in the next.

Reference: the pixels that points of things project to, by the pinhole equation, have those things' colours.
"""

import sys
import threading
import time

import numpy as np
import pytest
from helpers.files import EVERYTHING

import saltus
from saltus.draw.raster.drawables import ASLEEP
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View

EVERY = """
<mujoco><statistic extent="3"/><option timestep="0.002"/>
  <asset><mesh name="m" vertex="-.2 -.2 -.2  .2 -.2 -.2  0 .3 -.2  0 0 .3"/>
    <hfield name="h" nrow="3" ncol="3" size=".3 .3 .2 .1" elevation="0 1 0 1 0 1 0 1 0"/></asset>
  <worldbody>
    <geom name="sphere" size=".2" pos="-1.5 0 1" rgba="1 0 0 1"/>
    <geom name="capsule" type="capsule" size=".15 .15" pos="-1 0 1" rgba="1 0 0 1"/>
    <geom name="ellipsoid" type="ellipsoid" size=".2 .1 .3" pos="-.5 0 1" rgba="1 0 0 1"/>
    <geom name="cylinder" type="cylinder" size=".2 .2" pos="0 0 1" rgba="1 0 0 1"/>
    <geom name="box" type="box" size=".2 .2 .2" pos=".5 0 1" rgba="1 0 0 1"/>
    <geom name="mesh" type="mesh" mesh="m" pos="1 0 1" rgba="1 0 0 1"/>
    <geom name="hfield" type="hfield" hfield="h" pos="1.5 0 1" rgba="1 0 0 1"/>
    <site name="s_sphere" size=".08" pos="-1.5 0 0" rgba="0 1 0 1"/>
    <site name="s_capsule" type="capsule" size=".05 .08" pos="-1 0 0" rgba="0 1 0 1"/>
    <site name="s_ellipsoid" type="ellipsoid" size=".1 .05 .1" pos="-.5 0 0" rgba="0 1 0 1"/>
    <site name="s_cylinder" type="cylinder" size=".1 .05" pos="0 0 0" rgba="0 1 0 1"/>
    <site name="s_box" type="box" size=".1 .1 .1" pos=".5 0 0" rgba="0 1 0 1"/>
    <site name="one" size=".01" pos="-1.5 0 -.6"/><site name="two" size=".01" pos="0 0 -.6"/>
    <flexcomp name="cloth" type="grid" dim="2" count="4 4 1" spacing=".1 .1 .1" pos=".7 0 -.6" euler="70 0 0"
      rgba="0 0 1 1" radius=".001"/>
    <flexcomp name="jelly" type="grid" dim="3" count="3 3 3" spacing=".1 .1 .1" pos="1.3 0 -.6" rgba="0 0 1 1"
      radius=".001"/>
    <flexcomp name="rope" type="grid" dim="1" count="5 1 1" spacing=".1 .1 .1" pos="1.3 0 0" rgba="0 0 1 1"
      radius=".02"/>
  </worldbody>
  <tendon><spatial name="t" width=".03" rgba="1 1 0 1"><site site="one"/><site site="two"/></spatial></tendon>
</mujoco>"""
CAMERA = Camera((0, 0, 0.2), 4.5, 90.0, -10.0)


@pytest.fixture(scope="module")
def every():
    model = saltus.load(EVERY, ignore=EVERYTHING)
    renderer = Rasteriser(model, View(camera=CAMERA))
    return model, renderer, renderer.draw(Still(model.qpos0)).astype(int)


def colour_at(renderer, model, image, point):
    eye = renderer._viewpoint.at(renderer._poses.at(model.qpos0))
    x, y, _ = eye.pixels(point)
    return image[int(y), int(x)]


@pytest.mark.parametrize("name", ["sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "hfield"])
def test_geoms_are_drawn(every, name):
    model, renderer, image = every
    red, green, blue = colour_at(renderer, model, image, model.mujoco.geom(name).pos)
    assert red > 90 and green < 90 and blue < 90


@pytest.mark.parametrize("name", ["s_sphere", "s_capsule", "s_ellipsoid", "s_cylinder", "s_box"])
def test_sites_are_drawn(every, name):
    model, renderer, image = every
    red, green, blue = colour_at(renderer, model, image, model.mujoco.site(name).pos)
    assert green > 90 and red < 90 and blue < 90


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.98])
def test_tendons_are_drawn(every, share):
    model, renderer, image = every
    red, green, blue = colour_at(renderer, model, image, np.array([-1.5 + 1.5 * share, 0, -0.6]))
    assert min(red, green) > 90 and blue < 90


@pytest.mark.parametrize("flex", [0, 1, 2])
def test_flexes_are_drawn(every, flex):
    model, renderer, image = every
    points = renderer._poses.at(model.qpos0).flexes[flex]
    chosen = [points.mean(axis=0), *(0.9 * points + 0.1 * points.mean(axis=0))]
    for point in chosen[:8]:
        red, green, blue = colour_at(renderer, model, image, point)
        assert blue > 80 and max(red, green) < 80


def test_sites_and_tendons_can_be_left_out():
    model = saltus.load(EVERY, ignore=EVERYTHING)
    for options, channel in ((dict(sites=False), 1), (dict(tendons=False), 0)):
        image = Rasteriser(model, View(camera=CAMERA, **options)).draw(Still(model.qpos0)).astype(int)
        rest = [k for k in range(3) if k != channel]
        if channel == 1:
            assert not (image[:, :, 1] - image[:, :, rest].max(axis=2) > 60).any()
        else:
            assert not (image[:, :, :2].min(axis=2) - image[:, :, 2] > 60).any()


# ---------------------------------------------------------------- nothing is left of the last picture


def test_a_picture_depends_on_its_moment_alone():
    """Others before it, with ghosts, marks, text, other poses and another camera position, change nothing."""
    model = saltus.load("humanoid")
    view = View(320, 240, follow="chest", contacts=True, com=True)
    high, low = model.qpos0.copy(), model.qpos0.copy()
    low[0:3] = 0.5, -0.5, 0.8
    contacts = np.array([[0.5, -0.5, 0.0, 0.0, 0.0, 300.0, 0.0]])
    first = Rasteriser(model, view).draw(Still(high))
    renderer = Rasteriser(model, view)
    for _ in range(2):
        marked = renderer.draw(Still(low, contacts=contacts), ghosts=[Still(high), Still(low)], text="t = 1 s")
        assert (renderer.draw(Still(high)) == first).all()
    assert (marked != first).any()


def test_ghosts_bend_their_own_cloth():
    """After a ghost's flexible surface was drawn, the next thing drawn has its own again."""
    model = saltus.load(EVERY, ignore=EVERYTHING)
    other = model.qpos0 + 0.05
    renderer = Rasteriser(model, View(200, 150, camera=CAMERA))
    plain = renderer.draw(Still(model.qpos0))
    haunted = renderer.draw(Still(model.qpos0), ghosts=[Still(other)])
    assert (haunted != plain).any()
    assert (renderer.draw(Still(model.qpos0)) == plain).all()


def test_what_sleeps_is_darker():
    """By the share that is told of its light, whose root a pixel has, rounded to 1/255; nothing else changes."""
    model = saltus.load(
        """<mujoco><statistic extent="3"/><worldbody><geom size=".3" pos="0 0 1" rgba="1 0 0 1"/>
        <body pos="-1 0 0"><freejoint/><geom type="box" size=".3 .3 .3" rgba="1 0 0 1"/></body>
        <body pos="1 0 0"><joint/><geom size=".1"/><body>
          <joint/><geom type="box" size=".3 .3 .3" rgba="1 0 0 1"/></body></body></worldbody></mujoco>""",
    )
    renderer = Rasteriser(model, View(camera=CAMERA))
    awake, asleep = (
        renderer.draw(Still(model.qpos0, tree_asleep=trees)).astype(float) for trees in (None, np.array([-1, 1]))
    )
    places = [(0, 0, 1), (-1, 0, 0), (1, 0, 0)]
    before, after = ([colour_at(renderer, model, image, place)[0] for place in places] for image in (awake, asleep))
    assert before[:2] == after[:2] and min(before) > 90
    assert after[2] == pytest.approx(np.sqrt(ASLEEP) * before[2], abs=1.0)


def test_the_caller_may_keep_and_change_the_picture():
    renderer = Rasteriser(saltus.load("pendulum"), View(100, 80))
    first = renderer.draw(Still([0.3]))
    copy = first.copy()
    second = renderer.draw(Still([1.0]))
    assert (first == copy).all() and (second != first).any()
    second[:] = 0
    assert (renderer.draw(Still([0.3])) == copy).all()


def test_ghosts_have_colours_of_their_own_and_stay_behind():
    """A ghost in the same place is hidden; elsewhere the second is of the second colour."""
    model = saltus.load("pendulum")
    renderer = Rasteriser(model, View())
    here, there = Still([0.5]), Still([-0.8])
    plain = renderer.draw(here)
    assert (renderer.draw(here, ghosts=[here]) == plain).mean() > 0.999
    eye = renderer._viewpoint.at(renderer._poses.at([0.5]))
    x, y, _ = eye.pixels([-2 * np.sin(0.8), 0, -2 * np.cos(0.8)])
    seen = [renderer.draw(here, ghosts=ghosts)[int(y), int(x)].astype(int) for ghosts in ([there], [here, there])]
    assert seen[0][2] > seen[0][0] + 20  # blue
    assert seen[1][0] > seen[1][2] + 20  # vermilion
    assert renderer.ghost_colours[:2] == ("#0072B2", "#D55E00")


def test_renderers_in_threads_do_not_disturb_each_other():
    model = saltus.load("humanoid")
    poses = [model.qpos0 + 0.02 * k for k in range(8)]
    expected = [Rasteriser(model, View(160, 120)).draw(Still(q)) for q in poses]
    found: dict[int, list] = {}

    def work(number):
        renderer = Rasteriser(model, View(160, 120))
        found[number] = [renderer.draw(Still(q)) for q in poses]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(
        (mine == theirs).all() for images in found.values() for mine, theirs in zip(images, expected, strict=True)
    )


def test_compiled_code_lets_others_run():
    """While pictures are drawn, another thread gets to work: the interpreter's lock is released."""
    model = saltus.load(EVERY, ignore=EVERYTHING)
    renderer = Rasteriser(model, View(2000, 1500, camera=CAMERA))
    still = Still(model.qpos0)
    renderer.draw(still)
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(1e-5)

    thread = threading.Thread(target=count)
    thread.start()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(100.0)  # whoever runs Python code is not interrupted
    try:
        pose = renderer._poses.at(still.qpos)
        items = renderer._subject.at(pose)
        order = renderer._subject.opaque(items)
        before = counts[0]
        renderer._canvas.opaque(items, order)
        assert counts[0] > before
    finally:
        sys.setswitchinterval(usual)
        stop.set()
        thread.join()


def test_a_mechanism_without_anything_to_see():
    model = saltus.load(
        """<mujoco><worldbody><body><joint/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/></body></worldbody>
        </mujoco>"""
    )
    image = Rasteriser(model, View(64, 48, com=True, contacts=True)).draw(Still([0.0], contacts=[]), text="empty")
    assert image.shape == (48, 64, 3)


def test_states_that_are_not_numbers_give_pictures():
    """A run that diverged can be shown up to its end: what is nowhere is not drawn."""
    model = saltus.load("humanoid")
    renderer = Rasteriser(model, View(160, 120))
    usual = renderer.draw(Still(model.qpos0))
    for value in (np.nan, np.inf, 1e200):
        assert renderer.draw(Still(np.full(model.nq, value))).shape == (120, 160, 3)
    assert (renderer.draw(Still(model.qpos0)) == usual).all()


def test_a_hundred_pictures_a_second():
    """Of the humanoid at 640 x 480, with shadow and text, in processor time of one core; the best of five spells."""
    model = saltus.load("humanoid")
    renderer = Rasteriser(model, View())
    stills = [Still(model.qpos0 + 0.01 * k) for k in range(12)]
    renderer.draw(stills[0], text="t = 0.00 s")
    spells = []
    for _ in range(5):
        start = time.process_time()
        for k, still in enumerate(stills):
            renderer.draw(still, text=f"t = {k / 60:.2f} s   euler, h = 0.005 s")
        spells.append((time.process_time() - start) / len(stills))
    assert min(spells) < 0.01
