"""Models and parameters that are drawn for each episode.

Reference: MuJoCo with the same values, after `mj_setConst`. Accelerations under soft constraints agree to 1e-8, that of
the tight solution of the constraint problem, which both look for with a tolerance of 1e-14. Distributions: Kolmogorov
and Smirnov's test at a level of 1e-4. What is drawn has equal bits whatever the number of simulations, of threads, and
the way of beginning episodes anew.
"""

import copy
import pickle

import mujoco
import numpy as np
import pytest
from helpers.randomized import BALL, Ball
from scipy.stats import kstest, loguniform, truncnorm

import saltus.env
from saltus.env import Randomize, choice, log_uniform, normal, uniform
from saltus.env.random import EPISODE, KEY_LOW, NRANDOM, probabilities
from saltus.errors import OptionError
from saltus.model.vary.stack import put

FIELDS = ("body_mass", "body_inertia", "geom_friction", "actuator_gainprm", "actuator_biasprm", "dof_damping")
FIELDS += ("opt.gravity",)
NQ, NV = 8, 7


def values_of(envs, i):
    """The fields that are drawn, of simulation i."""
    model = envs.model
    return {f: (model.opt.gravity if f == "opt.gravity" else getattr(model, f))[i].copy() for f in FIELDS}


def acceleration(observation, fields, constants=True):
    """MuJoCo's acceleration in the state of an observation."""
    m = mujoco.MjModel.from_xml_string(BALL)
    put(m, {name: value[None] for name, value in fields.items()}, 0)
    if constants:
        mujoco.mj_setConst(m, mujoco.MjData(m))
    data = mujoco.MjData(m)
    data.qpos, data.qvel = observation[:NQ], observation[NQ : NQ + NV]
    mujoco.mj_forward(m, data)
    return data.qacc


def play(envs, steps=40, seed=3):
    """First observations of episodes, with the values that are drawn: lists for each simulation."""
    disabled = envs.metadata["autoreset_mode"].value == "Disabled"
    observations, _ = envs.reset(seed=seed)
    found = [[(observations[i], values_of(envs, i))] for i in range(envs.num_envs)]
    for _ in range(steps):
        observations, _, terminated, truncated, _ = envs.step(np.zeros((envs.num_envs, 1)))
        if disabled and (terminated | truncated).any():
            observations, _ = envs.reset(options={"reset_mask": terminated | truncated})
        for i in np.flatnonzero(envs._episodes.results.began):
            found[i].append((observations[i], values_of(envs, i)))
    return found


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_first_observations_are_mujocos_with_the_changed_model(mode):
    envs = saltus.env.make_vec(Ball, 6, threads=1, autoreset_mode=mode)
    apart = []
    for episodes in play(envs):
        assert len(episodes) > 3
        for observation, fields in episodes:
            wanted = acceleration(observation, fields)
            scale = np.abs(wanted).max()
            assert np.abs(observation[NQ + NV : NQ + 2 * NV] - wanted).max() < 1e-8 * scale
            apart.append(np.abs(acceleration(observation, fields, constants=False) - wanted).max() / scale)
    assert np.median(apart) > 1e-3, "the inverse weights that follow from masses were to matter"


def test_steps_use_the_model_of_the_episode():
    """Twenty steps of MuJoCo's own integrator; a step's accelerations agree to 1e-8, and contact spreads that."""
    envs = saltus.env.make_vec(Ball, 3, threads=1, max_episode_steps=None, frame_skip=20, integrator="euler")
    envs.reset(seed=1)
    start = envs.read("qpos"), envs.read("qvel")
    envs.step(np.full((3, 1), 0.3))
    for i in range(3):
        m = mujoco.MjModel.from_xml_string(BALL)
        put(m, {name: value[None] for name, value in values_of(envs, i).items()}, 0)
        mujoco.mj_setConst(m, mujoco.MjData(m))
        data = mujoco.MjData(m)
        data.qpos, data.qvel, data.ctrl = start[0][i], start[1][i], 0.3
        mujoco.mj_step(m, data, 20)
        np.testing.assert_allclose(envs.read("qpos")[i], data.qpos, rtol=1e-7, atol=1e-7)


def test_equal_bits_for_any_number_of_simulations_threads_and_autoreset_mode():
    def run(n, threads, mode, seed=3):
        envs = saltus.env.make_vec(Ball, n, threads=threads, autoreset_mode=mode)
        envs._episodes.seconds = 1.0
        return play(envs, seed=seed)

    whole = run(6, 1, "NextStep")
    others = [run(6, 2, "NextStep"), run(6, 1, "SameStep"), run(6, 2, "Disabled"), run(2, 1, "SameStep")]
    others.append([[], [], [], [], *run(1, 1, "NextStep", seed=7)])
    for other in others:
        assert any(len(episodes) > 3 for episodes in other)
        for one, same in zip(whole, other, strict=False):
            for (a, drawn), (b, again) in zip(one, same, strict=False):
                np.testing.assert_array_equal(a, b)
                for name, value in drawn.items():
                    np.testing.assert_array_equal(value, again[name], name)


def test_a_single_environment_draws_what_a_simulation_of_many_draws():
    many, one = saltus.env.make_vec(Ball, 3, threads=1), saltus.env.make(Ball)
    wanted, found = many.reset(seed=5)[0], one.reset(seed=7)[0]
    np.testing.assert_array_equal(wanted[2], found)
    np.testing.assert_array_equal(many.model.body_mass[2], one.model.body_mass[0])


def test_places_operations_and_shares():
    envs = saltus.env.make_vec(Ball, 40, threads=1)
    own = mujoco.MjModel.from_xml_string(BALL)
    envs.reset(seed=0)
    m = envs.model
    mass = m.body_mass[:, 1] / own.body_mass[1]
    assert 0.5 <= mass.min() < 0.7 and 1.8 < mass.max() <= 2.0
    np.testing.assert_allclose(m.body_inertia[:, 1], own.body_inertia[1] * mass[:, None], rtol=1e-15)
    np.testing.assert_array_equal(m.body_mass[:, [0, 2]], np.tile(own.body_mass[[0, 2]], (40, 1)))
    np.testing.assert_array_equal(m.geom_friction[:, 0, 0], m.geom_friction[:, 1, 0])
    np.testing.assert_array_equal(m.geom_friction[:, :, 1:], np.tile(own.geom_friction[:, 1:], (40, 1, 1)))
    np.testing.assert_array_equal(m.actuator_gainprm[:, 0, 0], -m.actuator_biasprm[:, 0, 1])
    assert set(m.dof_damping[:, 6]) == {0.1, 0.6} and not m.dof_damping[:, :6].any()
    assert np.ptp(m.opt.gravity[:, 2]) > 0.7 and not m.opt.gravity[:, :2].any()
    strength = envs.parameters["strength"]
    assert 2.0 <= strength.min() < strength.max() <= 3.0
    np.testing.assert_array_equal(strength, envs.step(np.zeros((40, 1)))[0][:, -1])


def test_what_is_drawn_once_stays_until_there_is_another_seed():
    envs = saltus.env.make_vec(Ball, 4, threads=1)
    envs.reset(seed=0)
    first, mass = envs.model.opt.gravity.copy(), envs.model.body_mass.copy()
    envs.reset()
    np.testing.assert_array_equal(envs.model.opt.gravity, first)
    assert (envs.model.body_mass[:, 1] != mass[:, 1]).all()
    envs.reset(seed=9)
    assert (envs.model.opt.gravity[:, 2] != first[:, 2]).all()
    envs.reset(seed=0)
    np.testing.assert_array_equal(envs.model.opt.gravity, first)
    np.testing.assert_array_equal(envs.model.body_mass, mass)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_assigned_values_are_nominal_from_there_on(mode):
    scaled = (Randomize("body_mass[ball]", uniform(0.5, 2.0)), Randomize("strength", uniform(1.0, 2.0)))
    given = dict(threads=1, autoreset_mode=mode, vary="geom_friction")
    envs = saltus.env.make_vec(Ball, 5, randomize=scaled, **given)
    envs.reset(seed=0)
    other = saltus.env.make_vec(Ball, 5, randomize=scaled, **given)
    other.reset(seed=0)
    envs.model.body_mass[:, 1] = 3.0
    envs.model.geom_friction[:, 0, 0] = 0.3
    envs.parameters["strength"] = 10.0
    envs.step(np.zeros((5, 1))), other.step(np.zeros((5, 1)))
    at_once = np.where(envs._episodes.results.began, 0.0, 3.0)
    np.testing.assert_array_equal(envs.model.body_mass[at_once > 0, 1], 3.0)
    for _ in range(10):
        envs.step(np.zeros((5, 1)))
        other.step(np.zeros((5, 1)))
    np.testing.assert_allclose(envs.model.body_mass[:, 1], 3.0 * other.model.body_mass[:, 1], rtol=1e-15)
    np.testing.assert_allclose(envs.parameters["strength"], 10.0 * other.parameters["strength"], rtol=1e-15)
    np.testing.assert_array_equal(envs.model.geom_friction[:, 0, 0], 0.3)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_bound_that_is_a_parameter_counts_for_all_episodes_that_begin_after_it_is_assigned(mode):
    envs = saltus.env.make_vec(Ball, 4, threads=1, autoreset_mode=mode)
    envs.reset(seed=0)
    before = envs.parameters["strength"]
    envs.parameters["least_strength"] = [2.5, 2.6, 2.7, 2.8]
    np.testing.assert_array_equal(envs.parameters["strength"], before)
    seen = 0
    for _ in range(20):
        envs.step(np.zeros((4, 1)))
        began = envs._episodes.results.began
        seen += began.sum()
        assert (envs.parameters["strength"] >= [2.5, 2.6, 2.7, 2.8])[began].all()
    assert seen > 8


def test_probabilities_are_independent_streams():
    keys = np.zeros((3, NRANDOM), np.int64)
    keys[:, KEY_LOW] = 1, 1, 2
    episodes = np.array([0, 1, 0])
    one, other = probabilities(keys, 0, episodes, 500), probabilities(keys, 1, episodes, 500)
    drawn = np.concatenate([one, other])
    assert len(np.unique(drawn)) == drawn.size
    assert np.abs(np.corrcoef(drawn) - np.eye(6)).max() < 5.0 / np.sqrt(500)
    np.testing.assert_array_equal(one[:, :7], probabilities(keys, 0, episodes, 7))
    assert keys[0, EPISODE] == 0


@pytest.mark.parametrize(
    "distribution, law",
    [
        (uniform(-1.0, 3.0), lambda x: (x + 1.0) / 4.0),
        (log_uniform(0.1, 10.0), loguniform(0.1, 10.0).cdf),
        (normal(1.0, 2.0), lambda x: truncnorm(-np.inf, np.inf).cdf((x - 1.0) / 2.0)),
        (normal(1.0, 2.0, low=0.0, high=2.5), truncnorm(-0.5, 0.75, loc=1.0, scale=2.0).cdf),
    ],
)
def test_distributions(distribution, law):
    u = probabilities(np.zeros((1, NRANDOM), np.int64), 0, np.zeros(1, np.int64), 4000)
    assert kstest(distribution.draw("", u, {}.get)[0], law).pvalue > 1e-4


def test_choices_have_the_frequencies_of_their_weights():
    u = probabilities(np.zeros((1, NRANDOM), np.int64), 0, np.zeros(1, np.int64), 4000)
    drawn = choice([1.0, 2.0, 5.0], weights=[1, 0, 3]).draw("", u, {}.get)
    assert set(drawn[0]) == {1.0, 5.0}
    assert abs((drawn == 5.0).mean() - 0.75) < 5.0 * np.sqrt(0.75 * 0.25 / 4000)


def test_one_name_for_the_kernel_and_the_distribution():
    assert repr(uniform(0, 1)) == "uniform(0.0, 1.0)"
    assert repr(normal(0, 1, high="a")) == "normal(0.0, 1.0, high='a')"
    assert uniform(0, 1) == pickle.loads(pickle.dumps(uniform(0, 1))) != uniform(0, 2)
    assert pickle.loads(pickle.dumps(uniform)) is uniform is copy.deepcopy(uniform)


FLAT = uniform(0.5, 2.0)


@pytest.mark.parametrize(
    "given, words",
    [
        (lambda: Randomize("body_mass", 2.0), r"Randomize\(body_mass\): expected a distribution"),
        (lambda: Randomize("body_mass", FLAT, on="step"), "'step'.*reset, start"),
        (lambda: Randomize("body_mass", FLAT, operation="multiply"), "'multiply'.*add, scale, set"),
        (lambda: Randomize([], FLAT), "must name a field"),
        (lambda: uniform(2.0, 1.0), r"uniform\(2.0, 1.0\) must be finite with low ≤ high"),
        (lambda: log_uniform(0.0, 1.0), "must be positive"),
        (lambda: normal(0.0, 0.0), "a positive deviation"),
        (lambda: choice([]), "choice: values"),
        (lambda: choice([1.0], [-1.0]), "choice: weights"),
        (lambda: uniform(None, 1.0), "uniform: low must be"),
        ("body_mass", "randomize consists of saltus.env.Randomize, not of 'b'"),
        (Randomize("geom_rgba", FLAT), "unknown field or parameter of a Randomize 'geom_rgba'"),
        (Randomize("body_mass[hand]", FLAT), "no body 'hand'"),
        (Randomize("body_mass[nobody]", FLAT), "nobody"),
        (Randomize("body_mass[7]", FLAT), r"Randomize\(body_mass\[7\]\): body_mass has shape"),
        (Randomize("body_mass[5:]", FLAT), "no such index"),
        (Randomize("body_mass[", FLAT), "expected a field"),
        (Randomize("strength[a]", FLAT), "strength has shape"),
        (Randomize(("body_mass", "dof_damping[:4]"), FLAT), "dof_damping has 4 numbers there, not a multiple of 3"),
        (Randomize("tendon_stiffness", FLAT), "the model has no tendon_stiffness"),
        (Randomize("strength", uniform("weakest", 3.0)), r"parameter in Randomize\(strength\) 'weakest'"),
        (Randomize("strength", uniform("strength", 3.0)), "its bound strength is itself drawn at random"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, words):
    with pytest.raises(OptionError, match=words):
        saltus.env.make_vec(Ball, 2, threads=1, randomize=given() if callable(given) else given)


@pytest.mark.parametrize(
    "given, words",
    [
        (Randomize("body_mass", uniform(-1.0, -0.5)), "body_mass must be positive: simulation 0"),
        (Randomize("strength", uniform("least_strength", 1.0)), r"Randomize\(strength\): uniform.* low ≤ high"),
    ],
)
def test_values_that_cannot_be_are_refused_when_they_are_drawn(given, words):
    envs = saltus.env.make_vec(Ball, 2, threads=1, randomize=given)
    with pytest.raises(OptionError, match=words):
        envs.reset()
