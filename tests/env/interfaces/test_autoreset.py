"""Vector environments and their autoreset are, to the bit, Gymnasium's `SyncVectorEnv` of the same single environments.

Reference: `gymnasium.vector.SyncVectorEnv`. Both run through one loop with random numbers that depend on seed, episode
and draw alone, so that nothing but the handling of ends and resets is compared, and every number must be equal.
"""

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from helpers.swinging import Swinging

import saltus.env
from saltus.errors import OptionError

N = 5
MODES = list(AutoresetMode)


def pair(mode, **given):
    ours = saltus.env.make_vec(Swinging, N, autoreset_mode=mode, threads=1, **given)
    theirs = SyncVectorEnv([lambda: saltus.env.make(Swinging, **given)] * N, autoreset_mode=mode)
    return ours, theirs


def same(one, other, what=""):
    """Equal values, shapes and types; dictionaries with equal names."""
    if isinstance(one, tuple):
        for a, b in zip(one, other, strict=True):
            same(a, b, what)
    elif isinstance(one, dict):
        assert set(one) == set(other), f"{what}: {sorted(set(one) ^ set(other))}"
        for key in one:
            same(one[key], other[key], f"{what} {key}")
    elif isinstance(one, np.ndarray) and one.dtype == object:
        for a, b in zip(one, other, strict=True):
            same(a, b, what)
    elif one is None or other is None:
        assert one is other, what
    else:
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype and one.shape == other.shape, what
        np.testing.assert_array_equal(one, other, what)


@pytest.mark.parametrize("mode", MODES)
def test_steps_ends_and_resets_are_those_of_gymnasiums_vector(mode):
    ours, theirs = pair(mode)
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is mode
    same(theirs.reset(seed=7)[0], ours.reset(seed=7)[0])
    rng = np.random.default_rng(0)
    ends = {"terminated": 0, "truncated": 0}
    for k in range(40):
        actions = rng.uniform(-1.0, 1.0, (N, 1)).astype(np.float32)
        wanted, found = theirs.step(actions), ours.step(actions)
        same(wanted, found, f"step {k}")
        ends["terminated"] += wanted[2].sum()
        ends["truncated"] += wanted[3].sum()
        ended = wanted[2] | wanted[3]
        mask = ended if mode is AutoresetMode.DISABLED else np.arange(N) == 1
        if mask.any() and (mode is AutoresetMode.DISABLED or k % 7 == 6):
            same(*(x.reset(options={"reset_mask": mask}) for x in (theirs, ours)), f"reset {k}")
    assert min(ends.values()) > 2, "the test saw too few ends"


def test_reset_gives_what_gymnasiums_vector_gives():
    ours, theirs = pair(AutoresetMode.NEXT_STEP)
    for seed in (3, [5, 6, None, 8, 9], None):
        same(theirs.reset(seed=seed), ours.reset(seed=seed), f"seed {seed}")


def test_all_episodes_that_end_at_once_are_reset_at_once():
    """Infos of steps have no names then that resets lack."""
    ours, theirs = pair(AutoresetMode.NEXT_STEP, half_width=100.0)
    ours.reset(seed=0), theirs.reset(seed=0)
    for k in range(30):
        actions = np.full((N, 1), 0.1, np.float32)
        same(theirs.step(actions), ours.step(actions), f"step {k}")


def test_they_say_what_they_are():
    envs = saltus.env.make_vec(Swinging, 3, threads=2, precision="float32")
    assert repr(envs) == "VectorEnvironment(Swinging, n = 3, float32, 2 threads)"
    assert str(saltus.env.make(Swinging)) == "SingleEnvironment(Swinging, float64)"


def test_steps_that_need_a_reset_say_so():
    envs = saltus.env.make_vec(Swinging, N, autoreset_mode="Disabled", threads=1)
    actions = np.zeros((N, 1))
    with pytest.raises(ResetNeeded, match="before the first step"):
        envs.step(actions)
    envs.reset(seed=0)
    with pytest.raises(ResetNeeded, match=r"the episode of simulation \d has ended"):
        for _ in range(13):
            envs.step(actions)
    with pytest.raises(OptionError, match="reset_mask must be a boolean array"):
        envs.reset(options={"reset_mask": [True] * N})
    with pytest.raises(OptionError, match="chooses no simulation"):
        envs.reset(options={"reset_mask": np.zeros(N, bool)})
    with pytest.raises(OptionError, match="reset_mask"):
        envs.reset(options={"reset_masks": np.ones(N, bool)})
    envs.reset()
    with pytest.raises(OptionError, match=r"actions have shape \(5, 1\), not \(1, 5\)"):
        envs.step(actions.T)
