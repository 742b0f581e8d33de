"""Hard contact, event-driven, against closed forms and published benchmarks.

Laws: Signorini's condition and Coulomb's friction between impacts, Newton's restitution at them; the closed forms and
their sources are in `helpers/hard_models.py` and `helpers/woodpecker.py`.

Tolerance: paths between events that are polynomials of at most fourth degree in time are exact, so rounding alone
counts (1e-12 relative, that of locating events). Other paths have the integrator's local error, 1e-8 relative: 1e-6 at
the end. Where the closed form itself leaves something out, the test says what and how much.
"""

import math

import numpy as np
import pytest
from helpers import hard_models as models
from helpers.hard_models import CRADLE, CRADLE_OF_TWO, RADIUS, G, floor, slope
from helpers.woodpecker import LEVER, WOODPECKER_CYCLE, Woodpecker, to_joints, woodpecker_xml
from numpy.testing import assert_allclose

import saltus
from saltus.bench.hybrid.with_scipy import consistent

pytestmark = pytest.mark.usefixtures("one_hard_layout")


def simulation(model, law=None, qpos=None, qvel=None):
    """A simulation under a hard law from a state."""
    sim = saltus.Simulation(model, contact=law or saltus.Hard())
    if qpos is not None:
        sim.qpos[:] = qpos
    if qvel is not None:
        sim.qvel[:] = qvel
    return sim


def times(trajectory, kind):
    """Instants after the start of events of a kind, s; those of one instant (the corners of a box) as one."""
    events = trajectory.events
    found = np.sort(events["time"][events["kind"] == kind])
    return found[(np.diff(found, prepend=-np.inf) > 1e-9) & (found > 1e-6)]


# ------------------------------------------------------------ the bouncing ball


@pytest.mark.parametrize("restitution, count", [(0.5, 10), (0.8, 20), (0.9, 20)])
def test_a_ball_bounces_until_its_bounces_accumulate(restitution, count):
    """Ten of e = 0.5 are 1e-6 m high: the law takes bounces below 1e-8 m as accumulated."""
    zeno = models.zeno_time(1.0, restitution)
    sim = simulation("bouncing_ball", saltus.Hard(restitution=restitution), [1.0])
    trajectory = sim.run(zeno + 1.0, sample=0.5)
    expected = models.bounces(1.0, restitution, count)
    assert_allclose(times(trajectory, "impact")[:count], expected, rtol=1e-12)
    assert_allclose(np.max(trajectory.events["time"]), zeno, rtol=1e-9)
    assert sim.qvel[0] == 0.0
    assert abs(sim.qpos[0]) < 1e-12


def test_a_ball_on_its_way_to_rest_is_where_it_should_be():
    """fidelity: h = 1, e = 0.9, q(8.5) after 45 bounces, of which each hands its rounding on."""
    sim = simulation("bouncing_ball", saltus.Hard(restitution=0.9), [1.0])
    sim.run(8.5, sample=8.5)
    assert_allclose(sim.qpos[0], 5.565551008992671e-6, atol=1e-12)


def test_a_ball_that_loses_nothing_keeps_its_height():
    """A thousand bounces: at 2000 t1 it is at the top again, where an error of the time hardly counts."""
    sim = simulation("bouncing_ball", saltus.Hard(restitution=1.0), [1.0])
    duration = 2000 * math.sqrt(2 / G)
    trajectory = sim.run(duration, sample=duration)
    assert len(times(trajectory, "impact")) == 1000
    assert_allclose(sim.qpos[0], 1.0, atol=1e-9)
    assert_allclose(trajectory.energy.sum(axis=1), trajectory.energy[0].sum(), rtol=1e-9)


# ------------------------------------------------------------ sliding, sticking, rolling


def test_a_block_below_the_friction_angle_does_not_move():
    """tan θ = 0.25 < μ = 0.3: not at all, in 100 s."""
    sim = simulation(slope(models.BLOCK, math.atan(0.25), 0.3))
    start = sim.qpos.copy()
    sim.run(100.0, sample=50.0)
    assert_allclose(sim.qpos, start, rtol=0, atol=1e-12)


def test_a_block_above_the_friction_angle_slides_as_coulomb_says():
    """a = g (sin θ - μ cos θ), and it does not tip."""
    angle = math.atan(0.4)
    sim = simulation(slope(models.BLOCK, angle, 0.3))
    sim.run(2.0, sample=1.0)
    acceleration = G * (math.sin(angle) - 0.3 * math.cos(angle))
    assert_allclose([sim.qvel[0], sim.qpos[0]], [2 * acceleration, 2 * acceleration], rtol=1e-10)
    assert_allclose(sim.qpos[[1, 2]], [0.0, 0.1], atol=1e-10)


def test_a_block_slides_to_rest():
    sim = simulation(floor(models.BLOCK, friction=0.2), qvel=[3.0, 0, 0, 0, 0, 0])
    trajectory = sim.run(2.0, sample=1.0)
    assert_allclose(times(trajectory, "stick")[0], models.STOP_TIME, rtol=1e-10)
    assert_allclose(sim.qpos[0], models.STOP_DISTANCE, rtol=1e-10)
    assert_allclose(sim.qvel, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "spin, when, speed",
    [(0.0, models.ROLL_TIME, models.ROLL_SPEED), (-60.0, models.BACKSPIN_TIME, models.BACKSPIN_SPEED)],
)
def test_a_sliding_sphere_comes_to_roll(spin, when, speed):
    sim = simulation(floor(models.SPHERE, friction=0.2), qvel=[3.0, 0, 0, 0, spin, 0])
    trajectory = sim.run(2.0, sample=1.0)
    assert_allclose(times(trajectory, "stick")[0], when, rtol=1e-9)
    # turning is integrated, with an error of 1e-8 relative
    assert_allclose([sim.qvel[0], RADIUS * sim.qvel[4]], [speed, speed], rtol=1e-7)


@pytest.mark.parametrize("friction", [0.16, 0.17])
def test_a_sphere_on_a_slope_rolls_if_friction_allows(friction):
    """30 degrees: 5/7 g sin θ if it rolls, otherwise g (sin θ - μ cos θ)."""
    sim = simulation(slope(models.SPHERE, math.pi / 6, friction))
    sim.run(1.0, sample=1.0)
    rolls = friction >= models.LEAST_FRICTION_30
    expected = 5 / 7 * G / 2 if rolls else G * (0.5 - friction * math.cos(math.pi / 6))
    assert_allclose(sim.qvel[0], expected, rtol=1e-7)
    assert (abs(sim.qvel[0] - RADIUS * sim.qvel[4]) < 1e-7) == rolls


@pytest.mark.parametrize("friction, inertia, tolerance", [(0.0, 0.0, 1e-6), (1e4, 0.4, 1e-4)])
def test_a_ball_leaves_a_sphere(friction, inertia, tolerance):
    """It rolls until N = T/μ only, 1e-5 of its weight: so much the cosine may be off."""
    start = 0.1
    sim = simulation(models.on_a_sphere(start, friction))
    duration = 1.6
    trajectory = sim.run(duration, sample=duration)
    flight = duration - times(trajectory, "liftoff")[0]
    assert flight > 0.01
    # back along the parabola to where it left
    x, z = sim.qpos[[0, 2]] - flight * sim.qvel[[0, 2]] - np.array([0.0, 0.5 * G * flight**2])
    assert_allclose(math.hypot(x, z), models.TURN, rtol=1e-6)
    assert_allclose(z / models.TURN, models.leaving_cosine(start, inertia), atol=tolerance)


# ------------------------------------------------------------ the rocking block


def test_a_slender_block_rocks_with_housners_ratio():
    alpha, tilt = 0.2, 0.1
    sim = simulation(models.rocking_block(alpha), qpos=models.tilted(alpha, tilt))
    trajectory = sim.run(1.0, sample=1e-3)
    first = times(trajectory, "impact")[0]
    angle = trajectory.qpos[:, 2]
    # the largest tilt lies at most half a sample from one: 5 rad/s² · (5e-4 s)²/2
    other = angle[(trajectory.time > first) & (trajectory.time < first + 0.48)]
    assert_allclose(-np.min(other), models.next_tilt(alpha, tilt), atol=1e-6)
    before, after = trajectory.energy.sum(axis=1)[[0, np.searchsorted(trajectory.time, first) + 1]]
    rest = G * math.cos(alpha)
    assert_allclose((after - rest) / (before - rest), models.housner_ratio(alpha) ** 2, rtol=1e-6)


def test_a_stubby_block_does_not_rock():
    """sin² α > 2/3: the first impact ends the motion."""
    alpha = math.radians(60)
    sim = simulation(models.rocking_block(alpha), qpos=models.tilted(alpha, 0.1))
    trajectory = sim.run(1.0, sample=0.5)
    assert len(times(trajectory, "impact")) == 1
    assert_allclose(sim.qvel, 0.0, atol=1e-9)
    assert_allclose(sim.qpos[2], 0.0, atol=1e-9)


# ------------------------------------------------------------ impacts


@pytest.mark.parametrize("model, after", [(CRADLE, [0, 0, 0, 0, 1]), (CRADLE_OF_TWO, [0, 0, 0, 1, 1])])
@pytest.mark.parametrize("treatment", ["simultaneous", "sequential"])
def test_as_many_balls_leave_a_cradle_as_came(model, after, treatment):
    came = np.array(after[::-1], float)
    sim = simulation(model, saltus.Hard(restitution=1.0, treatment=treatment), qvel=came)
    energy = sum(sim.energy())
    sim.run(0.5, sample=0.5)
    assert_allclose(sim.qvel, after, atol=1e-10)
    assert_allclose([sim.qvel.sum(), sum(sim.energy())], [came.sum(), energy], rtol=1e-10)


def test_two_balls_part_with_their_restitution():
    sim = simulation(models.TWO_BALLS, saltus.Hard(restitution=0.7), qvel=[2.0, -1.0])
    trajectory = sim.run(1.0, sample=1.0)
    assert_allclose(times(trajectory, "impact"), [(1.0 - 0.125) / 3], rtol=1e-12)
    assert_allclose(sim.qvel, models.TWO_BALLS_AFTER, rtol=1e-12)


@pytest.mark.parametrize("friction", [0.05, models.OBLIQUE_STICKS_FROM - 1e-3, models.OBLIQUE_STICKS_FROM + 1e-3, 0.5])
def test_a_sphere_that_strikes_aslant(friction):
    law = saltus.Hard(restitution=0.5, friction=friction)
    sim = simulation(models.OBLIQUE, law, qvel=[1.0, 0, -2.0, 0, 0, 0])
    sim.run(0.2, sample=0.2)
    found = sim.qvel[0], sim.qvel[2], RADIUS * sim.qvel[4]
    assert_allclose(found, models.oblique_after(friction), rtol=1e-9)


@pytest.mark.parametrize("restitution, friction", [(0.5, 0.5), (0.7, 0.5), (0.9, 0.2)])
def test_an_impact_gains_no_energy_where_newtons_law_would(restitution, friction):
    """Kane and Levinson's double pendulum: the impulses of Newton's and Coulomb's laws alone would do work on it."""
    angles, rates = (np.array(x) @ [[1, -1], [0, 1]] for x in (models.KANE_ANGLES, models.KANE_RATES))
    law = saltus.Hard(restitution=restitution)
    sim = simulation(models.double_pendulum_on_floor(friction), law, angles, rates)
    sim.forward()
    M, J = sim.full_M(), tip_jacobian()
    step = np.linalg.solve(M, J.T)
    u = J @ rates * [1 + restitution, 1]
    newton = consistent(J @ step, u, np.array([friction]), [("stick", "forward", "backward", "open")])
    assert newton is not None
    gained = rates + step @ newton[2]
    kinetic = 0.5 * rates @ M @ rates
    assert 0.5 * gained @ M @ gained > 1.1 * kinetic
    before = sum(sim.energy())
    trajectory = sim.run(1e-3, sample=1e-3)
    assert {"impact", "energetic"} <= set(trajectory.events["kind"].tolist())
    assert before - 0.9 * kinetic < sum(sim.energy()) <= before + 1e-9 * kinetic


def tip_jacobian():
    """Of the pendulum's end, rows z and x, columns the first rod's angle and the second's from it."""
    a, b = models.KANE_ANGLES
    lower = np.array([math.sin(b), math.cos(b)])
    return np.column_stack((np.array([math.sin(a), math.cos(a)]) + lower, lower))


# ------------------------------------------------------------ Painlevé's rod


def test_a_sliding_rod_follows_coulomb_below_the_paradox():
    friction, duration = 1.0, 1e-4
    sim = simulation(models.sliding_rod(friction), qvel=[-1.0, 0.0, 0.0])
    sim.run(duration, sample=duration)
    # over 1e-4 s accelerations change by about 1e-4 of themselves
    found = (sim.qvel - [-1.0, 0.0, 0.0]) / duration
    assert_allclose(found, models.sliding_rod_acceleration(friction), rtol=1e-2)


def test_painleves_paradox_is_reported():
    """Above μ = 4/3 no force is consistent with the rod's sliding: the run ends and says so, with what it has."""
    sim = simulation(models.sliding_rod(1.5), qvel=[-1.0, 0.0, 0.0])
    with pytest.raises(saltus.EventError, match=r"(?i)painlev") as caught:
        sim.run(0.1, sample=0.01)
    assert caught.value.time is not None and caught.value.time < 0.1


# ------------------------------------------------------------ the woodpecker toy


def test_the_woodpecker_toy_runs_down_its_pole_in_its_published_cycle():
    """The period as printed has four digits, from data of two (0.9 % of the spring): 1 %; SciPy's: long levers.

    Each return shrinks what is left of the start by a factor of -0.84; nine leave a fifth of it.
    """
    toy, cycle = Woodpecker(), WOODPECKER_CYCLE
    law = saltus.Hard(pairs={("beak", "pole_at_beak"): 0.5}, treatment="moreau")
    sim = simulation(woodpecker_xml(), law, to_joints(toy.start[0]))
    trajectory = sim.run(1.45, sample=1e-3)
    jams = times(trajectory, "stick")
    assert len(jams) >= 9
    periods = np.diff(jams[1:])
    settled = periods[-1] + (periods[-2] - periods[-1]) * 0.84 / 1.84
    assert_allclose(settled, cycle.accurate_period, atol=5e-5)
    assert_allclose(settled, cycle.period, rtol=1e-2)
    # it sinks, jams with the bird at its lowest, and the beak meets the pole
    bird = LEVER * (trajectory.qpos[:, 1] + trajectory.qpos[:, 2])
    assert_allclose(bird[trajectory.time > 0.5].min(), cycle.lowest, atol=0.01)
    assert_allclose(bird.max(), toy.beak, atol=2e-3)
    assert trajectory.qpos[-1, 0] < -0.1
