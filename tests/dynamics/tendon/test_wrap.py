"""Shortest paths by way of spheres and cylinders.

References: MuJoCo 4.0's tendons between free sites and geoms; closed forms; the laws of shortest paths. MuJoCo solves
for a path through a geom to 1e-6 rad only, so there the laws are the reference, and MuJoCo is near.
"""

import functools

import mujoco
import numpy as np
import pytest
from helpers.cases import WIDTH, Cases, same_bits
from numpy.testing import assert_allclose

from saltus.dynamics.tendon.wrap import sphere_frame, wrap
from saltus.model.enums import WRAP_CYLINDER, WRAP_SPHERE
from saltus.number.components import value_of
from saltus.number.functions import where
from saltus.number.kernels import kernel

KINDS = ("float64", "lane64", "float32", "lane32")
EXACT = 1e-12  # relative: some tens of roundings, and angles that may be ten times as ill-conditioned as lengths
SCENE = """<mujoco><worldbody>
  <body name="p" mocap="true"><site name="p"/></body><body name="q" mocap="true"><site name="q"/></body>
  <body name="side" mocap="true"><site name="side"/></body>
  <body name="geom" mocap="true"><geom name="4" size="1"/><geom name="5" type="cylinder" size="1 1"/></body>
</worldbody><tendon>
  <spatial><site site="p"/><geom geom="4"/><site site="q"/></spatial>
  <spatial><site site="p"/><geom geom="5"/><site site="q"/></spatial>
  <spatial><site site="p"/><geom geom="4" sidesite="side"/><site site="q"/></spatial>
  <spatial><site site="p"/><geom geom="5" sidesite="side"/><site site="q"/></spatial>
</tendon></mujoco>"""


@kernel
def path(x):
    """Inputs: 0/1 for a sphere, 0/1 for a side site, p, q, side, axes of the geom (row by row), radius.

    Outputs: 1 if the path touches, else 0 and zeros; length, ahead, away, arrival, departure.
    """
    p, q, side = (x[2], x[3], x[4]), (x[5], x[6], x[7]), (x[8], x[9], x[10])
    a, b, c = sphere_frame(p, q)
    u, v, w = (x[11], x[14], x[17]), (x[12], x[15], x[18]), (x[13], x[16], x[19])
    sphere, radius = x[0] > 0.5, value_of(x[20])
    frame = select(sphere, a, u), select(sphere, b, v), select(sphere, c, w)
    without = wrap(p, q, p, False, frame, radius)
    touches, length, ahead, away, arrival, departure = wrap(p, q, side, True, frame, radius)
    given = x[1] > 0.5
    one = 0.0 * x[0] + 1.0
    yes = where(given, where(touches, one, 0.0 * one), where(without[0], one, 0.0 * one))
    ahead, away = select(given, ahead, without[2]), select(given, away, without[3])
    arrival, departure = select(given, arrival, without[4]), select(given, departure, without[5])
    found = (yes, where(given, length, without[1]), *ahead, *away, *arrival, *departure)
    return numbers(yes, found)


@kernel(inline=True)
def numbers(yes, y):
    """y where yes is 1, else zeros; what is not finite shows as NaN."""
    return (
        yes,
        yes * y[1],
        yes * y[2],
        yes * y[3],
        yes * y[4],
        yes * y[5],
        yes * y[6],
        yes * y[7],
        yes * y[8],
        yes * y[9],
        yes * y[10],
        yes * y[11],
        yes * y[12],
        yes * y[13],
    )


@kernel(inline=True)
def select(condition, a, b):
    return where(condition, a[0], b[0]), where(condition, a[1], b[1]), where(condition, a[2], b[2])


run = Cases(path, 21, 14)


def inputs(kind, p, q, side=None, axes=None, radius=1.0):
    """One row of inputs; points relative to the centre."""
    axes = np.eye(3) if axes is None else axes
    has, side = side is not None, np.zeros(3) if side is None else side
    return np.concatenate([[kind == WRAP_SPHERE, has], p, q, side, np.ravel(axes), [radius]]).astype(float)


@functools.cache
def scene():
    model = mujoco.MjModel.from_xml_string(SCENE)
    return model, mujoco.MjData(model)


def mujocos(x):
    """The same outputs for a row of inputs, by MuJoCo, with the geom's centre at the origin."""
    m, d = scene()
    m.geom_size[:, 0] = x[20]
    d.mocap_pos[:3] = x[2:11].reshape(3, 3)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, x[11:20])
    d.mocap_quat[3] = quat
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_tendon(m, d)
    t = (0 if x[0] else 1) + (2 if x[1] else 0)
    first, count = d.ten_wrapadr[t], d.ten_wrapnum[t]
    if count == 2:
        return np.zeros(14)
    p, arrival, departure, q = d.wrap_xpos.reshape(-1, 3)[first : first + 4]
    unit = lambda a: a / np.linalg.norm(a)  # noqa: E731
    return np.array([1, d.ten_length[t], *unit(arrival - p), *unit(q - departure), *arrival, *departure])


def random_inputs(rng, kind, mode):
    """A random geom and ends near it; mode: "none", or a side site "outside" or "inside" the geom."""
    radius = rng.uniform(0.2, 0.8)
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    axes[:, 2] *= np.linalg.det(axes)
    p, q, side = rng.normal(size=(3, 3))
    side *= {"outside": rng.uniform(1, 3), "inside": rng.uniform(0, 1), "none": 0}[mode] * radius / np.linalg.norm(side)
    return inputs(kind, p, q, None if mode == "none" else side, axes, radius)


def cases(mode, count=400):
    rng = np.random.default_rng([3, len(mode)])
    return np.array([random_inputs(rng, (WRAP_SPHERE, WRAP_CYLINDER)[k % 2], mode) for k in range(count)])


@pytest.mark.parametrize("mode", ["none", "outside"])
def test_around_is_mujocos(mode):
    """Whether the path touches, which way it goes, how long it is, where it touches: MuJoCo 4.0's."""
    x = cases(mode)
    wanted = np.array([mujocos(row) for row in x])
    assert 50 < wanted[:, 0].sum() < 350
    for kind in ("float64", "lane64"):
        found = run(kind, x)
        assert_allclose(found[:, 0], wanted[:, 0])
        touch = wanted[:, 0] == 1
        assert_allclose(found[touch], wanted[touch], rtol=EXACT, atol=EXACT)


def test_through_is_near_mujocos():
    """MuJoCo's Newton iteration stops when its angles sum up to 1e-6 rad; lengths err by the square of that.

    The angle at the origin errs by 1e-6 rad times the slope's inverse, which is below 30 where ends are a tenth of the
    radius away.
    """
    x = cases("inside")
    x = x[
        (np.linalg.norm(_across(x)[0], axis=1) > 1.1 * x[:, 20])
        & (np.linalg.norm(_across(x)[1], axis=1) > 1.1 * x[:, 20])
    ]
    wanted = np.array([mujocos(row) for row in x])
    assert 30 < wanted[:, 0].sum() < len(x) - 30
    found = run("float64", x)
    assert_allclose(found[:, 0], wanted[:, 0])
    touch = wanted[:, 0] == 1
    assert_allclose(found[touch, 1], wanted[touch, 1], rtol=1e-9)
    assert_allclose(found[touch], wanted[touch], atol=3e-5)
    # and ours is the shorter
    assert np.all(found[touch, 1] <= wanted[touch, 1] * (1 + 1e-14))


def _across(x):
    """Both ends [n, 3], seen along the axis of cylinders."""
    ends = []
    for a in (x[:, 2:5], x[:, 5:8]):
        axis = x[:, [13, 16, 19]] * (x[:, :1] == 0)
        ends.append(a - np.sum(a * axis, axis=1, keepdims=True) * axis)
    return ends


def test_reflection():
    """Through a geom the path touches one point of the surface, where both parts have the same angle to the normal."""
    x = cases("inside")
    y = run("float64", x)
    x, y = x[y[:, 0] == 1], y[y[:, 0] == 1]
    ahead, away, arrival, departure = y[:, 2:5], y[:, 5:8], y[:, 8:11], y[:, 11:14]
    assert_allclose(arrival, departure, atol=1e-13)
    axis = x[:, [13, 16, 19]] * (x[:, :1] == 0)
    normal = arrival - np.sum(arrival * axis, axis=1, keepdims=True) * axis
    assert_allclose(np.linalg.norm(normal, axis=1), x[:, 20], rtol=1e-14)
    normal /= x[:, 20:]
    assert_allclose(np.sum(ahead * normal, axis=1), -np.sum(away * normal, axis=1), atol=1e-12)
    # the geom pushes along its normal only
    assert_allclose(np.cross(ahead - away, normal), 0.0, atol=1e-12)
    for a, b, end in ((x[:, 2:5], arrival, ahead), (departure, x[:, 5:8], away)):
        assert_allclose(b - a, np.linalg.norm(b - a, axis=1, keepdims=True) * end, atol=1e-13)


@pytest.mark.parametrize("mode", ["none", "outside", "inside"])
def test_shortest(mode):
    """The length of a shortest path changes with its ends by the unit directions there: dL = away · dq - ahead · dp.

    By duals. Through a geom, this finds the implicit function's derivative.
    """
    x = cases(mode, 100)
    tangents = np.zeros((len(x), 21, 8))
    for k in range(6):
        tangents[:, 2 + k, k] = 1.0
    y, dy = run("dual", x, tangents)
    touch = y[:, 0] == 1
    assert touch.sum() > 10
    assert_allclose(dy[touch, 1, :3], -y[touch, 2:5], atol=1e-11)
    assert_allclose(dy[touch, 1, 3:6], y[touch, 5:8], atol=1e-11)


def test_quarter_and_most_of_a_circle():
    """Ends two radii r from the axis, at an angle w: two tangents of sqrt(3) r, and an arc of w - 2 pi/3.

    A side site beyond makes it 2 pi - w - 2 pi/3; on a cylinder, with ends h apart along the axis, the length is the
    hypotenuse. Without a side site and with w < 2 pi/3 the path is straight.
    """
    radius = 0.3
    at = lambda angle, z=0.0: np.array([2 * radius * np.cos(angle), 2 * radius * np.sin(angle), z])  # noqa: E731
    flat = lambda w: radius * (2 * np.sqrt(3) + w - 2 * np.pi / 3)  # noqa: E731
    rows, wanted = [], []
    for kind, height in ((WRAP_SPHERE, 0.0), (WRAP_CYLINDER, 0.0), (WRAP_CYLINDER, 0.7)):
        for w in (2.2, 3.0, -2.5):
            for side, way in ((None, abs(w)), (at(w / 2), abs(w)), (at(w / 2 + np.pi), 2 * np.pi - abs(w))):
                rows.append(inputs(kind, at(0.4), at(0.4 + w, height), side=_turn(side), radius=radius))
                wanted.append(np.hypot(flat(way), height))
        # around the far side though the straight path is free
        rows.append(inputs(kind, at(0.4), at(1.4, height), side=at(4.0), radius=radius))
        wanted.append(np.hypot(flat(2 * np.pi - 1.0), height))
    y = run("float64", np.array(rows))
    assert_allclose(y[:, 0], 1)
    assert_allclose(y[:, 1], wanted, rtol=1e-14)
    free = [inputs(kind, at(0.4), at(1.4), side, radius=radius) for kind in (4, 5) for side in (None, at(1.0))]
    assert_allclose(run("float64", np.array(free)), 0)


def _turn(side):
    """The side site, turned with the ends."""
    if side is None:
        return None
    c, s = np.cos(0.4), np.sin(0.4)
    return np.array([c * side[0] - s * side[1], s * side[0] + c * side[1], side[2]])


def test_by_the_centre():
    """Ends opposite each other, where the plane or the way is any: MuJoCo's choice, or that of the side site."""
    x, y, z = np.eye(3)
    rows = [inputs(WRAP_SPHERE, a, -1.5 * a, side, radius=0.5) for a in (x, y, z) for side in (None, x + 2 * y + 4 * z)]
    rows += [inputs(WRAP_SPHERE, x, -1.5 * x, side, radius=0.5) for side in (-y, -z, y)]
    rows += [
        inputs(WRAP_CYLINDER, x, -1.5 * x + 0.2 * z, side, radius=0.5) for side in (None, y, -y, 0.3 * x - y, 2 * z)
    ]
    # both ends on one side
    rows += [inputs(kind, x, 1.5 * x, side, radius=0.5) for kind in (4, 5) for side in (None, y, x, 0.1 * y)]
    # ends in one place but for rounding have no way around, others do
    rows += [inputs(kind, 2 * x + a * y, 2 * x - a * y, -x) for kind in (4, 5) for a in (1e-8, 1e-7)]
    # a side site on the axis, beyond the radius, counts as one at the geom's x axis
    rows += [inputs(WRAP_CYLINDER, [-1, s, 0], [-1, -2 * s, 0], z, radius=0.5) for s in (0.9, -0.9)]
    rows = np.array(rows)
    assert_allclose(run("float64", rows), [mujocos(row) for row in rows], rtol=0, atol=1e-14)


def test_no_room():
    """Ends inside the geom, at its centre, or in one place: no wrapping, and finite numbers in every kind."""
    x, y, z = np.eye(3)
    nothing = np.zeros(3)
    ends = [
        (0.5 * x, y),
        (nothing, y),
        (2 * x, nothing),
        (nothing, nothing),
        (2 * x, 2 * x),
        (0.9 * z, 2 * z),
        (x, 0.1 * y),
    ]
    sides = [None, 2 * y, 0.1 * y, nothing]
    rows = np.array([inputs(kind, p, q, side) for kind in (4, 5) for p, q in ends for side in sides])
    for kind in KINDS:
        found = run(kind, rows)
        assert np.all(np.isfinite(found))
        assert_allclose(found[:, 0], [mujocos(row)[0] for row in rows])


def test_lanes_are_alone():
    """Bit for bit the same next to lanes that touch, that do not, and that go through."""
    x = np.concatenate([cases(mode, 48) for mode in ("none", "outside", "inside")])
    order = np.random.default_rng(9).permutation(len(x))
    for kind in WIDTH:
        straight, mixed = run(kind, x), run(kind, x[order])
        assert same_bits(np.ascontiguousarray(straight[order]), np.ascontiguousarray(mixed))
        alone = np.concatenate([run(kind, row[None]) for row in x])
        assert same_bits(np.ascontiguousarray(straight), alone)


@pytest.mark.parametrize("kind", ["float32", "lane32"])
@pytest.mark.parametrize("mode", ["none", "outside", "inside"])
def test_single_precision(kind, mode):
    """As in double precision, to 1e-4: roundings of 6e-8, magnified by the angles of ends that are near the surface."""
    x = cases(mode)
    near = np.min([np.linalg.norm(a, axis=1) for a in _across(x)], axis=0) < 1.1 * x[:, 20]
    found, wanted = run(kind, x), run("float64", x)
    assert np.mean(found[:, 0] != wanted[:, 0]) < 0.01  # a path may touch in one precision and just not in the other
    touch = (wanted[:, 0] == 1) & (found[:, 0] == 1) & ~near
    assert touch.sum() > 30
    assert_allclose(found[touch], wanted[touch], atol=1e-4)
