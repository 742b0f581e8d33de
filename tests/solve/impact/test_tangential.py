"""Tangential restitution: superballs.

Law: a ball of mass m, radius a and moment β m a² meets a wall with the velocity s of its contact point along it.
Angular momentum about the contact point is kept, and s⁺ = -e_T s⁻, so that

    v⁺ = v⁻ - (1 + e_T) s β / (1 + β),    a ω⁺ = a ω⁻ + (1 + e_T) s / (1 + β)    (s = v - a ω on the floor)

(Garwin, Kinematics of an ultraelastic rough ball, American Journal of Physics 37 (1969) 88). With e_N = e_T = 1 energy
is kept; a solid ball (β = 2/5) thrown under a table comes back after three bounces, at -333/343 of its velocity.
Impulses obey |r_T| ≤ μ r_N. Tolerances are those of the cone problem, 1e-12 relative, and of the located events.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.simulate.analysis.impact_report import impact_report

BETA, CLOSE = 0.4, 1e-11
TREATMENTS = ("simultaneous", "moreau", "sequential")


def ball(before, e, turn, mu):
    """Outcomes by Newton's law and all treatments for a ball of 1 kg with velocities (normal, tangents) before."""
    w = np.diag([1.0, 1.0 + 1.0 / BETA, 1.0 + 1.0 / BETA])
    found = impact_report(w, before, e, mu, tangential_restitution=turn).outcomes
    return [found["newton", treatment] for treatment in TREATMENTS]


@pytest.mark.parametrize(("e", "turn"), [(1.0, 1.0), (0.8, 0.5), (0.0, 1.0), (1.0, 0.0)])
def test_the_tangential_velocity_turns_round(e, turn):
    before = np.array([-2.0, 0.7, -0.4])
    for outcome in ball(before, e, turn, 10.0):
        np.testing.assert_allclose(outcome.after, [2.0 * e, -turn * 0.7, turn * 0.4], atol=CLOSE)
        lost = 0.5 * (4.0 * (1.0 - e**2) + (0.7**2 + 0.4**2) * (1.0 - turn**2) / (1.0 + 1.0 / BETA))
        assert outcome.energy_change == pytest.approx(-lost, abs=CLOSE)


def test_friction_bounds_the_impulse():
    """μ = 0.01: the impulse is μ (1 + e) m |u_N| against the slip, whatever the tangential restitution."""
    for outcome in ball(np.array([-2.0, 3.0, 4.0]), 1.0, 1.0, 0.01):
        np.testing.assert_allclose(outcome.impulse, [4.0, -0.04 * 0.6, -0.04 * 0.8], atol=CLOSE)


def test_what_only_touches_does_not_turn():
    for outcome in ball(np.array([0.0, 0.7, 0.0]), 1.0, 1.0, 10.0):
        np.testing.assert_allclose(outcome.after, [0.0, 0.7, 0.0], atol=CLOSE)


def test_energy_never_grows():
    """Random bodies with coupled normals and tangents, one to three contacts."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        n = int(rng.integers(1, 4))
        root = rng.normal(size=(3 * n, 3 * n + 2))
        before = rng.normal(size=3 * n)
        e, turn, mu = rng.uniform(0, 1, n), rng.uniform(0, 1, n), rng.uniform(0, 2, n)
        report = impact_report(root @ root.T, before, e, mu, tangential_restitution=turn)
        size = float(before @ np.linalg.solve(root @ root.T, before))
        for outcome in report.outcomes.values():
            assert outcome.energy_change <= 1e-9 * size
            normal = outcome.impulse[::3]
            slips = np.hypot(outcome.impulse[1::3], outcome.impulse[2::3])
            assert (normal >= -1e-9).all() and (slips <= mu * normal + 1e-8 * (1 + normal)).all()


def test_a_superball_under_a_table_comes_back():
    xml = """<mujoco model="superball"><option gravity="0 0 0"/><worldbody>
      <geom name="floor" type="plane" size="9 9 1"/>
      <geom name="table" type="plane" size="9 9 1" pos="0 0 1" euler="180 0 0"/>
      <body pos="0 0 .2"><freejoint/><geom name="ball" size=".1" mass="1"/></body></worldbody></mujoco>"""
    law = saltus.Hard(restitution=1.0, friction=10.0, tangential_restitution=1.0)
    sim = saltus.Simulation(xml, contact=law)
    sim.qvel[:3] = 0.3, 0.0, -1.0
    v, spin = 0.3, 0.0  # a ω about y; its contact point moves at v - a ω on the floor, v + a ω under the table
    start = sim.data.energy.sum()
    for side in (-1.0, 1.0, -1.0):
        sim.step(round((0.15 if side < 0 and v == 0.3 else 0.8) / sim.timestep))
        s = v + side * spin
        v, spin = v - 2.0 * s * BETA / (1.0 + BETA), spin - side * 2.0 * s / (1.0 + BETA)
        np.testing.assert_allclose(sim.qvel[[0, 2, 4]], [v, -side, spin / 0.1], atol=1e-8)
    assert sim.qvel[0] == pytest.approx(-333 / 343 * 0.3, abs=1e-8)
    assert sim.data.energy.sum() == pytest.approx(start, rel=1e-10)
    assert (sim.events["kind"] == "impact").sum() == 3


def test_of_pairs_and_refusals():
    pairs = {("ball", "floor"): {"tangential_restitution": 0.5}}
    assert saltus.Hard(pairs=pairs).coefficients(saltus.load("bouncing_ball")).tangential.max() == 0.5
    with pytest.raises(OptionError, match="tangential_restitution must be between 0 and 1"):
        saltus.Hard(tangential_restitution=1.5)
    with pytest.raises(OptionError, match="acts by Newton's impact law"):
        saltus.Hard(tangential_restitution=1.0, impact="poisson")
    with pytest.raises(OptionError, match="moreau_jean has no tangential restitution"):
        saltus.Simulation("bouncing_ball", "moreau_jean", saltus.Hard(pairs=pairs))
