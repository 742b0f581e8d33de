"""Vector-Jacobian products of steps and runs are those of the computed motion.

Reference: central differences of the steps themselves, along random directions of coordinates, quaternions off their
sphere included. Steps of 1e-5: truncation below 1e-9 of what is differentiated, rounding 1e-16 / 1e-5 = 1e-11; the
constraint solver ends at 1e-13 or so, which leaves 1e-8. Agreement is asked to 1e-6 of the largest number.
"""

import numpy as np
import pytest
from helpers.differentiated import BALL, MADE, PENDULUM, TUMBLING, ball, pendulum, value_of

import saltus
from saltus.autodiff.inputs import Inputs
from saltus.autodiff.steps import Steps, spacing

STEP, AGREEMENT = 1e-5, 1e-6


def inputs_of(sim, *parameters, ctrl=None):
    state = [np.array(x, float) for x in (sim.qpos, sim.qvel, sim.act, sim.ctrl)]
    return Inputs(*state[:3], state[3] if ctrl is None else ctrl, tuple(np.array(x, float) for x in parameters))


def differences(function, inputs, gradient, seed=1):
    """Along a random direction: (by vector-Jacobian product, by central difference), of each input by itself."""
    rng = np.random.default_rng(seed)
    values = list(inputs)
    for k, value in enumerate(values):
        if not value.size:
            continue
        direction = rng.normal(size=value.shape)

        def at(x, k=k, value=value, direction=direction):
            changed = [*values[:k], value + x * direction, *values[k + 1 :]]
            return function(Inputs(*changed[:4], tuple(changed[4:])))

        yield k, np.sum(list(gradient)[k] * direction), (at(STEP) - at(-STEP)) / (2 * STEP)


def agree(found):
    rows = np.array([row[1:] for row in found])
    assert np.abs(rows[:, 1]).max() > 1e-3, "the test sees something"
    np.testing.assert_allclose(rows[:, 0], rows[:, 1], atol=AGREEMENT * np.abs(rows).max())


def check(steps, inputs, count=0):
    """A random linear loss of the end of a step, or of all samples of a run."""
    rng = np.random.default_rng(0)

    def samples(given):
        return steps.run(given, count)[0] if count else steps.step(given)

    weights = tuple(rng.normal(size=x.shape) for x in samples(inputs))

    def loss(given):
        return sum(np.sum(w * x) for w, x in zip(weights, samples(given), strict=True))

    found = steps.run_back(inputs, count, weights) if count else steps.step_back(inputs, weights)
    agree(differences(loss, inputs, found))
    return found, weights


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_a_step_and_a_run(make):
    sim, name = make(), MADE[make]
    before = sim.snapshot()
    steps = Steps(sim, [name])
    value = value_of(sim, name)
    check(steps, inputs_of(sim, value))
    check(steps, inputs_of(sim, value, ctrl=0.05 * np.arange(7.0)[:, None] + sim.ctrl), count=7)
    np.testing.assert_array_equal(sim.snapshot(), before)
    # the step is the simulation's own
    found = steps.step(inputs_of(sim, value))
    sim.step()
    for own, expected in zip(found, (sim.qpos, sim.qvel, sim.act), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-14, atol=1e-15)


def test_quaternions_of_free_and_ball_joints():
    sim = saltus.Simulation(TUMBLING, "euler")
    rng = np.random.default_rng(3)
    sim.qvel = rng.normal(size=9)
    inputs = inputs_of(sim)
    inputs.qpos[3:7] = rng.normal(size=4)  # of no length in particular
    inputs.qpos[7:] = rng.normal(size=4)
    steps = Steps(sim)
    found, _ = check(steps, inputs)
    for part in (slice(3, 7), slice(7, 11)):
        assert abs(found.qpos[part] @ inputs.qpos[part]) < 1e-13
        assert np.abs(found.qpos[part]).max() > 1e-2
    check(steps, inputs, count=5)


def batch_inputs(batch, *parameters):
    """Random states, and controls of four steps."""
    rng = np.random.default_rng(0)
    n, states = batch.n, batch.act.shape[1]
    return Inputs(
        rng.normal(size=(n, 1)), rng.normal(size=(n, 1)), np.zeros((n, states)), np.zeros((n, 4, 1)), parameters
    )


def singles(inputs, names, weights, **options):
    """Gradients of the simulations of a batch, one by one."""
    for i in range(len(inputs.qpos)):
        parameters = tuple(x[i] if x.ndim else x for x in inputs.parameters)
        own = Inputs(inputs.qpos[i], inputs.qvel[i], inputs.act[i], inputs.ctrl[i], parameters)
        single = saltus.Simulation(PENDULUM, "rk4", **options)
        yield Steps(single, names).run_back(own, 4, tuple(w[i] for w in weights))


def test_a_batch_is_its_simulations():
    """Each with its own mass; the gradient by a mass that all have is the sum."""
    batch = saltus.Batch(PENDULUM, 3, "rk4", vary=["body_mass"])
    names, masses = ("body_mass[link]",), np.array([1.0, 2.0, 3.0])
    inputs = batch_inputs(batch, masses)
    steps = Steps(batch, names)
    (samples, _, _), _ = steps.run(inputs, 4)
    assert samples.shape == (3, 5, 1)
    found, weights = check(steps, inputs, count=4)
    for i, expected in enumerate(singles(inputs, names, weights)):
        np.testing.assert_allclose(found.qpos[i], expected.qpos, rtol=1e-12)
        np.testing.assert_allclose(found.parameters[0][i], expected.parameters[0], rtol=1e-12)
    alike = batch_inputs(batch, np.array(2.0))
    by_mass = sum(each.parameters[0] for each in singles(alike, names, weights))
    np.testing.assert_allclose(steps.run_back(alike, 4, weights).parameters[0], by_mass, rtol=1e-12)


@pytest.mark.slow
def test_a_batch_with_a_gain_that_all_have():
    options = {"control": saltus.PID(2.0, target=0.1)}
    batch = saltus.Batch(PENDULUM, 3, "rk4", **options)
    inputs = batch_inputs(batch, np.array(2.5))
    found, weights = check(Steps(batch, ["PID.kp[m]"]), inputs, count=4)
    by_gain = sum(each.parameters[0] for each in singles(inputs, ["PID.kp[m]"], weights, **options))
    np.testing.assert_allclose(found.parameters[0], by_gain, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("one_hard_layout")
def test_a_bounce_within_a_step():
    """A ball of restitution e falls from h and is at e g t s - g s²/2 a time s after its impact at t = √(2 h/g)."""
    e, h, g = 0.7, 0.8, 9.81
    model = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="5 5 .1" friction=".3"/>
      <body pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/><joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/><geom size=".1" friction=".3"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(model, contact=saltus.Hard(restitution=e), timestep=0.5, tolerance=(1e-11, 1e-13))
    fall = np.sqrt(2 * h / g)
    s = 0.5 - fall
    inputs = Inputs(np.array([h, 0, 0]), np.zeros(3), np.zeros(0), np.zeros(0))
    steps = Steps(sim)
    assert steps.step(inputs)[0][0] == pytest.approx(e * g * fall * s - g * s**2 / 2, rel=1e-9)
    found = steps.step_back(inputs, (np.array([1.0, 0, 0]), np.zeros(3), np.zeros(0)))
    assert found.qpos[0] == pytest.approx(((1 + e) * g * s - e * g * fall) / (g * fall), rel=1e-8)
    # two halves are the whole
    halves = saltus.Simulation(model, contact=saltus.Hard(restitution=e), timestep=0.25, tolerance=(1e-11, 1e-13))
    weights = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 0))
    weights[0][-1, 0] = 1.0
    assert Steps(halves).run_back(inputs, 2, weights).qpos[0] == pytest.approx(found.qpos[0], rel=1e-8)
    # by gravity, of which the option is minus: t falls by t/(2 g), the speed v = g t rises by v/(2 g)
    by_gravity = Steps(sim, ["opt.gravity[2]"])
    weighed = by_gravity.step_back(
        Inputs(inputs.qpos, inputs.qvel, inputs.act, inputs.ctrl, (np.array([-g]),)),
        (np.array([1.0, 0, 0]), np.zeros(3), np.zeros(0)),
    )
    dt, dv, v = -fall / (2 * g), fall / 2, g * fall
    expected = e * (dv * s - v * dt) - s**2 / 2 + g * s * dt
    assert np.ravel(weighed.parameters[0])[0] == pytest.approx(-expected, rel=1e-8)


def test_memory_of_a_run_grows_with_the_root_of_its_steps():
    sim = pendulum()
    for count in (1, 10, 100):
        _, marks = Steps(sim).run(inputs_of(sim), count)
        assert len(marks) == -(-count // spacing(count)) <= np.sqrt(count) + 2


def test_a_copy_follows_what_is_changed():
    """Timestep and time are those of the simulation when `Steps` are made, and stay so."""
    sim = pendulum()
    first = Steps(sim)
    expected = first.step(inputs_of(sim))
    sim.timestep = 0.02
    assert Steps(sim).step(inputs_of(sim))[0] != expected[0]
    np.testing.assert_array_equal(first.step(inputs_of(sim))[0], expected[0])


def test_present_inputs_count():
    sim = ball()
    sim.xfrc_applied[1, 2] = 5.0
    rise = Steps(sim).step(inputs_of(sim))[1][2]
    sim.xfrc_applied[1, 2] = 0.0
    assert rise - Steps(sim).step(inputs_of(sim))[1][2] > 1e-4


def test_what_has_no_derivatives_is_refused_by_name():
    verlet = saltus.Simulation(PENDULUM, "verlet")
    Steps(verlet).check()
    with pytest.raises(saltus.OptionError, match="verlet carries velocities of half steps"):
        Steps(verlet).check(2)
    delayed = saltus.Simulation(PENDULUM.replace('<motor name="m"', '<motor name="m" nsample="3" delay=".02"'))
    with pytest.raises(saltus.OptionError, match="delays of actuators"):
        Steps(delayed).check(2)
    guided = saltus.Simulation(PENDULUM, "rk4", motions={"h": lambda t: t})
    with pytest.raises(saltus.OptionError, match="prescribed motions"):
        Steps(guided).check()
    with pytest.raises(saltus.OptionError, match="body_mass does not vary"):
        Steps(saltus.Batch(PENDULUM, 2, "rk4"), ["body_mass[link]"])
    with pytest.raises(saltus.OptionError, match="no_field"):
        Steps(pendulum(), ["no_field"])
    with pytest.raises(saltus.OptionError, match=r"a saltus.Simulation or a saltus.Batch, got a str"):
        Steps("pendulum")
    sim = saltus.Simulation(BALL, "euler")
    inputs = inputs_of(sim)
    inputs.qpos[3:] = 0.0
    with pytest.raises(saltus.OptionError, match="quaternion of joint f is zero"):
        Steps(sim).step(inputs)
    with pytest.raises(saltus.DivergenceError):
        Steps(sim).step(Inputs(np.full(7, np.nan), inputs.qvel, inputs.act, inputs.ctrl))
