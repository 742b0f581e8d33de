"""Gradients by coordinates and along the axes of qvel are of the same function.

Reference: MuJoCo's changes of coordinates along the axes of qvel, by central differences of the fourth order with steps
of 1e-3, whose error is some 1e-13 and whose rounding 1e-13: both gradients give the same change of the function along
each of them, and the one by coordinates has no part along a quaternion.
"""

import mujoco
import numpy as np
import pytest
from helpers.differentiated import TUMBLING

import saltus
from saltus.simulate.gradients.coordinates import Coordinates

MODEL = saltus.load(TUMBLING)


def states(rng, *leading):
    return Coordinates(MODEL).normalised(rng.normal(size=(*leading, 11)))


def mujocos_changes(qpos, h=1e-3):
    """Changes of coordinates [nq, nv] along the axes of qvel."""

    def moved(k, size):
        out = qpos.copy()
        mujoco.mj_integratePos(MODEL.mujoco, out, size * np.eye(9)[k], 1.0)
        return out

    columns = [(8 * (moved(k, h) - moved(k, -h)) - (moved(k, 2 * h) - moved(k, -2 * h))) / (12 * h) for k in range(9)]
    return np.stack(columns, axis=1)


def test_both_ways_are_those_along_the_manifold():
    rng = np.random.default_rng(0)
    coordinates, qpos = Coordinates(MODEL), states(rng, 3)
    by_coordinates, along = rng.normal(size=(3, 11)), rng.normal(size=(3, 9))
    for i in range(3):
        changes = coordinates.changes(qpos[i], np.eye(9))
        np.testing.assert_allclose(changes, mujocos_changes(qpos[i]), atol=1e-11)
        tangent = coordinates.to_tangent(qpos, by_coordinates)[i]
        np.testing.assert_allclose(tangent, changes.T @ by_coordinates[i], atol=1e-14)
        found = coordinates.from_tangent(qpos, along)[i]
        np.testing.assert_allclose(changes.T @ found, along[i], atol=1e-14)
        for part in (slice(3, 7), slice(7, 11)):
            assert abs(found[part] @ qpos[i][part]) < 1e-14


def test_states_in_arrays_of_any_shape():
    """Row by row, the state alone included."""
    rng = np.random.default_rng(2)
    coordinates, qpos, by_coordinates = Coordinates(MODEL), states(rng, 2, 3), rng.normal(size=(2, 3, 11))
    found = coordinates.to_tangent(qpos, by_coordinates)
    back = coordinates.from_tangent(qpos, found)
    assert found.shape == (2, 3, 9) and back.shape == (2, 3, 11)
    for place in np.ndindex(2, 3):
        changes = coordinates.changes(qpos[place], np.eye(9))
        alone = coordinates.to_tangent(qpos[place], by_coordinates[place])
        np.testing.assert_allclose(found[place], changes.T @ by_coordinates[place], atol=1e-14)
        np.testing.assert_allclose(alone, found[place], atol=1e-15)
        np.testing.assert_allclose(changes.T @ back[place], found[place], atol=1e-14)


def test_a_longer_quaternion_has_a_smaller_gradient():
    """f(q/|q|) with q twice as long changes half as much."""
    rng = np.random.default_rng(1)
    coordinates, qpos, along = Coordinates(MODEL), states(rng), rng.normal(size=9)
    longer = qpos.copy()
    longer[3:7] *= 2
    np.testing.assert_allclose(coordinates.normalised(longer), qpos, atol=1e-15)
    ratio = coordinates.from_tangent(longer, along) / coordinates.from_tangent(qpos, along)
    np.testing.assert_allclose(ratio, [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1])


def test_a_quaternion_without_length_is_refused():
    with pytest.raises(saltus.OptionError, match="the quaternion of joint #1 is zero"):
        Coordinates(MODEL).normalised(np.r_[np.ones(7), np.zeros(4)])
