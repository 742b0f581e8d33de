"""Named compliant laws against closed forms of an impact, of sliding, and of Hertz's theory."""

import math
import warnings

import numpy as np
import pytest
from helpers.hard_models import floor
from helpers.plain_python import plain_python
from scipy.integrate import solve_ivp

import saltus
from saltus.simulate.laws.compliant_laws import hertz_stiffness

BALL = floor('<body pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1" mass="2"/></body>', gravity=(0, 0, 0))
MASS, SPEED = 2.0, 1.5


@pytest.fixture
def plain():
    """Kernels run in plain Python."""
    with plain_python():
        yield


def impact(law):
    """Speed after an impact, and the greatest depth, of a ball that meets the floor."""
    sim = saltus.Simulation(BALL, "dopri5", contact=law, tolerance=(1e-10, 1e-12), timestep=1e-3)
    sim.qvel[2] = -SPEED
    track = sim.run(0.03, sample=1e-4)
    return sim.qvel[2] / SPEED, 0.1 - track.qpos[:, 2].min()


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.2])
def test_hunt_and_crossley_give_the_restitution_of_their_equation(exponent, plain):
    """Integrating m v dv = -k δⁿ (1 + a v) dδ there and back; samples 1e-4 s apart miss the depth by 1e-3 of it."""
    law = saltus.HuntCrossley(1e5 * 5e-3 ** (1.0 - exponent), 0.3, exponent)
    left, depth = impact(law)
    e, d = law.restitution(SPEED), 0.3 * SPEED
    assert abs(d * (1 + e) - math.log((1 + d) / (1 - e * d))) < 1e-12
    assert abs(left - e) < 1e-6
    assert abs(depth / law.penetration(MASS, SPEED) - 1) < 2e-3


@pytest.mark.parametrize("damping", [0.0, 30.0, 2000.0])
def test_kelvin_and_voigt_give_the_restitution_of_their_equation(damping, plain):
    """Schwager & Pöschel (2007); the force begins with a jump that the error estimate meets a step late."""
    law = saltus.KelvinVoigt(1e5, damping)
    left, depth = impact(law)
    assert abs(left - law.restitution(MASS)) < 1e-5
    assert abs(depth / law.penetration(MASS, SPEED) - 1) < 2e-3


@pytest.mark.parametrize("kind", [saltus.HuntCrossley, saltus.KelvinVoigt])
@pytest.mark.parametrize("restitution", [1.0, 0.8, 0.7, 0.3, 0.05, 0.01])
def test_fitted_laws_have_what_they_are_fitted_to(kind, restitution):
    law = kind.fitted(restitution, 2e-3, mass=MASS, speed=SPEED, friction=0.4)
    found = law.restitution(SPEED) if kind is saltus.HuntCrossley else law.restitution(MASS)
    assert abs(found - restitution) < 1e-9
    assert abs(law.penetration(MASS, SPEED) / 2e-3 - 1) < 1e-9


def test_fitted_laws_bounce_alike(plain):
    laws = [kind.fitted(0.6, 3e-3, mass=MASS, speed=SPEED) for kind in (saltus.HuntCrossley, saltus.KelvinVoigt)]
    for law in laws:
        left, depth = impact(law)
        assert abs(left - 0.6) < 1e-5 and abs(depth / 3e-3 - 1) < 2e-3


def test_the_restitution_of_a_damper_is_continuous_at_critical_damping():
    """e = exp(-2) at ζ = 1, from both sides."""
    critical = 2.0 * math.sqrt(1e4 * MASS)
    for factor in (1 - 1e-6, 1.0, 1 + 1e-6):
        assert abs(saltus.KelvinVoigt(1e4, factor * critical).restitution(MASS) - math.exp(-2.0)) < 1e-5


def test_hertz_stiffness_is_that_of_his_theory():
    """F = 4/3 E* √R δ^(3/2): a steel ball of 1 cm under 100 N is pressed in by 7.3 µm (Johnson 1985, 4.2)."""
    k = hertz_stiffness(0.01, 210e9, 0.3)
    depth = (100.0 / k) ** (2.0 / 3.0)
    contact_radius = (3 * 100.0 * 0.01 * (1 - 0.3**2) / (4 * 210e9)) ** (1 / 3)
    assert abs(depth - contact_radius**2 / 0.01) < 1e-15


def test_a_sliding_block_slows_down_by_both_coefficients(plain):
    """m v' = -μ(v) m g v/√(v² + v₀²) with μ(v) between 0.2 in motion and 0.5 at rest, by SciPy."""
    law = saltus.HuntCrossley(1e5, 2.0, friction=0.2, static_friction=0.5, stribeck_velocity=0.1, slip_velocity=1e-3)
    block = floor('<body pos="0 0 0.1"><joint type="slide"/><joint type="slide" axis="1 0 0"/>'
                  '<geom name="block" size="0.1" mass="2"/></body>', gravity=(0, 0, -9.81))  # fmt: skip
    sim = saltus.Simulation(block, "dopri5", contact=law, tolerance=(1e-9, 1e-11), timestep=1e-3)
    sim.qpos[0] = -((MASS * 9.81 / 1e5) ** (2 / 3))
    sim.qvel[1] = 0.3
    sim.run(0.08)
    slope = lambda t, v: -(0.2 + 0.3 * np.exp(-((v / 0.1) ** 2))) * 9.81 * v / np.sqrt(v * v + 1e-6)  # noqa: E731
    end = solve_ivp(slope, (0, 0.08), [0.3], rtol=1e-11, atol=1e-13).y[0, -1]
    assert abs(sim.qvel[1] - end) < 1e-7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: saltus.HuntCrossley(0.0), "stiffness must be above 0"),
        (lambda: saltus.HuntCrossley(1.0, -1.0), "dissipation must be at least 0"),
        (lambda: saltus.HuntCrossley(1.0, exponent=0.5), "exponent must be at least 1"),
        (
            lambda: saltus.HuntCrossley(1.0, friction=0.5, static_friction=0.4),
            "static_friction must be at least friction",
        ),
        (lambda: saltus.HuntCrossley(1.0, friction="much"), "friction must be numbers"),
        (lambda: saltus.HuntCrossley(1.0, slip_velocity=0.0), "slip_velocity must be above 0"),
        (lambda: saltus.KelvinVoigt(1.0, math.nan), "damping must be at least 0"),
        (lambda: saltus.KelvinVoigt.fitted(0.0, 1e-3, mass=1.0, speed=1.0), "restitution must be above 0"),
        (lambda: saltus.HuntCrossley.fitted(0.5, 1e-3, mass=0.0, speed=1.0), "mass must be above 0"),
        (lambda: hertz_stiffness(1.0, 1e9, 0.6), "poisson must be"),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()


def test_friction_that_a_law_leaves_out_is_told():
    """Torsional and rolling friction: none, of a geom, of a pair; geoms that touch nothing do not count."""
    spinning = BALL.replace('name="ball"', 'name="ball" condim="{}"')
    pair = BALL.replace(
        "</mujoco>", '<contact><pair name="p" geom1="ball" geom2="floor" condim="4"/></contact></mujoco>'
    )
    told = []
    for xml in (spinning.format(3), spinning.format(6), pair, spinning.format('4" contype="0" conaffinity="0')):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            saltus.Simulation(xml, "dopri5", contact=saltus.HuntCrossley(1e5, 0.3))
        told.append([str(x.message) for x in found if "torsional" in str(x.message)])
    assert [len(x) for x in told] == [0, 1, 1, 0]
    assert "of geom 'ball' is ignored" in told[1][0] and "of pair 'p' is ignored" in told[2][0]


@pytest.mark.slow
def test_simulations_of_a_batch_equal_single_ones():
    law = saltus.HuntCrossley(1e5, 0.3, friction=0.3)
    batch = saltus.Batch(BALL, 3, integrator="rk4", contact=law)
    batch.qvel[:, 2] = [-1.0, -0.2, 0.4]
    batch.step(20)
    for k in range(3):
        sim = saltus.Simulation(BALL, "rk4", contact=law)
        sim.qvel[2] = [-1.0, -0.2, 0.4][k]
        sim.step(20)
        assert np.array_equal(batch.qpos[k], sim.qpos)
