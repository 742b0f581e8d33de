"""Contacts of planes with spheres, capsules, ellipsoids, cylinders and boxes.

Law: MuJoCo 4.0's lists of contacts: distances, positions, frames, order. Its functions are an independent
implementation.

Tolerance: a contact's numbers are some ten products and sums of numbers of order 1, and so is the pose: 32 roundings.
What a capsule's or cylinder's axis points to along the plane has their error over the sine of the axis' angle with the
normal; exactly along the normal it does not count. Derivatives by differences are of eighth order with h = 2e-4: their
error is (h / L)⁸ with L over 0.1 m and 1e-15 / h by rounding.
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
    pairs_model,
    random_poses,
    same_bits,
)
from helpers.plain_or_slow import plain_or_slow_kinds, some

import saltus

SIZES = {"sphere": ".3", "capsule": ".2 .5", "ellipsoid": ".3 .5 .2", "cylinder": ".3 .4", "box": ".3 .4 .2"}
ROOT, SIN, COS = np.sqrt(0.5), np.sin(np.pi / 8), np.cos(np.pi / 8)
TURNS = np.array(
    # none and half, quarter and eighth turns
    [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    + [(ROOT, ROOT, 0, 0), (ROOT, 0, ROOT, 0), (ROOT, 0, 0, ROOT), (0.5, 0.5, 0.5, 0.5)]
    + [(COS, SIN, 0, 0), (COS, 0, SIN, 0), (COS, 0, 0, SIN)]
)
HEIGHTS = [0.0, 0.14, 0.28, 0.37, 0.66]  # m, of the centre: no contact at some, all possible at others


@functools.cache
def model(plane):
    """A plane for each kind of geom, all in the same place."""
    pairs = {}
    for k, (name, size) in enumerate(SIZES.items()):
        margins = f'margin="{0.01 * k}" gap="{0.02 * k}"'
        pairs[name] = (f'type="plane" size="5 5 .1" {plane}', f'type="{name}" size="{size}"', margins)
    return saltus.load(pairs_model(pairs))


@functools.cache
def cases(poses):
    """A model, positions [n, nq] and MuJoCo's contacts there."""
    if poses == "random":
        m = model('pos=".1 .2 -.1" euler="10 20 30"')
        qpos = random_poses(np.random.default_rng(5), 400, len(SIZES), [0.3, 0.3, 0.6])
    else:
        m = model("")
        qpos = np.array([np.tile((0.1, 0.2, z, *q), len(SIZES)) for q in TURNS for z in HEIGHTS])
    return m, qpos, mujocos(m, qpos)


def z_axes(quat):
    w, x, y, z = np.moveaxis(quat, -1, 0)
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z], axis=-1)


def tolerance(name, qpos, kind):
    """For assert_same: by the angle between the geom's axis and the plane's normal."""
    k = list(SIZES).index(name)
    axes = z_axes(qpos[:, 7 * k + 3 : 7 * k + 7])

    def of_contact(state, contact):
        sine = np.linalg.norm(np.cross(axes[state], contact.frame[0]))
        bent = name in ("capsule", "cylinder") and sine > 1e-9
        return 32 * EPSILON[kind] / (sine if bent else 1.0)

    return of_contact


def lying(name, qpos):
    """States in which a cylinder's axis is in the plane: which end is the lower one is left to rounding."""
    k = list(SIZES).index(name)
    return (name == "cylinder") & (np.abs(z_axes(qpos[:, 7 * k + 3 : 7 * k + 7])[:, 2]) < 1e-9)


@pytest.mark.parametrize("poses", ["random", "special"])
@plain_or_slow_kinds(EPSILON)
@pytest.mark.parametrize("name", list(SIZES))
def test_contacts_are_mujocos(name, kind, poses, way):
    """MuJoCo's contacts at random poses over a tilted plane, and lying, standing, on edges, deep in a level one."""
    m, qpos, expected = cases(poses)
    qpos, expected = some(way, 8, qpos, expected)
    keep = ~(lying(name, qpos) & kind.endswith("32"))  # in double precision the roundings are MuJoCo's
    qpos, expected = qpos[keep], [contacts for contacts, k in zip(expected, keep, strict=True) if k]
    found, expected = (of_pair(m, name, contacts) for contacts in (ours(m, qpos, kind), expected))
    assert assert_same(found, expected, tolerance(name, qpos, kind)) > len(qpos) / 4
    assert not all(expected)


@pytest.mark.parametrize("kind", ["lane64", "lane32"])
def test_neighbours_do_not_matter(kind):
    """A state's contacts are the same bit by bit beside other states and in another place."""
    for poses in ("random", "special"):
        m, qpos, _ = cases(poses)
        mixed = np.random.default_rng(0).permutation(len(qpos))
        found = ours(m, qpos, kind)
        shuffled = ours(m, qpos[mixed], kind)
        assert same_bits([found[k] for k in mixed], shuffled)
        alone = [ours(m, q[None], kind)[0] for q in qpos[:40]]  # the same state in every lane
        assert same_bits(found[:40], alone)


def test_tangents():
    """Duals carry the derivatives of distances, positions and frames, away from kinks."""
    m, qpos, _ = cases("random")
    compared = assert_tangents(m, qpos[:30], np.random.default_rng(1), step=2e-4, tolerance=1e-9)
    assert compared > 200


@pytest.mark.parametrize("euler", ["10 20 30", "0 90 0", "0 -90 0", "90 0 0", "0 60 0", "0 0 0"])
@pytest.mark.parametrize("kind", ["float64", "lane32"])
def test_frame_of_a_standing_capsule(kind, euler):
    """With the axis along the normal, which then gives no tangent, the contact frame is still a rotation."""
    m = model(f'euler="{euler}"')
    quat = np.array(m.mujoco.geom("capsule1").quat)
    tilts = np.array([0.0, 1e-15, 1e-12, 1e-8, 1e-5]) if kind == "float64" else np.array([0.0, 1e-7, 1e-6, 1e-4])
    qpos = []
    for tilt in tilts:
        turned = np.zeros(4)
        mujoco.mju_mulQuat(turned, quat, np.array([1.0, 0.4 * tilt, 0.3 * tilt, 0.0]))
        qpos.append(np.tile([0, 0, 0, *turned], len(SIZES)))
    for contacts in of_pair(m, "capsule", ours(m, np.array(qpos), kind)):
        assert contacts
        for c in contacts:
            np.testing.assert_allclose(c.frame @ c.frame.T, np.eye(3), rtol=0, atol=16 * EPSILON[kind])
            assert np.linalg.det(c.frame) > 0
