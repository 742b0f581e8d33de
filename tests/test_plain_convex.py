"""Contacts of convex shapes in plain Python, each of which proves itself.

Law: duality. Two convex bodies are at least s(n) = min over the second of n·x - max over the first of n·x apart, for
every unit vector n. Where the two points of a contact are points of the bodies, that far apart, no bodies are nearer;
where the bodies overlap, no facet of their Minkowski difference, of which Qhull lists all, is nearer to the origin.
Tolerances: rounding for polytopes; curved bodies' searches end at 1e-10 of their size, and normals at its root.
"""

import mujoco
import numpy as np
import pytest
from helpers.colliding import GEOMS, REACH, Finder, model_of, mujocos, separation, states
from helpers.plain_python import fields, plain, plain_python
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

import saltus
from saltus.contact.event import gap_functions
from saltus.model.enums import BOX, MESH

ONE = '<option ccd_tolerance="1e-10" ccd_iterations="200"><flag multiccd="disable"/></option>'
POLYTOPES = [
    ("box", "dice"),
    ("dice", "box"),
    ("dice", "dice"),
    ("prism", "prism"),
    ("box", "prism"),
    ("dice", "cloud"),
]
ROUNDED = [("sphere", "dice"), ("capsule", "cloud"), ("capsule", "dice"), ("sphere", "cloud")]
CURVED = [("ellipsoid", "dice"), ("cylinder", "dice"), ("capsule", "cylinder"), ("cylinder", "cylinder")]
CURVED += [("cylinder", "box"), ("ellipsoid", "cloud")]


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def corners(d, g):
    """Corners (m) [n, 3] of a geom, in world axes: of a sphere and a capsule those of the core."""
    m, size = d.model, d.model.geom_size[g]
    if m.geom_type[g] == MESH:
        first = m.mesh_vertadr[m.geom_dataid[g]]
        local = m.mesh_vert[first : first + m.mesh_vertnum[m.geom_dataid[g]]].astype(float)
    elif m.geom_type[g] == BOX:
        local = size * np.array([[1 if k >> i & 1 else -1 for i in range(3)] for k in range(8)])
    elif m.geom_type[g] == mujoco.mjtGeom.mjGEOM_CAPSULE:
        local = np.array([[0.0, 0.0, size[1]], [0.0, 0.0, -size[1]]])
    else:
        local = np.zeros((1, 3))
    return d.geom_xpos[g] + local @ d.geom_xmat[g].reshape(3, 3).T


def radius(m, g):
    """Radius (m) of a geom about its core."""
    return m.geom_size[g, 0] if m.geom_type[g] in (2, 3) else 0.0


def outside(d, g, x):
    """How far (m) x lies outside of a geom with corners, less its radius: by the planes of its hull, or its segment."""
    points = corners(d, g)
    if len(points) > 3:
        return (ConvexHull(points).equations @ np.r_[x, 1.0]).max() - radius(d.model, g)
    along = points[-1] - points[0]
    t = np.clip((x - points[0]) @ along / max(along @ along, 1e-30), 0, 1)
    return np.linalg.norm(x - points[0] - t * along) - radius(d.model, g)


@pytest.mark.parametrize("pair", [*POLYTOPES, *ROUNDED], ids="-".join)
@pytest.mark.parametrize("deep", [False, True])
def test_polytopes_are_as_far_apart_as_their_facets_say(pair, deep):
    model = model_of(GEOMS[pair[0]], GEOMS[pair[1]], extra=ONE, reach=0.3)
    m, d, seen = model.mj_model, mujoco.MjData(model.mj_model), 0
    order = (0, 1) if m.geom_type[0] <= m.geom_type[1] else (1, 0)  # the normal leaves the lower type
    qpos = states(model, 12 if deep else 16, seed=5, apart=0.4 if deep else 0.8)[: 8 if deep else 14]
    for q, ours in zip(qpos, Finder(model)(qpos), strict=True):
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        if not ours:
            # far away, as some direction shows
            apart = mujoco.mj_geomDistance(m, d, 0, 1, 10.0, None)
            assert apart > 0.15 - 1e-6
            continue
        (contact,) = ours
        seen += 1
        assert separation(d, contact.normal[None], *order)[0] == pytest.approx(contact.dist, abs=1e-12)
        ends = [contact.pos + side * contact.dist / 2 * contact.normal for side in (-1, 1)]
        assert max(outside(d, g, end) for g, end in zip(order, ends, strict=True)) < 1e-11
        thick = radius(m, 0) + radius(m, 1)
        if contact.dist + thick < 0.0:
            differences = (corners(d, 0)[:, None] - corners(d, 1)[None]).reshape(-1, 3)
            depth = -ConvexHull(differences).equations[:, 3].max()
            assert contact.dist == pytest.approx(-depth - thick, abs=1e-11)
    assert seen > 3


@pytest.mark.parametrize("pair", CURVED, ids="-".join)
def test_no_direction_near_the_normal_separates_curved_bodies_better(pair):
    model = model_of(GEOMS[pair[0]], GEOMS[pair[1]], extra=ONE, reach=0.2)
    d, seen, rng = mujoco.MjData(model.mj_model), 0, np.random.default_rng(1)
    qpos = states(model, 14, seed=8, apart=0.6)
    for q, ours in zip(qpos, Finder(model)(qpos), strict=True):
        d.qpos[:] = q
        mujoco.mj_kinematics(model.mj_model, d)
        if not ours:
            assert mujoco.mj_geomDistance(model.mj_model, d, 0, 1, 10.0, None) > 0.1 - 1e-6
            continue
        (contact,) = ours
        seen += 1
        found = separation(d, contact.normal[None])[0]
        assert found == pytest.approx(contact.dist, abs=2e-10)
        others = rng.normal(size=(600, 3))
        others[:300] = contact.normal + others[:300] * 10.0 ** rng.uniform(-6.0, -0.5, (300, 1))
        others = others / np.linalg.norm(others, axis=1)[:, None]
        assert separation(d, others).max() <= found + 1e-9
    assert seen > 5


BRICK = " ".join(f"{x} {y} {z}" for x in (-0.25, 0.25) for y in (-0.2, 0.2) for z in (-0.1, 0.1))
BRICK = f'<asset><mesh name="brick" vertex="{BRICK}"/></asset>'
FACED = [("box", "brick"), ("box", "dice"), ("dice", "dice"), ("prism", "prism"), ("box", "prism"), ("prism", "dice")]


@pytest.mark.parametrize("pair", FACED, ids="-".join)
@pytest.mark.parametrize("reach", [0.0, REACH])
def test_faces_that_meet_have_the_contacts_of_mujoco(pair, reach):
    """One body turned on a face of the other: several contacts."""
    extra = '<option ccd_tolerance="1e-10" ccd_iterations="200"/>'
    geoms = GEOMS | {"brick": 'type="mesh" mesh="brick"'}
    model = model_of(geoms[pair[0]], geoms[pair[1]], extra=extra + BRICK, reach=reach)
    rng, numbers = np.random.default_rng(3), []
    qpos = states(model, 24, seed=4, apart=0.6)[:9]
    m, d, tall = model.mj_model, mujoco.MjData(model.mj_model), model.mj_model.geom_aabb[:, 3:]
    for k, q in enumerate(qpos):
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        # axes along those of the first geom, but for a turn about one of them and a small angle; faces nearly touch
        axis, turn, place = k % 3, np.zeros(4), d.geom_xmat[0].reshape(3, 3)
        mujoco.mju_axisAngle2Quat(turn, np.eye(3)[axis], rng.uniform(-3, 3))
        mujoco.mju_quatIntegrate(turn, rng.normal(size=3) * 0.02, 1.0)
        way = rng.uniform(-0.15, 0.15, 3)
        way[axis] = (-1) ** k * (tall[0][axis] + tall[1][axis] - 0.01)
        # from the pose of the second geom to that of its body
        body, first = np.zeros(4), np.zeros(4)
        mujoco.mju_mat2Quat(first, place.ravel())
        mujoco.mju_mulQuat(body, first, turn)
        mujoco.mju_negQuat(turn, m.geom_quat[1])
        mujoco.mju_mulQuat(q[-4:], body, turn)
        offset = np.zeros(3)
        mujoco.mju_rotVecQuat(offset, m.geom_pos[1], q[-4:])
        q[-7:-4] = d.geom_xpos[0] + place @ way - offset
    for q, ours in zip(qpos, Finder(model)(qpos), strict=True):
        theirs = mujocos(model.mj_model, q)
        assert len(ours) == len(theirs)
        numbers.append(len(ours))
        mine, wanted = (sorted([*np.round(c.pos, 5), c.dist, *c.pos, *c.normal] for c in cs) for cs in (ours, theirs))
        if ours:
            np.testing.assert_allclose(np.array(mine)[:, 3:], np.array(wanted)[:, 3:], atol=1e-4 if reach else 1e-9)
    assert max(numbers) > 1 and numbers.count(0) < 7


# ---------------------------------------------------------------- contacts located in time


REFINED = [("ellipsoid", "dice"), ("cylinder", "dice"), ("capsule", "cylinder"), ("cylinder", "cylinder")]
REFINED += [("cylinder", "box"), ("ellipsoid", "prism"), ("dice", "cylinder")]


def outside_of_cone(d, g, x, n):
    """How far (rad) a unit vector lies outside of the normal cone of a geom at a point x (m) of its surface."""
    m, mat = d.model, d.geom_xmat[g].reshape(3, 3)
    y, u, size = (x - d.geom_xpos[g]) @ mat, n @ mat, m.geom_size[g]
    kind = m.geom_type[g]
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        own = y / size**2
        return np.linalg.norm(np.cross(own / np.linalg.norm(own), u))
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        own = y - [0, 0, np.clip(y[2], -size[1], size[1])]
        return np.linalg.norm(np.cross(own / np.linalg.norm(own), u))
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        normals = []
        if np.hypot(y[0], y[1]) > size[0] - 1e-9:
            normals.append(np.r_[y[:2], 0.0] / np.hypot(y[0], y[1]))
        if abs(y[2]) > size[1] - 1e-9:
            normals.append([0.0, 0.0, np.sign(y[2])])
        return nnls(np.transpose(normals), u)[1]
    planes = ConvexHull(corners(d, g)).equations
    near = planes[planes @ np.r_[x, 1.0] > -1e-9]
    return nnls(near[:, :3].T, n)[1]


@pytest.mark.parametrize("pair", REFINED, ids="-".join)
@pytest.mark.parametrize("deep", [False, True])
def test_normals_are_exact_where_contacts_are_located_in_time(pair, deep):
    """They lie in the normal cones of both bodies at the ends of the contact, to rounding."""
    model = model_of(GEOMS[pair[0]], GEOMS[pair[1]], extra=ONE, reach=0.3)
    sim = saltus.Simulation(model, contact=saltus.Hard())
    m, d, seen = model.mj_model, mujoco.MjData(model.mj_model), 0
    order = (0, 1) if m.geom_type[0] <= m.geom_type[1] else (1, 0)
    for q in states(model, 16, seed=11, apart=0.35 if deep else 0.7)[:10]:
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        ours = exact_contacts(sim, d)
        if not ours:
            continue
        (contact,) = ours
        seen += 1
        dist, pos, n = contact
        ends = [pos - 0.5 * dist * n, pos + 0.5 * dist * n]
        turns = [outside_of_cone(d, g, x, s * n) for g, x, s in zip(order, ends, (1, -1), strict=True)]
        assert max(turns) < 1e-8
    assert seen > 3


def exact_contacts(sim, theirs):
    """(distance (m), place (m), normal) of all contacts within 0.3 m, at MuJoCo's poses of the geoms."""
    m, d = fields(sim.engine.m), fields(sim.engine.d)
    for name in ("geom_xpos", "geom_xmat"):
        sim.engine.d.views[name][...] = getattr(theirs, name)
    n = plain(gap_functions.pair_points)(m, d, 0, 0, np.float64(0.3))
    return [(d.contact_dist[k], np.array(d.contact_pos[k]), np.array(d.contact_frame[k])[:3]) for k in range(n)]


@pytest.mark.parametrize("pair", [("capsule", "dice"), ("sphere", "prism"), ("dice", "cloud"), ("cylinder", "box")])
def test_gaps_that_are_kept_are_those_of_the_direction_that_is_kept(pair):
    """Less than the distance; from a search, and, to rounding, once more from the direction that it has left."""
    model = model_of(GEOMS[pair[0]], GEOMS[pair[1]])
    d, kept = mujoco.MjData(model.mj_model), 0
    for q in states(model, 60, seed=7, apart=0.9)[:20]:
        d.qpos[:] = q
        mujoco.mj_kinematics(model.mj_model, d)
        find = Finder(model)
        touching, first = find(q[None])[0], float(find.data.last_gap[0])
        if touching or first == 0.0 or not find.data.last_axis.any():
            continue
        kept += 1
        assert first <= mujoco.mj_geomDistance(model.mj_model, d, 0, 1, 10.0, None) + 1e-6
        find.data.last_gap[:] = 0.0
        assert not find(q[None])[0] and find.data.last_gap[0] == pytest.approx(first, abs=1e-8)
    assert kept > 0
