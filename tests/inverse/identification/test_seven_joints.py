"""Identification of an arm with seven joints: base parameters, friction and delays of its motors at once.

References: the values by which the motion was made. Numbers of the links' mass distributions are chosen that the base
parameters determine; all others keep their values. The base parameters then have the covariance G C Gᵀ, with G their
derivatives by these numbers and C the covariance that is stated. Of 64 normal deviations one is beyond three in 6 of
100 such tests, and this one has a fixed seed.
"""

import numpy as np
import pytest
from helpers.driven_arm import driven_arm, recorded
from scipy.linalg import qr

import saltus

JOINTS = range(7)


def slopes(model, names):
    """Derivatives [parameters, names] of all inertial parameters, by central differences."""
    columns = []
    for name in names:
        value, h = model.value(name), 1e-5
        ends = [saltus.inertial_parameters(model.changed({name: value + s * h})).values for s in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.array(columns).T


def telling_numbers(model, base):
    """As many numbers of mass distributions as there are base parameters, by which these change independently."""
    names = [f"body_pseudo_inertia[link{k}][{i}]" for k in JOINTS for i in range(10)]
    sizes = abs(base.matrix) @ np.maximum(abs(saltus.inertial_parameters(model).values), 0.01)
    order = qr(base.matrix @ slopes(model, names) / sizes[:, None], pivoting=True)[2]
    return [names[i] for i in sorted(order[: len(base.values)])]


@pytest.mark.slow  # 64 parameters
def test_base_parameters_friction_and_delays_of_an_arm():
    model, random = saltus.load(driven_arm()), np.random.default_rng(9)
    base = saltus.base_parameters(model)
    assert len(base.values) == 43  # the minimal number for such an arm: Gautier & Khalil (1990)
    inertial = telling_numbers(model, base)
    motors = [f"{field}[joint{k}]" for field in ("dof_damping", "dof_frictionloss") for k in JOINTS]
    delays = [f"actuator_delay[motor{k}]" for k in JOINTS]
    true = {name: float(model.value(name)) for name in [*inertial, *motors, *delays]}
    first, bounds = {}, {}
    for name in inertial:
        span = 0.15 if name[-2] in "789" else 1.5  # m, or of logarithms
        first[name] = true[name] + span / 15 * random.uniform(-1, 1)
        bounds[name] = true[name] - span, true[name] + span
    first |= {name: 0.6 * true[name] for name in motors} | {name: 0.02 for name in delays}
    bounds |= {name: (0.01, 6.0) for name in motors} | {name: (0.01, 0.04) for name in delays}
    fit = saltus.identify(model.changed(first), recorded(model, 10), bounds)
    assert fit.converged and fit.unidentified == () and fit.at_bound == ()
    for name in [*motors, *delays]:
        assert abs(fit.values[name] - true[name]) < 3 * fit.std[name], name
    G, count = base.matrix @ slopes(fit.model, inertial), len(inertial)
    deviations = np.sqrt(np.diag(G @ fit.covariance[:count, :count] @ G.T))
    found = base.matrix @ saltus.inertial_parameters(fit.model).values
    assert (abs(found - base.values) < 3 * deviations).all()
    assert max(fit.std[name] for name in delays) < 0.001  # a tenth of a step


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
