"""Episodes under a policy, in one process and several.

Law: episode k is that of Gymnasium's single environment, reset with its seed and stepped until it ends; its return the
sum of that one's rewards. Each number is the same to the bit, wherever it is computed.
"""

import functools

import numpy as np
import pytest
from helpers.steered import Steered

import saltus.env
from saltus.env import Policy
from saltus.errors import OptionError

SWING_UP = "CartPoleSwingUp"


@functools.cache
def pushing():
    """Pushes against the pole's fall, and loses the cart now and then."""
    made = saltus.env.make(SWING_UP)
    rng = np.random.default_rng(0)
    size = made.observation_space.shape[0]
    return Policy([rng.normal(size=(1, size))], [np.array([0.9])], environment=made)


def by_itself(seed):
    env = saltus.env.make(SWING_UP)
    observation, _ = env.reset(seed=seed)
    total, steps = 0.0, 0
    while True:
        observation, reward, terminated, truncated, _ = env.step(pushing()(observation))
        total, steps = total + reward, steps + 1
        if terminated or truncated:
            return total, steps, terminated


def test_an_episode_is_that_of_its_seed():
    found = saltus.env.evaluate(policy=pushing(), episodes=5, seed=10)
    expected = [by_itself(10 + k) for k in range(5)]
    np.testing.assert_array_equal(found.lengths, [steps for _, steps, _ in expected])
    np.testing.assert_array_equal(found.terminated, [ended for *_, ended in expected])
    # a row of a product may be summed in another order than a single one: rounding, through an unstable motion
    np.testing.assert_allclose(found.returns, [total for total, *_ in expected], rtol=1e-6)
    assert found.mean == pytest.approx(np.mean(found.returns)) and f"{found.mean:.4g}" in str(found)


@pytest.mark.slow
def test_processes_change_nothing():
    here = saltus.env.evaluate(SWING_UP, pushing(), 130)
    there = saltus.env.evaluate(SWING_UP, pushing(), 130, workers=2)
    for name in ("returns", "lengths", "terminated"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert len(here) == 130 and len(np.unique(here.returns)) > 100


def test_without_a_policy_nothing_is_done():
    found = saltus.env.evaluate(Steered, episodes=3, max_steps=7)
    assert list(found.lengths) == [7, 7, 7] and not found.terminated.any()


def test_what_cannot_be():
    with pytest.raises(OptionError, match="has no max_episode_steps: give max_steps"):
        saltus.env.evaluate(SWING_UP, max_episode_steps=None)
    with pytest.raises(OptionError, match="episodes must be at least 1"):
        saltus.env.evaluate(SWING_UP, episodes=0)
    with pytest.raises(OptionError, match="the policy does not say"):
        saltus.env.evaluate()
    with pytest.raises(OptionError, match="actions have shape"):
        saltus.env.evaluate(SWING_UP, lambda seen: seen, 2)
