"""Bits of a simulation do not depend on how many others there are, where it is, or how many threads there are."""

import numpy as np
import pytest
from helpers.swinging import Swinging

import saltus.env

STEPS = 20


def run(n, threads, precision, seed=0):
    """Observations, rewards, ends and episodes of n simulations with these seeds, and actions that their seeds give."""
    envs = saltus.env.make_vec(Swinging, n, threads=threads, precision=precision, autoreset_mode="SameStep")
    envs._episodes.seconds = 1.0  # as if each step were worth a thread
    seen = [envs.reset(seed=seed)[0]]
    rngs = [np.random.default_rng(seed + i) for i in range(n)]
    for _ in range(STEPS):
        actions = np.array([rng.uniform(-1.0, 1.0, 1) for rng in rngs])
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        envs._episodes.seconds = 1.0
        seen.append(np.column_stack([observations, rewards, terminated, truncated]))
    return seen


def equal(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("precision", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_equal_bits_for_any_number_of_simulations_and_threads(precision):
    whole = run(19, 2, precision)
    equal(whole, run(19, 1, precision))
    equal([x[:8] for x in whole], run(8, 2, precision))
    equal([x[:1] for x in whole], run(1, 1, precision))
    equal([x[11:12] for x in whole], run(1, 1, precision, seed=11))


def test_a_diverging_simulation_ends_and_leaves_its_neighbours_alone():
    actions = np.zeros((6, 1))
    good = saltus.env.make_vec(Swinging, 6, threads=1, autoreset_mode="NextStep")
    bad = saltus.env.make_vec(Swinging, 6, threads=1, autoreset_mode="NextStep")
    first, _ = good.reset(seed=0)
    bad.reset(seed=0)
    spoilt = actions.copy()
    spoilt[2] = np.nan
    others = np.arange(6) != 2
    good.step(actions)
    before = bad.step(spoilt)  # the action comes a step later into the controls
    assert not before[2].any()
    wanted, found = good.step(actions), bad.step(actions)
    for one, other in zip(wanted[:4], found[:4], strict=True):
        np.testing.assert_array_equal(one[others], other[others])
    assert found[2][2] and found[1][2] == 0.0
    assert list(found[4]["diverged"]) == list(~others) and "diverged" not in wanted[4]
    np.testing.assert_array_equal(found[0][2], before[0][2])  # finite: that of the step before
    again = bad.step(actions)
    assert np.isfinite(again[0]).all() and not again[2].any() and "diverged" not in again[4]
    assert np.isfinite(first).all()
