"""Simulations of a batch that diverge: named, held at their last valid state, without effect on the others.

References: a single `Simulation` of the same start, whose error and last valid state a batch's simulation has, to the
bits that both share (in float32 to its rounding); a batch in which nothing diverges; and the bound of velocities, 1e10.
The force grows with the angle, so that a simulation diverges after a number of steps that its start determines.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus

# a spring that pushes away: velocities grow by 1 + h √k ≈ 60 a step
UNSTABLE = """<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody>
  <body><joint name="away" type="slide" stiffness="-1.5e8"/><geom size="0.1" contype="0" conaffinity="0"/></body>
  <body><joint name="still" type="slide"/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody>
  <actuator><motor name="pull" joint="still"/></actuator></mujoco>"""
GIMBAL = """<mujoco><worldbody><body>
  <joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/><joint name="c" axis="1 0 0"/>
  <geom type="capsule" fromto="0 0 0 0 .3 1" size=".05"/></body></worldbody></mujoco>"""
STARTS = np.array([0.0, 1e-3, 0.0, 1e-9, 0.0])  # of the unstable slide: it diverges soon, or late, or not at all
GO = np.flatnonzero(STARTS == 0.0)


def batch_of(**options):
    batch = saltus.Batch(UNSTABLE, len(STARTS), **options)
    batch.qpos = np.stack([STARTS, np.zeros(len(STARTS))], axis=1)
    batch.qvel = np.stack([np.zeros(len(STARTS)), np.arange(5.0)], axis=1)
    return batch


def alone(i):
    sim = saltus.Simulation(UNSTABLE)
    sim.qpos[:], sim.qvel[:] = (STARTS[i], 0.0), (0.0, float(i))
    with pytest.raises(saltus.DivergenceError, match=r"joint 'away' .*velocity grew beyond 1e10"):
        sim.step(60)
    return sim


@pytest.mark.parametrize("chunk", [1, 7, 60])
@pytest.mark.parametrize(
    "options",
    [{"threads": 1}, {"threads": 2}, {"threads": 1, "precision": "float32"}],
    ids=["one thread", "threads", "float32"],
)
def test_the_last_valid_state_is_kept(options, chunk):
    batch = batch_of(**options)
    batch.lanes.pace = 1.0  # however little there is to do, on all threads
    named = []
    for done in range(0, 60, chunk):
        try:
            batch.step(min(chunk, 60 - done))
        except saltus.DivergenceError as error:
            named.append(error)
            assert f"in simulation {error.simulation} " in str(error) and error.dof == "away"
    assert_array_equal(batch.diverged, STARTS != 0.0)
    assert named[0].simulation == 1 and {error.simulation for error in named} <= {1, 3}
    assert len(named) == 1 or all("which stands there" in str(error) for error in named[2:])
    for i in (1, 3):
        sim = alone(i)
        close = 1e-4 if batch.precision == "float32" else 1e-12
        assert_allclose(batch.time[i], sim.time, rtol=1e-12)
        assert_allclose(batch.qpos[i], sim.qpos, rtol=close)
        assert_allclose(batch.qvel[i], sim.qvel, rtol=close)
        errors = [error for error in named if error.simulation == i]
        assert not errors or all(error.time == batch.time[i] for error in errors)
    assert alone(3).time > alone(1).time
    # the others are where they would be without them
    assert_allclose(batch.time[GO], 0.6)
    assert_allclose(batch.qpos[GO, 1], 0.6 * GO, rtol=1e-5 if batch.precision == "float32" else 1e-12)


def test_neighbours_have_the_same_bits():
    batch, other = batch_of(threads=1), saltus.Batch(UNSTABLE, len(STARTS), threads=1)
    other.qvel = batch.qvel
    with pytest.raises(saltus.DivergenceError):
        batch.step(60)
    other.step(60)
    assert_array_equal(batch.qpos[GO], other.qpos[GO])


def test_it_stands_until_it_is_reset():
    batch = batch_of(threads=1)
    with pytest.raises(saltus.DivergenceError, match=r"simulation 1 \(and 1 more of 5\)"):
        batch.step(60)
    state = np.hstack([batch.qpos, batch.qvel, batch.time[:, None]])
    for _ in range(2):
        with pytest.raises(saltus.DivergenceError, match=r"simulation 1 \(and 1 more of 5\), which stands there"):
            batch.step()
    batch.step(3, GO)
    now = np.hstack([batch.qpos, batch.qvel, batch.time[:, None]])
    assert_array_equal(now[[1, 3]], state[[1, 3]])
    assert_allclose(batch.time[GO], 0.65)
    batch.reset(1)
    with pytest.raises(saltus.DivergenceError, match=r"simulation 3 \(and 0 more of 5\), which stands there"):
        batch.step()
    batch.reset(batch.diverged)
    batch.step()
    assert_allclose(batch.time, [0.67, 0.02, 0.67, 0.01, 0.67])
    assert batch.unconverged == 0


def test_recorded_runs_have_rows_up_to_the_error():
    batch = batch_of(threads=1)
    with pytest.raises(saltus.DivergenceError) as error:
        batch.run(0.1)
    recording = error.value.trajectory
    assert np.isfinite(recording.qpos[GO]).all() and np.isnan(recording.qpos[1, -1]).all()


def test_one_simulation_by_itself_diverges_as_in_the_batch():
    batch = batch_of(threads=1)
    sim = batch.simulation(1)
    with pytest.raises(saltus.DivergenceError, match=r"joint 'away' .*velocity grew beyond 1e10"):
        sim.step(60)
    with pytest.raises(saltus.DivergenceError):
        batch.step(60)
    assert_array_equal(sim.qvel, batch.qvel[1])
    assert sim.time == batch.time[1]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_control_names_its_actuator(value):
    batch = saltus.Batch(UNSTABLE, 3, threads=1)
    batch.ctrl = [[0.0], [value], [0.0]]
    with pytest.raises(
        saltus.DivergenceError, match=r"'still' .*ctrl\[0\] of actuator 'pull'.* in simulation 1 "
    ) as error:
        batch.step(2)
    assert error.value.timestep is None and error.value.simulation == 1 and batch.time[1] == 0.0
    assert_array_equal(batch.qvel[1], 0.0)


def test_a_singular_position_is_named():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batch = saltus.Batch(GIMBAL, 3, threads=1)
    batch.qpos = [[0.0, 0.1, 0.0], [0.4, 0.0, 0.7], [0.0, -0.1, 0.0]]
    with pytest.raises(saltus.DivergenceError, match=r"joints 'a', 'c' together can move .* in simulation 1 "):
        batch.step(2)
    assert_array_equal(batch.diverged, [False, True, False])
    assert_allclose(batch.time, np.array([2, 0, 2]) * batch.timestep)
    batch.reset()
    batch.qpos = [0.0, 0.1, 0.0]
    batch.step()
