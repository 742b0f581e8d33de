"""Copies, pickles and snapshots of environments: what goes on from one has the bits of what went on before.

Reference: the original itself with the same actions. Everything is compared to the bit, since all that a step depends
on is copied; a state that is given is the one that `saltus.Simulation` starts from.
"""

import copy
import os
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from helpers.randomized import Ball
from helpers.swinging import Swinging
from helpers.walking import quadruped
from numpy.testing import assert_array_equal

import saltus
import saltus.env
from saltus.env import Environment, Push, normal, uniform
from saltus.errors import OptionError

HOW = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}
DISTURBED = dict(
    action_noise=0.05, action_delay=(0, 2), pushes=Push("qvel[elbow]", normal(0.0, 0.5), every=uniform(0.01, 0.05))
)


def single(**given):
    return saltus.env.make(Swinging, **given)


def several(kind=Swinging, n=5, **given):
    return saltus.env.make_vec(kind, n, threads=1, **given)


def played(env, steps=30, seed=0):
    """All that `steps` steps under random actions return, in one list; single environments begin anew themselves."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(steps):
        seen = env.step(rng.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32))
        found += [np.asarray(x) for x in seen[:4]]
        if isinstance(env, gymnasium.Env) and (seen[2] or seen[3]):
            found.append(env.reset()[0])
    return found


def same(one, other):
    for a, b in zip(one, other, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("how", HOW)
def test_a_copy_goes_on_with_the_same_bits_and_leaves_the_original_alone(how):
    for env in (single(), several(), several(precision="float32", autoreset_mode="SameStep")):
        env.reset(seed=3)
        played(env, 7)
        env.parameters["upright_weight"] = 3.0
        other = HOW[how](env)
        before = env.snapshot()
        found = played(other)
        assert_array_equal(env.snapshot(), before)
        same(played(env), found)
        other.parameters["upright_weight"] = 1.0
        assert (env.parameters["upright_weight"] == 3.0).all()


def test_values_drawn_for_episodes_noise_delays_and_pushes_are_copied():
    env = several(Ball, 6, **DISTURBED)
    env.reset(seed=1)
    played(env, 8)
    env.model.body_mass[:, 1] *= 1.5
    env.parameters["least_strength"] = 2.5
    for how in HOW.values():
        env.step(np.zeros((6, 1)))
        found = how(env)
        same(played(env, 15), played(found, 15))
        assert_array_equal(env.model.body_mass, found.model.body_mass)
        assert_array_equal(env.parameters["strength"], found.parameters["strength"])


def test_what_was_never_reset_is_copied_as_such():
    for make in (single, several):
        for how in HOW.values():
            env = make()
            found = how(env)
            with pytest.raises(ResetNeeded):
                found.step(np.zeros(found.action_space.shape))
            same([env.reset()[0]], [found.reset()[0]])


def test_spaces_and_generators_are_copied():
    env = single()
    env.reset(seed=4)
    env.action_space.seed(2)
    found = copy.deepcopy(env)
    assert_array_equal(env.action_space.sample(), found.action_space.sample())
    assert env.np_random.random() == found.np_random.random()


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_gymnasiums_wrappers_around_environments_are_copied(how):
    env = gymnasium.make("saltus/PendulumSwingUp-v0", max_episode_steps=12)
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    env.reset(seed=0)
    played(env, 5)
    found = HOW[how](env)
    same(played(env), played(found))
    assert found.spec == env.spec
    envs = gymnasium.make_vec("saltus/PendulumSwingUp-v0", 3)
    envs = gymnasium.wrappers.vector.NormalizeReward(envs)
    envs.reset(seed=0)
    found = HOW[how](envs)
    same(played(envs), played(found))


def test_a_pickle_goes_on_in_another_process(tmp_path):
    env = saltus.env.make("PendulumSwingUp", largest_torque=7.0)
    env.reset(seed=0)
    played(env, 3)
    path = tmp_path / "env.pickle"
    path.write_bytes(pickle.dumps(env))
    program = (
        "import pickle, sys; env = pickle.load(open(sys.argv[1], 'rb')); env.step([0.5]); "
        "print(env.read('qpos')[0].hex(), env.reset()[0].tobytes().hex())"
    )
    environ = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(saltus.__file__))}
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, env=environ, check=True
    )
    env.step([0.5])
    assert done.stdout.split() == [env.read("qpos")[0].hex(), env.reset()[0].tobytes().hex()]


def test_declarations_that_loading_completes_are_copied():
    """The joystick's terms are closures, made for its robot, and its parameters and options follow from the model."""
    env = saltus.env.make("QuadrupedJoystick", model=quadruped(), height_limit=0.1)
    env.reset(seed=0)
    for how in HOW.values():
        found = how(env)
        same(played(env, 10), played(found, 10))


class Given(Environment):
    """Made by a constructor of its own, with attributes that no declaration knows."""

    model = "pendulum"

    def __init__(self, length, **changes):
        self.steps_wanted = 3
        super().__init__(frame_skip=2, **changes)
        self.length = [length]

    def declare(self):
        self.max_episode_steps = self.steps_wanted


def test_own_constructors_and_attributes_are_copied():
    made = Given(2.0, timestep=0.02)
    assert copy.copy(made).length is made.length
    for how in (copy.deepcopy, HOW["pickle"]):
        found = how(made)
        found.length.append(1.0)
        assert made.length == [2.0] and found.steps_wanted == 3
        assert (found.frame_skip, found.max_episode_steps, found.timestep) == (2, 3, 0.02)
        assert found.changes == made.changes and found.changes is not made.changes


# ---------------------------------------------------------------- snapshots


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_restored_environments_repeat_themselves(mode):
    for env in (single(), several(autoreset_mode=mode), several(Ball, 6, autoreset_mode=mode, **DISTURBED)):
        env.reset(seed=2)
        for steps in (0, 9):
            played(env, steps)
            start = env.snapshot()
            found = played(env, 15)
            env.restore(start)
            assert_array_equal(env.snapshot(), start)
            same(played(env, 15), found)
            env.reset(seed=9)


def test_restore_returns_the_observation_of_that_time():
    env = several()
    env.reset(seed=0)
    seen = played(env, 1)[0]
    start = env.snapshot()
    played(env)
    assert_array_equal(env.restore(start), seen)


def test_rows_are_of_one_simulation_each_whatever_their_number():
    """Rows exchanged, chosen by a mask, repeated, and taken into an environment of one simulation."""
    envs = several()
    envs.reset(seed=0)
    played(envs, 4)
    rows, seen = envs.snapshot(), envs.read("qpos")
    envs.restore(rows[::-1])
    assert_array_equal(envs.read("qpos"), seen[::-1])
    played(envs, 3)
    moved, mask = envs.read("qpos"), np.arange(5) == 2
    envs.restore(rows, mask=mask)
    assert_array_equal(envs.read("qpos"), np.where(mask[:, None], seen, moved))
    envs.restore(rows[3])
    assert_array_equal(envs.read("qpos"), np.tile(seen[3], (5, 1)))
    env = single()
    env.restore(rows[3])
    actions = np.full((5, 1), 0.3, np.float32)
    for _ in range(3):
        assert_array_equal(env.step(actions[0])[0], envs.step(actions)[0][1])


def test_snapshots_that_do_not_fit_are_refused():
    env, envs = single(), several()
    for one in (env, envs):
        with pytest.raises(ResetNeeded):
            one.snapshot()
    env.reset(seed=0)
    envs.reset(seed=0)
    wrong = [np.zeros(3), "a", saltus.env.make("PendulumSwingUp"), env.snapshot() + 1.0, None]
    for given in (*wrong, envs.snapshot()):
        with pytest.raises(OptionError, match="snapshot"):
            env.restore(given)
    with pytest.raises(OptionError, match="4 rows, not 5"):
        envs.restore(envs.snapshot()[:4])
    with pytest.raises(OptionError, match="mask"):
        envs.restore(envs.snapshot(), mask=[True] * 5)
    single32 = single(precision="float32")
    with pytest.raises(OptionError, match="precision"):
        single32.restore(env.snapshot())
    with pytest.raises(ResetNeeded):
        several().restore(envs.snapshot(), mask=np.ones(5, bool))


# ---------------------------------------------------------------- states that are given


def moved(qpos, qvel, force, steps=2):
    """Positions of a simulation some steps after a state."""
    sim = saltus.Simulation("cart_pole", "rk4")
    sim.qpos, sim.qvel, sim.ctrl = qpos, qvel, force
    sim.step(steps)
    return sim.qpos.copy()


class Plain(Environment):
    model = "cart_pole"
    integrator = "rk4"
    frame_skip = 2


def test_episodes_begin_in_the_state_that_is_given():
    """Rounding: the simulation alone and that in lanes do the same operations, in two steps (1e-13)."""
    env = saltus.env.make(Plain)
    seen, _ = env.reset(seed=0, options={"qpos": [0.1, 0.2], "qvel": [0.3, -0.4]})
    assert_array_equal(seen, [0.1, 0.2, 0.3, -0.4])
    seen, *_ = env.step([0.5])
    np.testing.assert_allclose(seen[:2], moved([0.1, 0.2], [0.3, -0.4], 0.5), rtol=0.0, atol=1e-13)
    seen, _ = env.reset(options={"qvel": [1.0, 0.0]})
    start = saltus.Simulation("cart_pole").qpos
    assert_array_equal(seen, [*start, 1.0, 0.0])
    assert_array_equal(env.reset()[0], [*start, 0.0, 0.0])


def test_vectors_begin_in_the_states_that_are_given_where_a_mask_says():
    envs = several()
    envs.reset(seed=0)
    qpos = np.arange(10.0).reshape(5, 2) / 100.0
    seen, _ = envs.reset(options={"qpos": qpos, "qvel": [0.5, 0.25]})
    assert_array_equal(envs.read("qpos"), qpos)
    assert_array_equal(envs.read("qvel"), np.tile([0.5, 0.25], (5, 1)))
    assert_array_equal(seen[:, 0], qpos[:, 0])
    np.testing.assert_allclose(seen[:, 1:3], np.column_stack([np.sin(qpos[:, 1]), np.cos(qpos[:, 1])]), atol=1e-15)
    played(envs, 2)
    before, mask = envs.read("qpos"), np.array([True, False, False, True, False])
    envs.reset(options={"reset_mask": mask, "qpos": qpos + 1.0})
    assert_array_equal(envs.read("qpos"), np.where(mask[:, None], qpos + 1.0, before))


def test_states_are_set_within_an_episode():
    env = saltus.env.make(Plain)
    env.reset(seed=0)
    env.step([1.0])
    env.set_state([0.1, 0.2], [0.3, -0.4])
    assert_array_equal(env.read("qpos"), [0.1, 0.2])
    seen, *_ = env.step([0.5])
    np.testing.assert_allclose(seen[:2], moved([0.1, 0.2], [0.3, -0.4], 0.5), rtol=0.0, atol=1e-13)
    env.set_state(qvel=[0.0, 0.0])
    assert_array_equal(env.read("qpos"), seen[:2])
    envs = several()
    envs.reset(seed=0)
    before, mask = envs.read("qpos"), np.array([True, False, False, True, False])
    envs.set_state(np.ones((5, 2)), mask=mask)
    assert_array_equal(envs.read("qpos"), np.where(mask[:, None], 1.0, before))


@pytest.mark.parametrize("given", [{"qpos": [0.1]}, {"qpos": "a"}, {"qvel": [np.nan, 0.0]}, {"qpso": [0.0, 0.0]}])
def test_states_that_cannot_be_are_refused_and_change_nothing(given):
    for env in (single(), several()):
        with pytest.raises(ResetNeeded):
            env.set_state(**{"qpos": [0.0, 0.0]})
        env.reset(seed=0)
        before, name = env.snapshot(), next(iter(given))
        with pytest.raises(OptionError, match=name):
            env.set_state(**given)
        with pytest.raises(OptionError, match=name):
            env.reset(options=given)
        assert_array_equal(env.snapshot(), before)


def test_a_state_is_not_set_where_the_episode_has_ended():
    envs = several(max_episode_steps=2, half_width=1e9)
    envs.reset(seed=0)
    played(envs, 2)
    with pytest.raises(OptionError, match="episode of simulation 0 has ended"):
        envs.set_state([0.0, 0.0])
    same_step = several(max_episode_steps=2, half_width=1e9, autoreset_mode="SameStep")
    same_step.reset(seed=0)
    played(same_step, 2)
    same_step.set_state([0.0, 0.0])
