"""Contacts of spheres and capsules with boxes.

Law: MuJoCo 4.0's lists of contacts: distances, positions, frames, order. Its functions are an independent
implementation. Where a capsule lies along a face, MuJoCo's own choice hangs on rounding; there the law is geometry.

Tolerance: in double precision 1e-11, rounding times the inverse of the least angle at which a capsule crosses an edge,
some 1e-4 here; divided by the distance whose direction is the normal. In single precision 2e-6, likewise divided, at
poses where MuJoCo's own contacts change by less than 1e-5 if the pose changes by 1e-6: at others one of two features is
nearer by less than rounding, or the angle is small.
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
from helpers.steady import steady

import saltus

SIZE, RADIUS, LENGTH = np.array([0.2, 0.3, 0.5]), 0.1, 0.25
BOX, CAPSULE = 'type="box" size=".2 .3 .5"', 'type="capsule" size=".1 .25"'
PAIRS = {
    "sphere_box": ('type="sphere" size=".2"', BOX, 'margin=".02" gap=".03"'),
    "capsule_box": (CAPSULE, BOX, 'margin=".01" gap=".02"'),
    "long_box": ('type="capsule" size=".05 .6"', 'type="box" size=".2 .2 .2"', ""),
    # for kernels compiled together with those of test_box_box
    "box_box": (BOX, 'type="box" size=".1 .1 .1"', ""),
}
NAMES = list(PAIRS)[:3]
TOLERANCE = {"float64": 1e-11, "lane64": 1e-11, "lane32": 2e-6}
RADII = {"sphere_box": 0.2, "capsule_box": 0.1, "long_box": 0.05}
# spheres in the box's axes: over faces, edges and corners, on the surface, inside, in the middle
PLACES = [(0.38, 0, 0), (0, 0.1, -0.65), (0.3, 0.4, 0), (-0.3, -0.35, 0.6), (0.2, 0.1, 0), (0.2, 0.3, 0.5)]
PLACES += [(0.15, 0, 0), (0, -0.25, 0.1), (0.05, 0.05, -0.45), (0, 0, 0), (0.1, 0.2, 0.4)]
UPRIGHT, LYING = np.eye(3), np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # along z, along y


@functools.cache
def cases(poses):
    """A model, positions [n, nq] and MuJoCo's contacts there."""
    m = saltus.load(pairs_model(PAIRS))
    if poses == "random":
        qpos = random_poses(np.random.default_rng(3), 500, 2 * len(PAIRS), [0.35, 0.35, 0.35])
    else:
        qpos = special_poses(np.random.default_rng(4))
    return m, qpos, mujocos(m, qpos)


def special_poses(rng):
    """Spheres at PLACES; capsules on faces, over sides and corners, upright, along edges, within 1e-3 of these."""
    spots = [
        (0.01, 0.02, 0.595),
        (0.3, 0.01, 0.595),
        (0.15, 0.25, 0.59),
        (0.22, 0.1, 0.59),
        (0.25, 0, 0.58),
        (0.29, 0.1, 0),
    ]
    spots += [(0.1, 0.1, 0.84), (0.22, 0.1, 0.84), (0.25, 0.35, 0.8), (0.01, 0.02, 0.4), (0.02, 0.38, 0.05)]
    at = [(spot, turn) for spot in spots for turn in (UPRIGHT, LYING, yaw(0.5) @ LYING, yaw(np.pi / 2) @ LYING)]
    rows = []
    for k in range(4 * len(at)):
        spot, turn = at[k % len(at)]
        tilt = rotation(1e-3 * rng.normal(size=3))
        rows.append(
            np.concatenate(
                [
                    *placed(rng, 0, PLACES[k % len(PLACES)], UPRIGHT),
                    *placed(rng, k % 2, spot, tilt @ turn),
                    *placed(rng, k % 2, np.array([0.6, 0.8, 0.4]) * spot, tilt @ turn),
                    *placed(rng, 0, (9, 9, 9), UPRIGHT),
                ]
            )
        )
    return np.array(rows)


def placed(rng, moved, place, turn):
    """Poses [7] of a geom at a place, turned, in the axes of a box, and of the box: moved anywhere or at the origin."""
    frame = rotation(rng.normal(size=3)) if moved else np.eye(3)
    origin = rng.uniform(-1, 1, 3) if moved else np.zeros(3)
    return pose(origin + frame @ place, frame @ turn), pose(origin, frame)


def pose(place, turn):
    """Position and quaternion [7]."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ravel(turn))
    return np.concatenate([place, quat])


def rotation(vector):
    """The matrix of a rotation vector."""
    angle = np.linalg.norm(vector)
    x, y, z = vector / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def yaw(angle):
    return rotation(np.array([0, 0, angle]))


def tolerance(name, kind):
    """For assert_same: by the distance of the centre from the box's surface; on it there is a rule instead."""

    def of_contact(state, contact):
        gap = abs(contact.dist + RADII[name])
        return TOLERANCE[kind] / (min(1.0, gap) if gap > 1e-9 else 1.0)

    return of_contact


@pytest.mark.parametrize("poses", ["random", "special"])
@plain_or_slow_kinds(EPSILON)
@pytest.mark.parametrize("name", NAMES)
def test_contacts_are_mujocos(name, kind, poses, way):
    """MuJoCo's contacts at random poses; on faces, edges, corners, inside; capsules within 1e-3 of such places."""
    m, qpos, expected = cases(poses)
    qpos, expected = some(way, 7, qpos, expected)
    found = ours(m, qpos, kind)
    if kind == "lane32":
        keep = steady(m, name, qpos, expected, change=1e-6, at_most=1e-5)
        assert keep.mean() > (0.95 if poses == "random" else 0.6)
        found, expected = ([x for x, kept in zip(side, keep, strict=True) if kept] for side in (found, expected))
    found, expected = (of_pair(m, name, contacts) for contacts in (found, expected))
    assert assert_same(found, expected, tolerance(name, kind)) > len(qpos) / 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(EPSILON))
def test_capsule_along_a_face_touches_where_it_begins_and_ends(kind):
    """A capsule that lies on a face touches at both ends of the part of its axis that is over the face.

    Tolerance: 50 roundings of numbers of order 1, divided by the angle to the sides, over 0.1.
    """
    rng = np.random.default_rng(5)
    m = cases("random")[0]
    rows, expected = [], []
    while len(rows) < 100:
        centre, angle, depth = rng.uniform(-0.4, 0.4, 2), rng.uniform(0.1, np.pi / 2 - 0.1), rng.uniform(1e-3, 0.02)
        ends = over_face(centre, np.array([np.cos(angle), np.sin(angle)]))
        if ends is None:
            continue
        turn = yaw(angle) @ np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
        capsule, box = placed(rng, len(rows) % 2, (*centre, SIZE[2] + RADIUS - depth), turn)
        far = [pose((k, 9, 9), UPRIGHT) for k in (3, 6, 9, 12, 15, 18)]
        rows.append(np.concatenate([far[0], far[1], capsule, box, *far[2:]]))
        frame = np.zeros(9)
        mujoco.mju_quat2Mat(frame, box[3:])
        frame = frame.reshape(3, 3)
        points = [box[:3] + frame @ (*end, SIZE[2] - depth / 2) for end in ends]
        expected.append((depth, -frame[:, 2], points))
    tolerance = 50 * EPSILON[kind] / 0.1
    for contacts, (depth, normal, points) in zip(ours(m, np.array(rows), kind), expected, strict=True):
        assert len(contacts) == 2
        ordered = sorted(contacts, key=lambda c: np.abs(c.pos - points[0]).max())
        for contact, point in zip(ordered, points, strict=True):
            np.testing.assert_allclose(contact.pos, point, rtol=0, atol=tolerance)
            np.testing.assert_allclose(contact.frame[0], normal, rtol=0, atol=tolerance)
            assert abs(contact.dist + depth) < tolerance


def over_face(centre, direction):
    """Ends of the part of a capsule's axis over the upper face; None if it is short or an end is at its rim."""
    enter, leave = -LENGTH, LENGTH
    for k in range(2):
        a, b = np.sort((np.array([-1, 1]) * SIZE[k] - centre[k]) / direction[k])
        if min(abs(abs(a) - LENGTH), abs(abs(b) - LENGTH)) < 1e-3:
            return None
        enter, leave = max(a, enter), min(b, leave)
    return (centre + enter * direction, centre + leave * direction) if leave - enter > 0.05 else None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lane64", "lane32"])
def test_neighbours_do_not_matter(kind):
    """A state's contacts are the same bit by bit beside other states, and in another place."""
    m, qpos = cases("random")[0], np.concatenate([cases(poses)[1] for poses in ("random", "special")])
    mixed = np.random.default_rng(0).permutation(len(qpos))
    found = ours(m, qpos, kind)
    shuffled = ours(m, qpos[mixed], kind)
    assert same_bits([found[k] for k in mixed], shuffled)
    alone = [ours(m, qpos[k : k + 1], kind)[0] for k in mixed[:60]]  # the same state in every lane
    assert same_bits(shuffled[:60], alone)


@pytest.mark.slow
def test_tangents():
    """Duals carry the derivatives of distances, positions and frames, away from kinks.

    Tolerance: differences of eighth order with h = 1e-4 have errors of 1e-15 / h by rounding and (h / L)⁸ with L over
    0.01 m.
    """
    m, qpos, _ = cases("random")
    assert assert_tangents(m, qpos[:60], np.random.default_rng(1), step=1e-4, tolerance=1e-8) > 60


@pytest.mark.slow
@pytest.mark.parametrize("poses", ["random", "special"])
def test_tangents_are_finite(poses):
    """No division by zero gets into tangents, in the middle of a box either."""
    m, qpos, _ = cases(poses)
    dqpos = np.random.default_rng(2).normal(size=(*qpos.shape, 8))
    for _, tangents in ours_with_tangents(m, qpos, dqpos):
        assert all(np.isfinite(c.numbers).all() for c in tangents)
