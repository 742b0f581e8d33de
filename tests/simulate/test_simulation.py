"""A simulation's state, views, computed quantities and errors.

Law: what is read always belongs to the present state; what is stored and brought back is the same to the bit. MuJoCo is
the reference for computed quantities (1e-12 of the largest entry; the mechanisms are small).
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.mechanisms import ACTUATORS, SEVERAL_TREES
from numpy.testing import assert_allclose, assert_array_equal

import saltus

KEYED = """
<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="a" axis="0 1 0" ref="30"/><inertial pos="0 0 -0.3" mass="1" diaginertia="0.05 0.05 0.01"/></body>
</worldbody><actuator><motor joint="a"/></actuator><keyframe>
  <key name="up" time="2" qpos="3" qvel="0.1" ctrl="0.5"/><key qpos="1"/>
</keyframe></mujoco>"""


# the state


def test_starts_at_the_models_start():
    sim = saltus.Simulation(KEYED)
    assert sim.time == 0.0 and sim.integrator.name == "euler" and sim.timestep == 0.01
    assert_allclose(sim.qpos, [np.pi / 6])
    assert_array_equal(sim.qvel, [0])
    # bundled models start from their first keyframe
    assert_allclose(saltus.Simulation("pendulum").qpos, [np.pi / 2])


def test_reset_to_keys():
    sim = saltus.Simulation(KEYED)
    for key in ("up", 0, -2):
        sim.reset(key)
        assert (sim.time, sim.qpos[0], sim.qvel[0], sim.ctrl[0]) == (2.0, 3.0, 0.1, 0.5)
    sim.reset(1)
    assert (sim.time, sim.qpos[0], sim.qvel[0], sim.ctrl[0]) == (0.0, 1.0, 0.0, 0.0)
    sim.xfrc_applied[1, 2] = sim.qfrc_applied[0] = 5.0
    sim.step(3)
    sim.reset()
    assert sim.time == 0 and not sim.ctrl.any() and not sim.qfrc_applied.any() and not sim.xfrc_applied.any()
    with pytest.raises(saltus.OptionError, match=r"unknown keyframe 'down'.*up"):
        sim.reset("down")
    for missing in (2, -3):
        with pytest.raises(saltus.OptionError, match=r"no keyframe -?[23]; the model has 2"):
            sim.reset(missing)


def test_snapshot_and_restore():
    for integrator in ("euler", "verlet", "dopri5"):
        sim = saltus.Simulation(ACTUATORS, integrator)
        sim.qpos[:], sim.ctrl[:] = 0.3, 0.2
        sim.qfrc_applied[1], sim.xfrc_applied[2, 1] = 0.1, 0.4
        sim.step(7)
        kept = sim.snapshot()
        sim.step(9)
        end = sim.snapshot()
        sim.ctrl[:], sim.qpos[:], sim.xfrc_applied[:] = 1.0, 2.0, 0.0
        sim.step(3)
        sim.restore(kept)
        assert_array_equal(sim.snapshot(), kept)
        sim.step(9)
        assert_array_equal(sim.snapshot(), end)
        # another simulation of the same model goes on as well
        other = saltus.Simulation(ACTUATORS, integrator)
        other.restore(kept)
        other.step(9)
        assert_array_equal(other.snapshot(), end)
    with pytest.raises(saltus.OptionError, match="snapshot has 3 numbers"):
        sim.restore(np.zeros(3))


# computed quantities


def test_data_belong_to_the_present_state():
    sim = saltus.Simulation(ACTUATORS)
    m = oracle.reference(sim.model)

    def check():
        state = {f: getattr(sim, f) for f in ("qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied")}
        d = oracle.forward(m, state)
        for name in ("xpos", "qfrc_bias", "qfrc_actuator", "qacc", "energy"):
            wanted = getattr(d, name)
            scale = max(1.0, np.max(np.abs(wanted)))
            assert_allclose(getattr(sim.data, name), wanted, rtol=0, atol=1e-12 * scale)

    check()
    sim.step()
    check()
    sim.qpos[1] += 0.3
    check()
    sim.qvel[2] = 1.0
    check()
    sim.ctrl[:] = 0.1
    check()
    sim.qfrc_applied[0] = 2.0
    check()
    sim.xfrc_applied[2] = 1.0
    check()
    kept = sim.snapshot()
    sim.step(5)
    check()
    sim.restore(kept)
    check()
    sim.energy()
    check()
    sim.reset()
    check()


def test_forward_computes_without_reading():
    sim = saltus.Simulation("chain")
    sim.forward()
    before = sim.data.xpos.copy()
    sim.qpos += 0.2
    # a view taken before is of the same memory, and computed anew by forward
    seen = sim.data.xpos
    assert not np.array_equal(seen, before)


def test_computed_quantities_cannot_be_written():
    data = saltus.Simulation("chain").data
    with pytest.raises(ValueError, match="read-only"):
        data.xpos[1, 0] = 3.0
    with pytest.raises(AttributeError):
        _ = data.nonsense
    with pytest.raises(AttributeError):
        _ = data.stage_qvel
    assert {"xpos", "qfrc_bias", "qacc", "ncon"} <= set(dir(data))
    assert data.ncon == 0
    assert all(hasattr(data, name) for name in dir(data))


def test_full_M_and_energy():
    """Against MuJoCo on several trees, whose simple bodies it stores sparsely."""
    sim = saltus.Simulation(SEVERAL_TREES)
    m = oracle.reference(sim.model)
    state = oracle.random_state(m, np.random.default_rng(0))
    sim.qpos[:], sim.qvel[:] = state["qpos"], state["qvel"]
    d = oracle.forward(m, {"qpos": state["qpos"], "qvel": state["qvel"]})
    full = oracle.full_inertia(m, d)
    assert_allclose(sim.full_M(), full, rtol=0, atol=1e-12 * np.max(full))
    assert_array_equal(sim.full_M(), sim.full_M().T)
    assert_allclose(sim.energy(), d.energy, rtol=1e-12)
    potential, kinetic = sim.energy()
    assert kinetic > 0 and potential != kinetic


# motion


def test_steps_and_time():
    one, many = saltus.Simulation("chain"), saltus.Simulation("chain")
    for _ in range(12):
        one.step()
    many.step(12)
    assert_array_equal(one.snapshot(), many.snapshot())
    assert_allclose(one.time, 12 * one.timestep, rtol=1e-14)
    many.step(0)
    assert_array_equal(one.snapshot(), many.snapshot())
    with pytest.raises(saltus.OptionError, match="n must not be negative"):
        one.step(-1)


def test_forces_from_outside_move():
    """A force through the centre of mass of a free body: a = f / m, in the world's axes; a torque turns it."""
    sim = saltus.Simulation("free_body", "euler", timestep=1e-3)
    sim.reset()
    sim.qvel[:] = 0
    sim.xfrc_applied[1, :3] = 1.0, -2.0, 3.0
    sim.step(1000)
    assert_allclose(sim.qvel, [1.0, -2.0, 3.0, 0, 0, 0], rtol=1e-12, atol=1e-12)
    sim.xfrc_applied[:] = 0
    sim.qvel[:] = 0
    sim.xfrc_applied[1, 3] = 0.02
    sim.step(100)
    assert_allclose(sim.qvel[3:], [0.1, 0, 0], rtol=1e-12, atol=1e-12)
    sim.xfrc_applied[:] = 0
    sim.step(100)
    assert_allclose(sim.qvel[3:], [0.1, 0, 0], rtol=1e-12, atol=1e-12)


def test_the_files_options_and_their_override():
    spec = mujoco.MjSpec.from_string(KEYED)
    spec.option.timestep, spec.option.integrator = 0.003, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    sim = saltus.Simulation(spec)
    assert (sim.timestep, sim.integrator.name) == (0.003, "implicitfast")
    sim = saltus.Simulation(spec, "rk4", timestep=0.02)
    assert (sim.timestep, sim.integrator.name) == (0.02, "rk4")
    assert "rk4" in repr(sim) and "h = 0.02 s" in repr(sim)


# errors


@pytest.mark.parametrize("step", [0.0, -0.001, float("nan"), float("inf"), None, "a second", [0.1, 0.2]])
def test_a_timestep_that_is_assigned_is_checked(step):
    sim, batch = saltus.Simulation("pendulum", timestep=0.01), saltus.Batch("pendulum", 2, timestep=0.01)
    for one in (sim, batch):
        with pytest.raises(saltus.OptionError, match="timestep must be"):
            one.timestep = step
        assert one.timestep == 0.01


def test_a_timestep_that_is_assigned_is_that_of_the_steps():
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    sim.timestep = np.float64(0.002)
    sim.step(3)
    assert_allclose(sim.time, 0.006, rtol=1e-14)
    other = saltus.Simulation("pendulum", "rk4", timestep=0.002)
    other.step(3)
    assert_array_equal(sim.qpos, other.qpos)


@pytest.mark.parametrize("step", [0, -0.01, float("nan"), float("inf"), "fast", [0.1, 0.2]])
def test_bad_timesteps(step):
    with pytest.raises(saltus.OptionError, match="timestep must be"):
        saltus.Simulation("chain", timestep=step)


def test_contact_laws():
    saltus.Simulation("chain", contact="soft")
    assert saltus.Simulation("chain", contact="hard").integrator.name == "dopri5"
    with pytest.raises(saltus.OptionError, match="unknown contact law 'sotf'; did you mean 'soft'"):
        saltus.Simulation("chain", contact="sotf")


def test_a_negative_step_in_the_file_is_refused():
    model = saltus.load(KEYED.replace('timestep="0.01"', 'timestep="-0.01"'))
    with pytest.raises(saltus.OptionError, match="timestep must be positive"):
        saltus.Simulation(model)


@pytest.mark.parametrize("field", ["qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied"])
@pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit_midpoint", "dopri5"])
def test_not_a_number_is_an_error_at_once(field, integrator):
    sim = saltus.Simulation(KEYED, integrator)
    sim.step(3)
    time = sim.time
    getattr(sim, field)[...] = np.nan
    with pytest.raises(saltus.DivergenceError, match="was not finite") as caught:
        sim.step(10)
    assert caught.value.time == sim.time == time
    assert caught.value.dof == "a"


def test_divergence_names_what_went_wrong():
    """A spring with ω = 100 rad/s under steps of 0.03 s, whose limit is 2 / ω: it grows by a factor 7 a step."""
    model = """
    <mujoco><option gravity="0 0 0" timestep="0.03"/><worldbody>
      <body><joint name="calm" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      <body><joint name="stiff" stiffness="1e4"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    </worldbody></mujoco>"""
    sim = saltus.Simulation(model)
    sim.qpos[1] = 1e-3
    with pytest.raises(saltus.DivergenceError) as caught:
        sim.step(1000)
    error = caught.value
    assert (error.dof, error.dof_index, error.term) == ("stiff", 1, "qfrc_spring")
    assert error.timestep == 0.03
    assert_allclose(error.stable_timestep, 0.02, rtol=1e-3)
    assert error.term_value == pytest.approx(-1e4 * sim.qpos[1])
    # the state is the last good one, and the time says when that was
    assert error.time == sim.time and np.isfinite(sim.qvel).all() and 1e8 < abs(sim.qvel[1]) < 1e10
    for part in ("joint 'stiff' (dof 1)", "qfrc_spring", "N·m", "timestep 0.03 s exceeds the stability limit 0.02 s"):
        assert part in str(error)
