"""Contacts of all pairs of shapes and of deformable bodies in plain Python: what needs no compiler.

Law: MuJoCo 4.0's contacts at the same poses of geoms and vertices, pair by pair: elements, distances, places, frames,
order, rows and forces. Tolerances: by closed formulas 1e-11; searches for nearest points end within 1e-8 m, but on
curved bodies MuJoCo's may fall short of the largest separation by a millimetre; forces 1e-8 of the largest.
"""

import mujoco
import numpy as np
import pytest
from helpers import colliding, flex_nodes, flex_rows
from helpers.constraints import assert_same_rows
from helpers.flex_contacts import Finder, assert_same, mujocos, random_states, with_geoms
from helpers.flex_scenes import BODIES, GEOMS, ROPE, SCENES, SHEETS, SIZES, at, body, crumpled
from helpers.plain_python import plain, plain_python
from helpers.selves.exact import Area

import saltus
from saltus.contact.convex.corner_normals import corner_normal
from saltus.contact.rows.flex_contacts import shape_function


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


# ---------------------------------------------------------------- bodies that just touch

#: Geoms whose tops are at heights that floats have.
TOPS = {
    'type="plane" size="2 2 1"': 0.0,
    'type="sphere" size=".25"': 0.25,
    'type="capsule" size=".25 .5"': 0.75,
    'type="cylinder" size=".25 .5"': 0.5,
    'type="box" size=".25 .125 .5"': 0.5,
    'type="ellipsoid" size=".25 .125 .5"': 0.5,
}


@pytest.mark.parametrize("first", TOPS)
def test_bodies_that_touch_to_the_last_bit_are_in_contact(first):
    """One on top of another: at a distance of zero there are contacts, above the least float beyond there is none."""
    for second in list(TOPS)[1:]:
        geoms = f"<geom {first}/><body><freejoint/><geom {second} mass='1'/></body>"
        model = saltus.load(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
        z = TOPS[first] + TOPS[second]
        qpos = np.array([[0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0] for height in (z, np.nextafter(z, 2.0))])
        touching, apart = colliding.Finder(model)(qpos)
        assert touching and not apart
        assert [c.dist for c in touching] == [0.0] * len(touching)


# ---------------------------------------------------------------- height fields

EXACT = '<option ccd_tolerance="1e-10" ccd_iterations="200"/>'


@pytest.mark.parametrize("shape", ["sphere", "capsule", "ellipsoid", "cylinder"])
def test_height_fields(shape):
    """One contact for each prism that is met."""
    curved = shape in ("cylinder", "ellipsoid")
    model = colliding.model_of(colliding.HILLS, colliding.GEOMS[shape], reach=colliding.REACH, extra=EXACT)
    qpos, count = colliding.states(model, 5, seed=1, apart=0.5), 0
    for q, ours in zip(qpos, colliding.Finder(model)(qpos), strict=True):
        theirs = colliding.mujocos(model.mj_model, q)
        assert len(ours) == len(theirs)
        count += len(ours)
        for a, b in zip(ours, theirs, strict=True):
            assert b.dist - (1e-6 if curved else 1e-8) <= a.dist <= b.dist + (2e-3 if curved else 1e-8)
            if not curved:
                assert a.normal == pytest.approx(b.normal, abs=1e-3) or abs(a.dist - b.dist) < 1e-8
                midway = a.pos + (b.dist - a.dist) * a.normal / 2
                assert midway == pytest.approx(b.pos, abs=1e-3) or abs(a.dist - b.dist) < 1e-8
    assert count > 8


FOREIGN = [("hills", "box"), ("hills", "dice"), ("coin", "box"), ("stone", "sphere")]


@pytest.mark.parametrize(("first", "second"), FOREIGN)
def test_pairs_that_mujoco_collides(first, second):
    """Called in C at our poses: height fields on flat shapes, meshes of many corners, and distance fields.

    On distance fields MuJoCo goes down gradients, where rounding of quaternions grows.
    """
    geoms = {"hills": colliding.HILLS, "stone": 'type="sdf" mesh="dice"', **colliding.GEOMS}
    model = colliding.model_of(geoms[first], geoms[second], reach=colliding.REACH, extra=EXACT)
    assert model.struct().collision_foreign.any()
    qpos, count = colliding.states(model, 6, seed=2, apart=0.5), 0
    close = 1e-5 if first == "stone" else 1e-9
    for q, ours in zip(qpos, colliding.Finder(model)(qpos), strict=True):
        theirs = colliding.mujocos(model.mj_model, q)
        assert len(ours) == len(theirs)
        count += len(ours)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose([a.dist, *a.pos, *a.frame], [b.dist, *b.pos, *b.frame], rtol=0, atol=close)
    assert count > 3


# ---------------------------------------------------------------- deformable bodies


@pytest.mark.parametrize("name", SCENES)
def test_deformable_bodies_that_mujoco_collides(name):
    """With curved geoms and edges, with each other, and with themselves."""
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{SCENES[name]}</worldbody></mujoco>")
    m = with_geoms(spec, GEOMS.get(name, []))
    states = random_states(m, np.random.default_rng(7), 4, 0.03)
    if name == "rigid":  # of ninety vertices below the plane fifty count
        d = mujoco.MjData(m)
        d.qpos[2] -= 0.2
        mujoco.mj_fwdPosition(m, d)
        states.append(d)
    assert assert_same(Finder(m)(states), mujocos(states), 1e-12) > 10


RODS = {
    "sphere": [("sphere", [0.04], {}), ("sphere", [0.15], {"margin": 0.02})],
    "capsule": [("capsule", [0.03, 0.1], {}), ("capsule", [0.05, 0.05], {"margin": 0.01, "gap": 0.01})],
    "box": [("box", [0.12, 0.08, 0.03], {}), ("box", [0.1, 0.1, 0.1], {"margin": 0.03})],
}


@pytest.mark.parametrize("name", RODS)
def test_ropes(name):
    m = with_geoms(mujoco.MjSpec.from_string(ROPE), RODS[name])
    states = random_states(m, np.random.default_rng(3), 15, 0.02)
    assert assert_same(Finder(m)(states), mujocos(states), 1e-11) > 10


def test_sheets_and_solids():
    """Spheres, capsules, boxes and planes with triangles and tetrahedra, near pinned vertices, too."""
    rods = [("sphere", [0.08], {"conaffinity": 3}), ("capsule", [0.05, 0.2], {"conaffinity": 3})]
    m = with_geoms(mujoco.MjSpec.from_string(SHEETS), [*rods, ("box", [0.1, 0.06, 0.04], {"conaffinity": 1})])
    states = random_states(m, np.random.default_rng(4), 4, 0.03)
    bodies = [[g for g in range(m.ngeom) if m.geom_bodyid[g] == b] for b in range(m.nbody)]
    pairs = [(g, f) for geoms in bodies for f in range(2) for g in geoms if _masks(m, g, f)]
    assert assert_same(Finder(m, pairs=pairs)(states), mujocos(states), 1e-11) > 100


def _masks(m, g, f):
    return m.geom_contype[g] & m.flex_conaffinity[f] or m.flex_contype[f] & m.geom_conaffinity[g]


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_crumple(name):
    """Along a path, on which lists of neighbours are made and made again."""
    m, rng = body(name), np.random.default_rng(3)
    path, finder, count = [crumpled(m, rng, SIZES[name]) for _ in range(2)], Finder(m), 0
    for share in np.linspace(0, 1, 3 if name == "solid" else 5):
        states = [at(m, (1 - share) * path[0] + share * path[1])]
        count += assert_same(finder(states), mujocos(states), 1e-12)
    assert count > 0 or name == "rope"


ROWS = {name: flex_rows.MODELS[name] for name in ("rod and box", "pinned to a body that turns", "solid")}
ROWS |= {name: flex_nodes.MODELS[name] for name in ("cells that elements straddle", "on the floor")}
CONES = [(name, ("pyramidal", "elliptic")[k % 2]) for k, name in enumerate(ROWS)]


@pytest.mark.parametrize(("name", "cone"), CONES)
def test_rows_of_deformable_bodies(name, cone):
    xml = f'<mujoco><option cone="{cone}"/><worldbody>{ROWS[name]}</worldbody></mujoco>'
    _, contacts, *_ = assert_same_rows(xml, states=1, spread=0.01)
    assert contacts > 2


def test_rows_of_a_ball_that_is_the_first_geom():
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{flex_rows.MODELS['ball']}</worldbody></mujoco>")
    assert m.ngeom == 1
    _, contacts, _ = assert_same_rows(m, states=1, spread=0.01)
    assert contacts > 2


MANY = """<mujoco><worldbody><geom type="plane" size="2 2 .1" euler="2 3 0"/><flexcomp name="solid" type="grid" dim="3"
count="8 7 2" spacing=".1 .1 .1" dof="{dof}" cellcount="{cells}" pos="0 0 .05" radius=".01" mass="3">
<contact condim="3" selfcollide="none" margin=".02"/><elasticity young="3e4" poisson=".2"/></flexcomp></worldbody>
</mujoco>"""


@pytest.mark.parametrize(("dof", "cells"), [("quadratic", "1 1 1"), ("trilinear", "2 1 1")])
def test_of_many_contacts_of_few_nodes_fifty_count(dof, cells):
    """Those of MuJoCo, bent so that nothing is equally far."""
    _, contacts, _ = assert_same_rows(MANY.format(dof=dof, cells=cells), 1, spread=0.01)
    assert contacts == 50


@pytest.mark.parametrize(("order", "count"), [(1, 2), (1, 4), (2, 3), (2, 7)])
def test_shape_functions(order, count):
    """Lagrange's polynomials of each cell's nodes, which are 1 at their node and 0 at the others; constant beyond."""
    cells = (count - 1) // order
    for place in np.r_[np.linspace(-0.4, cells + 0.4, 41), np.arange(count) / order]:
        s = min(max(place, 0.0), cells)
        cell = min(int(s), cells - 1)
        nodes = np.arange(order + 1) / order + cell
        for node in range(count):
            wanted = 0.0
            if node / order in nodes:
                others = [x for x in nodes if x != node / order]
                wanted = np.prod([(s - x) / (node / order - x) for x in others])
            found = plain(shape_function)(np.float64(place), node, order, count)
            np.testing.assert_allclose(found, wanted, atol=1e-14)


@pytest.mark.parametrize("side", range(4))
@pytest.mark.parametrize("tilt", [0.0, 0.03, -0.05])
def test_normals_of_crossing_edges(side, tilt):
    """A small slope over the rim of a square: normal to both edges, and into the square; elsewhere a face's own."""
    turn, up = (
        [np.linalg.matrix_power([[0.0, -1], [1, 0]], side) @ x for x in ((1.0, 0.0), (0.0, 1.0))],
        (0.0, 0.0, 1.0),
    )
    out, along = np.r_[turn[0], 0.0], np.r_[turn[1], 0.0]
    square = np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    middle = out + 0.2 * along
    slope = out + 0.3 * along + tilt * np.array(up)
    own = np.array([middle - 0.5 * slope, middle + 0.7 * slope])
    wanted = np.cross(slope, along)
    wanted *= -np.sign(wanted[2]) / np.linalg.norm(wanted)
    normal = plain(corner_normal)

    def found(x):
        areas = (Area([*map(np.float64, corners.ravel())]) for corners in (square, own))
        base, edge = areas
        return normal(base, 4, up, edge, 2, (0.0, 0.0, -1.0), tuple(map(np.float64, x)))

    np.testing.assert_allclose(found(middle), wanted, atol=1e-12)
    for place in (own[0], middle - 0.2 * out):  # a corner, and a place within the square
        np.testing.assert_allclose(found(place), [0, 0, -1], atol=1e-15)
