"""What there is to see of a model: shapes, colours, patterns, meshes and the default view.

References: MuJoCo's rules for colours (a thing's own colour counts where it is not the default grey), the cells that
its renderer draws for a checker texture, its mesh normals and the volumes of closed surfaces.
"""

import math

import mujoco
import numpy as np
import pytest
from helpers.files import EVERYTHING, shared

import saltus
from saltus.draw.scene.camera import free_eye
from saltus.draw.scene.materials import NEUTRAL, nice
from saltus.draw.scene.poses import Poses
from saltus.draw.scene.scene import scene

LOOKS = """
<mujoco><asset>
  <texture name="checker" type="2d" builtin="checker" width="64" height="64" rgb1="1 0 0" rgb2="0 0 1"
   mark="edge" markrgb="0 1 0"/>
  <texture name="flat" type="cube" builtin="flat" width="8" height="8" rgb1=".5 1 0" rgb2=".5 1 0"/>
  <texture name="gradient" type="2d" builtin="gradient" width="8" height="8" rgb1="1 1 1" rgb2="0 0 0"/>
  <material name="checker" texture="checker" texrepeat="4 4"/>
  <material name="uniform" texture="checker" texrepeat="4 4" texuniform="true" rgba=".5 .5 .5 1"/>
  <material name="flat" texture="flat" rgba=".4 .5 .6 1"/>
  <material name="gradient" texture="gradient"/>
  <material name="plain" rgba=".1 .2 .3 .4"/>
</asset><worldbody>
  <geom name="finite" type="plane" size="2 2 1" material="checker"/>
  <geom name="infinite" type="plane" size="0 0 1" material="checker"/>
  <geom name="uniform" type="plane" size="2 2 1" material="uniform"/>
  <geom name="gradient" type="plane" size="2 2 1" material="gradient"/>
  <geom name="bare" type="plane" size="2 2 1"/>
  <geom name="grey" type="plane" size="2 2 1" rgba=".4 .4 .4 1"/>
  <geom name="textured" size=".1" material="flat"/>
  <geom name="own" size=".1" material="plain" rgba=".9 .8 .7 1"/>
  <geom name="plain" size=".1" material="plain"/>
  <geom name="default" size=".1"/>
  <geom name="hidden" size=".1" group="3"/>
  <geom name="invisible" size=".1" rgba="1 1 1 0"/>
  <site name="mark" size=".02" rgba="0 1 0 1" pos="1 2 3"/>
  <site name="far" size=".02" group="4"/>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def looks():
    return {shape.name: shape for shape in scene(saltus.load(LOOKS)).shapes}


def test_hidden_groups_and_invisible_things_are_left_out(looks):
    assert not {"hidden", "invisible", "far"} & set(looks)
    assert {s.name for s in scene(saltus.load(LOOKS), groups=(3, 4)).shapes} == {"hidden", "far"}
    assert looks["mark"].source == "site" and looks["mark"].pos == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    "name, rgba",
    [
        ("textured", (0.2, 0.5, 0.0, 1.0)),  # material times texture
        ("own", (0.9, 0.8, 0.7, 1.0)),
        ("plain", (0.1, 0.2, 0.3, 0.4)),
        ("default", (0.5, 0.5, 0.5, 1.0)),
        ("mark", (0.0, 1.0, 0.0, 1.0)),
    ],
)
def test_colours(looks, name, rgba):
    np.testing.assert_allclose(looks[name].rgba, rgba, atol=0.003)


def test_checkers(looks):
    """A texture has two by two cells: over the plane, or over 1 m if it is uniform or the plane infinite."""
    assert (
        looks["finite"].checker.cell == 0.5 and looks["infinite"].checker.cell == looks["uniform"].checker.cell == 0.25
    )
    assert looks["finite"].checker.rgb1 == (1.0, 0.0, 0.0) and looks["finite"].checker.rgb2 == (0.0, 0.0, 1.0)
    np.testing.assert_allclose(looks["uniform"].checker.rgb1, (0.5, 0.0, 0.0), atol=1e-6)
    assert looks["gradient"].checker is None and looks["default"].checker is None
    assert (looks["bare"].checker.rgb1, looks["bare"].checker.rgb2) == NEUTRAL
    np.testing.assert_allclose(np.add(looks["grey"].checker.rgb1, looks["grey"].checker.rgb2), 0.8, atol=1e-6)


def test_round_numbers():
    assert [nice(x) for x in (1.0, 0.99, 0.3, 7.0, 2.0, 49.0, 0.0, math.inf, math.nan)] == [
        1,
        0.5,
        0.2,
        5,
        2,
        20,
        1,
        1,
        1,
    ]


# ---------------------------------------------------------------- meshes


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, k]].astype(float) for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def outward(mesh):
    """Least cosine between a face's own normal and the mean of those at its corners."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]].astype(float) for k in range(3))
    own = np.cross(b - a, c - a)
    given = mesh.normals[mesh.faces].mean(axis=1)
    return (np.einsum("ij,ij->i", own, given) / np.linalg.norm(own, axis=1)).min()


def test_a_height_field_is_a_closed_surface():
    """Its volume: the mean of the heights over each triangle times its area, and the base."""
    heights = np.random.default_rng(0).uniform(0, 1, (4, 5))
    heights[0, 0], heights[3, 4] = 0.0, 1.0  # MuJoCo stretches them to 0 to 1
    text = " ".join(map(str, heights.ravel()))
    model = saltus.load(
        f"""<mujoco><asset><hfield name="h" nrow="4" ncol="5" size="2 1.5 .7 .2" elevation="{text}"/></asset>
        <worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>"""
    )
    (shape,), (mesh,) = scene(model).shapes, scene(model).meshes
    assert shape.kind == "hfield" and shape.mesh == 0 and outward(mesh) > 0
    data = model.mujoco.hfield_data.reshape(4, 5) * 0.7
    corners = data[:-1, :-1], data[:-1, 1:], data[1:, 1:], data[1:, :-1]
    split = (corners[0] + corners[1] + corners[2]) / 3 + (corners[0] + corners[2] + corners[3]) / 3
    assert volume(mesh) == pytest.approx(4 * 3 * 0.2 + split.sum() * (1.0 * 1.0) / 2, rel=1e-6)
    # MuJoCo's own field: rows along y, columns along x
    top = mesh.vertices[:20].reshape(4, 5, 3)
    assert top[0, 0].tolist() == pytest.approx([-2, -1.5, data[0, 0]]) and top[3, 4].tolist() == pytest.approx(
        [2, 1.5, data[3, 4]]
    )


def test_meshes_are_mujocos():
    """The surface that MuJoCo has, in the frame of its geom; the two geoms share it."""
    model = saltus.load(
        """<mujoco><asset><mesh name="m" vertex="0 0 0  .5 0 0  0 .7 0  0 0 .6"/></asset><worldbody>
        <geom type="mesh" mesh="m"/><geom type="mesh" mesh="m" pos="1 0 0"/></worldbody></mujoco>"""
    )
    seen = scene(model)
    assert [s.mesh for s in seen.shapes] == [0, 0] and len(seen.meshes) == 1
    mesh = seen.meshes[0]
    assert volume(mesh) == pytest.approx(0.5 * 0.7 * 0.6 / 6, rel=1e-5) and outward(mesh) > 0.3
    shape, m = seen.shapes[0], model.mujoco
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, np.array(shape.quat))
    world = mesh.vertices @ turn.reshape(3, 3).T + shape.pos
    corners = {(0, 0, 0), (0.5, 0, 0), (0, 0.7, 0), (0, 0, 0.6)}
    assert {tuple(np.round(p, 5) + 0.0) for p in world.tolist()} == corners and m.nmesh == 1


def test_flexes():
    """A cloth has its triangles, a solid its shell, a cable its edges."""
    text = """<mujoco><worldbody>
      <flexcomp name="cloth" type="grid" dim="2" count="4 5 1" spacing=".1 .1 .1" rgba="1 0 0 1" radius=".005"/>
      <flexcomp name="jelly" type="grid" dim="3" count="3 3 3" spacing=".1 .1 .1" pos="1 0 0" radius=".005"/>
      <flexcomp name="rope" type="grid" dim="1" count="6 1 1" spacing=".1 .1 .1" pos="2 0 0" radius=".01"/>
    </worldbody></mujoco>"""
    model = saltus.load(text, ignore=EVERYTHING)
    cloth, jelly, rope = scene(model).flexes
    assert (cloth.nvert, cloth.faces.shape, cloth.rgba) == (20, (2 * 3 * 4, 3), (1.0, 0.0, 0.0, 1.0))
    assert jelly.faces.shape == (6 * 2 * 4, 3) and rope.edges.shape == (5, 2) and rope.radius == 0.01
    pose = Poses(model).at(model.qpos0)
    a, b, c = (pose.flexes[1][jelly.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a - a[0], np.cross(b - a[0], c - a[0])).sum() / 6 == pytest.approx(0.2**3)


# ---------------------------------------------------------------- the default view


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "arm", "bouncing_ball", "cart_pole"])
def test_what_moves_stays_in_the_default_view(name):
    """At keyframes, and wherever a hinge without limit turns, the bodies' frames and sites project into the picture."""
    model = saltus.load(name)
    eye = free_eye(scene(model).camera, 640, 480, 1e-3)
    m = model.mujoco
    d = mujoco.MjData(m)
    starts = [m.qpos0, *m.key_qpos]
    hinges = [m.jnt_qposadr[j] for j in range(m.njnt) if m.jnt_type[j] == 3 and not m.jnt_limited[j]]
    for start in starts:
        for hinge in hinges or [0]:
            for angle in np.linspace(0, 2 * np.pi, 9) if hinges else [0.0]:
                d.qpos[:] = start
                d.qpos[hinge] += angle
                mujoco.mj_kinematics(m, d)
                points = np.concatenate([d.geom_xpos[m.geom_bodyid > 0], d.site_xpos])
                x, y, depth = eye.pixels(points).T
                assert (depth > 0).all() and (x > 0).all() and (x < 640).all() and (y > 0).all() and (y < 480).all()


def test_the_models_own_view_is_kept():
    camera = scene(saltus.load(shared("mujoco/humanoid"))).camera
    assert (camera.azimuth, camera.elevation, camera.lookat) == (120.0, -20.0, (0.0, 0.0, 0.7))


def test_a_small_thing_in_a_large_room_is_found():
    text = """<mujoco><worldbody><geom type="plane" size="50 50 1"/>
      <body pos="30 0 1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    camera = scene(saltus.load(text)).camera
    assert camera.lookat == (30.0, 0.0, 1.0) and camera.distance < 1.0
