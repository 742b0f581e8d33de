"""A model with other values of single numbers.

Reference: `Model.changed`, which takes the same values by other keys, to the bit; and values that it does not take.
"""

import numpy as np
import pytest

import saltus
from saltus.model.vary.changed_columns import with_numbers
from saltus.model.vary.columns import columns

MODEL = saltus.load(
    """<mujoco><worldbody><body name="link"><joint name="h" axis="0 1 0" damping=".1"/>
    <geom name="rod" type="capsule" fromto="0 0 0 0 0 -.5" size=".03"/></body></worldbody></mujoco>"""
)


def test_values_and_what_follows_from_them():
    names = ("opt.gravity[2]", "body_inertia[link]", "body_mass[link]")
    values = np.array([-1.6, 0.02, 0.03, 0.04, 3.0])
    found = with_numbers(MODEL, columns(MODEL, names), values)
    expected = MODEL.changed({"opt.gravity[2]": -1.6, "body_inertia[link]": values[1:4], "body_mass[link]": 3.0})
    for name in ("body_mass", "body_inertia", "body_subtreemass", "dof_invweight0", "body_invweight0"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.opt.gravity[2] == -1.6
    assert found.changes["body_mass[link]"] == 3.0
    assert MODEL.body_mass[1] != 3.0


def test_sizes_and_places_change_too():
    found = with_numbers(MODEL, columns(MODEL, ["geom_size[rod][0]", "jnt_pos[h][2]"]), np.array([0.05, -0.1]))
    assert found.geom_size[0, 0] == 0.05
    assert found.jnt_pos[0, 2] == -0.1


def test_values_that_are_not_allowed_are_named():
    with pytest.raises(saltus.OptionError, match="body_mass must be positive"):
        with_numbers(MODEL, columns(MODEL, ["body_mass[link]"]), np.array([-1.0]))
