"""Static friction above that of sliding, with located events. Reference: closed forms (`helpers.stiction_scenes`).

Tolerances: 1e-8 of friction at the cone's edge for the times of breakaway, and that of the integrator for motions.
"""

import math

import numpy as np
import pytest
from helpers.stiction_scenes import KINETIC, MASS, STATIC, G, belt, cycle, slope
from scipy.optimize import brentq

import saltus

TOP = """<body name="top" pos="0 0 .15"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
  <joint type="slide" axis="0 0 1"/><geom name="top" size=".05 .05 .05" mass="1" priority="1" friction="{kinetic} 0 0"/>
  </body>"""


def test_a_block_on_a_belt_sticks_and_slips_in_the_cycle_of_the_closed_form():
    speed, k = 0.1, 50.0
    form = cycle(speed, k)
    sim = saltus.Simulation(belt(speed, k), "dopri5", contact="hard")
    sim.qvel[0] = speed
    run = sim.run(form.first + 2.5 * form.slipping + 2.0 * form.sticking, sample=0.002)
    events, period = run.events, form.slipping + form.sticking
    slips, sticks = (np.unique(events["time"][events["kind"] == kind].round(9)) for kind in ("slip", "stick"))
    np.testing.assert_allclose(slips, form.first + period * np.arange(3), atol=1e-6)
    np.testing.assert_allclose(sticks, form.first + form.slipping + period * np.arange(2), atol=1e-6)
    # extremes, as samples of 2 ms know them
    assert run.qpos[:, 0].max() == pytest.approx(form.middle + form.swing, abs=1e-5)
    assert run.qpos[run.time > form.first, 0].min() == pytest.approx(form.middle - form.swing, abs=1e-5)


def test_a_block_that_slides_up_a_slope_stops_and_stays():
    tangent = 0.5  # between both coefficients
    sim = saltus.Simulation(belt(gravity=slope(-tangent)), "dopri5", contact="hard")
    sim.qvel[0] = speed = 1.0
    a = G * (tangent + KINETIC) / math.sqrt(1.0 + tangent**2)
    sim.run(60.0)
    np.testing.assert_allclose(sim.qpos[:2], [speed**2 / (2.0 * a), 0.0], atol=1e-9)
    np.testing.assert_allclose(sim.qvel, 0.0, atol=1e-14)


@pytest.mark.parametrize(("tangent", "held"), [(0.79, True), (0.81, False)])
def test_a_block_at_rest_is_held_up_to_the_static_coefficient_and_accelerates_by_the_kinetic(tangent, held):
    sim = saltus.Simulation(belt(gravity=slope(tangent)), "dopri5", contact="hard")
    sim.run(0.5)
    a = 0.0 if held else G * (tangent - KINETIC) / math.sqrt(1.0 + tangent**2)
    assert sim.qvel[0] == pytest.approx(a * 0.5, abs=1e-9)


@pytest.mark.parametrize("static", [0.35, 0.6])
def test_a_stack_breaks_away_as_one_or_together(static):
    """The belt lets go of both with the acceleration (μ_s - μ_k) g = 5 m/s², which the upper block bears or not."""
    model = saltus.static_friction(belt(0.1, 50.0, 1.0, TOP.format(kinetic=0.2)), "top", static)
    sim = saltus.Simulation(model, "dopri5", contact="hard")
    sim.qvel[[0, 3]] = 0.1
    first = STATIC * 2.0 * G / 50.0 / 0.1
    run = sim.run(first + 0.05)
    assert run.events["time"][0] == pytest.approx(first, abs=1e-7)
    t, after = run.time - first, run.time > first + 1e-3
    if static < 0.5:
        # the upper one slides at once: pulled back less than the lower one
        np.testing.assert_allclose(run.qvel[after, 3], 0.1 - 0.2 * G * t[after], atol=1e-6)
        assert (run.qvel[after, 3] > run.qvel[after, 0]).all()
        np.testing.assert_allclose(run.events["time"], first, atol=1e-7)
    else:
        omega, excess = 5.0, 0.5 * 2.0 * G / 50.0
        both = 0.1 * np.cos(omega * t) - omega * excess * np.sin(omega * t)
        np.testing.assert_allclose(run.qvel[after][:, [0, 3]], np.stack([both, both], 1)[after], atol=1e-6)


def test_energy_is_lost_to_sliding_friction_alone():
    """On a table at rest: the sum of both energies falls by μ_k N times the way."""
    sim = saltus.Simulation(belt(0.0, 50.0), "dopri5", contact="hard")
    sim.qpos[0] = x = 0.5  # 25 N, above 16 N
    run = sim.run(3.0)
    way = np.abs(np.diff(run.qpos[:, 0])).sum()
    rest = run.qpos[-1, 0]
    assert 0.5 * 50.0 * (x**2 - rest**2) == pytest.approx(KINETIC * MASS * G * way, rel=1e-5)
    assert 50.0 * abs(rest) <= STATIC * MASS * G and np.abs(run.qvel[-1]).max() < 1e-12


def test_a_static_coefficient_equal_to_the_kinetic_changes_nothing():
    runs = []
    for static in (None, KINETIC):
        sim = saltus.Simulation(belt(0.1, 50.0, static=static), "dopri5", contact="hard")
        sim.qvel[0] = 0.1
        runs.append(sim.run(2.0))
    np.testing.assert_allclose(runs[0].qpos, runs[1].qpos, atol=1e-12)


CARRIED = """<mujoco><option gravity="0 0 -10" timestep=".002"/><default><geom type="box" friction=".3 0 0"/></default>
<worldbody><body><joint name="tilt" axis="0 1 0"/><geom name="ramp" size="5 1 .1" pos="0 0 -.1" mass="1"/></body>
<body pos="0 5 0"><joint name="ride" type="slide" axis="1 0 0"/>
  <geom name="floor" size="5 1 .1" pos="0 0 -.1" mass="1"/></body>
<body name="block" pos="0 0 .05"><freejoint/><geom name="block" size=".1 .1 .05" mass="2"/></body>
<body name="rider" pos="0 5 .05"><freejoint/><geom name="rider" size=".1 .1 .05" mass="2"/></body>
</worldbody></mujoco>"""
RATE, AMPLITUDE, PULSE = 0.2, 0.34, 5.0


def tilt(t: float) -> float:
    return RATE * t


def ride(t: float) -> float:
    return AMPLITUDE * (math.sin(PULSE * t) - PULSE * t)


def test_a_slope_that_tilts_and_a_platform_that_shakes_lose_their_blocks():
    model = CARRIED
    for geom in ("block", "rider"):
        model = saltus.static_friction(model, geom, STATIC)
    sim = saltus.Simulation(model, "dopri5", contact="hard", motions={"tilt": tilt, "ride": ride})
    # at rest on the slope: forces of gravity and of the circle with radius .05 about the hinge
    normal = lambda t: G * math.cos(RATE * t) - RATE**2 * 0.05  # noqa: E731
    falls = brentq(lambda t: G * math.sin(RATE * t) - STATIC * normal(t), 3.0, 4.0, xtol=1e-14)
    # the platform's acceleration -A Ω² sin(Ω t) exceeds μ_s g; the rider falls behind until velocities are equal
    lost = math.asin(STATIC * G / (AMPLITUDE * PULSE**2)) / PULSE
    speed = lambda t: AMPLITUDE * PULSE * (math.cos(PULSE * t) - 1.0)  # noqa: E731
    caught = brentq(lambda t: speed(lost) - KINETIC * G * (t - lost) - speed(t), lost + 0.2, lost + 1.2)
    sim.qvel[[2, 6]] = 0.05 * RATE, RATE  # with the slope
    run = sim.run(falls + 0.3)
    events = run.events
    of = lambda geom, kind: events["time"][(events["kind"] == kind) & [geom in x for x in events["name"]]]  # noqa: E731
    assert of("rider", "slip")[0] == pytest.approx(lost, abs=1e-7)
    assert of("rider", "stick")[0] == pytest.approx(caught, abs=1e-7)
    assert of("block", "slip")[0] == pytest.approx(falls, abs=1e-7)


def test_derivatives_go_through_a_breakaway():
    """By the start, which shifts the breakaway by -1/V, and by the kinetic coefficient, of a ball that cannot turn."""
    speed, k, omega, tau = 0.1, 50.0, 5.0, 0.4
    model = belt(speed, k, shape='type="sphere" size=".05"')
    sim = saltus.Simulation(model, "dopri5", contact=saltus.Hard(friction=KINETIC), timestep=0.1 + tau)
    sim.qpos[0], sim.qvel[0] = 0.31, speed  # breaks away at 0.32
    A, _, P = sim.linearize(parameters=("Hard.friction",))
    c, s, excess = math.cos(omega * tau), math.sin(omega * tau), 0.2
    v, a = speed * c - excess * omega * s, -excess * omega**2 * c - speed * omega * s
    np.testing.assert_allclose(A[[0, 3], 0], [v / speed, a / speed], rtol=1e-6)
    np.testing.assert_allclose(P[[0, 3], 0], [0.4 * (1.0 - c), 0.4 * omega * s], rtol=1e-6)


def test_the_time_of_a_breakaway_falls_with_the_start_by_the_speed():
    sim = saltus.Simulation(belt(0.1, 50.0, shape='type="sphere" size=".05"'), "dopri5", contact="hard")
    sim.qpos[0], sim.qvel[0] = 0.31, 0.1
    events = sim.run(0.3, sensitivity=("qpos",)).events
    assert events["time"][0] == pytest.approx(0.1, abs=1e-7)
    np.testing.assert_allclose(events.sensitivity["qpos"].time[0], [-10.0, 0.0, 0.0], atol=1e-6)


def test_a_block_at_rest_stays_while_steps_go_over_dense_events():
    """On a slope between both coefficients, beside a ball that bounces too often for its events to be located."""
    ball = '<body pos="0 .5 .3"><joint type="slide" axis="0 0 1"/><geom name="ball" type="sphere" size=".05"/></body>'
    law = saltus.Hard(pairs={("belt", "ball"): 0.9}, dense_events=3, dense_time=3.0)
    sim = saltus.Simulation(belt(gravity=slope(0.5), more=ball), "dopri5", contact=law)
    events = sim.run(2.0).events
    assert "dense" in events["kind"].tolist()
    np.testing.assert_allclose(sim.qpos[:3], 0.0, atol=1e-9)
