"""Terms on a simulation that others move: the same numbers as in the environment's own step.

Reference: `saltus.env.SingleEnvironment` with the same seed and actions, beside a `saltus.Simulation` that the lab's
pilot acts on. Both step by the same kernels; between one simulation and lanes there is rounding, which a hundred steps
of a smooth motion of some seconds enlarge to less than 1e-10.
"""

import numpy as np
import pytest
from helpers.steered import Steered
from helpers.swinging import Swinging

import saltus
import saltus.env
from saltus.env import Push, observed, uniform
from saltus.env.environment import declared
from saltus.env.live.pilot import Pilot

TIGHT = dict(rtol=1e-10, atol=1e-10)


class Left(Swinging):
    """Its terms read what steps leave of computed quantities."""

    quantities = "step"


class Disturbed(Steered):
    """Actions late and noisy, an observation that is late, a velocity and a force that push."""

    observation = (observed("qvel", delay=(1, 2), noise=0.01), *Steered.observation)
    action_noise = 0.05
    action_delay = (0, 2)
    pushes = (
        Push("qvel[theta]", 0.5, every=uniform(0.1, 0.2)),
        Push("cart", force=4.0, direction=(1, 0, 0), duration=0.09, every=uniform(0.2, 0.3)),
    )


def simulation(pilot):
    task = pilot.task
    control = declared(task.environment, "control")
    return saltus.Simulation(task.model, task.integrator, timestep=task.timestep, control=control)


def step(pilot, sim):
    """The steps of the simulation in one of the environment, as `saltus.lab.motion.Motion` takes them."""
    steps = pilot.steps
    pilot.act(sim)
    while pilot.steps == steps:
        sim.xfrc_applied = pilot.wrench
        sim.step(pilot.steps_left(sim))
        pilot.act(sim)


@pytest.mark.parametrize("kind", [Swinging, Left, Steered, Disturbed])
def test_observations_rewards_and_ends_are_those_of_the_environment(kind):
    far = {} if issubclass(kind, Steered) else {"half_width": 1e9}
    env = saltus.env.make(kind, **far)
    seen, _ = env.reset(seed=3)
    gains = np.random.default_rng(0).normal(size=(len(env.action_space.low), len(seen)))
    pilot = Pilot(env.environment, lambda o: np.tanh(gains @ o), True, 3)
    pilot.inputs = {}  # nobody sets the command
    sim = simulation(pilot)
    pilot.begin(sim)
    total = 0.0
    for k in range(env.environment.max_episode_steps):
        np.testing.assert_allclose(pilot.task.results.observations[0], seen, **TIGHT, err_msg=f"step {k}")
        assert not pilot.ended
        seen, reward, _, truncated, _ = env.step(np.tanh(gains @ seen))
        total += reward
        step(pilot, sim)
        np.testing.assert_allclose(pilot.task.results.rewards[0], reward, **TIGHT)
        for field in ("qpos", "act"):  # the next action may have pushed already
            np.testing.assert_allclose(getattr(sim, field), env.read(field), **TIGHT)
    assert truncated and pilot.ended and pilot.total == pytest.approx(total)
    np.testing.assert_allclose(pilot.task.results.observations[0], seen, **TIGHT)
    assert abs(sim.qpos).max() > 0.1  # it has moved at all


@pytest.mark.slow
def test_gymnasiums_hopper():
    """Contact, limits, and quantities as Gymnasium reads them; a fifth of a second, before it falls."""
    env = saltus.env.make("Hopper")
    seen, _ = env.reset(seed=1)
    pilot = Pilot(env.environment, lambda o: np.sin(o[:3]), True, 1)
    sim = simulation(pilot)
    pilot.begin(sim)
    for k in range(25):
        np.testing.assert_allclose(pilot.task.results.observations[0], seen, rtol=1e-9, atol=1e-9, err_msg=f"step {k}")
        seen, reward, *_ = env.step(np.sin(seen[:3]))
        step(pilot, sim)
        np.testing.assert_allclose(pilot.task.results.rewards[0], reward, rtol=1e-9, atol=1e-9)


def test_the_next_episode_has_the_random_numbers_of_the_environments_next_one():
    env = saltus.env.make(Swinging)
    pilot = Pilot(env.environment, None, True, 5)
    sim = simulation(pilot)
    for seed in (5, None, None):
        seen, _ = env.reset(seed=seed)
        pilot.begin(sim)
        np.testing.assert_allclose(pilot.task.results.observations[0], seen, **TIGHT)
        np.testing.assert_array_equal(sim.qpos, env.read("qpos"))
    assert pilot.episode == 3


def test_another_model_goes_on_in_the_same_episode():
    pilot = Pilot(Swinging(half_width=1e9), lambda o: [0.5], True, 3)
    sim = simulation(pilot)
    pilot.begin(sim)
    for _ in range(3):
        step(pilot, sim)
    heavy = sim.model.changed({"body_mass[pole]": 0.4})
    other = saltus.Simulation(heavy, sim.integrator, timestep=sim.timestep)
    other.time, other.qpos, other.qvel = sim.time, sim.qpos, sim.qvel
    effort = pilot.task.read_parameter("effort")
    assert effort[0] > 0
    pilot.follow(other)
    assert pilot.task.model is heavy and pilot.task.read_parameter("effort") == effort
    step(pilot, other)
    assert pilot.steps == 4 and pilot.task.read_parameter("steps") == 4
