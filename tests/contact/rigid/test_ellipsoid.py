"""Contacts of ellipsoids with spheres, capsules, ellipsoids, cylinders and boxes.

Laws. Two convex bodies are s(n) = n·(p₂ - p₁) - h₁(n) - h₂(n) apart along a unit vector n, h being their support
functions; the contact's distance is the largest s and its normal the n of that. Support functions are in closed form,
so that this is checked to rounding. A sphere's contact is known from the nearest point of the ellipsoid to its centre
p, which is xᵢ = aᵢ² pᵢ / (aᵢ² + t) with the only t > -min aᵢ² for which x lies on the ellipsoid. MuJoCo 4.0's contacts
are those of another method (GJK and EPA).

Tolerance. Against the laws in double precision 1e-12, some hundred roundings; a normal's error is that times the least
angle by which bodies roll on each other, and near poses where the deepest contact jumps this is small: 1e-9. MuJoCo's
polytope ends with an error of 1e-7 in the distance (its faces are cut off at 200 iterations), which means the square
root, 3e-4, in the normal; a few times this is allowed. Single precision adds 64 roundings, and to a normal 100 times
more.
"""

import functools

import mujoco
import numpy as np
import pytest
from helpers.contacts import (
    EPSILON,
    assert_same,
    assert_tangents,
    mujocos,
    of_pair,
    ours,
    ours_with_tangents,
    pairs_model,
    random_poses,
    same_bits,
)
from helpers.plain_or_slow import plain_or_slow_kinds, some
from helpers.plain_python import plain

import saltus
from saltus.contact.rigid import ellipsoid

SIZE = np.array([0.4, 0.3, 0.2])
ELLIPSOID = 'type="ellipsoid" size=".4 .3 .2"'
PAIRS = {
    "sphere": ('type="sphere" size=".2"', ELLIPSOID, 'margin=".02"'),
    "capsule": ('type="capsule" size=".1 .3"', ELLIPSOID, ""),
    "ellipsoid": ('type="ellipsoid" size=".2 .3 .4"', ELLIPSOID, 'margin=".01" gap=".02"'),
    "cylinder": (ELLIPSOID, 'type="cylinder" size=".3 .3"', ""),
    "box": (ELLIPSOID, 'type="box" size=".3 .2 .25"', 'margin=".02"'),
    "thin": ('type="ellipsoid" size=".5 .05 .3"', 'type="box" size=".3 .2 .25"', ""),
}
EXACT = '<option ccd_tolerance="1e-12" ccd_iterations="200"/>'


@functools.cache
def model():
    return saltus.load(pairs_model(PAIRS, EXACT))


@functools.cache
def random_cases():
    """Positions [n, nq]: apart, touching, and up to one centre in the other, and MuJoCo's contacts there."""
    qpos = random_poses(np.random.default_rng(7), 400, 2 * len(PAIRS), [0.35, 0.35, 0.35])
    return qpos, mujocos(model(), qpos)


@functools.cache
def special_cases():
    """Positions [n, nq] in which axes are parallel and centres are in line, or in one place."""
    turns = [(1, 0, 0, 0), (0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, -0.5), (0.8, 0, 0, 0.6), (0, 1, 0, 0)]
    places = [(0, 0, 0), (0, 0, 0.25), (0.3, 0, 0), (0, -0.5, 0), (0, 0, 0.499), (0.2, 0.2, 0), (0.1, 0.2, 0.3)]
    rows = [[*p, 1, 0, 0, 0, 0, 0, 0, *q] for p in places for q in turns]
    return np.array([np.tile(row, len(PAIRS)) for row in rows])


class Bodies:
    """The two geoms of a pair at a position, and their support functions in NumPy."""

    def __init__(self, name, q):
        self.m, d = model().mujoco, mujoco.MjData(model().mujoco)
        d.qpos[:] = q
        mujoco.mj_kinematics(self.m, d)
        self.geoms = [self.m.geom(f"{name}{side}").id for side in (1, 2)]
        self.pos = [d.geom_xpos[g] for g in self.geoms]
        self.mat = [d.geom_xmat[g].reshape(3, 3) for g in self.geoms]
        self.size = [self.m.geom_size[g] for g in self.geoms]
        self.type = [mujoco.mjtGeom(self.m.geom_type[g]).name[7:].lower() for g in self.geoms]

    def support(self, k, n):
        """h(n) of geom k about its centre, for directions [..., 3]."""
        a, v = self.size[k], n @ self.mat[k]
        if self.type[k] == "sphere":
            return a[0] * np.linalg.norm(v, axis=-1)
        if self.type[k] == "capsule":
            return a[0] * np.linalg.norm(v, axis=-1) + a[1] * abs(v[..., 2])
        if self.type[k] == "ellipsoid":
            return np.linalg.norm(a * v, axis=-1)
        if self.type[k] == "cylinder":
            return a[0] * np.hypot(v[..., 0], v[..., 1]) + a[1] * abs(v[..., 2])
        return abs(v) @ a

    def separation(self, n):
        return n @ (self.pos[1] - self.pos[0]) - self.support(0, n) - self.support(1, n)

    def outside(self, k, point):
        """How far (m) a point lies outside geom k, or beside the surface of an ellipsoid."""
        a, x = self.size[k], self.mat[k].T @ (point - self.pos[k])
        if self.type[k] == "sphere":
            return np.linalg.norm(x) - a[0]
        if self.type[k] == "capsule":
            return np.linalg.norm([x[0], x[1], max(abs(x[2]) - a[1], 0.0)]) - a[0]
        if self.type[k] == "ellipsoid":
            return abs(np.linalg.norm(x / a) - 1) * a.min()
        if self.type[k] == "cylinder":
            return max(np.hypot(x[0], x[1]) - a[0], abs(x[2]) - a[1])
        return (abs(x) - a).max()


def directions(rng, n=6000):
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


# ---------------------------------------------------------------- values


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PAIRS))
def test_the_normal_is_the_direction_of_largest_separation(name):
    """dist = s(normal), no other direction has a larger s, and normal and position join the nearest points.

    The points pos ∓ normal dist/2 belong to the two bodies: with dist = s(normal) they are where planes across the
    normal touch the bodies, which makes the direction stationary. 6000 directions spread over the sphere, the bodies'
    axes and 500 around the normal are no better.
    """
    qpos = random_cases()[0]
    rng = np.random.default_rng(2)
    everywhere, compared = directions(rng), 0
    for q, found in zip(qpos, of_pair(model(), name, ours(model(), qpos)), strict=True):
        for c in found:
            bodies, n = Bodies(name, q), c.frame[0]
            assert c.dist == pytest.approx(bodies.separation(n), abs=1e-12)
            around = n + 10 ** rng.uniform(-5, -1, (500, 1)) * directions(rng, 500)
            around /= np.linalg.norm(around, axis=1)[:, None]
            axes = np.concatenate([s * b.T for b in bodies.mat for s in (1, -1)])
            others = np.concatenate([everywhere, axes, around])
            assert bodies.separation(others).max() < c.dist + 1e-12
            assert bodies.outside(0, c.pos - 0.5 * c.dist * n) < 1e-9
            assert bodies.outside(1, c.pos + 0.5 * c.dist * n) < 1e-9
            compared += 1
    assert compared > 150


def nearest_of_ellipsoid(p):
    """The point of the ellipsoid's surface nearest to p, in its axes, for p in no plane of symmetry."""
    gap = lambda t: (SIZE**2 * p**2 / (SIZE**2 + t) ** 2).sum() - 1  # noqa: E731
    low, high = -(SIZE.min() ** 2), 10.0
    for _ in range(200):
        t = 0.5 * (low + high)
        low, high = (t, high) if gap(t) > 0 else (low, t)
    return SIZE**2 * p / (SIZE**2 + t)


@pytest.mark.slow
def test_spheres_touch_where_the_ellipsoid_is_nearest():
    """dist, normal and position of a sphere's contact, deep ones too, are those of the point nearest to its centre."""
    qpos = random_cases()[0]
    deep = 0
    for q, found in zip(qpos, of_pair(model(), "sphere", ours(model(), qpos)), strict=True):
        for c in found:
            bodies = Bodies("sphere", q)
            p = bodies.mat[1].T @ (bodies.pos[0] - bodies.pos[1])
            offset = nearest_of_ellipsoid(p) - p
            inside = ((p / SIZE) ** 2).sum() < 1
            length = -np.linalg.norm(offset) if inside else np.linalg.norm(offset)
            normal = bodies.mat[1] @ offset / length
            assert c.dist == pytest.approx(length - 0.2, abs=1e-12)
            assert c.frame[0] == pytest.approx(normal, abs=1e-9)
            assert c.pos == pytest.approx(bodies.pos[0] + normal * (0.2 + 0.5 * c.dist), abs=1e-9)
            deep += inside
    assert deep > 30


@plain_or_slow_kinds(EPSILON)
@pytest.mark.parametrize("name", list(PAIRS))
def test_contacts_are_mujocos(name, kind, way):
    """MuJoCo's contacts at random poses, half of the smaller body deep and more."""
    qpos, expected = some(way, 12, *random_cases())
    found, expected = (of_pair(model(), name, side) for side in (ours(model(), qpos, kind), expected))
    compared = 0
    for mine, theirs in zip(found, expected, strict=True):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            rounding = 64 * float(EPSILON[kind])
            assert a.dist == pytest.approx(b.dist, abs=1e-7 + rounding)
            assert a.frame == pytest.approx(b.frame, abs=3e-3 + 100 * rounding)
            assert a.pos == pytest.approx(b.pos, abs=1e-4 + 100 * rounding)
            compared += 1
    assert len(qpos) / 4 < compared < len(qpos)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PAIRS))
def test_single_precision(name):
    """float32 has the contacts of float64, but for those within rounding of the reach or of another deepest place."""
    qpos = random_cases()[0]
    single, double = (of_pair(model(), name, ours(model(), qpos, kind)) for kind in ("lane32", "float64"))
    tolerance = 64 * float(EPSILON["lane32"])
    assert assert_same(single, double, lambda state, contact: 10 * tolerance) > 150
    for a, b in zip(single, double, strict=True):
        assert [float(c.dist) for c in a] == pytest.approx([float(c.dist) for c in b], abs=tolerance / 10)


SIDES = {"sphere": (0.2, 0.2, 0.2), "capsule": (0.1, 0.1, 0.4), "ellipsoid": (0.2, 0.3, 0.4)}
SIDES |= {"cylinder": (0.3, 0.3, 0.3), "box": (0.3, 0.2, 0.25)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(EPSILON))
@pytest.mark.parametrize("name", list(SIDES))
def test_bodies_in_line(name, kind):
    """Along a common axis of symmetry bodies overlap by the sum of their half widths minus the centres' distance.

    If shallowly: by a face, a cap, an edge of a capsule or a pole. Tolerance: 16 roundings of numbers of order 1 in the
    distance; the normal is exact up to as many.
    """
    sides = np.array(SIDES[name])
    axes, rows = [], []
    for axis in range(3):
        for sign in (1, -1):
            place = np.zeros(3)
            place[axis] = sign * (sides[axis] + SIZE[axis] - 0.004)
            rows.append(np.tile([0, 0, 0, 1, 0, 0, 0, *place, 1, 0, 0, 0], len(PAIRS)))
            axes.append(np.sign(place))
    tolerance = 16 * float(EPSILON[kind])
    for found, normal in zip(of_pair(model(), name, ours(model(), np.array(rows), kind)), axes, strict=True):
        assert [c.dist for c in found] == pytest.approx([-0.004], abs=tolerance)
        assert found[0].frame[0] == pytest.approx(normal, abs=tolerance)


def test_bodies_in_one_place():
    """With the centres in one place the depth is the least sum of half widths along the axes."""
    found = ours(model(), special_cases()[:1])[0]
    for name, sides in SIDES.items():
        (contact,) = of_pair(model(), name, [found])[0]
        assert contact.dist == pytest.approx(-(np.array(sides) + SIZE).min(), abs=1e-12)


# ---------------------------------------------------------------- lanes, duals, models


@pytest.mark.parametrize("kind", ["lane64", "lane32"])
def test_neighbours_do_not_matter(kind):
    """A state's contacts are the same bit by bit beside other states, near or far, deep or not, or not numbers."""
    qpos = np.concatenate([random_cases()[0], special_cases()])
    mixed = np.random.default_rng(0).permutation(len(qpos))
    found = ours(model(), qpos, kind)
    shuffled = ours(model(), qpos[mixed], kind)
    assert same_bits([found[k] for k in mixed], shuffled)
    alone = [ours(model(), qpos[k : k + 1], kind)[0] for k in mixed[:60]]  # the same state in every lane
    assert same_bits(shuffled[:60], alone)
    broken = np.where(np.arange(96)[:, None] % 2 == 0, qpos[:96], np.nan)
    assert same_bits(ours(model(), broken, kind)[::2], found[:96:2])


def test_tangents():
    """Duals carry the derivatives of distances, positions and frames, away from kinks.

    Tolerance: differences of eighth order with h = 1e-4 have errors of 1e-15 / h by rounding, ten times this where
    bodies roll far for a small turn, and (h / L)⁸ with L over 0.01 m.
    """
    compared = assert_tangents(model(), random_cases()[0][:60], np.random.default_rng(1), step=1e-4, tolerance=1e-8)
    assert compared > 150


def test_tangents_are_finite():
    """No division by zero gets into tangents where axes are parallel and centres in line or in one place."""
    qpos = special_cases()
    dqpos = np.random.default_rng(2).normal(size=(*qpos.shape, 8))
    for values, tangents in ours_with_tangents(model(), qpos, dqpos):
        assert values
        assert all(np.isfinite(c.numbers).all() for c in values + tangents)


def test_no_function_of_mujoco_is_needed():
    """Models with these pairs alone have none for MuJoCo's functions."""
    features = model().struct().layout.features
    assert "ellipsoid" in features
    assert "foreign" not in features


def test_searches_start_on_both_sides_of_every_axis():
    """The first towards the other centre, then each axis of both bodies to and away from it, then mixtures of two."""
    rng = np.random.default_rng(4)
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    centre = rng.normal(size=3)
    begin = plain(ellipsoid.start)
    found = np.array([begin((tuple(centre),), tuple(turned.ravel()), k) for k in range(ellipsoid.TURNED)])
    np.testing.assert_allclose(found[0], centre / np.linalg.norm(centre), rtol=1e-14)
    axes = np.vstack([turned.T, np.eye(3)])
    towards = axes * np.sign(axes @ centre)[:, None]
    np.testing.assert_allclose(found[1 : ellipsoid.AXES], towards, atol=1e-15)
    np.testing.assert_allclose(found[ellipsoid.AXES : ellipsoid.AWAY], -towards, atol=1e-15)
    for one in found[ellipsoid.AWAY :]:
        assert abs(one).min() < 1e-15 and one @ centre > 0.0
    assert len(np.unique(found.round(12), axis=0)) == ellipsoid.TURNED
