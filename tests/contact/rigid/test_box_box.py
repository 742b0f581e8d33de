"""Contacts of boxes with boxes.

Law: MuJoCo 4.0's contacts of each pair, as a set: distances, positions, frames. Its function is an independent
implementation. Where edges lie on edges within rounding, MuJoCo has points amid a side or not as rounding has it; there
the law is the support polygon, and geometry.

Tolerance: in double precision 1e-10, rounding times the inverse of the least angle between crossing sides, some 1e-4
here. In single precision 2e-5, at poses where MuJoCo's own contacts change by less than 1e-5 if the pose changes by
1e-6: at others, some in a hundred, one of two axes or sides decides by less than rounding.
"""

import functools

import numpy as np
import pytest
from helpers import contacts
from helpers.contacts import (
    EPSILON,
    assert_same,
    assert_tangents,
    mujocos,
    of_pair,
    ours,
    pairs_model,
    random_poses,
    same_bits,
)
from helpers.plain_or_slow import plain_or_slow_kinds, some
from helpers.steady import arranged, steady
from scipy.optimize import lsq_linear

import saltus
from saltus.contact.counts import NCON, NLOST
from saltus.contact.rigid.box_box import nearest_points
from saltus.model.layout import DATA, MODEL, data_sizes
from saltus.number.kernels import interpret
from saltus.number.structs import Struct

SIZE = np.array([0.1, 0.3, 0.5])
BOX = 'type="box" size=".1 .3 .5"'
PAIRS = {
    "same": (BOX, BOX, ""),
    "wide": ('type="box" size="1 1.3 .5"', BOX, 'margin=".01" gap=".02"'),
    "small": ('type="box" size=".2 .25 .15"', BOX, 'margin=".02"'),
    # for kernels compiled together with those of test_box
    "sphere_box": ('type="sphere" size=".1"', BOX, ""),
}
NAMES = list(PAIRS)[:3]
TOLERANCE = {"float64": 1e-10, "lane64": 1e-10, "lane32": 2e-5}
FAR = np.array([40.0, 0, 0, 1, 0, 0, 0])


@functools.cache
def cases(poses):
    """A model, positions [n, nq] and MuJoCo's contacts there."""
    m = saltus.load(pairs_model(PAIRS))
    if poses == "random":
        qpos = random_poses(np.random.default_rng(3), 600, 2 * len(PAIRS), [0.3, 0.3, 0.3])
    else:
        rng = np.random.default_rng(4)
        qpos = np.array([row(rng, place(rng), k % 2) for place in SPECIAL.values() for k in range(24)])
    return m, qpos, mujocos(m, qpos)


# ---------------------------------------------------------------- poses


def row(rng, second, moved):
    """A position [nq]: in each pair of boxes the second is at `second`, a place and turn in the axes of the first."""
    place, turn = second
    frame = any_turn(rng) if moved else IDENTITY
    origin = rng.uniform(-1, 1, 3) if moved else np.zeros(3)
    first = np.concatenate([origin, frame])
    other = np.concatenate([origin + rotate(frame, place), multiply(frame, turn)])
    parts = []
    for k in range(len(NAMES)):
        apart = np.array([0, 0, 10.0 * k, 0, 0, 0, 0])
        parts += [first + apart, other + apart]
    return np.concatenate([*parts, FAR, -FAR])


def multiply(a, b):
    """Product of quaternions (w, x, y, z)."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])


def rotate(q, v):
    """A vector turned by a quaternion."""
    t = 2 * np.cross(q[1:], v)
    return np.asarray(v) + q[0] * t + np.cross(q[1:], t)


def about(axis, angle):
    """Quaternion of a turn about axis 0, 1 or 2."""
    return np.array([np.cos(angle / 2), *np.sin(angle / 2) * np.eye(3)[axis]])


def any_turn(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


IDENTITY = np.array([1.0, 0, 0, 0])
LEAN = np.arctan2(SIZE[1], SIZE[2])  # about x: an edge is straight below the centre
ON_CORNER = multiply(about(1, np.arctan2(SIZE[0], np.hypot(SIZE[1], SIZE[2]))), about(0, LEAN))


def depth(rng):
    return rng.uniform(2e-4, 3e-3)


def shift(rng, x, y):
    return rng.uniform(-1, 1, 2) * (x, y)


# the second box in the axes of the first, whose upper face is at 0.5 m in "same" and "wide"
SPECIAL = {
    "flat, shifted": lambda rng: ((*shift(rng, 0.15, 0.5), 1 - depth(rng)), IDENTITY),
    "flat, turned": lambda rng: ((*shift(rng, 0.1, 0.1), 1 - depth(rng)), about(2, rng.uniform(0.1, 1.4))),
    "flat, turned a little": lambda rng: ((0, 0, 1 - depth(rng)), about(2, rng.uniform(0.02, 0.1))),
    "flat, half a right angle": lambda rng: ((0, 0, 1 - depth(rng)), about(2, np.pi / 4)),
    "flat on its side": lambda rng: ((*shift(rng, 0.05, 0.05), 0.6 - depth(rng)), about(1, np.pi / 2)),
    "tilted a little": lambda rng: ((*shift(rng, 0.05, 0.1), 1 - depth(rng)), about(0, 1e-3 * rng.normal())),
    "edge on face": lambda rng: ((*shift(rng, 0.05, 0.2), 0.5 + np.hypot(0.3, 0.5) - depth(rng)), about(0, LEAN)),
    "edge on face, turned": lambda rng: (
        (*shift(rng, 0.05, 0.1), 0.5 + np.hypot(0.3, 0.5) - depth(rng)),
        multiply(about(2, rng.uniform(0.1, 1.4)), about(0, LEAN)),
    ),
    "corner on face": lambda rng: (
        (*shift(rng, 0.05, 0.2), 0.5 + np.sqrt(0.35) - depth(rng)),
        multiply(about(2, rng.uniform(0, 6)), ON_CORNER),
    ),
    "edge across edge": lambda rng: crossed(rng, rng.uniform(0.3, 1.2)),
    "edge on edge": lambda rng: crossed(rng, 0.0),
}


def crossed(rng, angle):
    """Edge on edge, at an angle: both boxes lean about the first one's x, which here is straightened up again."""
    up = rotate(about(0, -LEAN), (0, 0, 2 * np.hypot(0.3, 0.5) - depth(rng)))
    along = rotate(about(0, -LEAN), (rng.uniform(-0.05, 0.05), 0, 0))
    return up + along, multiply(about(0, -LEAN), multiply(about(2, angle), about(0, LEAN)))


# ---------------------------------------------------------------- tests


@pytest.mark.parametrize(("name", "poses"), [*((n, "random") for n in NAMES), ("same", "special"), ("wide", "special")])
@plain_or_slow_kinds(EPSILON)
def test_contacts_are_mujocos(name, kind, poses, way):
    """MuJoCo's contacts at random poses; with faces, edges and corners on faces and edges on edges."""
    m, qpos, expected = cases(poses)
    qpos, expected = some(way, 13 if poses == "random" else 7, qpos, expected)
    found = ours(m, qpos, kind)
    if kind == "lane32":
        keep = steady(m, name, qpos, expected, change=1e-6, at_most=1e-5)
        assert keep.mean() > 0.9
        found, expected = ([x for x, kept in zip(side, keep, strict=True) if kept] for side in (found, expected))
    found, expected = (of_pair(m, name, side) for side in (found, expected))
    count = assert_same(found, arranged(found, expected), lambda state, contact: TOLERANCE[kind])
    assert count > len(qpos) / 4


def test_all_counts_of_contacts_occur():
    """Pairs have none to eight contacts, so that the test above looks at all of these."""
    m = cases("random")[0]
    counts = {len(c) for poses in ("random", "special") for name in NAMES for c in of_pair(m, name, cases(poses)[2])}
    assert counts == set(range(9))


@pytest.mark.parametrize("kind", list(EPSILON))
def test_boxes_in_line_touch_at_corners(kind):
    """Equal boxes exactly on top of each other, turned by any number of right angles, touch at four corners.

    Tolerance: 20 roundings of numbers of order 1.
    """
    rng = np.random.default_rng(5)
    cube = saltus.load(pairs_model(PAIRS | {"same": ('type="box" size=".3 .3 .3"', 'type="box" size=".3 .3 .3"', "")}))
    depths = [depth(rng) for _ in range(40)]
    qpos = np.array([row(rng, ((0, 0, 0.6 - h), about(2, k % 4 * np.pi / 2)), k >= 20) for k, h in enumerate(depths)])
    tolerance = 20 * EPSILON[kind]
    for q, h, found in zip(qpos, depths, of_pair(cube, "same", ours(cube, qpos, kind)), strict=True):
        corners = {tuple(rotate(q[3:7] * (1, -1, -1, -1), c.pos - q[:3]).round(4)) for c in found}
        z = round(0.3 - h / 2, 4)
        assert len(found) == 4
        assert {(x, y) for x, y, _ in corners} == {(x, y) for x in (-0.3, 0.3) for y in (-0.3, 0.3)}
        assert all(abs(corner[2] - z) < 2e-4 for corner in corners)
        assert all(abs(c.dist + h) < tolerance for c in found)
        assert all(np.abs(c.frame[0] - rotate(q[3:7], (0, 0, 1))).max() < tolerance for c in found)


@pytest.mark.parametrize("parallel", [False, True])
def test_nearest_points_of_segments(parallel):
    """Both lie on their segments and are as near as bounded least squares has them: SciPy's `lsq_linear`."""
    rng, nearest, bounds = np.random.default_rng(7), interpret(nearest_points), set()
    for _ in range(40):
        p, q, along = rng.normal(size=(3, 3))
        along = np.array([rng.choice([-1.0, 1.0]), 0, 0]) if parallel else along / np.linalg.norm(along)
        half = rng.uniform(0.1, 2.0, 2)
        first, second = map(np.array, nearest(tuple(p), half[0], tuple(q), half[1], tuple(along)))
        s, t = (first - p)[0], (second - q) @ along
        np.testing.assert_allclose(first, p + [s, 0, 0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(second, q + t * along, rtol=0, atol=1e-12)
        assert abs(s) < half[0] + 1e-12 and abs(t) < half[1] + 1e-12
        wanted = lsq_linear(np.column_stack([np.eye(3)[0], -along]), q - p, (-half, half), method="bvls")
        assert abs(np.linalg.norm(second - first) - np.sqrt(2 * wanted.cost)) < 1e-6
        assert np.linalg.norm(second - first) < np.sqrt(2 * wanted.cost) + 1e-12
        bounds.add((abs(s) > half[0] - 1e-12, abs(t) > half[1] - 1e-12))
    assert len(bounds) == (3 if parallel else 4)


@pytest.mark.parametrize("kind", list(EPSILON))
def test_support_of_nearly_parallel_boxes_is_mujocos(kind):
    """Boxes turned against each other by 1e-16 to 0.1 rest on the same polygon with the same depth as in MuJoCo.

    Compared by how far the contacts reach in 20 directions. Tolerance: 50 roundings of numbers of order 1.
    """
    rng = np.random.default_rng(6)
    m = cases("random")[0]
    turns = 10 ** rng.uniform(-16, -1, 1000)
    spots = [(0.05 * (k // 2 % 2), 0, 1 - depth(rng)) for k in range(1000)]
    qpos = np.array([row(rng, (at, about(2, a)), k % 2) for k, (at, a) in enumerate(zip(spots, turns, strict=True))])
    tolerance = 50 * EPSILON[kind]
    directions = rng.normal(size=(3, 20))
    for mine, theirs in zip(
        *(of_pair(m, "same", side) for side in (ours(m, qpos, kind), mujocos(m, qpos))), strict=True
    ):
        reach = [(np.array([c.pos for c in side]) @ directions).max(axis=0) for side in (mine, theirs)]
        np.testing.assert_allclose(*reach, rtol=0, atol=tolerance)
        for c in mine:
            assert abs(c.dist - theirs[0].dist) < tolerance
            assert np.abs(c.frame - theirs[0].frame).max() < tolerance


@pytest.mark.parametrize("kind", ["lane64", "lane32"])
def test_neighbours_do_not_matter(kind):
    """A state's contacts are the same bit by bit beside other states, apart or on faces or edges."""
    m, qpos = cases("random")[0], np.concatenate([cases(poses)[1] for poses in ("random", "special")])
    mixed = np.random.default_rng(0).permutation(len(qpos))
    found = ours(m, qpos, kind)
    shuffled = ours(m, qpos[mixed], kind)
    assert same_bits([found[k] for k in mixed], shuffled)
    alone = [ours(m, qpos[k : k + 1], kind)[0] for k in mixed[:60]]  # the same state in every lane
    assert same_bits(shuffled[:60], alone)


def test_lanes_have_the_order_of_floats():
    """A pair's contacts come in the same order in lanes as in floats, to the tolerance of the module."""
    m, qpos, _ = cases("random")
    found, expected = ours(m, qpos, "lane64"), ours(m, qpos)
    assert assert_same(found, expected, lambda state, contact: TOLERANCE["lane64"]) > len(qpos)


@pytest.mark.slow
def test_tangents():
    """Duals carry the derivatives of distances, positions and frames, away from kinks.

    Tolerance: differences of eighth order with h = 1e-4 have errors of 1e-15 / h by rounding and (h / L)⁸ with L over
    0.01 m.
    """
    m, qpos, _ = cases("random")
    assert assert_tangents(m, qpos[:40], np.random.default_rng(1), step=1e-4, tolerance=1e-8) > 60


def test_contacts_without_room_are_counted_as_lost():
    """With room for three contacts, three of a resting box's four are kept, and the loss is counted."""
    m, qpos, expected = cases("special")
    resting = next(k for k, found in enumerate(of_pair(m, "wide", expected)) if len(found) == 4)
    q = np.tile(FAR, 2 * len(PAIRS))
    q[0::7] = 40.0 * np.arange(2 * len(PAIRS))
    q[14:28] = qpos[resting, 14:28]
    model = m.struct("float64", timestep=1.0)
    model.ints[MODEL.slot["nconmax"]] = 3
    data = Struct(DATA, data_sizes(m.sizes()), "float64")
    data.qpos[:] = q
    contacts._FIND(model, data)
    assert data.count[NCON] == 3
    assert data.count[NLOST] > 0
    places = np.array([c.pos for c in of_pair(m, "wide", expected)[resting]])
    gaps = np.abs(data.contact_pos[:3, None] - places).max(axis=2)
    assert (gaps.min(axis=1) < 1e-10).all()
    assert len(set(gaps.argmin(axis=1))) == 3
