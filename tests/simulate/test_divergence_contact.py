"""Divergence under contact: steps with numbers that are none, in every field of the state and the inputs.

Laws: as in `test_divergence`. Infinite controls are numbers to actuators that limit them.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus

# a ball on a table that is moved from outside, and an arm whose actuator has a state
TABLE = """
<mujoco><option timestep="0.002"/><worldbody>
  <body name="table" mocap="true"><geom type="plane" size="1 1 .05"/></body>
  <body name="ball" pos="0 0 .1"><freejoint/><geom size=".1"/></body>
  <body pos="3 0 1"><joint name="arm" axis="0 1 0"/><geom size=".1" pos=".2 0 0" contype="0" conaffinity="0"/></body>
</worldbody><actuator>
  <general joint="arm" dyntype="filter" dynprm="0.1" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>"""
FIELDS = ("time", "qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
RUNS = {
    "soft": lambda: saltus.Simulation(TABLE),
    "soft, adaptive": lambda: saltus.Simulation(TABLE, "dopri5"),
    "batch": lambda: saltus.Batch(TABLE, 3, threads=1),
    "time stepping": lambda: saltus.Simulation(TABLE, "moreau_jean", "hard"),
    "located": lambda: saltus.Simulation(TABLE, contact="hard"),
}


def spoilt(run, field, place, value):
    """Set one number of a field, of the second simulation where there are several."""
    new = np.array(getattr(run, field))
    (new[1:2] if isinstance(run, saltus.Batch) else new).reshape(-1)[place] = value
    setattr(run, field, new)


def places(run, field):
    """The first number of a field, one inside, the last."""
    size = np.size(getattr(run, field)) // (run.n if isinstance(run, saltus.Batch) else 1)
    return sorted({0, size // 2, size - 1})


@pytest.mark.slow
@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("field", FIELDS)
def test_numbers_that_are_none_end_the_step(kind, field):
    run = RUNS[kind]()
    for place in places(run, field):
        for value in (np.nan, np.inf, -np.inf):
            if field == "ctrl" and not np.isnan(value):
                continue
            run.reset()
            run.step(2)
            spoilt(run, field, place, value)
            with pytest.raises(saltus.DivergenceError, match=r"not finite|in simulation 1 \("):
                run.step()
            if isinstance(run, saltus.Batch):
                assert_array_equal(run.diverged, [False, True, False])
                assert all(np.isfinite(getattr(run, name)[[0, 2]]).all() for name in FIELDS)
                # as it was given, at its time
                wrong = ~np.isfinite(np.concatenate([np.ravel(getattr(run, name)[1]) for name in FIELDS]))
                assert wrong.sum() == 1


@pytest.mark.parametrize("field", FIELDS)
def test_the_error_names_the_field(field):
    sim, batch = saltus.Simulation(TABLE), saltus.Batch(TABLE, 3, threads=1)
    label = "time" if field == "time" else rf"{field}\[0\]"
    for run in (sim, batch):
        spoilt(run, field, 0, np.nan)
    with pytest.raises(saltus.DivergenceError, match=label):
        sim.step()
    with pytest.raises(saltus.DivergenceError, match=label):
        batch.step()


@pytest.mark.slow
@pytest.mark.parametrize("kind", RUNS)
def test_infinite_controls_are_limited(kind):
    ends = []
    for control in (np.inf, 1.0):
        run = RUNS[kind]()
        run.ctrl = np.full(np.shape(run.ctrl), control)
        run.step(10)
        ends.append(run.qpos.copy())
    assert_array_equal(*ends)


@pytest.mark.slow
@pytest.mark.parametrize("kind", RUNS)
def test_a_zero_quaternion_is_no_rotation(kind):
    """Of the table, on which the ball stays, and of the ball."""
    ends = []
    for quat in (np.zeros(4), np.array([1.0, 0, 0, 0])):
        run = RUNS[kind]()
        run.step(2)
        run.mocap_quat = np.broadcast_to(quat, np.shape(run.mocap_quat))
        qpos = run.qpos.copy()
        qpos[..., 3:7] = quat
        run.qpos = qpos
        run.step(50)
        ends.append(run.qpos.copy())
    # what steps adapt to holds the quaternion, so that they differ by less than their tolerance, 1e-8
    assert_allclose(*ends, rtol=0, atol=1e-8 if kind in ("soft, adaptive", "located") else 0)
    assert_allclose(ends[0][..., 2], 0.1, atol=1e-3)


def test_looking_at_a_state_that_is_none():
    sim = saltus.Simulation(TABLE)
    sim.mocap_pos[0, 0] = np.nan
    for look in (sim.forward, sim.energy, sim.linearize, lambda: sim.data.qacc):
        with pytest.raises(saltus.DivergenceError, match=r"mocap_pos\[0\]"):
            look()


def test_warnings_that_are_errors_do_not_hide_the_error():
    """A solver that was stopped, and a run that diverges: the second is what matters."""
    sim = saltus.Simulation(TABLE.replace('timestep="0.002"', 'timestep="0.002" iterations="1" tolerance="0"'))
    sim.qvel[0] = 9e9
    sim.qpos[2] = 0.05
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(saltus.DivergenceError):
            sim.xfrc_applied[2, 0] = 1e300
            sim.step(3)
