"""The bundled environments are Gymnasium's MuJoCo environments, version 5, on the same model files.

Reference: Gymnasium's own classes, which step MuJoCo. Each step starts both from one state and takes one action, so
that chaotic motions, in which rounding grows a thousandfold in a second, are compared over their whole length; what
terms remember from step to step goes on in both. The constraint solvers of both are at their minimum (tolerance 0), so
that 1e-9 (relative to 1 or the number) is what the rounding of some ten substeps with contact can be. MuJoCo's general
collision of convex shapes is told to go on to 1e-13; but between curved shapes both searches end at some 1e-10 of their
size, which stiff contacts turn into 1e-8 where cylinders touch (Pusher).
"""

import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("imageio", reason="Gymnasium's MuJoCo environments import it")

import saltus.env  # noqa: E402 (needs Gymnasium)

STEPS, TOLERANCE, TOLERANCE_OF_CYLINDERS = 200, 1e-9, 1e-8
QUICK = ("HalfCheetah", "InvertedDoublePendulum")
THEIRS = [name for name in saltus.env.environments() if f"{name}-v5" in gymnasium.registry]
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in THEIRS]
pytestmark = pytest.mark.filterwarnings("ignore:.*solver did not reach its tolerance")  # which is 0


def pair(name):
    """Gymnasium's environment and ours of one model, solved tightly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = gymnasium.make(f"{name}-v5").unwrapped
        option = theirs.model.opt
        option.tolerance, option.iterations, option.ls_iterations, option.ls_tolerance = 0.0, 200, 200, 1e-12
        option.ccd_tolerance, option.ccd_iterations = 1e-13, 500
        ours = saltus.env.make(name, model=theirs.model, max_episode_steps=None)
    return theirs, ours


def close(one, other, what, tolerance=TOLERANCE):
    one, other = np.asarray(one, float), np.asarray(other, float)
    assert one.shape == other.shape, what
    np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance, err_msg=what)


def begin_together(theirs, ours, seed=None):
    seen, info = ours.reset(seed=seed)
    theirs.reset(seed=0)
    theirs.set_state(ours.read("qpos").copy(), ours.read("qvel").copy())
    close(theirs._get_obs(), seen, "first observation")
    wanted = theirs._get_reset_info()
    assert set(info) == set(wanted)
    for key in wanted:
        close(wanted[key], info[key], key)


@pytest.mark.parametrize("name", NAMES)
def test_observations_rewards_infos_and_ends_are_gymnasiums(name):
    theirs, ours = pair(name)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["render_fps"] == theirs.metadata["render_fps"]
    begin_together(theirs, ours, seed=3)
    tolerance = TOLERANCE_OF_CYLINDERS if name == "Pusher" else TOLERANCE
    rng = np.random.default_rng(1)
    for k in range(STEPS):
        action = rng.uniform(theirs.action_space.low, theirs.action_space.high)
        wanted, found = theirs.step(action), ours.step(action)
        for one, other, what in zip(wanted[:2], found[:2], ("observation", "reward"), strict=True):
            close(one, other, f"{what} of step {k}", tolerance)
        assert found[2:4] == (bool(wanted[2]), bool(wanted[3]))
        assert set(found[4]) == set(wanted[4])
        for key in wanted[4]:
            close(wanted[4][key], found[4][key], f"{key} of step {k}", tolerance)
        if wanted[2]:
            begin_together(theirs, ours)
        theirs.data.qpos[:], theirs.data.qvel[:] = ours.read("qpos"), ours.read("qvel")


@pytest.mark.parametrize("name", NAMES)
def test_starts_are_distributed_as_gymnasiums(name):
    """Kolmogorov and Smirnov's test of each coordinate of 200 starts of both, at 1e-6 for all of them together."""
    from scipy.stats import ks_2samp

    theirs, ours = pair(name)
    ours.reset(seed=1)
    theirs.reset(seed=2)
    starts = []
    for _ in range(200):
        ours.reset()
        theirs.reset()
        own = np.concatenate([ours.read("qpos"), ours.read("qvel")])
        starts.append((own, np.concatenate([theirs.data.qpos, theirs.data.qvel])))
    own, their = np.array(starts).transpose(1, 0, 2)
    for k in range(own.shape[1]):
        assert ks_2samp(own[:, k], their[:, k]).pvalue > 1e-6 / own.shape[1], k


@pytest.mark.slow
def test_newtons_method_is_nearer_to_the_minimum_than_the_files_solver():
    """Humanoid's file asks for PGS; the reference is Gymnasium's environment with PGS at its minimum."""
    tight, _ = pair("Humanoid")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = gymnasium.make("Humanoid-v5").unwrapped
    ours = saltus.env.make("Humanoid", max_episode_steps=None)
    assert theirs.model.opt.solver == tight.model.opt.solver != ours.model.opt.solver
    rng = np.random.default_rng(1)
    own, their = [], []
    ours.reset(seed=3)
    for side in (tight, theirs):
        side.reset(seed=0)
    for _ in range(40):
        for side in (tight, theirs):
            side.set_state(ours.read("qpos").copy(), ours.read("qvel").copy())
        action = rng.uniform(theirs.action_space.low, theirs.action_space.high)
        wanted, given, found = (side.step(action)[0][:45] for side in (tight, theirs, ours))
        own.append(abs(found - wanted).max())
        their.append(abs(given - wanted).max())
    assert np.max(own) < 0.1 * np.max(their)


def test_parameters_and_limits_are_those_of_gymnasiums_registry():
    assert len(THEIRS) == 11
    for name in THEIRS:
        theirs, ours = gymnasium.spec(f"{name}-v5"), gymnasium.spec(f"saltus/{name}-v5")
        assert ours.max_episode_steps == theirs.max_episode_steps
        assert ours.reward_threshold == theirs.reward_threshold


def test_options_shape_the_observation_as_in_gymnasium():
    """Sizes of observations with each option in turn, without a step."""
    from saltus.env.environment import declared
    from saltus.env.making import found
    from saltus.env.observation import parts

    for name in ("HalfCheetah", "Hopper", "Walker2d", "Swimmer", "Ant", "Humanoid", "HumanoidStandup"):
        whole = found(name, {})
        for option, value in whole.options.items():
            if value is True:
                other = found(name, {option: False})
                assert parts(declared(other, "observation")) != parts(declared(whole, "observation")), option
