"""What steps make of numbers that are none, and the error that says so.

Laws: MuJoCo 4.0 takes a quaternion shorter than mjMINVAL = 1e-15 for no rotation, wherever it makes one a unit. Any
other number that is not finite ends a step with a DivergenceError, before the step where it is an input.

Tolerance: MuJoCo's own integrators, one step, 1e-12.
"""

import subprocess
import sys

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.simulate.diagnosis.divergence import stability_limit

TURNING = """
<mujoco><worldbody>
  <body><freejoint/><geom size=".1"/><body pos="0 0 1"><joint type="ball"/><geom size=".1" pos=".3 0 0"/></body></body>
</worldbody></mujoco>"""
SPRING = """
<mujoco><worldbody><body><joint type="slide" stiffness="1e3"/><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("length", [0.0, 1e-16, 1e-200, 2e-15, 1e-3, 30.0])
@pytest.mark.parametrize(("integrator", "name"), [(0, "euler"), (1, "rk4")])
def test_quaternions_are_normalised_as_in_mujoco(integrator, name, length):
    sim = saltus.Simulation(TURNING, name)
    model = sim.model.mujoco
    model.opt.integrator = integrator
    data = mujoco.MjData(model)
    data.qvel = sim.qvel = np.linspace(1, 4, 9)
    quat = length * np.array([0.5, -0.5, 0.5, 0.5])
    for qpos in (data.qpos, sim.qpos):
        qpos[3:7] = qpos[7:11] = quat
    mujoco.mj_forward(model, data)
    for field in ("xquat", "qacc"):
        assert_allclose(getattr(sim.data, field), getattr(data, field), rtol=0, atol=1e-12)
    mujoco.mj_step(model, data)
    sim.step()
    assert_allclose(sim.qpos, data.qpos, rtol=0, atol=1e-12)


def test_a_position_that_leaves_the_numbers():
    """A free body whose velocity does not depend on how it is turned: half a turn more than a stage can tell."""
    sim = saltus.Simulation("free_body", "rk4", timestep=5.0)
    before = sim.qpos.copy()
    with pytest.raises(saltus.DivergenceError):
        sim.step(3)
    assert_array_equal(sim.qpos, before)
    batch = saltus.Batch("free_body", 3, integrator="rk4", timestep=5.0)
    with pytest.raises(saltus.DivergenceError):
        batch.step()
    assert batch.diverged.all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -1.0, "a", None])
def test_a_step_that_is_none(value):
    for run in (saltus.Simulation(SPRING), saltus.Batch(SPRING, 2)):
        with pytest.raises(saltus.OptionError, match="timestep"):
            run.timestep = value
    for make in (saltus.Simulation, lambda model, **options: saltus.Batch(model, 2, **options)):
        if value is not None:  # the file's
            with pytest.raises(saltus.OptionError, match="timestep"):
                make(SPRING, timestep=value)


@pytest.mark.parametrize("value", ["a", {}, [1.0, 2.0, 3.0], [None], 10**400])
@pytest.mark.parametrize("field", ["time", "qpos", "qvel", "qfrc_applied"])
def test_what_is_no_number_is_refused(field, value):
    for run in (saltus.Simulation(SPRING), saltus.Batch(SPRING, 2)):
        with pytest.raises(saltus.OptionError, match=field):
            setattr(run, field, value)


# ---------------------------------------------------------------- the error itself


def test_a_singular_inertia_does_not_hide_the_error(monkeypatch):
    for inertia in (np.zeros((1, 1)), np.full((1, 1), np.nan), -np.eye(1)):
        sim = saltus.Simulation(SPRING, timestep=0.5)
        sim.qpos[0] = 1.0
        monkeypatch.setattr(type(sim.engine), "inertia", lambda self, M=inertia: M)
        assert stability_limit(sim.engine) == (np.inf, 0)
        with pytest.raises(saltus.DivergenceError) as caught:
            sim.step(1000)
        assert caught.value.stable_timestep is None and caught.value.dof_index == 0
        assert caught.value.term == "qfrc_spring"


@pytest.mark.parametrize("size", [1e30, 1e100, 1e155, 1e300, 1.7e308])
@pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit_midpoint", "dopri5"])
@pytest.mark.parametrize("field", ["qpos", "qvel", "qfrc_applied"])
def test_huge_numbers_end_in_the_error(field, integrator, size):
    """Every other number overflows on the way to the error, too."""
    sim = saltus.Simulation("double_pendulum", integrator)
    getattr(sim, field)[:] = size
    try:
        sim.step(3)
    except saltus.DivergenceError as error:
        assert error.time == sim.time and "diverged at" in str(error)
    assert np.isfinite(sim.qpos).all() and np.isfinite(sim.qvel).all()


# ---------------------------------------------------------------- limits of attempts

TEN = """
import sys
from saltus.integrate.adaptive import dopri5
dopri5.ATTEMPTS = 10  # before anything is compiled
import numpy as np, saltus

spring = sys.argv[1]
def fast(**options):
    sim = saltus.Simulation(spring, "dopri5", timestep=10.0, **options)
    sim.qpos[:] = 0.01
    return sim
def batch(**options):
    return saltus.Batch(spring, 3, integrator="dopri5", timestep=10.0, threads=1, **options)
for make in (fast, lambda: fast(contact="hard"), batch):
    run = make()
    run.qpos = 0.01
    try:
        run.step()
    except saltus.DivergenceError as error:
        if isinstance(run, saltus.Batch):
            assert run.diverged.all() and (run.time < 10).all() and np.isfinite(run.qpos).all()
            run.reset()
        else:
            assert "more than 10 within a timestep" in str(error), error
            assert (run.time, run.qpos[0], run.qvel[0]) == (0.0, 0.01, 0.0)
    else:
        raise AssertionError(f"no error of {run}, t = {run.time}")
    run.timestep, run.qpos = 1e-3, 0.01
    run.step(10)
    expected = 0.01 * np.cos(np.sqrt(1e3 / run.model.body_mass[1]) * 0.01)
    assert np.allclose(run.qpos, expected, rtol=0, atol=1e-8), (run.qpos, expected)
    print("ok")
"""


@pytest.mark.slow
def test_a_limit_of_ten_attempts_is_an_error_and_leaves_the_state():
    """The oscillator's own motion, 0.01 cos ωt, follows once the timestep is one that ten attempts suffice for.

    What is compiled with another limit has keys of its own, and is in the cache of all.
    """
    weightless = SPRING.replace("<worldbody>", '<option gravity="0 0 0"/><worldbody>')
    command = [sys.executable, "-c", TEN, weightless]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert answer.stdout.split() == ["ok"] * 3, answer.stderr


def test_a_start_of_the_solver_that_is_no_number_is_named():
    """It ends a step where constraints act, which would blame the velocity otherwise; in the air it is not read."""
    sim = saltus.Simulation(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .0999"><freejoint/><geom size=".1"/></body>'
        "</worldbody></mujoco>"
    )
    sim.step(2)
    sim.data.qacc_warmstart[2] = np.nan
    before = sim.qpos.copy()
    with pytest.raises(saltus.DivergenceError, match=r"qacc_warmstart\[2\]") as caught:
        sim.step()
    assert caught.value.dof_index == 2
    assert_array_equal(sim.qpos, before)
