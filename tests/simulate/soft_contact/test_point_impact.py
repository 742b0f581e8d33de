"""Impacts of a point mass. References: MuJoCo's steps; elastic and damped impacts in closed form."""

import math

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import saltus

SIMULATED = 1e-8
G = 9.81
DROP = {"solref": (-5000, -20), "solimp": (0.9, 0.9), "speed": math.sqrt(2 * G * 0.5)}


def oscillator(ratio, frequency=50.0, **changes):
    """A contact of constant impedance and given damping ratio and frequency (rad/s)."""
    solref = -(frequency**2), -2 * ratio * frequency
    return saltus.contact_law(solref, (0.9, 0.9), **changes)


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.3, 0.7, 0.99, 1.0, 1.5, 4.0])
def test_restitution_without_gravity(ratio):
    """exp(-2 ζ θ / s) with θ = arccos ζ and s = √(1 - ζ²), or their hyperbolic twins; it depends on nothing else."""
    if ratio == 1:
        angle = 1.0
    elif ratio < 1:
        angle = math.acos(ratio) / math.sqrt(1 - ratio**2)
    else:
        angle = math.acosh(ratio) / math.sqrt(ratio**2 - 1)
    expected = math.exp(-2 * ratio * angle)
    for speed, frequency in ((1.0, 50.0), (3.0, 8.0)):
        law = oscillator(ratio, frequency, gravity=0, speed=speed)
        assert_allclose(law.damping_ratio, ratio, rtol=1e-12)
        assert_allclose(law.restitution, expected, rtol=SIMULATED)
        assert_allclose(law.contact_duration, 2 * angle / frequency, rtol=SIMULATED)
        assert_allclose(law.largest_penetration, speed / frequency * math.exp(-ratio * angle), rtol=SIMULATED)


@pytest.mark.parametrize("solimp", [(0.9, 0.9), (0.9, 0.95), (0.1, 0.99, 0.02, 0.5, 3), (0.9, 0.5, 0.01)])
def test_zero_damping_is_elastic(solimp):
    """The force depends on the place alone, so the energy is kept."""
    law = saltus.contact_law((-1000, 0), solimp)
    assert_allclose(law.restitution, 1, rtol=SIMULATED)
    assert law.time_constant == math.inf


def by_quadrature(law):
    """Restitution, deepest penetration and duration by scipy, from the documented law written anew."""
    (first, second), (d0, d1, width, mid, power) = law.used_solref, law.used_solimp
    if first > 0:
        K, b = 1 / (d1 * first * second) ** 2, 2 / (d1 * first)
    else:
        K, b = -first / d1**2, -second / d1

    def push(r, v):
        x = min(max(-r / width, 0.0), 1.0)
        low, high = x**power / mid ** (power - 1), 1 - (1 - x) ** power / (1 - mid) ** (power - 1)
        d = d0 + (d1 - d0) * (low if x <= mid else high)
        return d * (law.gravity - b * v - K * d * r)

    def slope(t, y):
        return y[1], max(push(*y), 0.0) - law.gravity

    turns, lets_go, peaks, leaves = (
        lambda t, y: y[1],
        lambda t, y: push(*y),
        lambda t, y: y[1],
        lambda t, y: y[0] if t > 0 else -1.0,
    )
    turns.direction, peaks.direction, lets_go.direction = 1, -1, -1
    peaks.terminal = leaves.terminal = True
    events, options = (turns, lets_go, peaks, leaves), {"rtol": 1e-11, "atol": 1e-14, "method": "DOP853"}
    end = 50 * max(law.time_constant, law.time_constant * law.damping_ratio**2)
    run = solve_ivp(slope, (0, end), (-1e-14, -law.speed), events=events, max_step=law.shortest_time / 20, **options)
    turned, released, _, left = run.t_events
    deepest = -run.y_events[0][0][0] if len(turned) else max(-run.y[0])
    if not len(left):
        return 0.0, deepest, math.inf
    return run.y_events[3][0][1] / law.speed, deepest, min([*released, *left])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_impacts_on_any_contact(seed):
    """With impedances that grow with depth, from bouncing to creeping; scipy's tolerance is 1e-11 a step."""
    rng = np.random.default_rng(100 + seed)
    ratio = 10 ** rng.uniform(-1.5, 0.6)
    solref = (0.02 / ratio, ratio) if seed % 2 else (-2500, -100 * ratio)
    low, high = sorted(rng.uniform(0.1, 0.99, 2))
    solimp = low, high, 10 ** rng.uniform(-3, -1), rng.uniform(0.1, 0.9), rng.uniform(1.0, 4.0)
    law = saltus.contact_law(solref, solimp, timestep=1e-4, speed=10 ** rng.uniform(-1.5, 0.5))
    found = law.restitution, law.largest_penetration, law.contact_duration
    assert_allclose(found, by_quadrature(law), rtol=1e-6)


@pytest.mark.parametrize(
    "law", [saltus.contact_law(**DROP), saltus.contact_law(), saltus.contact_law((0.001, 1), refsafe=False)]
)
def test_mujoco_bounces_like_euler(law):
    """The same starts, stepped by MuJoCo; free flights keep v²/2 + g x - g h v/2."""
    m = mujoco.MjModel.from_xml_string(law.xml)
    d = mujoco.MjData(m)
    g, h = law.gravity, law.timestep
    bounces = []
    for k in range(8):
        r = -(k + 0.5) / 8 * h * law.speed
        d.qpos[0], d.qvel[0] = r, g * h / 2 - math.sqrt((g * h / 2) ** 2 + law.speed**2 - 2 * g * r)
        speeds = [d.qvel[0]]
        while d.qpos[0] < 0 and not speeds[-1] <= 0 < max(speeds):
            mujoco.mj_step(m, d)
            speeds.append(d.qvel[0])
        back = d.qvel[0] ** 2 + 2 * g * d.qpos[0] - g * h * d.qvel[0]
        bounces.append(math.sqrt(back) / law.speed if d.qpos[0] >= 0 else 0.0)
    assert_allclose(law.restitutions_at_timestep, bounces, rtol=1e-9)


def test_small_steps_approach_the_continuous_law():
    """Semi-implicit Euler is of first order: its error is about the phase of a step, ω h, at the most."""
    for h in (1e-3, 1e-4):
        law = saltus.contact_law(**DROP, timestep=h)
        assert abs(law.restitution_at_timestep - law.restitution) < math.sqrt(5000) * h
    # a long step makes a dissipative contact throw the mass
    assert saltus.contact_law((0.001, 1), refsafe=False).restitution_at_timestep > 1


@pytest.mark.parametrize("changes", [{"solref": (-1e16, 0)}, {"solref": (1e30, 1)}, {"speed": 1e9}])
def test_impacts_beyond_the_clock_are_refused(changes):
    with pytest.raises(saltus.OptionError, match=r"^solref, speed: .* cannot be simulated"):
        saltus.contact_law(**changes).impact  # noqa: B018
