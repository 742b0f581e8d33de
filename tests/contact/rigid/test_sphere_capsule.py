"""Contacts of spheres, capsules and cylinders with each other.

Law: MuJoCo 4.0's lists of contacts: distances, positions, frames, order. Its functions are an independent
implementation.

Tolerance: a contact's numbers are some ten products and sums of numbers of order 1, and so is the pose: 32 roundings.
The normal's error is larger by the inverse of the distance whose direction it is, and that of the points where two
capsules are nearest by the inverse of the sine of their axes' angle; at poses where these are 0 there are rules instead
of directions. Derivatives by differences are of eighth order with h = 2e-4: their error is (h / L)⁸ with L over 0.1 m
and 1e-15 / h by rounding.
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

import saltus

SPHERE, CAPSULE, CYLINDER = 'type="sphere" size=".3"', 'type="capsule" size=".2 .5"', 'type="cylinder" size=".3 .4"'
PAIRS = {
    "sphere_sphere": (SPHERE, 'type="sphere" size=".2"', ""),
    "sphere_capsule": (SPHERE, CAPSULE, 'margin=".02" gap=".03"'),
    "capsule_sphere": (CAPSULE, SPHERE, 'margin=".05"'),
    "capsule_capsule": (CAPSULE, 'type="capsule" size=".1 .4"', 'margin=".01" gap=".04"'),
    "sphere_cylinder": (SPHERE, CYLINDER, 'margin=".03"'),
}
RADII = {
    "sphere_sphere": (0.5,),
    "sphere_capsule": (0.5,),
    "capsule_sphere": (0.5,),
    "capsule_capsule": (0.3,),
    "sphere_cylinder": (0.3, 0.6),  # beside the rim, beside the side
}
NONE, HALF, THIRD, ASKEW = (1, 0, 0, 0), (0, 0, 1, 0), (0.5, 0.5, 0.5, 0.5), (0.8, 0, 0.36, 0.48)
# of the first body in the axes of the second: in line, side by side, both; on the cylinder's rim
PLACES = [(0, 0, z) for z in (0, 0.1, 0.3, 0.54, 0.85, 1.1, -0.2, -0.65, -1.04, 1.3)]
PLACES += [(x, 0, 0) for x in (0.1, 0.25, 0.28, 0.4, 0.56, -0.2)]
BESIDE = [(0.2, 0.1, 0.3), (0, 0.25, 0.8), (0, 0.25, -0.85), (0.2, 0.2, 0.95), (0.1, -0.2, -0.13)]
PLACES += BESIDE
RIM = [(0.3, 0, 0.4), (0.3, 0, -0.4)]


@functools.cache
def cases(poses):
    """A model, positions [n, nq] and MuJoCo's contacts there."""
    m = saltus.load(pairs_model(PAIRS))
    if poses == "random":
        qpos = random_poses(np.random.default_rng(7), 400, 2 * len(PAIRS), [0.35, 0.35, 0.35])
    else:
        # these turn without rounding, so that zeros stay zeros
        turns = [(NONE, NONE), (HALF, NONE), (THIRD, NONE), (NONE, THIRD), (THIRD, THIRD)]
        at = [(first, second, place) for first, second in turns for place in PLACES]
        at += [(ASKEW, ASKEW, place) for place in BESIDE] + [(HALF, NONE, place) for place in RIM]
        # nearly parallel, below MuJoCo's limit of 1e-4 and above
        at += [((1, 0.3 * e, 0.4 * e, 0), NONE, place) for e in (1e-9, 9e-5, 1.1e-4, 3e-3) for place in BESIDE]
        rows = [np.tile([*turned(q, place), *p, 0, 0, 0, *q], len(PAIRS)) for p, q, place in at]
        qpos = np.array(rows)
    return m, qpos, mujocos(m, qpos)


def turned(quat, place):
    """The place (m) turned by a quaternion."""
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.array(place, float), np.array(quat, float))
    return out


def sines(name, qpos):
    """Of the angle of the z-axes of a pair's bodies, by state."""
    k = 14 * list(PAIRS).index(name)
    axes = [[turned(q[i : i + 4], (0, 0, 1)) for q in qpos] for i in (k + 3, k + 10)]
    return np.linalg.norm(np.cross(*axes), axis=1)


def tolerance(name, qpos, kind):
    """For assert_same: by the distances and angles that the contact is divided by."""
    sine = sines(name, qpos) if name == "capsule_capsule" else np.ones(len(qpos))
    sine[sine < 1e-4] = 1.0

    def of_contact(state, contact):
        divisors = [sine[state], *(contact.dist + r for r in RADII[name])]
        return 32 * EPSILON[kind] / np.prod([min(1.0, abs(x)) for x in divisors if abs(x) > 1e-9])

    return of_contact


@pytest.mark.parametrize("poses", ["random", "special"])
@plain_or_slow_kinds(EPSILON)
@pytest.mark.parametrize("name", list(PAIRS))
def test_contacts_are_mujocos(name, kind, poses, way):
    """MuJoCo's contacts at random poses, and where geoms are parallel, concentric, in line, crossed or on a rim."""
    m, qpos, expected = cases(poses)
    qpos, expected = some(way, 8 if poses == "random" else 3, qpos, expected)
    found, expected = (of_pair(m, name, contacts) for contacts in (ours(m, qpos, kind), expected))
    assert assert_same(found, expected, tolerance(name, qpos, kind)) > len(qpos) / 4
    assert not all(expected)


@pytest.mark.parametrize("kind", ["lane64", "lane32"])
def test_neighbours_do_not_matter(kind):
    """A state's contacts are the same bit by bit beside other states, parallel or not, and in another place."""
    m, qpos = cases("random")[0], np.concatenate([cases(poses)[1] for poses in ("random", "special")])
    mixed = np.random.default_rng(0).permutation(len(qpos))
    found = ours(m, qpos, kind)
    shuffled = ours(m, qpos[mixed], kind)
    assert same_bits([found[k] for k in mixed], shuffled)
    alone = [ours(m, qpos[k : k + 1], kind)[0] for k in mixed[:60]]  # the same state in every lane
    assert same_bits(shuffled[:60], alone)


def test_tangents():
    """Duals carry the derivatives of distances, positions and frames, away from kinks."""
    m, qpos, _ = cases("random")
    compared = assert_tangents(m, qpos[:40], np.random.default_rng(1), step=2e-4, tolerance=1e-9)
    assert compared > 120


@pytest.mark.parametrize("poses", ["random", "special"])
def test_tangents_are_finite(poses):
    """No division by zero gets into tangents where points coincide, axes are parallel or a sphere is on an axis."""
    m, qpos, _ = cases(poses)
    dqpos = np.random.default_rng(2).normal(size=(*qpos.shape, 8))
    for _, tangents in ours_with_tangents(m, qpos, dqpos):
        assert all(np.isfinite(c.numbers).all() for c in tangents)
