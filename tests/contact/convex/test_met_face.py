"""Contacts of a corner with a flat face, known without a search.

Law: two convex bodies are at least s(n) apart for every unit vector n, and for the right one that far (separating and
supporting hyperplanes, as in test_convex_pair.py). So a face that is said to be met proves itself: no other normal has
a larger s, of random ones and of those close to it. Contacts of bodies at rest on tables, on their edges and on meshes
are MuJoCo's, to rounding (1e-9 m), beside curves and with a margin to the root of its tolerance, 1e-10 m.
"""

import itertools

import mujoco
import numpy as np
import pytest
from helpers.colliding import ASSETS, FIND, GEOMS, Finder, model_of, mujocos, separation, states
from helpers.plain_python import fields, plain
from helpers.selves.exact import Area
from helpers.stand_ins import floats

import saltus
from saltus.contact.convex import met_face
from saltus.contact.convex.faces import FIRST
from saltus.contact.convex.search import pair_area
from saltus.contact.convex.search.pair_area import AXIS, GAP, NORMAL, VERTEX_NUMBERS
from saltus.model.enums import MESH

NAN = np.float64(np.nan)
PAIRS = [("box", "dice"), ("cylinder", "box"), ("cylinder", "dice"), ("cylinder", "cylinder"), ("dice", "dice")]
REACH = 0.05  # m
BRICK = " ".join(f"{x} {y} {z}" for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.1, 0.1))


def found(m, d, reach):
    """What is said of the two geoms: the verdict and the memory of the pair and of vertices."""
    rot = d.geom_xmat[0].reshape(3, 3)
    pose = rot.T @ d.geom_xmat[1].reshape(3, 3), rot.T @ (d.geom_xpos[1] - d.geom_xpos[0])
    p, v = Area([NAN] * pair_area.PAIR_NUMBERS), Area([NAN] * 4 * VERTEX_NUMBERS)
    for at, numbers in (
        (pair_area.ROT, pose[0]),
        (pair_area.SHIFT, pose[1]),
        (pair_area.SIZE1, d.model.geom_size[0]),
        (pair_area.SIZE2, d.model.geom_size[1]),
    ):
        for k, x in enumerate(floats(np.ravel(numbers))):
            p.put(at + k, x)
    for g, kind, hull, geom in ((0, 18, 20, pair_area.GEOM1), (1, 19, 21, pair_area.GEOM2)):
        p.put(kind, int(m.geom_type[g]))
        p.put(hull, int(m.geom_hull[g]))
        p.put(geom, g)
    return plain(met_face.met_face)(m, p, v, np.float64(reach)), p, v


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_face_is_that_of_largest_separation(pair):
    model = model_of(GEOMS[pair[0]], GEOMS[pair[1]])
    met, apart = proved(model, states(model, 300, seed=5, apart=0.8))
    assert met >= 1 and (apart >= 5 or pair == ("dice", "dice"))


def proved(model, qpos):
    """Numbers of states in which a face is said to be met, or the geoms to be apart, each of which is proved."""
    m, d, rng = fields(model.struct()), mujoco.MjData(model.mj_model), np.random.default_rng(2)
    met = apart = 0
    for q in qpos:
        d.qpos[:] = q
        mujoco.mj_kinematics(model.mj_model, d)
        known, p, _ = found(m, d, REACH)
        if known == met_face.UNKNOWN:
            continue
        rot = d.geom_xmat[0].reshape(3, 3)
        if known == met_face.BEYOND:
            away = rot @ [-p.get(AXIS + i) for i in range(3)]
            assert separation(d, away[None])[0] == pytest.approx(p.get(GAP), abs=1e-12) and p.get(GAP) > REACH
            apart += 1
            continue
        normal = rot @ [p.get(NORMAL + i) for i in range(3)]
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        dist = separation(d, normal[None])[0]
        assert dist <= REACH + 1e-12
        others = rng.normal(size=(600, 3))
        others[:300] = normal + others[:300] * 10.0 ** rng.uniform(-6.0, -0.5, (300, 1))
        others /= np.linalg.norm(others, axis=1)[:, None]
        assert separation(d, others).max() <= dist + 1e-12
        met += 1
    return met, apart


def test_a_point_near_an_edge_is_not_known():
    """A corner of the die, below the box's upper face and near its side: known where it is farther from the side."""
    model = saltus.load(f"""<mujoco><asset>{ASSETS}</asset><worldbody><geom {GEOMS["box"]}/>
      <body><freejoint/><geom {GEOMS["dice"]} mass="1"/></body></worldbody></mujoco>""")
    m, d = fields(model.struct()), mujoco.MjData(model.mj_model)
    quat, turn = np.zeros(4), np.zeros(9)
    mujoco.mju_euler2Quat(quat, np.radians([14.0, 17.0, 5.0]), "xyz")
    mujoco.mju_quat2Mat(turn, quat)
    places = [turn.reshape(3, 3) @ x for x in itertools.product((-0.3, 0.3), (-0.2, 0.2), (-0.25,))]
    lowest = min(places, key=lambda x: x[2])
    for inward, known in ((0.02, False), (0.06, True)):
        d.qpos[:3], d.qpos[3:] = np.array([0.3 - inward, 0.0, 0.25 - 0.04]) - lowest, quat
        mujoco.mj_kinematics(model.mj_model, d)
        assert (found(m, d, 0.0)[0] == 2 * 4 + FIRST) == known


def test_hulls_of_many_faces_are_not_looked_at():
    model = model_of(GEOMS["cloud"], GEOMS["cloud"])
    d = mujoco.MjData(model.mj_model)
    mujoco.mj_kinematics(model.mj_model, d)
    assert found(fields(model.struct()), d, 0.0)[0] == met_face.UNKNOWN


# ---------------------------------------------------------------- contacts of bodies at rest

BASES = {
    "box": 'type="box" size=".5 .5 .1"',
    "brick": 'type="mesh" mesh="brick"',
    "can": 'type="cylinder" size=".5 .1"',
}
REST = {"dice": 0.25, "box": 0.25, "cylinder": 0.3, "prism": 0.3}


def resting(base, shape, margin=0.0):
    mesh = f'{ASSETS}<mesh name="brick" vertex="{BRICK}"/>'
    return saltus.load(f"""<mujoco><option ccd_tolerance="1e-10" ccd_iterations="200"/>
      <default><geom margin="{margin}" gap="{margin}"/></default><asset>{mesh}</asset><worldbody>
      <geom {BASES[base]}/><body pos="0 0 {0.1 + REST[shape]}"><freejoint/><geom {GEOMS[shape]} mass="1"/></body>
      </worldbody></mujoco>""")


def placements(model, n, seed, deepest, highest):
    """Positions [n, 7] on the base, turned about the vertical and tilted by some degrees, some beyond its edge."""
    rng = np.random.default_rng(seed)
    qpos = np.repeat(model.qpos0[None], n, axis=0)
    qpos[:, :2] = rng.uniform(-0.55, 0.55, (n, 2))
    qpos[:, 2] += rng.uniform(-deepest, highest, n)
    angle, tilt = rng.uniform(-np.pi, np.pi, n), np.radians(rng.uniform(0.01, 4.0, n))
    way = rng.uniform(-np.pi, np.pi, n)
    for q, a, t, w in zip(qpos, angle, tilt, way, strict=True):
        one, two = np.array([np.cos(a / 2), 0, 0, np.sin(a / 2)]), np.zeros(3)
        two[:2] = np.cos(w), np.sin(w)
        lean = np.array([np.cos(t / 2), *(np.sin(t / 2) * two)])
        mujoco.mju_mulQuat(q[3:], lean, one)
    return qpos


def assert_same(ours, theirs, accuracy):
    """Each contact has one of the others at its place, with its distance and normal."""
    one, two = (np.array([[c.dist, *c.pos, *c.normal] for c in some]).reshape(-1, 7) for some in (ours, theirs))
    assert len(one) == len(two)
    if len(one):
        apart = abs(one[:, None] - two).max(axis=2)
        assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < accuracy


@pytest.mark.parametrize(
    ("base", "shape"), [("box", "cylinder"), ("brick", "cylinder"), ("can", "dice"), ("brick", "dice")]
)
def test_faces_at_rest_are_those_of_largest_separation(base, shape):
    model = resting(base, shape)
    met, apart = proved(model, placements(model, 60, 3, 0.05, 0.1))
    assert met >= 10 and (apart >= 3 or shape == "dice")


@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize(("base", "shape"), [("box", "dice"), ("brick", "dice"), ("brick", "box"), ("can", "dice")])
def test_contacts_on_a_table_are_mujocos(base, shape, margin):
    """In the middle and beyond its edge, to 2 cm deep and, with a margin, 2 cm above."""
    model, numbers = resting(base, shape, margin), []
    qpos = placements(model, 150, 3, 0.02, margin + 0.005)
    for q, ours in zip(qpos, Finder(model)(qpos), strict=True):
        theirs = mujocos(model.mj_model, q)
        if base == "can" and len(ours) == len(theirs) == 4:
            # of many corners of a clipped circle, any are chosen where the areas are alike
            assert min(c.dist for c in ours) == pytest.approx(min(c.dist for c in theirs), abs=2e-3)
            continue
        assert_same(ours, theirs, 1e-4 if margin else 1e-6 if base == "can" else 1e-9)
        numbers.append(len(ours))
    if base != "can":
        assert 4 in numbers and len(set(numbers)) > 1 - (margin > 0.0)


@pytest.mark.parametrize("base", ["box", "brick"])
def test_a_cylinder_stands_on_its_quarter_points(base):
    """Each of the four is midway between the end and the face below it, at the same places of the end at every pose."""
    model = resting(base, "cylinder")
    qpos, d = placements(model, 60, 4, 0.03, -0.02), mujoco.MjData(model.mj_model)
    qpos[:, :2] *= 0.35
    for q, ours in zip(qpos, Finder(model)(qpos), strict=True):
        d.qpos[:] = q
        mujoco.mj_kinematics(model.mj_model, d)
        rot = d.geom_xmat[1].reshape(3, 3)
        assert len(ours) == 4
        first_is_can = np.argmin(d.model.geom_type) == 1  # a normal is away from the geom of the smaller type
        end = [d.geom_xpos[1] + rot @ [0.2 * x, 0.2 * y, -0.3] for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
        for contact in ours:
            up = -contact.normal if first_is_can else contact.normal
            assert abs(up[2]) > 0.99
            # a point of the end, or below the end on the top at height .1, is at half the distance
            sides = [contact.pos + s * 0.5 * contact.dist * contact.normal for s in (1, -1)]
            on_top = min(sides, key=lambda x: abs(x[2] - 0.1))
            assert on_top[2] == pytest.approx(0.1, abs=1e-7)
            # the line along the end's normal through the quarter point
            assert min(np.linalg.norm(np.cross(on_top - e, rot[:, 2])) for e in end) < 3e-3
    theirs = mujocos(model.mj_model, qpos[0])
    ours = Finder(model)(qpos[:1])[0]
    assert len(theirs) == 4
    assert min(c.dist for c in ours) == pytest.approx(min(c.dist for c in theirs), abs=2e-3)


@pytest.mark.parametrize("kind", ["float64", "lane64", "lane32"])
@pytest.mark.parametrize(("base", "shape"), [("box", "dice"), ("box", "cylinder"), ("brick", "dice"), ("can", "prism")])
def test_neither_neighbours_nor_the_past_matter(base, shape, kind):
    """Bodies at rest, some exactly flat: contacts are the same bits alone, in any order, and after other states."""
    model = resting(base, shape)
    qpos, rng = placements(model, 32, 6, 0.01, 0.005), np.random.default_rng(7)
    qpos[::4, 3:] = model.qpos0[3:]
    alone = [[c.bits() for c in Finder(model, kind)(q[None])[0]] for q in qpos]
    used = Finder(model, kind)
    for _ in range(3):
        order = rng.permutation(len(qpos))
        for i, contacts in zip(order, used(qpos[order]), strict=True):
            assert [c.bits() for c in contacts] == alone[i]
    assert sum(map(len, alone)) > 40


def test_slopes_of_distances():
    """A body that rises by dz over a table is dz farther from it, in each contact (duals, and MuJoCo's normal)."""
    model = resting("box", "dice")
    find = Finder(model, "dual")
    q = model.qpos0 + [0.02, -0.01, -0.015, 0.0, 0.004, -0.003, 0.0]
    q[3:] /= np.linalg.norm(q[3:])
    find.data.qpos[:, 0, 0], find.data.qpos[:, 1, :] = q, np.eye(8)[:7]
    FIND(find.m, find.data)
    (ours,) = Finder(model)(q[None])
    assert len(ours) == 4
    for k, contact in enumerate(ours):
        assert find.data.contact_dist[k, 0, 0] == pytest.approx(contact.dist, abs=1e-12)
        assert find.data.contact_dist[k, 1, :3] == pytest.approx(contact.normal, abs=1e-9)


def test_a_batch_settles_as_simulations_do():
    """A mesh and a cylinder on a table: their motions agree to rounding that grows."""
    for shape in ("dice", "cylinder"):
        model = resting("box", shape)
        qpos = placements(model, 5, 9, 0.002, 0.002)
        batch = saltus.Batch(model, 5)
        batch.qpos = qpos
        batch.step(20)
        for i in range(5):
            alone = saltus.Simulation(model)
            alone.qpos = qpos[i]
            alone.step(20)
            assert batch.qpos[i] == pytest.approx(alone.qpos, abs=1e-9)


def test_hulls_know_their_first_faces():
    """As many faces as MuJoCo's meshes have polygons, hull by hull."""
    model = model_of(GEOMS["dice"], GEOMS["prism"])
    m = model.mj_model
    used = sorted({int(m.geom_dataid[g]) for g in range(m.ngeom) if m.geom_type[g] == MESH})
    assert list(np.diff(fields(model.struct()).hull_polyadr)) == [int(m.mesh_polynum[k]) for k in used]
