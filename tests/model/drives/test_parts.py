"""Parts of drives: numbers that are refused."""

import pytest

import saltus


def test_dahls_friction_is_lugres_with_equal_friction_at_rest_and_in_motion():
    """dF/dx = σ (1 - F / F_C sign v) follows from LuGre's law where σ₁ = 0 and F_S = F_C."""
    dahl = saltus.Dahl(300.0, 2.0)
    assert (dahl.damping, dahl.static, dahl.coulomb) == (0.0, 2.0, 2.0) and dahl.velocity > 0.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: saltus.Gear(efficiency=1.1), "at most 1"),
        (lambda: saltus.Gear(ratio=0), "not 0"),
        (lambda: saltus.Gear(ratio="big"), "ratio must be"),
        (lambda: saltus.Gear(stiffness=0.0), "stiffness must be above 0"),
        (lambda: saltus.Gear(stiffness=1.0, damping=-1.0), "damping must be at least 0"),
        (lambda: saltus.Gear(backlash=float("nan")), "backlash must be at least 0"),
        (lambda: saltus.Gear(rotor_inertia=0.0), "rotor_inertia must be at least 1e-12"),
        (lambda: saltus.Gear(hardening=1.0), "stiffness is None"),
        (lambda: saltus.Gear(damping=1.0), "Stribeck.viscous"),
        (lambda: saltus.Gear(backlash=1.0, efficiency=0.9), "expected stiffness"),
        (lambda: saltus.Gear(back_efficiency=0.9), "back_efficiency is of an elastic gear"),
        (lambda: saltus.Gear(stiffness=1.0, back_efficiency=1.1), "back_efficiency must be"),
        (lambda: saltus.TorqueCurve([0.0, 1.0], [1.0]), "2 speeds, but 1 torques"),
        (lambda: saltus.TorqueCurve([1.0, 1.0], [1.0, 0.0]), "its speeds must increase"),
        (lambda: saltus.TorqueCurve([0.0, 1.0], [1.0, -1.0]), "at least 0"),
        (lambda: saltus.Stribeck(0.0, 1.0, 1.0), "coulomb must be above 0"),
        (lambda: saltus.Stribeck(2.0, 1.0, 1.0), "at least coulomb"),
        (lambda: saltus.Stribeck(1.0, 1.0, 0.0), "velocity must be"),
        (lambda: saltus.Stribeck(1.0, 1.0, 1.0, 1.5), "1 or 2"),
        (lambda: saltus.Stribeck(1.0, 1.0, 1.0, viscous=-1.0), "viscous must be at least 0"),
        (lambda: saltus.LuGre(0.0, 1.0, 1.0, 1.0, 1.0), "stiffness must be above 0"),
        (lambda: saltus.LuGre(1.0, -1.0, 1.0, 1.0, 1.0), "damping must be at least 0"),
        (lambda: saltus.LuGre(1.0, 1.0, 0.0, 1.0, 1.0), "coulomb must be above 0"),
        (lambda: saltus.LuGre(1.0, 1.0, 2.0, 1.0, 1.0), "static must be at least coulomb"),
        (lambda: saltus.LuGre(1.0, 1.0, 1.0, 1.0, 0.0), "velocity must be above 0"),
        (lambda: saltus.LuGre(1.0, 1.0, 1.0, 1.0, 1.0, viscous=float("inf")), "viscous must be at least 0"),
        (lambda: saltus.Dahl(float("nan"), 1.0), "stiffness must be above 0"),
        (lambda: saltus.Dahl(1.0, 0.0), "coulomb must be above 0"),
        (lambda: saltus.Dahl(1.0, 1.0, viscous="much"), "viscous must be"),
    ],
)
def test_errors_name_the_number(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()
