"""A ball that leaves a sphere, by every kind of integrator, whatever is looked at or kept beside.

Law: without friction energy gives L θ'² = 2 g (cos θ0 - cos θ), and the normal force m (g cos θ - L θ'²) is zero at
cos θ = 2/3 cos θ0; the time is the integral of dθ/θ' (`hard_scenes.leaving_time`), 0.5909 s from 0.3 rad.

Tolerances: of the time with a step h, (Ω h)^p t with Ω = √(2 g/L) = 4.2 1/s and p the order, ten times for the
constant; dopri5 has local errors of 1e-8, 1e-6 in all. What is sampled, kept or restored changes no bit. Steps of the
Euler family are straight, with the velocity of their ends, and lead back into the sphere once after the liftoff: time
steps go over that, without an impact.
"""

import math

import numpy as np
import pytest
from helpers import hard_scenes as scenes
from helpers.hard_layout import share_layout
from helpers.hard_scenes import same_bits
from numpy.testing import assert_allclose

import saltus

DURATION, HALFWAY = 1.5, 0.3
RATE = math.sqrt(2 * scenes.G / (scenes.BIG + scenes.SMALL))
ORDERS = {"rk4": 4, "euler": 1, "implicit": 1, "implicitfast": 1}
CASES = [("dopri5", 0.01, 0.01), ("rk4", 0.01, 0.01), ("rk4", 0.01, 0.005), ("rk4", 0.002, 0.001)]
OTHERS = [("euler", 0.01, 0.01), ("implicit", 0.01, 0.01), ("implicitfast", 0.01, 0.01)]
CASES += [pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS]
ADDED = {
    "fewer samples": {"sample": 0.05},
    "more samples": {"sample": 0.005},
    "samples beside the steps": {"sample": 0.0137},
    "a control function": {"control": lambda sim: None},
    "a ledger": {"ledger": True},
    "both": {"control": lambda sim: None, "ledger": True, "sample": 0.005},
}


@pytest.fixture(autouse=True)
def one_layout(monkeypatch):
    """All scenes need the same kernels."""
    share_layout(monkeypatch)


def ball(integrator, timestep):
    return saltus.Simulation(scenes.ball_on_a_sphere(timestep), integrator, contact="hard")


def check(sim, t):
    """One liftoff and nothing else, and forces that push."""
    happened = t.events[t.events["time"] > 1e-9]
    straight = ORDERS.get(sim.integrator.name) == 1
    kinds = ["liftoff", "dense"] if straight else ["liftoff"]
    assert happened["kind"].tolist() == kinds, t.events[["time", "kind"]]
    assert "impact" not in t.events["kind"] and not (happened["impacts"] > 0).any()
    happened = happened[:1]
    expected = scenes.leaving_time()
    if sim.integrator.name in ORDERS:
        assert_allclose(happened["time"], expected, rtol=10 * (RATE * sim.timestep) ** ORDERS[sim.integrator.name])
    else:
        assert_allclose(happened["time"], expected, rtol=1e-6)
    # the normal points from the fixed sphere's centre to the ball's
    normal = places(t)
    pushes = np.sum(t.contact_force[:, 0, [0, 2]] * normal, axis=1)
    assert pushes.min() >= 0.0
    assert t.contact_mode[0, 0] > 0
    assert_allclose(pushes[0], 9.81 * math.cos(scenes.ANGLE), rtol=1e-9)
    assert (pushes[t.time > max(expected, happened["time"][0])] == 0.0).all()


def places(t):
    """Unit vectors (x, z) from the fixed sphere's centre to the ball's."""
    turn = scenes.BIG + scenes.SMALL
    at = t.qpos + turn * np.array([math.sin(scenes.ANGLE), math.cos(scenes.ANGLE)])
    return at / np.linalg.norm(at, axis=1)[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("integrator, timestep, sample", CASES)
def test_a_ball_leaves_a_sphere_once(integrator, timestep, sample):
    sim = ball(integrator, timestep)
    check(sim, sim.run(DURATION, sample=sample))


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", ["dopri5", "rk4", *(pytest.param(i, marks=pytest.mark.slow) for i, *_ in OTHERS)]
)
def test_what_is_looked_at_and_kept_changes_no_bit(integrator):
    """dopri5 steps as it likes where nothing is asked of each step, and to every multiple of the timestep with a
    control function or a ledger: two motions, each to the bit, and the same to 1e-6."""
    sim, found = ball(integrator, 0.01), {}
    for name, options in {"nothing": {}, **ADDED}.items():
        sim.reset()
        t = sim.run(DURATION, **{"sample": 0.01, **options})
        check(sim, t)
        found[name] = sim.qpos.copy(), sim.qvel.copy(), t.events
    for name, motion in found.items():
        stepwise = integrator == "dopri5" and ADDED.get(name, {}).keys() & {"control", "ledger"}
        expected = found["a ledger" if stepwise else "nothing"]
        assert all(map(same_bits, motion, expected)), name
        assert_allclose(motion[0], found["nothing"][0], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", ["dopri5", "rk4", *(pytest.param(i, marks=pytest.mark.slow) for i, *_ in OTHERS)]
)
def test_a_snapshot_is_gone_back_to_to_the_bit(integrator):
    sim = ball(integrator, 0.01)
    first = sim.run(HALFWAY, sample=0.01)
    kept = sim.snapshot()
    motions = []
    for _ in range(2):
        second = sim.run(DURATION - HALFWAY, sample=0.01)
        motions.append((sim.qpos.copy(), sim.qvel.copy(), second.events))
        sim.restore(kept)
    assert all(map(same_bits, *motions))
    other = ball(integrator, 0.01)  # that has not been there
    other.restore(kept)
    second = other.run(DURATION - HALFWAY, sample=0.01)
    assert all(map(same_bits, (other.qpos, other.qvel, second.events), motions[0]))
    sim.reset()
    whole = sim.run(DURATION, sample=0.01)
    times = np.concatenate([first.events, second.events])["time"]
    if integrator == "dopri5":  # its step ends at the end of the first part
        assert_allclose(whole.events["time"], times, rtol=1e-6)
    else:
        assert same_bits(whole.events["time"], times) and same_bits(sim.qpos, motions[0][0])


@pytest.mark.slow
def test_a_ball_that_rests_is_carried_from_the_first_sample_on():
    xml = scenes.scene_xml(scenes.solid("sphere", (0.1,), 2.0).replace("<body", '<body pos="0 0 0.1"'), 0.5)
    sim = saltus.Simulation(xml, contact="hard")
    t = sim.run(0.1, sample=0.01)
    assert (t.contact_mode == 1).all() and t.contact_state.all()
    assert_allclose(t.contact_force[:, 0], np.tile([0.0, 0.0, 2 * 9.81], (len(t), 1)), atol=1e-9)
