"""Impacts: what each law and each treatment makes of velocities before.

Laws: u⁺ = W r + u⁻; Newton, Poisson (Glocker and Pfeiffer 1995), the energetic coefficient (Stronge 1990), reflections
of what approaches together (Smith et al. 2012), one problem for all (Moreau 1988). References: closed forms, the
conservation of momentum and energy, and the inequalities that define the laws.

Tolerance: problems are solved to 1e-12 relative to the velocities before, which are of order 1, and a row of impacts
is a few of them: 1e-11, unless a case says otherwise. Energy is second order in what is left over.
"""

import numpy as np
import pytest
from helpers.impacts import Impact, block, delassus, double_pendulum

from saltus.model.fields.constraint.cone import BILATERAL, COULOMB, UNILATERAL
from saltus.model.fields.constraint.impact import (
    ENERGETIC,
    LEFTOVER,
    MOREAU,
    NEWTON,
    POISSON,
    ROUNDS,
    SEQUENTIAL,
    SIMULTANEOUS,
)
from saltus.simulate.analysis.impact_report import TOLERANCE
from saltus.solve.impact.problem import SLACK

LAWS = [NEWTON, POISSON]
TREATMENTS = [SIMULTANEOUS, SEQUENTIAL, MOREAU]
EXACT = dict(rtol=0, atol=1e-11)
everywhere = [(law, treatment) for law in LAWS for treatment in TREATMENTS]
CRADLE = np.diff(np.eye(5), axis=0)  # of five balls in a row, 1 kg each


def cradle(balls, e, law=NEWTON, treatment=SIMULTANEOUS, masses=(1,) * 5):
    """The impact with the first `balls` at 1 m/s, and the velocities of all after."""
    v, M = np.r_[np.ones(balls), np.zeros(5 - balls)], np.diag(masses)
    impact = Impact(delassus(CRADLE, M), CRADLE @ v, e, law=law, treatment=treatment)
    return impact, v + np.linalg.solve(M, CRADLE.T @ impact.r)


@pytest.mark.parametrize(("law", "treatment"), everywhere)
def test_two_spheres(law, treatment):
    """1 kg at 2 m/s and 3 kg at -1 m/s, e = .7: -1.825 and 0.275 m/s."""
    J, M, v = np.array([[-1.0, 1.0]]), np.diag([1.0, 3.0]), np.array([2.0, -1.0])
    impact = Impact(delassus(J, M), J @ v, 0.7, law=law, treatment=treatment)
    np.testing.assert_allclose(v + np.linalg.solve(M, J.T @ impact.r), [-1.825, 0.275], **EXACT)
    assert impact.left


@pytest.mark.parametrize(("law", "treatment"), everywhere)
@pytest.mark.parametrize(
    ("mu", "vt", "spin"), [(0.05, 0.85, 0.375), (0.0951, 1 - 3 * 0.0951, None), (0.0953, 5 / 7, None)]
)
def test_oblique_sphere(mu, vt, spin, law, treatment):
    """A solid sphere, e = .5, at 1 m/s along and 2 m/s onto the floor: sticks from mu = 2/21, at 5/7 m/s."""
    # centre velocity along, onto; R w: inertia 2/5 m R²
    J = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    M = np.diag([1.0, 1.0, 0.4])
    W = delassus(J, M) + np.diag([0.0, 0.0, 3.5])
    v = np.array([1.0, -2.0, 0.0])
    impact = Impact(W, J @ v, 0.5, mu, [COULOMB], law, treatment)
    after = v + np.linalg.solve(M, J.T @ impact.r)
    np.testing.assert_allclose(after[:2], [vt, 1.0], **EXACT)
    if spin is not None:
        np.testing.assert_allclose(after[2], spin, **EXACT)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("treatment", [SIMULTANEOUS, SEQUENTIAL])
@pytest.mark.parametrize("balls", [1, 2, 3, 4])
def test_as_many_balls_leave_a_cradle_as_came(balls, treatment, law):
    impact, after = cradle(balls, 1.0, law, treatment)
    np.testing.assert_allclose(after, np.r_[np.zeros(5 - balls), np.ones(balls)], **EXACT)
    assert abs(impact.gain) < 1e-10 and abs(after.sum() - balls) < 1e-10
    assert impact.report[ROUNDS] >= 4 and not impact.report[LEFTOVER]


@pytest.mark.parametrize("law", LAWS)
def test_one_problem_for_all_drives_a_cradle_as_a_lump(law):
    """Moreau's answer, -3/5 and 2/5 for the others, keeps momentum and energy too."""
    impact, after = cradle(1, 1.0, law, MOREAU)
    np.testing.assert_allclose(after, [-0.6, 0.4, 0.4, 0.4, 0.4], **EXACT)
    assert abs(impact.gain) < 1e-10


def against_a_wall(ratio, law=NEWTON, treatment=SIMULTANEOUS):
    """The elastic impact of a ball of `ratio` kg at 1 m/s with one of 1 kg that touches a wall; its relative gain."""
    J, M, v = np.array([[1.0, 0.0], [-1.0, 1.0]]), np.diag([1.0, ratio]), np.array([0.0, -1.0])
    impact = Impact(delassus(J, M), J @ v, 1.0, law=law, treatment=treatment)
    return impact, impact.gain / (0.5 * ratio)


@pytest.mark.parametrize(("law", "treatment"), everywhere)
@pytest.mark.parametrize("ratio", [1, 100, 400, 1e3, 1e4, 1e6])
def test_an_elastic_ball_against_a_wall_keeps_its_energy(ratio, law, treatment):
    """Impulses of 2 ratio are found to 1e-12 of the velocities, which reach sqrt(ratio): 1e-9 of the energy."""
    impact, gain = against_a_wall(ratio, law, treatment)
    assert abs(gain) < 1e-9 and not impact.report[LEFTOVER]


@pytest.mark.parametrize("treatment", [SIMULTANEOUS, SEQUENTIAL])
def test_impacts_in_a_row_count_the_digits_of_pi(treatment):
    """Galperin (2003): 100ⁿ times the mass, and the number of impacts has the first n + 1 digits of π."""
    counts = [int(against_a_wall(100.0**n, treatment=treatment)[0].report[ROUNDS]) for n in range(5)]
    assert counts == [3, 31, 314, 3141, 31415]


@pytest.mark.parametrize("treatment", [SIMULTANEOUS, SEQUENTIAL])
def test_a_row_of_impacts_that_is_cut_off_is_reported(treatment):
    """10¹² times the mass: over three million impacts, more than are allowed."""
    assert against_a_wall(1e12, treatment=treatment)[0].report[LEFTOVER]


@pytest.mark.parametrize("law", LAWS)
def test_restitution_between_is_the_mean_of_a_lump_and_a_cradle(law):
    """(1 - e) times the common velocity 1/5, and e times the elastic answer."""
    _, after = cradle(1, 0.3, law)
    np.testing.assert_allclose(after, 0.7 * 0.2 + 0.3 * np.array([0, 0, 0, 0, 1.0]), **EXACT)


@pytest.mark.parametrize(("law", "treatment"), everywhere)
def test_a_cradle_with_any_masses_and_restitution_gains_nothing(law, treatment):
    rng = np.random.default_rng(5)
    for _ in range(30):
        e, masses = rng.uniform(0, 1, 4), rng.uniform(0.2, 5, 5)
        impact, after = cradle(rng.integers(1, 5), e, law, treatment, masses)
        assert impact.gain <= 1e-12 and impact.outside < 1e-9
        np.testing.assert_allclose(CRADLE @ after, impact.u, **EXACT)


@pytest.mark.parametrize(("law", "treatment"), [(law, t) for law in LAWS for t in (SIMULTANEOUS, SEQUENTIAL)])
def test_impacts_apart_do_not_know_of_each_other(law, treatment):
    """Two pairs of spheres with e = .2 and .9 in one problem: each as by itself."""
    impact = Impact(np.diag([2.0, 5.0]), [-1.0, -3.0], [0.2, 0.9], law=law, treatment=treatment)
    np.testing.assert_allclose(impact.u, [0.2, 2.7], **EXACT)
    np.testing.assert_allclose(impact.r, [0.6, 1.14], **EXACT)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("degrees", [10, 20, 35])
def test_housner_block(degrees, law):
    """Rocking from the right corner onto the left, e = 0, no slip: rates as 1 to 1 - 1.5 sin²(alpha) (Housner 1963)."""
    alpha = np.radians(degrees)
    M, J = block(alpha)
    # turns about the right corner (b, -h): v = w × r, counterclockwise, onto the left
    v = np.array([-np.cos(alpha), -np.sin(alpha), 1.0])
    np.testing.assert_allclose(J[3:5] @ v, 0, atol=1e-15)
    W = delassus(J, M) + np.diag([0, 0, 1.0, 0, 0, 1.0])
    impact = Impact(W, J @ v, 0.0, 10.0, [COULOMB, COULOMB], law)
    after = v + np.linalg.solve(M, J.T @ impact.r)
    np.testing.assert_allclose(after[2], 1 - 1.5 * np.sin(alpha) ** 2, **EXACT)
    assert impact.u[3] > 0.1 * np.sin(alpha) and impact.r[3] == pytest.approx(0, abs=1e-11)


@pytest.mark.parametrize("law", LAWS)
def test_a_stubby_block_stays_on_both_corners(law):
    """Above sin²(alpha) = 2/3 the old corner is pushed down, and the block comes to rest."""
    M, J = block(np.radians(60))
    v = np.array([-np.cos(np.radians(60)), -np.sin(np.radians(60)), 1.0])
    impact = Impact(delassus(J, M) + np.diag([0, 0, 1.0, 0, 0, 1.0]), J @ v, 0.0, 10.0, [COULOMB] * 2, law)
    np.testing.assert_allclose(impact.u, 0, atol=1e-11)
    assert impact.r[3] > 0.01


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_the_double_pendulum_of_kane_gains_nothing(treatment):
    """Kane and Levinson 1985 (Dynamics: theory and applications): 20 and 30 degrees, -0.1 and -0.2 rad/s, e = mu = .5.

    Newton's law with friction, by hand: r = (r_N, -mu r_N or sticking) with u_N⁺ = -e u_N⁻ gains energy. The fallback
    fulfils Stronge's law where slip keeps its direction: work of expansion is -e² that of compression.
    """
    W, J = double_pendulum()
    W = W + np.diag([0, 0, 1.0])
    u = J @ np.array([-0.1, -0.2])
    aim = -0.5 * u[0]
    stick = np.linalg.solve(W[:2, :2], [aim - u[0], -u[1]])
    friction = np.clip(stick[1], -0.5 * stick[0], 0.5 * stick[0])
    sign = np.sign(friction)
    normal = (aim - u[0]) / (W[0, 0] + 0.5 * sign * W[0, 1]) if friction != stick[1] else stick[0]
    r = np.array([normal, 0.5 * sign * normal if friction != stick[1] else stick[1]])
    assert 0.5 * r @ (W[:2, :2] @ r + 2 * u[:2]) > 1e-4  # of 0.014 J
    impact = Impact(W, u, 0.5, 0.5, [COULOMB], treatment=treatment)
    assert impact.report[ENERGETIC] == 1 and impact.gain < -1e-3
    assert impact.outside < 1e-12
    pressed = Impact(W, u, 0.0, 0.5, [COULOMB])
    work = 0.5 * (impact.r[0] - pressed.r[0]) * impact.u[0]
    np.testing.assert_allclose(work, -(0.5**2) * 0.5 * pressed.r[0] * u[0], rtol=1e-10)


def test_without_friction_the_laws_agree_and_none_needs_the_energetic_coefficient():
    W, J = double_pendulum()
    u = J @ np.array([-0.1, -0.2])
    outcomes = [Impact(W, u, 0.5, 0.0, [COULOMB], law, t) for law, t in everywhere]
    for impact in outcomes:
        np.testing.assert_allclose(impact.u[0], -0.5 * u[0], rtol=1e-12)
        assert impact.report[ENERGETIC] == 0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("treatment", TREATMENTS)
def test_loop_closures_take_part(law, treatment):
    """A ball tied rigidly to another of the same mass bounces with both: impulse (1 + e) 2 m v, tie (1 + e) m v."""
    J = np.array([[1.0, 0.0], [1.0, -1.0]])
    impact = Impact(J @ J.T, J @ [-1.0, -1.0], 0.6, 0.0, [UNILATERAL, BILATERAL], law, treatment)
    np.testing.assert_allclose(impact.u, [0.6, 0.0], **EXACT)
    np.testing.assert_allclose(impact.r, [3.2, -1.6], **EXACT)


@pytest.mark.parametrize("law", LAWS)
def test_a_box_that_lands_flat_bounces_flat(law):
    """Four corners, three degrees of freedom in their way: impulses are not unique, those found are the least ones."""
    x, y = np.array([1, 1, -1, -1.0]), np.array([1, -1, -1, 1.0])
    J = np.column_stack([np.ones(4), x, y])
    impact = Impact(J @ J.T, -np.ones(4), 0.5, law=law)
    np.testing.assert_allclose(impact.u, 0.5, **EXACT)
    np.testing.assert_allclose(impact.r, 1.5 / 4, **EXACT)


def test_balls_that_one_treatment_favours():
    """A ball onto two at rest side by side: together both leave alike, one after the other does not."""
    n = np.array([[np.sqrt(0.75), 0.5], [np.sqrt(0.75), -0.5]])  # from the first ball to the others
    J = np.zeros((2, 6))
    for k in range(2):
        J[k, :2], J[k, 2 + 2 * k : 4 + 2 * k] = -n[k], n[k]
    v = np.array([1.0, 0, 0, 0, 0, 0])
    together, apart = (Impact(J @ J.T, J @ v, 1.0, treatment=t) for t in (SIMULTANEOUS, SEQUENTIAL))
    # symmetric: 2 v0 c = v (1 + 2 c²) for elastic spheres, c = cos 30 degrees
    np.testing.assert_allclose(together.r, 2 * np.sqrt(0.75) / (1 + 2 * 0.75), **EXACT)
    assert abs(apart.r[0] - apart.r[1]) > 0.1
    assert abs(together.gain) < 1e-12 and abs(apart.gain) < 1e-12


@pytest.mark.parametrize(("law", "treatment"), everywhere)
def test_any_impact_is_feasible_in_its_cones_and_gains_nothing(law, treatment):
    """Contacts and closures at random, dependent rows among them."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        kinds = rng.choice([BILATERAL, UNILATERAL, COULOMB, COULOMB], rng.integers(1, 7))
        n = int(sum(np.where(kinds == COULOMB, 3, 1)))
        nv = int(rng.integers(max(2, n // 2), n + 4))
        J, A = rng.normal(size=(n, nv)), rng.normal(size=(nv, nv))
        M, v = A @ A.T + 0.3 * np.eye(nv), rng.normal(size=nv)
        e, mu = rng.choice([0, 0.3, 0.7, 1], len(kinds)), rng.choice([0, 0.2, 0.8], len(kinds))
        impact = Impact(delassus(J, M), J @ v, e, mu, kinds, law, treatment)
        assert impact.residual < 1e-10
        assert impact.gain <= 1e-11 * (0.5 * v @ M @ v)
        assert impact.outside < 1e-9
        np.testing.assert_allclose(impact.u[impact.first[impact.kinds == BILATERAL]], 0, atol=1e-9)
        assert impact.left


@pytest.mark.parametrize("e", [0.2, 0.5, 0.8])
def test_impacts_in_a_row_end_where_none_approaches(e):
    """A ball that runs into four others: each impact of the fastest pair, by hand, until all approach by rounding."""
    v, rounds = np.r_[1.0, np.zeros(4)], 0
    least = SLACK * TOLERANCE * 1.0  # the first pair approaches by 1 m/s
    while (gaps := np.diff(v)).min() < -least:
        k = int(np.argmax(gaps < gaps.min() * (1.0 - 1e-9)))
        mean, change = (v[k] + v[k + 1]) / 2, e * gaps[k] / 2
        v[k], v[k + 1] = mean + change, mean - change
        rounds += 1
    impact, after = cradle(1, e, treatment=SEQUENTIAL)
    assert impact.report[ROUNDS] == rounds > 4 and not impact.report[LEFTOVER]
    np.testing.assert_allclose(after, v, rtol=0, atol=1e-10)
