"""Base parameters. References: the two-link arm's in closed form, and published numbers of combinations.

Rank decisions are far from the threshold: the columns of these mechanisms are either dependent to rounding or apart by
more than 1e-4 of their length.
"""

import numpy as np
import pytest

import saltus
from saltus.algorithms import inertial_parameters, regressor
from saltus.errors import OptionError
from saltus.inverse.dynamics.base_parameters import base_parameters


def chain(count, base):
    """A chain of hinges about skew axes, on the world or on a free body."""
    links = "".join(
        f'<body name="l{k}" pos=".1 .2 .3"><joint axis="{1 + k} 1 {2 - k}" pos=".02 .01 0"/>'
        '<geom type="box" size=".1 .05 .2" pos=".03 .02 .1"/>'
        for k in range(count)
    )
    body = f'<body name="root">{base}<geom size=".1"/>{links}{"</body>" * count}</body>'
    return saltus.load(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


def test_the_planar_arms_are_those_of_textbooks():
    """m2 adds to the first link as a point at the elbow: l m2 to its first moment, l² m2 to its inertia; l = 0.5 m."""
    found = base_parameters("arm")
    assert found.names == (
        "mx[upper_arm] + 0.5 m[forearm]",
        "mz[upper_arm]",
        "Iyy[upper_arm] + 0.25 m[forearm]",
        "mx[forearm]",
        "mz[forearm]",
        "Iyy[forearm]",
    )
    assert {"m[upper_arm]", "Ixx[forearm]", "m[world]"} <= set(found.without) and "m[forearm]" not in found.without


@pytest.mark.parametrize("hinges", [1, 3])
def test_a_floating_base_has_ten_and_seven_for_each_hinge(hinges):
    """Ayusawa, Venture and Nakamura, Identifiability of base-link inertial parameters (2014): 10 + 7 n."""
    model = chain(hinges, "<freejoint/>")
    found = base_parameters(model)
    assert len(found.columns) == 10 + 7 * hinges
    random = np.random.default_rng(3)
    q, v, a = random.normal(size=model.nq), random.normal(size=model.nv), random.normal(size=model.nv)
    Y, p = regressor(model, q, v, a), inertial_parameters(model).values
    np.testing.assert_allclose(Y[:, found.columns] @ found.values, Y @ p, rtol=0, atol=1e-11 * abs(Y @ p).max())
    np.testing.assert_allclose(Y[:, found.columns] @ found.matrix, Y, rtol=0, atol=1e-9 * abs(Y).max())


def test_states_at_rest_tell_only_first_moments():
    """Gravity's moments alone: the arm in the plane feels two first moments a link, grouped."""
    model = saltus.load("arm")
    q = np.random.default_rng(0).normal(size=(20, 2))
    found = base_parameters(model, q, 0 * q, 0 * q)
    assert [name[:2] for name in found.names] == ["mx", "mz", "mx", "mz"]
    assert "Iyy[forearm]" in found.without
    with pytest.raises(OptionError, match="give q, v and a"):
        base_parameters(model, q)


def test_without_joints_there_are_none():
    found = base_parameters('<mujoco><worldbody><body name="b"><geom size=".1"/></body></worldbody></mujoco>')
    assert found.names == () and "m[b]" in found.without
