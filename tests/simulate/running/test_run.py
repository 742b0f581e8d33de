"""A run: samples at exact times, controls, interrupts, and what it keeps when it fails.

Law: sampling reads the motion and does not change it; a sample between two steps is the state after a shorter step of
the same method from the step before. Controls are held over a step.

Tolerance: bits where the same steps are taken; otherwise the error of the method, as stated.
"""

import copy
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus

INTEGRATORS = ["euler", "rk4", "verlet", "implicit_midpoint", "energy_momentum", "dopri5"]
STIFF = """
<mujoco><option gravity="0 0 0" timestep="0.03"/><worldbody><body>
  <joint name="stiff" type="slide" stiffness="1e4"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</worldbody></mujoco>"""


def pendulum(integrator="euler", timestep=0.05):
    return saltus.Simulation("pendulum", integrator, timestep=timestep)


# samples


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("duration", "sample", "timestep"),
    [(1.0, 0.1, 0.05), (1.0, 1 / 60, 0.05), (1.0, 0.07, 0.03), (0.2, 0.5, 0.05), (0.03, 0.01, 0.05), (3.0, 1.0, 0.7)],
)
def test_samples_are_at_exact_times(integrator, duration, sample, timestep):
    sim = pendulum(integrator, timestep)
    trajectory = sim.run(duration, sample=sample)
    count = int(np.floor(duration / sample + 1e-9)) + 1
    assert_allclose(trajectory.time, np.arange(count) * sample, rtol=0, atol=1e-12)
    assert_allclose(sim.time, duration, rtol=1e-12)
    assert trajectory.qpos.shape == (count, 1) and trajectory.energy.shape == (count, 2)
    assert trajectory.qpos[0, 0] == np.pi / 2


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_sampling_does_not_change_the_motion(integrator):
    """However it is sampled, a run takes the same steps: its end is the same to the bit, and that of plain steps."""
    ends = []
    for sample in (0.05, 0.0123, 0.4, 5.0):
        sim = pendulum(integrator)
        sim.run(2.0, sample=sample)
        ends.append((sim.time, sim.qpos[0], sim.qvel[0]))
    if integrator != "dopri5":
        # its runs do not stop at steps
        sim = pendulum(integrator)
        sim.step(40)
        ends.append((sim.time, sim.qpos[0], sim.qvel[0]))
    assert len(set(ends)) == 1


@pytest.mark.parametrize("integrator", [i for i in INTEGRATORS if i != "dopri5"])
def test_samples_at_steps_are_the_steps(integrator):
    sim, stepped = pendulum(integrator), pendulum(integrator)
    trajectory = sim.run(1.0, sample=0.1)
    for k in range(11):
        assert (trajectory.qpos[k, 0], trajectory.qvel[k, 0]) == (stepped.qpos[0], stepped.qvel[0])
        assert_array_equal(trajectory.energy[k], stepped.energy())
        stepped.step(2)


def test_a_sample_inside_a_step_is_a_shorter_step():
    trajectory = pendulum("rk4").run(0.1, sample=0.07)
    stepped = pendulum("rk4")
    stepped.step()
    stepped.timestep = 0.02
    stepped.step()
    assert_allclose(trajectory.qpos[1], stepped.qpos, rtol=1e-14)


def test_a_run_goes_on_where_the_last_one_ended():
    sim, whole = pendulum("verlet"), pendulum("verlet")
    first = sim.run(1.0, sample=0.1)
    second = sim.run(1.0, sample=0.1)
    both = whole.run(2.0, sample=0.1)
    assert_allclose(second.time, 1.0 + np.arange(11) * 0.1, rtol=0, atol=1e-12)
    assert_array_equal(np.vstack([first.qpos, second.qpos[1:]]), both.qpos)


def test_the_last_step_ends_at_the_duration():
    """0.1 s in steps of 0.03: three whole ones and one of 0.01, for which the method keeps its order."""
    sim = pendulum("rk4", 0.03)
    sim.run(0.1)
    reference = pendulum("dopri5")
    reference.timestep = 0.1
    reference.step()
    assert_allclose(sim.qpos, reference.qpos, rtol=0, atol=1e-7)
    assert_allclose(sim.time, 0.1, rtol=1e-14)


def test_what_a_recording_says():
    trajectory = saltus.Simulation("arm", "rk4").run(0.1, sample=0.05)
    assert trajectory.names["qpos"] == ["shoulder", "elbow"] and trajectory.units["qvel"] == ["rad/s", "rad/s"]
    assert trajectory.names["ctrl"] == ["shoulder", "elbow"]
    attrs = trajectory.attrs
    assert (attrs["integrator"], attrs["timestep"], attrs["model_name"]) == ("rk4", 0.005, "arm")
    assert attrs["semantics"] == "mujoco-4.0" and "<mujoco model=" in attrs["model_xml"] and attrs["ignored"] == []
    assert trajectory.ctrl.shape == (3, 2) and trajectory.act.shape == (3, 0)


# controls


def test_a_control_function_is_called_once_a_step():
    sim = pendulum()
    times = []

    def control(sim):
        times.append(sim.time)
        return [10 * np.sin(sim.time)]

    trajectory = sim.run(1.0, sample=0.01, control=control)
    assert_allclose(times, np.arange(20) * 0.05, rtol=0, atol=1e-12)
    # held over each step, and recorded; at the end the last step's
    steps = np.minimum(np.floor(trajectory.time / 0.05 + 1e-9), 19)
    held = 10 * np.sin(steps * 0.05)
    assert_allclose(trajectory.ctrl[:, 0], held, rtol=0, atol=1e-11)
    by_hand = pendulum()
    for _ in range(20):
        by_hand.ctrl[0] = 10 * np.sin(by_hand.time)
        by_hand.step()
    assert_array_equal(sim.qpos, by_hand.qpos)


def test_a_control_function_may_write_or_return_one_number():
    ends = []
    for control in (lambda sim: [3.0], lambda sim: np.float64(3.0), lambda sim: sim.ctrl.fill(3.0), [3.0]):
        sim = pendulum()
        sim.run(1.0, control=control)
        ends.append(sim.qpos[0])
    assert len(set(ends)) == 1


def test_a_control_array_has_a_row_a_step():
    values = np.linspace(-20, 20, 20)[:, None]
    sim, by_hand = pendulum(), pendulum()
    sim.run(1.0, control=values)
    for row in values:
        by_hand.ctrl[:] = row
        by_hand.step()
    assert_array_equal(sim.qpos, by_hand.qpos)


@pytest.mark.parametrize(
    "control", [np.zeros(2), np.zeros((19, 1)), np.zeros((20, 2)), np.zeros((20, 1, 1)), 1.0], ids=np.shape
)
def test_control_arrays_of_the_wrong_shape(control):
    sim = pendulum()
    with pytest.raises(saltus.OptionError, match=r"control has shape .*; expected \(1,\) to hold, or \(20, 1\)"):
        sim.run(1.0, control=control)
    assert sim.time == 0


def test_a_control_function_of_the_wrong_shape():
    with pytest.raises(saltus.OptionError, match=r"control\(sim\) gives shape \(2,\); expected \(1,\)"):
        pendulum().run(1.0, control=lambda sim: [1.0, 2.0])
    with pytest.raises(saltus.OptionError, match=r"control\(sim\) gives shape \(\); expected \(2,\)"):
        saltus.Simulation("arm").run(1.0, control=lambda sim: 1.0)


# ends before the end


def test_ctrl_c_keeps_what_was_recorded():
    sim = pendulum()

    def control(sim):
        if sim.time > 0.52:
            raise KeyboardInterrupt

    with pytest.warns(saltus.SaltusWarning, match=r"interrupted at t = 0\.55 s; returning the 6 samples"):
        trajectory = sim.run(2.0, sample=0.1, control=control)
    assert_allclose(trajectory.time, np.arange(6) * 0.1, rtol=0, atol=1e-12)
    assert trajectory.attrs["interrupted_at"] == pytest.approx(0.55)
    assert_array_equal(trajectory.qpos, pendulum().run(0.5, sample=0.1).qpos)
    # and the simulation can go on
    sim.step()


@pytest.mark.parametrize("integrator", ["euler", "dopri5"])
def test_ctrl_c_during_progress(integrator):
    """Where no control function is called, compiled code returns often enough to be interrupted."""

    def progress(done):
        if done > 0.4:
            raise KeyboardInterrupt

    with pytest.warns(saltus.SaltusWarning, match="interrupted"):
        trajectory = pendulum(integrator).run(20.0, sample=0.1, progress=progress)
    assert 40 <= len(trajectory) <= 200


def test_no_certificate_for_an_interrupted_run():
    def control(sim):
        if sim.time > 0.2:
            raise KeyboardInterrupt

    with pytest.warns(saltus.SaltusWarning, match="interrupted"):
        trajectory = pendulum().run(1.0, control=control, certify=True)
    assert trajectory.certificate is None


@pytest.mark.parametrize("sample", [0.03, 0.05, 0.2])
def test_divergence_carries_the_run_up_to_there(sample):
    sim = saltus.Simulation(STIFF)
    sim.qpos[0] = 1e-3
    with pytest.raises(
        saltus.DivergenceError, match=r"joint 'stiff'.*qfrc_spring.*exceeds the stability limit"
    ) as caught:
        sim.run(100, sample=sample)
    error, recorded = caught.value, caught.value.trajectory
    assert isinstance(recorded, saltus.Trajectory)
    assert len(recorded) == 1 + int(recorded.time[-1] / sample + 1e-9) > 2 and np.isfinite(recorded.qpos).all()
    # a sample inside the step that diverged may still be good
    assert error.time - sample < recorded.time[-1] < error.time + 0.03
    # the same samples as of a run that ends before
    again = saltus.Simulation(STIFF)
    again.qpos[0] = 1e-3
    good = again.run(recorded.time[-1], sample=sample)
    assert_array_equal(recorded.qpos, good.qpos[: len(recorded)])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_not_a_number_in_the_state(integrator):
    sim = pendulum(integrator)
    sim.qvel[0] = np.nan
    with pytest.raises(saltus.DivergenceError, match="was not finite") as caught:
        sim.run(1.0)
    assert caught.value.time == 0 and caught.value.trajectory is not None


def test_a_control_that_is_not_a_number():
    with pytest.raises(saltus.DivergenceError, match="not finite") as caught:
        pendulum().run(1.0, sample=0.1, control=lambda sim: [np.nan if sim.time > 0.42 else 0.0])
    assert caught.value.time == pytest.approx(0.45) and len(caught.value.trajectory) == 5


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "long", None])
def test_bad_durations_and_samples(wrong):
    sim = pendulum()
    with pytest.raises(saltus.OptionError, match="duration must be"):
        sim.run(wrong)
    with pytest.raises(saltus.OptionError, match="sample must be"):
        sim.run(1.0, sample=wrong)
    assert sim.time == 0


def test_progress():
    for integrator in ("euler", "dopri5"):
        seen = []
        pendulum(integrator).run(20.0, progress=seen.append)
        assert seen and seen == sorted(seen) and seen[-1] == pytest.approx(1.0) and max(seen) <= 1.0
    with pytest.raises(saltus.OptionError, match="progress must be"):
        pendulum().run(1.0, progress="yes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pendulum().run(0.5, progress=True)


@pytest.mark.parametrize("integrator", saltus.integrators())
def test_a_model_without_joints_or_motors(integrator):
    """Nothing moves, and nothing fails."""
    model = "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>"
    sim = saltus.Simulation(model, integrator, timestep=0.1)
    trajectory = sim.run(1.0, sample=0.5)
    assert trajectory.qpos.shape == (3, 0) and sim.time == pytest.approx(1.0)
    assert saltus.Simulation("chain").run(0.1, control=[]).ctrl.shape[1] == 0


@pytest.mark.parametrize("name", ["step", "reset", "run", "restore", "time", "begin"])
@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_a_control_function_must_not_move_its_simulation(name, integrator):
    """Refused by name, and the simulation can be used afterwards; copies, for looking ahead, may move."""
    sim = saltus.Simulation("pendulum", integrator)
    start = sim.snapshot()
    moves = {
        "restore": lambda: sim.restore(start),
        "time": lambda: setattr(sim, "time", 0.0),
        "run": lambda: sim.run(1),
    }
    move = moves.get(name, lambda: getattr(sim, name)())

    def control(sim):
        ahead = copy.deepcopy(sim)
        ahead.step()
        assert ahead.time > sim.time
        move()

    with pytest.raises(saltus.OptionError, match=rf"^{name}: not in the control function.*copy\.deepcopy"):
        sim.run(0.1, control=control)
    move()
    assert len(sim.run(0.1)) > 1
