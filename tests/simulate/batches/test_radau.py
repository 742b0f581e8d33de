"""The method Radau IIA (`radau`) in the lanes of batches: each simulation has its own steps, matrices and errors.

References: batches of one, to the bit; single simulations, to rounding that steps magnify, far below their tolerance;
SciPy's Radau at a tolerance of 1e-10 on the equation of a ball on a spring and a damper that act while they are
pressed; free fall, g t²/2. Tolerance against SciPy: 100 times that of a step.
"""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

import saltus
from saltus.integrate.adaptive.memory import TAKEN
from saltus.number.functions import maximum
from saltus.simulate.engine.batch.lanes import Lanes

G, STIFFNESS, DAMPING = 9.81, 1e6, 2e2  # m/s², N/m, N s/m
LINKS = """<mujoco><option timestep=".01"/><worldbody><body pos="0 0 1"><joint name="slow" axis="0 1 0"/>
  <inertial pos="0 0 -.5" mass="1" diaginertia=".1 .1 .1"/>
  <body pos="0 0 -1"><joint name="stiff" axis="0 1 0" stiffness="1e5" damping="1e4"/>
    <inertial pos="0 0 -.2" mass=".5" diaginertia=".01 .01 .01"/></body></body></worldbody>
  <actuator><general name="drive" joint="slow" dyntype="filter" dynprm="1e-3" gainprm="1"/></actuator>
  <sensor><jointpos joint="slow"/></sensor></mujoco>"""
BALL = """<mujoco><option timestep=".01"/><worldbody><geom name="floor" type="plane" size="5 5 .1" condim="1"/>
  <body name="ball" pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="ball" size=".1" mass="1" condim="1" solref="-1e5 -1e2"/></body></worldbody></mujoco>"""
SPINNING = """<mujoco><option tolerance="1e-14" iterations="200"/><default><geom solref="-1e6 -1e4"/></default>
  <worldbody><geom type="plane" size="5 5 .1"/><body><freejoint/><geom size=".1" mass="1"/></body></worldbody>
  <keyframe><key qpos="0 0 .105 1 0 0 0" qvel="1 0 0 0 -5 2"/></keyframe></mujoco>"""
FIELDS = ("time", "qpos", "qvel", "act")


def spring(m, d, gap, velocity):
    depth = maximum(-gap, 0.0 * gap)
    push = maximum(STIFFNESS * depth - DAMPING * velocity[0] * (depth > 0.0), 0.0 * gap)
    return push, 0.0 * gap, 0.0 * gap


def elastic(m, d, gap, velocity):
    """A spring whose damping grows with the depth, so that the force does not jump."""
    depth = maximum(-gap, 0.0 * gap)
    return maximum(STIFFNESS * depth * (1.0 - DAMPING * velocity[0]), 0.0 * gap), 0.0 * gap, 0.0 * gap


def soft_ball(n, **options):
    return saltus.Batch(BALL, n, "radau", **{"tolerance": 1e-6, **options})


def compliant_ball(n, **options):
    return soft_ball(n, contact=saltus.Compliant(elastic), **options)


def links(n, **options):
    return saltus.Batch(LINKS, n, "radau", **{"tolerance": 1e-6, **options})


SCENES = {"without contact": links, "soft": soft_ball, "compliant": compliant_ball}


def begin(batch, values):
    """Let simulations begin at different places, and apply different controls if there are any."""
    batch.qpos = np.asarray(batch.qpos) + np.asarray(values)[:, None]
    if batch.shared.nu:
        batch.ctrl = 10.0 * np.asarray(values)[:, None]


def alone(batch, value):
    """A batch of one simulation."""
    one = saltus.Batch(batch.shared, 1, "radau", contact=batch.law, tolerance=1e-6)
    begin(one, [value])
    return one


def single(batch, value):
    sim = saltus.Simulation(batch.shared, "radau", contact=batch.law, tolerance=1e-6)
    sim.qpos[:] += value
    sim.ctrl[:] = 10.0 * value
    return sim


def assert_same(batch, i, one):
    """Simulation i is that of another batch, or a simulation, to the bit."""
    for field in FIELDS:
        got, known = getattr(batch, field)[i], np.reshape(getattr(one, field), np.shape(getattr(batch, field)[i]))
        assert_array_equal(got, known, err_msg=f"simulation {i}: {field}")


@pytest.mark.parametrize("scene", SCENES)
def test_simulations_are_single_ones_with_their_own_steps(scene):
    starts = np.array([0.0, 0.003, 0.01, 0.02, 0.05])
    batch = SCENES[scene](5, threads=2)
    begin(batch, starts)
    batch.step(7)
    batch.step(3)
    for i, value in enumerate(starts):
        sim = single(batch, value)
        sim.step(10)
        assert batch.time[i] == sim.time
        assert_allclose(batch.qpos[i], sim.qpos, rtol=0, atol=1e-9)
        assert_allclose(batch.qvel[i], sim.qvel, rtol=0, atol=1e-8)
        assert_allclose(batch.act[i], sim.act, rtol=0, atol=1e-9)
        taken = batch.lanes.of(i, "memory")[TAKEN], sim.engine.d.views["memory"][TAKEN]
        assert abs(taken[0] - taken[1]) <= 0.05 * taken[1]
    assert not batch.diverged.any() and not len(batch.events)


@pytest.mark.parametrize("scene", SCENES)
def test_bits_do_not_depend_on_neighbours_size_place_or_threads(scene):
    starts = np.linspace(0.0, 0.05, 19)
    whole = SCENES[scene](19, threads=1)
    begin(whole, starts)
    whole.step(10)
    for order, threads in ((np.arange(19)[::-1], 3), (np.arange(4), 2), (np.array([17]), 1)):
        batch = SCENES[scene](len(order), threads=threads)
        begin(batch, starts[order])
        batch.step(4)
        batch.step(6)
        for k, i in enumerate(order):
            for field in (*FIELDS, "qacc"):
                assert_array_equal(batch.read(field)[k], whole.read(field)[i], err_msg=f"{field} of {i}")
            # so are the numbers of steps, Jacobians, factorisations and Newton iterations
            assert_array_equal(batch.lanes.of(k, "memory"), whole.lanes.of(i, "memory"))


def test_a_ball_bounces_as_by_scipy():
    """Heights and velocities after impacts; SciPy integrates the equation of the law, each with its own steps."""
    starts = np.array([0.001, 0.005, 0.02])
    batch = compliant_ball(3, tolerance=1e-8)
    begin(batch, starts)
    recording = batch.run(0.15, sample=0.01)

    def slopes(t, y):
        depth = max(-y[0], 0.0)
        return [y[1], max(STIFFNESS * depth * (1.0 - DAMPING * y[1]), 0.0) - G]

    for i, start in enumerate(starts):
        known = solve_ivp(slopes, (0.0, 0.15), [start, 0.0], "Radau", recording.time[0], rtol=1e-10, atol=1e-12)
        assert_allclose(recording.qpos[i, :, 0], known.y[0], rtol=0, atol=1e-6)
        assert_allclose(recording.qvel[i, :, 0], known.y[1], rtol=0, atol=1e-4)
    # before the impact the fall is free
    assert_allclose(recording.qpos[2, 5, 0], starts[2] - G * 0.05**2 / 2, rtol=0, atol=1e-8)


@pytest.mark.filterwarnings("ignore:radau. the constraint solver did not reach:saltus.SaltusWarning")
def test_an_iteration_that_diverges_spoils_no_later_step():
    """A spinning ball falls by 5 mm onto a floor that it has not felt yet: Newton's first guesses fly off."""
    batch = saltus.Batch(SPINNING, 64, "radau", tolerance=1e-3, timestep=0.5)
    batch.reset(key=0)
    speeds = 1.0 + np.linspace(0.0, 0.1, 64)
    batch.qvel[:, 0] = speeds
    batch.step()
    assert not batch.diverged.any()
    # sliding ends in rolling: v = (5 v₀ + 2 r ω₀) / 7
    assert_allclose(batch.qvel[:, 0], (5.0 * speeds - 2.0 * 0.1 * 5.0) / 7.0, rtol=0, atol=1e-3)


def test_a_change_from_outside_is_noticed_as_in_batches_of_one():
    batch = links(3)
    begin(batch, [0.1, 0.2, 0.3])
    sims = [alone(batch, value) for value in (0.1, 0.2, 0.3)]
    batch.step(5)
    batch.write("qvel", [[1.0, 0.0]], [1])
    batch.ctrl[2] = 1.0
    batch.step(5, [0, 1, 2])
    for i, sim in enumerate(sims):
        sim.step(5)
        if i == 1:
            sim.qvel = [1.0, 0.0]
        if i == 2:
            sim.ctrl = 1.0
        sim.step(5)
        assert_same(batch, i, sim)
    batch.reset([1])
    batch.step(2, [1])
    again = alone(batch, 0.0)
    again.step(2)
    assert_same(batch, 1, again)
    assert_same(batch, 0, sims[0])


def test_rollouts_and_recordings_have_the_bits_of_steps():
    controls = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 6, 1))
    batch = links(3, threads=2)
    begin(batch, [0.1, 0.2, 0.3])
    found = batch.rollout(controls, ["qpos", "act", "time", "sensordata", "qacc"])
    other = links(3)
    begin(other, [0.1, 0.2, 0.3])
    for k in range(6):
        other.ctrl = controls[:, k]
        other.step()
        assert_array_equal(found.qpos[:, k], other.qpos)
        assert_array_equal(found.act[:, k], other.act)
        assert_array_equal(found.time[:, k], other.time)
        assert_array_equal(found.sensordata[:, k], other.sensordata)
        assert_array_equal(found.qacc[:, k], other.read("qacc"))
    assert (found.taken == 6).all() and not found.diverged.any()
    other.reset()
    batch.reset()
    begin(other, [0.1, 0.2, 0.3])
    begin(batch, [0.1, 0.2, 0.3])
    recording = batch.run(0.05)
    other.step(5)
    assert_array_equal(recording.qpos[:, -1], other.qpos)


def test_controllers_have_parameters_of_their_own():
    control = saltus.PID(kp=5.0, kd=0.5)
    batch = links(2, control=control)
    gains = np.array(batch.control_prm)
    gains[1] *= 1.5
    batch.control_prm = gains
    batch.qpos = [0.3, 0.0]
    batch.step(5)
    for i in range(2):
        sim = saltus.Simulation(LINKS, "radau", control=control, tolerance=1e-6)
        sim.control_prm[:], sim.qpos[:] = gains[i], (0.3, 0.0)
        sim.step(5)
        assert_allclose(batch.qpos[i], sim.qpos, rtol=0, atol=1e-9)
    assert batch.qpos[0, 0] != batch.qpos[1, 0]


def test_models_may_differ():
    """Masses, stiffness and gravity of each, beside models with these values; changes count from the next step on."""
    batch = links(3, vary=["body_mass", "jnt_stiffness", "opt.gravity"])
    begin(batch, [0.1, 0.1, 0.1])
    masses, stiffness, gravity = [1.0, 1.5, 2.0], [1e5, 1e4, 3e5], [-9.81, -5.0, 0.0]
    batch.model.body_mass[:, 1], batch.model.jnt_stiffness[:, 1] = masses, stiffness
    batch.step(3)
    batch.model.opt.gravity[:, 2] = gravity
    batch.step(3)
    for i in range(3):
        sims = []
        for g in (-9.81, gravity[i]):
            values = {"body_mass[#1]": masses[i], "jnt_stiffness[stiff]": stiffness[i], "opt.gravity": [0.0, 0.0, g]}
            sims.append(saltus.Simulation(saltus.load(LINKS).changed(values), "radau", tolerance=1e-6))
        first, second = sims
        first.qpos[:], first.ctrl[:] = 0.1, 1.0
        first.step(3)
        for name in ("time", "qpos", "qvel", "act", "ctrl"):
            second.engine.d.views[name][...] = first.engine.d.views[name]
        second.step(3)
        assert_allclose(batch.qpos[i], second.qpos, rtol=0, atol=1e-5)


def test_a_simulation_that_diverges_is_named_and_the_others_go_on():
    batch = links(3)
    begin(batch, [0.1, 0.2, 0.3])
    batch.ctrl[1] = np.nan
    with pytest.raises(saltus.DivergenceError, match="in simulation 1") as error:
        batch.step(5)
    assert error.value.simulation == 1
    assert_array_equal(batch.diverged, [False, True, False])
    for i in (0, 2):
        one = alone(batch, [0.1, 0.2, 0.3][i])
        one.step(5)
        assert_same(batch, i, one)
    batch.reset(batch.diverged)
    batch.step()
    found = batch.rollout(np.full((2, 1), np.nan), on_divergence="flag")
    assert found.diverged.all() and not found.taken.any()


@pytest.mark.parametrize("how", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_copy_goes_on_alone(how):
    batch = soft_ball(2)
    begin(batch, [0.001, 0.002])
    batch.step(5)
    other = how(batch)
    before = np.array(batch.qpos)
    other.step(5)
    assert_array_equal(batch.qpos, before)
    batch.step(5)
    assert_array_equal(batch.qpos, other.qpos)


def test_one_simulation_goes_on_by_itself():
    batch = soft_ball(3)
    begin(batch, [0.001, 0.002, 0.003])
    fresh = batch.simulation(1)
    batch.step(5)
    sim = batch.simulation(1)
    fresh.step(5)
    assert_same(batch, 1, fresh)
    batch.write("qvel", [[0.1]], [2])
    moved = batch.simulation(2)
    batch.step(5)
    sim.step(5)
    moved.step(5)
    assert_same(batch, 1, sim)
    assert_same(batch, 2, moved)


def test_a_tolerance_that_a_jump_misses_is_told_once():
    """Damping begins with contact, at a speed of 0.2 m/s, by 40 N: no step across it is short enough."""
    with pytest.warns(saltus.SaltusWarning, match="radau: the tolerance was relaxed where a force jumps, as where"):
        batch = saltus.Batch(BALL, 2, "radau", contact=saltus.Compliant(spring), tolerance=1e-12)
        begin(batch, [0.002, 0.003])
        batch.step(10)
    assert batch.unconverged


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"precision": "float32"}, "radau needs precision='float64'.*dopri5"),
        ({"contact": "hard"}, "radau does not locate events"),
        ({"actuation_states": 1}, "radau does not locate events|hard"),
        ({"tolerance": 2.0}, "tolerance must be two numbers between 0 and 1"),
    ],
)
def test_refusals_name_what_to_choose(options, words):
    with pytest.raises(saltus.OptionError, match=words):
        saltus.Batch(BALL, 2, integrator="radau", **options)


def test_derivatives_of_steps_and_other_laws_are_refused():
    batch = soft_ball(2)
    assert isinstance(batch.lanes, Lanes)
    with pytest.raises(saltus.OptionError, match="linearize does not support radau"):
        batch.linearize()
    with pytest.raises(saltus.OptionError, match="only restitution and friction of hard contact"):
        batch.law = saltus.Hard()
