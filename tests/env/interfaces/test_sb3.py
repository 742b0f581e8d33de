"""Stable-Baselines3's face does what SB3's `DummyVecEnv` of the same single environments does, to the bit.

Reference: `DummyVecEnv` and SB3's own check of environments. Both sides run through one loop with random numbers that
depend on seed, episode and draw alone, so that all numbers must be equal, but for observations, which are rounded to
float32.
"""

import numpy as np
import pytest
from gymnasium import Wrapper
from helpers.swinging import Swinging

sb3 = pytest.importorskip("stable_baselines3", reason="needs Stable-Baselines3: pip install 'saltus[sb3]'")

from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor  # noqa: E402

import saltus.env  # noqa: E402
from saltus.env.interfaces.sb3 import SB3VecEnv  # noqa: E402
from saltus.errors import OptionError  # noqa: E402

N = 5


def pair(**given):
    ours = saltus.env.make_sb3(Swinging, N, monitor=False, threads=1, **given)
    return ours, DummyVecEnv([lambda: saltus.env.make(Swinging, **given)] * N)


def same(wanted, found, what=""):
    """Equal values and types; dictionaries with equal names; numbers of observations in float32."""
    if isinstance(wanted, list | tuple):
        assert len(wanted) == len(found), what
        for k, (one, other) in enumerate(zip(wanted, found, strict=True)):
            same(one, other, f"{what} {k}")
    elif isinstance(wanted, dict):
        assert set(wanted) == set(found), f"{what}: {sorted(set(wanted) ^ set(found))}"
        for key in wanted:
            same(wanted[key].astype(np.float32) if key == "terminal_observation" else wanted[key], found[key], key)
    elif isinstance(wanted, np.ndarray):
        assert wanted.dtype == found.dtype, what
        np.testing.assert_array_equal(wanted, found, what)
    else:
        assert type(wanted) is type(found) and wanted == found, what


@pytest.mark.parametrize("half_width", [0.15, 100.0])  # the second: all episodes end at once
def test_steps_ends_and_infos_are_those_of_sb3(half_width):
    ours, theirs = pair(half_width=half_width)
    assert ours.seed(7) == theirs.seed(7) == list(range(7, 7 + N))
    same(theirs.reset().astype(np.float32), ours.reset())
    same(theirs.reset_infos, ours.reset_infos)
    rng = np.random.default_rng(0)
    ends = {True: 0, False: 0}
    for k in range(40):
        actions = rng.uniform(-1.0, 1.0, (N, 1)).astype(np.float32)
        seen, *wanted = theirs.step(actions)
        same((seen.astype(np.float32), *wanted), ours.step(actions), f"step {k}")
        same(theirs.reset_infos, ours.reset_infos, f"reset infos of step {k}")
        for i in np.flatnonzero(wanted[1]):
            ends[wanted[2][i]["TimeLimit.truncated"]] += 1
    assert ends[True] > 2 and (half_width > 1.0 or ends[False] > 2), "the test saw too few ends"


def test_a_reset_without_seed_goes_on_with_the_random_numbers():
    ours, theirs = pair()
    for side in (ours, theirs):
        side.seed(3)
        side.reset()
    same(theirs.reset().astype(np.float32), ours.reset())


def test_spaces_are_sb3s_and_float32():
    ours = saltus.env.make_sb3(Swinging, N, seed=1, threads=1)
    assert isinstance(ours, VecMonitor) and isinstance(ours, VecEnv) and ours.num_envs == N
    assert ours.observation_space.dtype == ours.action_space.dtype == np.float32
    assert ours.reset().dtype == np.float32
    assert ours.render_mode is None and ours.env_is_wrapped(Wrapper) == [False] * N


def test_the_monitor_reports_returns_and_lengths():
    ours = saltus.env.make_sb3(Swinging, N, seed=1, threads=1)
    ours.reset()
    total, length, episodes = np.zeros(N), np.zeros(N, int), 0
    for _ in range(30):
        _, rewards, dones, infos = ours.step(np.full((N, 1), 0.3, np.float32))
        total, length = total + rewards, length + 1
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["l"] == length[i]
            assert infos[i]["episode"]["r"] == pytest.approx(total[i], rel=1e-5, abs=1e-5)  # summed in float32
            total[i] = length[i] = 0
            episodes += 1
    assert episodes > 5


def test_parameters_are_attributes_of_single_environments():
    ours = saltus.env.make_sb3(Swinging, N, threads=1)
    assert ours.get_attr("upright_weight") == [1.0] * N
    ours.set_attr("upright_weight", 2.0, indices=[1, 3])
    assert ours.get_attr("upright_weight", 3) == [2.0] and ours.get_attr("upright_weight", range(3)) == [1.0, 2.0, 1.0]
    assert ours.get_attr("action_space")[0] == ours.action_space
    with pytest.raises(AttributeError):
        ours.get_attr("upright_wait")
    with pytest.raises(OptionError, match="num_envs is not a parameter"):
        ours.set_attr("num_envs", 3, indices=0)
    ours.seed(0)
    ours.reset()
    positions = ours.env_method("read", "qpos", indices=[0, 4])
    assert len(positions) == 2 and positions[0].shape == (2,) and (positions[0] != positions[1]).any()
    assert len(ours.env_method("loaded")) == N


def test_pictures_are_tiled():
    ours = saltus.env.make_sb3(Swinging, 2, threads=1, seed=0, render_mode="rgb_array", width=32, height=24)
    ours.reset()
    assert len(ours.get_images()) == 2 and ours.get_images()[0].shape == (24, 32, 3)
    assert ours.render().shape[2] == 3
    ours.close()


@pytest.mark.filterwarnings("ignore::UserWarning")  # advice on ranges of actions and observations
def test_sb3s_check_finds_nothing():
    check_env(saltus.env.make(Swinging, precision="float32"))


def test_a_policy_learns():
    """One update of PPO; what it learns is not tested."""
    ours = saltus.env.make_sb3(Swinging, 4, seed=0, threads=1)
    model = sb3.PPO("MlpPolicy", ours, n_steps=16, batch_size=32, n_epochs=1, seed=0, device="cpu")
    model.learn(64)
    assert model.num_timesteps == 64 and len(model.ep_info_buffer) > 0


def test_what_makes_no_sense_is_refused():
    with pytest.raises(OptionError, match="autoreset_mode of its own"):
        saltus.env.make_sb3(Swinging, 2, autoreset_mode="NextStep")
    with pytest.raises(OptionError, match="autoreset_mode='SameStep'"):
        SB3VecEnv(saltus.env.make_vec(Swinging, 2, threads=1))
    ours = saltus.env.make_sb3(Swinging, 2, threads=1)
    ours.set_options({"start": 3})
    with pytest.raises(OptionError, match="start"):
        ours.reset()
