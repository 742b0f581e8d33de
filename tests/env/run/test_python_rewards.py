"""Rewards as plain Python functions: the numbers of the same terms, compiled.

Reference: the environment whose rewards are terms. The functions do the same operations, so that rewards agree to
rounding (1e-14 of numbers of size 1).
"""

import warnings

import numpy as np
import pytest
from helpers.swinging import Swinging

import saltus.env
from saltus.env import term
from saltus.errors import OptionError, SaltusWarning


def height(read, actions):
    return read("site_xpos")[:, 0, 2]


def effort(read, actions):
    return -0.5 * actions[:, 0] ** 2


@term
def effort_term(m, d, e):
    return -0.5 * e.action[0] * e.action[0]


@term
def height_term(m, d, e):
    return d.site_xpos[e.tip, 2]


class Compiled(Swinging):
    infos = {}
    reset_infos = ()
    rewards = {"height": height_term, "effort": effort_term}
    reward_range = (-0.6, 0.7)


class Mixed(Compiled):
    rewards = {"height": height_term}
    python_rewards = {"effort": effort}


class Plain(Compiled):
    rewards = {}
    python_rewards = {"height": height, "effort": effort}


def quiet(make, *given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)
        return make(*given, **options)


@pytest.mark.parametrize("kind", [Mixed, Plain])
def test_they_are_added_limited_and_reported_as_terms(kind):
    wanted = saltus.env.make_vec(Compiled, 5, threads=1)
    found = quiet(saltus.env.make_vec, kind, 5, threads=1)
    alone = quiet(saltus.env.make, kind)
    for env in (wanted, found, alone):
        env.reset(seed=0)
    rng, limited = np.random.default_rng(0), 0
    for k in range(40):
        actions = rng.uniform(-1.0, 1.0, (5, 1)).astype(np.float32)
        one, other = wanted.step(actions), found.step(actions)
        for a, b in zip(one[:4], other[:4], strict=True):
            np.testing.assert_allclose(b, a, rtol=0.0, atol=1e-14)
        assert one[4].keys() == other[4].keys()
        for name in one[4]:
            np.testing.assert_allclose(other[4][name], one[4][name], rtol=0.0, atol=1e-14)
        limited += np.isin(one[1], (-0.6, 0.7)).sum()
        if k < 3:
            _, reward, _, _, info = alone.step(actions[0])
            assert reward == other[1][0] and info["effort"] == other[4]["effort"][0]
    assert limited > 10


def test_a_warning_tells_that_they_are_slow():
    with pytest.warns(SaltusWarning, match=r"Mixed: effort: rewards in Python .* slow path"):
        saltus.env.make(Mixed)


def changed(**given):
    return type("Changed", (Mixed,), given)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (changed(python_rewards={"height": height}), "height is a Python reward and something else"),
        (changed(python_rewards={"effort": 3.0}), "python_rewards"),
        (changed(python_rewards=3.0), "python_rewards"),
        (changed(python_rewards={"effort": lambda read, actions: 1.0}), r"must return numbers of shape \(2,\)"),
        (changed(python_rewards={"effort": lambda read, actions: read("nothing")}), "unknown field 'nothing'"),
        (changed(python_rewards={"effort": lambda read, actions: "a"}), "must be numbers"),
    ],
)
def test_what_cannot_be_added_is_named(kind, words):
    def play():
        envs = saltus.env.make_vec(kind, 2, threads=1)
        envs.reset(seed=0)
        envs.step(np.zeros((2, 1)))

    with pytest.raises(OptionError, match=words):
        quiet(play)


def test_they_are_refused_where_their_states_are_replaced():
    with pytest.raises(OptionError, match='"NextStep" or "Disabled"'):
        quiet(saltus.env.make_vec, Mixed, 2, threads=1, autoreset_mode="SameStep")
