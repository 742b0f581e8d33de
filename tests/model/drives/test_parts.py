"""Parts of drives: numbers that are refused."""

import pytest

import saltus


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
    ],
)
def test_errors_name_the_number(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()
