"""Environments pass Gymnasium's own checks, alone, made by `gymnasium.make` and as vectors."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers.swinging import Swinging

import saltus.env
from saltus.errors import SaltusWarning

ID = "saltus/InvertedPendulum-v5"


@pytest.mark.filterwarnings("ignore::UserWarning")  # Gymnasium's, on infinite bounds
def test_gymnasiums_checks_find_nothing():
    env = gymnasium.make(ID, render_mode="rgb_array", width=64, height=48)
    check_env(env.unwrapped)
    check_env(saltus.env.make(Swinging), skip_render_check=True)


def test_gymnasium_makes_vectors_of_it():
    envs = gymnasium.make_vec(ID, 3, autoreset_mode="SameStep", reset_noise_scale=0.1)
    assert isinstance(envs, saltus.env.VectorEnvironment) and envs.num_envs == 3
    envs.reset(seed=0)
    assert list(envs.parameters["reset_noise_scale"]) == [0.1] * 3
    assert abs(envs.read("qpos")).max() > 0.01
    short = gymnasium.make_vec(ID, 2, max_episode_steps=3)
    short.reset(seed=0)
    ends = [short.step(np.zeros((2, 1), np.float32))[3].all() for _ in range(3)]
    assert ends == [False, False, True]


def test_gymnasiums_time_limit_is_the_only_one_of_single_environments():
    env = gymnasium.make(ID, max_episode_steps=2)
    env.reset(seed=0)
    ends = [env.step(np.zeros(1, np.float32))[3] for _ in range(2)]
    assert ends == [False, True]
    assert env.unwrapped.environment.max_episode_steps is None


def test_pictures_show_the_state():
    env = saltus.env.make(Swinging, render_mode="rgb_array", width=80, height=60)
    env.reset(seed=0)
    one = env.render()
    for _ in range(5):
        env.step(np.ones(1))
    other = env.render()
    assert one.shape == other.shape == (60, 80, 3) and one.dtype == np.uint8
    assert (one != other).any()
    env.close()
    env.close()
    envs = saltus.env.make_vec(Swinging, 2, threads=1, render_mode="rgb_array", width=80, height=60)
    envs.reset(seed=0)
    frames = envs.render()
    assert len(frames) == 2
    np.testing.assert_array_equal(frames[0], one)
    assert saltus.env.make(Swinging).render() is None


def test_pictures_of_shapes_that_vary_say_that_they_show_the_models_own():
    """All pictures share one scene."""

    class Sized(Swinging):
        vary = ("geom_size", "body_mass")

    envs = saltus.env.make_vec(Sized, 2, threads=1, render_mode="rgb_array", width=32, height=24)
    envs.reset(seed=0)
    with pytest.warns(SaltusWarning, match="geom_size may differ between simulations; pictures show the model's own"):
        frames = envs.render()
    np.testing.assert_array_equal(frames[0].shape, (24, 32, 3))
