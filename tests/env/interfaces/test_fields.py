"""Fields of environments by name, and attributes that would do nothing.

Reference: `read`, and the names themselves.
"""

import copy

import gymnasium
import numpy as np
import pytest
from helpers.swinging import Swinging
from numpy.testing import assert_array_equal

import saltus.env
from saltus.errors import OptionError


def both(**given):
    return saltus.env.make(Swinging, **given), saltus.env.make_vec(Swinging, 3, threads=1, **given)


def test_data_shows_what_read_reads():
    for env in both():
        env.reset(seed=0)
        for name in ("qpos", "site_xpos", "time", "qacc"):
            assert_array_equal(getattr(env.data, name), env.read(name))
            assert_array_equal(env.data[name], env.read(name))
        with pytest.raises(ValueError, match="read-only"):
            env.data.qpos[...] = 0.0
        assert "xpos" in dir(env.data) and "xpos" in repr(env.data)
        assert_array_equal(copy.deepcopy(env.data).qpos, env.data.qpos)
    assert env.data.qpos.shape == (3, 2)


def test_unknown_fields_are_named_with_those_that_exist():
    for env in both():
        env.reset(seed=0)
        for name in ("qpso", "", "M_"):
            with pytest.raises(OptionError, match=r"known: .*qpos"):
                env.read(name)
        for name in (3, None, "nefc"):
            with pytest.raises(OptionError):
                env.read(name)
        with pytest.raises(OptionError, match="did you mean 'qpos'"):
            env.data["qpso"]
        with pytest.raises(AttributeError, match="did you mean 'qpos'"):
            _ = env.data.qpso
        assert not hasattr(env.data, "nothing")


IGNORED = {
    "gravity": r"vary=\('opt.gravity',\).*assign model.opt.gravity",
    "body_mass": r"vary=\('body_mass',\).*assign model.body_mass",
    "qpos": r"set_state\(qpos=...\)",
    "xpos": r"set_state\(qpos=..., qvel=...\)",
    "half_width": r"assign parameters\['half_width'\]",
    "frame_skip": r"when the environment is made.*frame_skip=",
    "timestep": "when the environment is made",
    "render_mode": "when the environment is made",
    "environment": "make another one",
    "obsevation_space": "did you mean 'observation_space'",
    "model": "would do nothing",
    "nonsense": "no attribute 'nonsense'",
}


@pytest.mark.parametrize("name", IGNORED)
def test_attributes_that_would_do_nothing_are_refused(name):
    for env in both():
        for one in (env, copy.deepcopy(env)):
            with pytest.raises(AttributeError, match=IGNORED[name]):
                setattr(one, name, 1.0)
        with pytest.raises(AttributeError, match="read-only"):
            env.data.qpos = 1.0


def test_fields_that_vary_are_assigned_to_the_model():
    env = saltus.env.make_vec(Swinging, 3, threads=1, vary=("opt.gravity",))
    with pytest.raises(AttributeError, match=r"; assign model\.opt\.gravity"):
        env.gravity = [0.0, 0.0, -1.0]
    env.model.opt.gravity = [0.0, 0.0, -1.0]
    with pytest.raises(AttributeError, match="when the environment is made"):
        env.autoreset_mode = "Disabled"


class Own(saltus.env.SingleEnvironment):
    pass


def test_gymnasium_and_subclasses_may_set_their_own():
    env = gymnasium.make("saltus/PendulumSwingUp-v0").unwrapped
    env.spec = env.spec
    env.np_random = np.random.default_rng(0)
    env._kept = 1
    own = Own(env.environment)
    own.count = 3
    assert copy.deepcopy(own).count == 3


def test_the_reward_is_limited_to_its_range():
    """Infos report the terms; the reward is the limit of their sum."""
    for low, high in ((0.0, np.inf), (-0.5, 0.25), (None, None)):

        class Limited(Swinging):
            reward_range = None if low is None else (low, high)

        env = saltus.env.make_vec(Limited, 5, threads=1)
        env.reset(seed=0)
        rng, totals, found = np.random.default_rng(1), [], []
        for _ in range(10):
            _, rewards, _, _, infos = env.step(rng.uniform(-1.0, 1.0, (5, 1)))
            stepped = infos["_upright"]
            totals.append((infos["upright"] + infos["effort"])[stepped])
            found.append(rewards[stepped])
        totals, found = np.concatenate(totals), np.concatenate(found)
        assert (totals < -0.5).any() and (totals > 0.25).any()
        assert_array_equal(found, totals if low is None else np.clip(totals, low, high))


@pytest.mark.parametrize("given", [(1.0, 0.0), 3.0, ("a", 1.0), (np.nan, 1.0), (0.0, 1.0, 2.0)])
def test_ranges_of_rewards_that_are_none_are_refused(given):
    class Limited(Swinging):
        reward_range = given

    with pytest.raises(OptionError, match="reward_range"):
        saltus.env.make(Limited)
