"""The names of the HuMAnS toolbox, and the centre of pressure.

Law: a resultant of parallel forces fᵢ at pᵢ acts at Σ fᵢ pᵢ / Σ fᵢ (Varignon); its moment about that point has no part
across the forces. Tolerance: rounding.
"""

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.record import Trajectory

FEET = [["world", "left"], ["world", "left"], ["right", "world"], ["left", "right"]]


def recorded(count=6, **changes):
    """Two points under the left foot, one under the right, whose forces are on the world, and one between the feet."""
    rng = np.random.default_rng(0)
    force = rng.normal(size=(count, 4, 3))
    force[:, :, 2] = rng.random((count, 4)) * [1, 1, -1, 1]
    place = rng.normal(size=(count, 4, 3))
    place[:, :3, 2] = 0.0
    given = {
        "act": rng.normal(size=(count, 2)),
        "contact_state": np.ones((count, 4), bool),
        "contact_mode": np.ones((count, 4)),
        "contact_force": force,
        "contact_pos": place,
        "actuation_state": rng.normal(size=(count, 1)),
        "attrs": {"contact_bodies": FEET},
    }
    return Trajectory(
        np.arange(count), rng.normal(size=(count, 3)), rng.normal(size=(count, 2)), **{**given, **changes}
    )


def test_columns_by_their_other_names():
    t = recorded()
    assert [x.shape for x in (t.T, t.Q, t.QDOT, t.Z, t.ACTUATIONSTATE)] == [(6,), (3, 6), (2, 6), (2, 6), (1, 6)]
    np.testing.assert_array_equal(t.Q[:, 4], t.qpos[4])
    np.testing.assert_array_equal(t.QDOT[:, 4], t.qvel[4])
    np.testing.assert_array_equal(t.Z[:, 4], t.act[4])
    np.testing.assert_array_equal(t.ACTUATIONSTATE[:, 4], t.actuation_state[4])
    assert t.CONTACTSTATE.shape == (4, 6) and t.CONTACTSTATE.dtype == np.bool_ and t.LAMBDA.shape == (12, 6)
    np.testing.assert_array_equal(t.LAMBDA[:4].T, t.contact_force[:, :, 0])
    np.testing.assert_array_equal(t.LAMBDA[4:8].T, t.contact_force[:, :, 1])
    np.testing.assert_array_equal(t.LAMBDA[8:].T, t.contact_force[:, :, 2])


def test_a_recording_unpacks_as_the_results_of_humans():
    t = recorded()
    T, Q, QDOT, Z, ACTUATIONSTATE, CONTACTSTATE = t
    for found, column in (
        (T, t.time),
        (Q, t.qpos.T),
        (QDOT, t.qvel.T),
        (Z, t.act.T),
        (ACTUATIONSTATE, t.actuation_state.T),
        (CONTACTSTATE, t.contact_state.T),
    ):
        np.testing.assert_array_equal(found, column)


def test_names_are_read_only_and_empty_without_contacts():
    t = Trajectory([0.0, 1.0], [[1], [2]], [[3], [4]])
    assert t.LAMBDA.shape == (0, 2) and t.ACTUATIONSTATE.shape == (0, 2)
    assert t.centre_of_pressure().shape == (2, 3) and np.isnan(t.centre_of_pressure()).all()
    for name in ("T", "Q", "QDOT", "Z", "ACTUATIONSTATE", "CONTACTSTATE", "LAMBDA"):
        with pytest.raises(AttributeError):
            setattr(t, name, 0)


def test_the_ground_has_no_moment_about_the_centre_of_pressure():
    t = recorded()
    centre = t.centre_of_pressure()
    upward = t.contact_force[:, :3, 2] * [1, 1, -1]  # the third force is on the world
    arm = t.contact_pos[:, :3] - centre[:, None]
    moment = np.cross(arm, upward[:, :, None] * [0.0, 0.0, 1.0]).sum(axis=1)
    np.testing.assert_allclose(moment, 0.0, atol=1e-14)
    np.testing.assert_allclose(centre[:, 2], 0.0, atol=1e-15)


def test_of_one_foot():
    t = recorded()
    weight = t.contact_force[:, :2, 2]
    left = (weight[:, :, None] * t.contact_pos[:, :2]).sum(axis=1) / weight.sum(axis=1)[:, None]
    # the point between the feet pushes the left one, as its first body, down: no pressure
    np.testing.assert_allclose(t.centre_of_pressure("left"), left, atol=1e-14)
    # the right one stands on the ground and on the left one
    weight = t.contact_force[:, 2:, 2] * [-1, 1]
    right = (weight[:, :, None] * t.contact_pos[:, 2:]).sum(axis=1) / weight.sum(axis=1)[:, None]
    np.testing.assert_allclose(t.centre_of_pressure("right"), right, atol=1e-14)


def test_along_another_normal():
    t = recorded(contact_force=np.tile([2.0, 0.0, -1.0], (6, 4, 1)))
    np.testing.assert_allclose(t.centre_of_pressure("left", normal=(5, 0, 0)), t.contact_pos[:, :2].mean(axis=1))


def test_open_contacts_have_no_place():
    force, place = np.zeros((3, 4, 3)), np.full((3, 4, 3), np.nan)
    force[0, 0, 2], place[0, 0] = 5.0, (1.0, 2.0, 0.0)
    centre = recorded(3, contact_force=force, contact_pos=place).centre_of_pressure()
    assert centre[0].tolist() == [1.0, 2.0, 0.0]
    assert np.isnan(centre[1:]).all()


def test_bodies_that_are_not_known():
    with pytest.raises(OptionError, match="unknown body with contacts 'hand'"):
        recorded().centre_of_pressure("hand")
    with pytest.raises(OptionError, match="does not say which bodies touch"):
        recorded(attrs={}).centre_of_pressure()
    with pytest.raises(OptionError, match="does not say which bodies touch"):
        Trajectory([0.0], [[1]], [[1]]).centre_of_pressure("left")
    for name in ("LAMBDA", "centre_of_pressure"):
        with pytest.raises(OptionError, match="no contact forces: there are too many"):
            value = getattr(Trajectory([0.0], [[1]], [[1]], attrs={"no_contact_points": "there are too many"}), name)
            value()
    with pytest.raises(OptionError, match=r"direction \[3\]"):
        recorded().centre_of_pressure(normal=(0, 0, 0))
