"""Identification of an arm with seven joints: base parameters, friction and delays of its motors at once.

References: the values by which the motion was made. Numbers of the links' mass distributions are chosen that the base
parameters determine; all others keep their values. The base parameters then have the covariance G C Gᵀ, with G their
derivatives by these numbers and C the covariance that is stated. Of 64 normal deviations one is beyond three in 6 of
100 such tests, and this one has a fixed seed.
"""

import pytest

import saltus
from saltus.bench.identify_arm import command
from saltus.bench.identify_arm.driven_arm import driven_arm, recorded


@pytest.mark.slow  # 64 parameters
def test_base_parameters_friction_and_delays_of_an_arm():
    model = saltus.load(driven_arm())
    base = saltus.base_parameters(model)
    assert len(base.values) == 43  # the minimal number for such an arm: Gautier & Khalil (1990)
    inertial = command.telling_numbers(model, base)
    fit = command.fitted(model, recorded(model, 10), inertial, holdout=0.2)
    assert fit.converged and fit.unidentified == () and fit.at_bound == ()
    assert command.largest(fit, model, [*command.MOTORS, *command.DELAYS]) < 3
    assert (abs(command.base_deviations(fit, base, inertial)) < 3).all()
    assert max(fit.std[name] for name in command.DELAYS) < 0.001  # a tenth of a step


def test_gear_armature_and_friction_of_a_motor():
    """With known masses, all that is the motor's own is told: of one joint of the arm, without noise."""
    names = ("actuator_gear[motor5][0]", "dof_armature[joint5]", "dof_frictionloss[joint5]", "dof_damping[joint5]")
    model = saltus.load(driven_arm())
    true = dict(zip(names, (1.0, 0.05, 0.5, 0.4), strict=True))
    log = recorded(model, 2, noise=0.0)
    start = model.changed({name: 1.2 * value for name, value in true.items()})
    fit = saltus.identify(start, log, {name: (0.2 * x, 3 * x) for name, x in true.items()}, holdout=0)
    assert fit.values == pytest.approx(true, rel=1e-6)
    assert fit.unidentified == ()
