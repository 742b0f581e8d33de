"""Parameters and curves of muscles with fibres and tendon. References: Hill's and Thelen's numbers."""

import numpy as np
import pytest
from helpers.hill import MUSCLE, ROWS, curve, load
from numpy.testing import assert_allclose

import saltus
from saltus.model.compile import hill


def test_curves_go_through_the_points_that_parameters_name():
    """Thelen, Adjustment of muscle mechanics model parameters (2003): strains 0.033 and 0.6, eccentric force 1.8."""
    muscle = saltus.HillMuscle(
        *(1.0, 1.0, 1.0),
        tendon_strain_at_max_force=0.033,
        passive_strain_at_max_force=0.6,
        max_eccentric_force=1.8,
    )
    model = load(muscle)
    assert_allclose(curve(model, "tendon", [0.0, 0.033]), [[0.0, 1.0], [0.0, 1.375 / 0.033]], atol=1e-11)
    assert_allclose(curve(model, "passive", [1.0, 1.6]), [[0.0, 1.0], [0.0, 2.0 / 0.6]], atol=1e-11)
    assert_allclose(curve(model, "velocity", [-1.0, 0.0, 1.0]), [[0.0, 1.0, 1.8], [0.0, 5.0, 0.0]], atol=1e-11)


def test_the_greatest_power_is_a_tenth_at_a_third_of_the_fastest_shortening():
    """Hill, The heat of shortening and the dynamic constants of muscle (1938): 0.1 F₀ v₀ at 0.3 v₀."""
    v = np.linspace(-1, 0, 1001)
    power = -v * curve(load(), "velocity", v)[0]
    assert power.max() == pytest.approx(0.1, abs=0.01)
    assert -v[power.argmax()] == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("name", ROWS)
def test_curves_are_twice_differentiable_where_pieces_meet(name):
    """The second derivative is zero at both ends of each piece, so that next to them slopes differ by O(h²).

    Between them it is some 10, and 1000 of the tendon, whose third derivative is up to 1e7: 0.05 at h/2.
    """
    model = load()
    first, count = ROWS[name]
    rows = np.array(hill.segments(MUSCLE))[first : first + count]
    joints = np.append(rows[:, 0], rows[-1, :6].sum())
    h = 1e-8
    for side in (-h, h):
        change = curve(model, name, joints + side)[1] - curve(model, name, joints)[1]
        assert_allclose(change / h, 0.0, atol=0.1)


@pytest.mark.parametrize(
    "change,complaint",
    [
        ({"max_isometric_force": 0}, "max_isometric_force must be above 0"),
        ({"optimal_fiber_length": float("nan")}, "optimal_fiber_length must be finite"),
        ({"tendon_slack_length": "long"}, "tendon_slack_length must be a number"),
        ({"pennation_angle": 1.0}, "pennation_angle must be above 0 and below 0.785"),
        ({"pennation_angle": -0.1}, "pennation_angle"),
        ({"fiber_damping": 0.0}, "fiber_damping must be above 0"),
        ({"max_eccentric_force": 1.0}, "max_eccentric_force must be above 1.15"),
        ({"rigid_tendon": 1}, "rigid_tendon must be True or False"),
    ],
)
def test_parameters_are_checked(change, complaint):
    with pytest.raises(saltus.OptionError, match=complaint):
        saltus.HillMuscle(**{"max_isometric_force": 1, "optimal_fiber_length": 1, "tendon_slack_length": 1, **change})


def test_only_actuators_with_a_length_and_one_control_become_muscles():
    xml = """<mujoco><worldbody><body name="b"><joint name="x" type="slide"/><joint name="ball" type="ball"/>
      <geom size="0.1"/><site name="s"/></body></worldbody><actuator><motor name="site" site="s"/>
      <motor name="ball" joint="ball"/><adhesion name="body" body="b" ctrlrange="0 1"/>
      <motor name="slide" joint="x"/></actuator></mujoco>"""
    for name in ("site", "ball", "body"):
        with pytest.raises(saltus.OptionError, match=f"actuator '{name}' cannot be a HillMuscle: .* no length"):
            saltus.load(xml, muscles={name: MUSCLE})
    with pytest.raises(saltus.OptionError, match="did you mean 'slide'"):
        saltus.load(xml, muscles={"slid": MUSCLE})
    with pytest.raises(saltus.OptionError, match="must be a HillMuscle"):
        saltus.load(xml, muscles={"slide": 3.0})
