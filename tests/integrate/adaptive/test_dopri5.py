"""Dormand and Prince's method keeps its tolerance, and samples do not change its motion.

Law: each step's estimated error is at most the tolerance (Hairer, Nørsett & Wanner, Solving Ordinary Differential
Equations I (1993), II.4 and II.5).

Tolerances: the error over a run of some hundred steps is a small multiple of the tolerance, and follows it.
"""

import numpy as np
import pytest
from helpers import oracle
from numpy.testing import assert_allclose

import saltus


def start(tolerance=(1e-8, 1e-10), timestep=1.0):
    sim = saltus.Simulation("chain", "dopri5", timestep=timestep, tolerance=tolerance)
    return sim


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9, 1e-11])
def test_tolerance_is_honoured(tolerance):
    """Two seconds of the chain: at most a hundred tolerances away, and not a millionth either."""
    sim = start((tolerance, tolerance))
    m = oracle.reference(sim.model)
    qpos, qvel = oracle.exact(m, sim.qpos, sim.qvel, [2.0])
    sim.step(2)
    error = np.max(np.abs(np.concatenate([sim.qpos - qpos[0], sim.qvel - qvel[0]])))
    assert 1e-3 * tolerance < error < 100 * tolerance


def test_sampling_does_not_change_the_motion():
    """However often it is sampled, a run ends in the same bits, at its duration."""
    ends = []
    for sample in (1.0, 0.25, 0.0003):
        sim = start()
        sim.run(1.0, sample=sample)
        assert sim.time == 1.0
        ends.append(sim.snapshot())
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])


def test_free_bodies_and_controls():
    """A control function sees steps of the simulation's timestep; the motion between is adaptive."""
    sim = saltus.Simulation("pendulum", "dopri5", timestep=0.25)
    seen = []
    trajectory = sim.run(1.0, sample=0.1, control=lambda s: seen.append(s.time) or [1.0])
    assert_allclose(seen[:4], [0, 0.25, 0.5, 0.75])
    held = saltus.Simulation("pendulum", "dopri5", timestep=0.25).run(1.0, sample=0.1, control=[1.0])
    assert_allclose(trajectory.qpos, held.qpos, rtol=0, atol=1e-7)


def test_returning_in_between_does_not_change_the_motion(monkeypatch):
    """A run returns to Python now and then, for progress and interrupts; how often makes no difference."""
    ends = []
    for pace in (lambda run, n, began: None, lambda run, n, began: setattr(run, "chunk", run.chunk + 3)):
        monkeypatch.setattr("saltus.simulate.running.run.Run.pace", pace)
        sim = start()
        trajectory = sim.run(1.0, sample=0.07)
        ends.append(np.hstack([trajectory.qpos.ravel(), trajectory.qvel.ravel(), sim.snapshot()]))
    np.testing.assert_array_equal(ends[0], ends[1])


@pytest.mark.parametrize("tolerance", [(0.0, 1e-6), (1e-6, -1.0), (2.0, 1e-3), (np.nan, 1e-3)])
def test_bad_tolerances(tolerance):
    with pytest.raises(saltus.OptionError, match="tolerance must be two numbers between 0 and 1"):
        saltus.Simulation("chain", "dopri5", tolerance=tolerance)


def test_only_adaptive_methods_take_a_tolerance():
    with pytest.raises(saltus.OptionError, match="rk4 has fixed steps"):
        saltus.Simulation("chain", "rk4", tolerance=(1e-6, 1e-6))


def test_an_impossible_tolerance_is_a_divergence_error():
    """Nothing is finite at an infinite force: the step shrinks until the clock swallows it, and the error says so."""
    sim = saltus.Simulation("pendulum", "dopri5")
    sim.ctrl[0] = np.nan
    with pytest.raises(saltus.DivergenceError, match=r"was not finite|too small steps"):
        sim.step()


def test_a_run_that_grows_without_bound_keeps_what_it_has():
    """Negative damping: velocities grow past 1e10, and the run ends with a DivergenceError that carries its samples."""
    model = """
    <mujoco><worldbody><body><joint name="x" type="slide" axis="1 0 0" damping="-5"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(model, "dopri5")
    sim.qvel[0] = 1.0
    with pytest.raises(saltus.DivergenceError, match=r"joint 'x'.*grew beyond 1e10") as caught:
        sim.run(10, sample=0.1)
    # exp(5 t) = 1e10
    limit = np.log(1e10) / 5
    assert limit - 0.5 < caught.value.time <= limit
    recorded = caught.value.trajectory
    assert recorded.time[-1] > limit - 0.5
    assert_allclose(recorded.qvel[:, 0], np.exp(5 * recorded.time), rtol=1e-5)
    assert sim.time == caught.value.time and np.isfinite(sim.qvel).all()
