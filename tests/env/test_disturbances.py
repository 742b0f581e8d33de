"""Noise and delays of actions, delays of observations, and pushes.

References: plain Python queues; `saltus.Simulation` stepped by hand with the same actions, changes of velocity and
forces (one compiled step, so that both agree to rounding, 1e-12 over some twenty steps of a smooth motion).
Distributions: moments within five standard errors.
"""

from collections import deque

import numpy as np
import pytest
from scipy.stats import kstest

import saltus
import saltus.env
from saltus.env import Environment, Push, choice, log_uniform, normal, observed, term, uniform
from saltus.errors import OptionError

FREE_BODY = """
<mujoco>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body name="block">
      <freejoint name="free"/>
      <geom type="box" size="0.1 0.2 0.3" mass="2"/>
      <body name="flap"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size="0.02 0.2" mass="0.1"/></body>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
</mujoco>"""


@term
def what_acts(m, d, e):
    """The controls show which action acts."""
    d.ctrl[0] = e.action[0]
    d.ctrl[1] = e.action[1]


@term
def count(m, d, e):
    return e.steps, -e.steps


@term
def given(m, d, e):
    return e.action[0], e.previous_action[0]


@term
def by_chance(m, d, e):
    return uniform(e, 0.0, 1.0) < 0.1


TWO = """
<mujoco>
  <worldbody>
    <body><joint name="a"/><geom size="0.1"/><body><joint name="b"/><geom size="0.1"/></body></body>
  </worldbody>
  <actuator><motor joint="a"/><motor joint="b"/></actuator>
</mujoco>"""


class Acting(Environment):
    model = TWO
    action_range = (-10.0, 10.0)
    observation = ("ctrl", given, observed(count, delay=3), "qvel[a]")
    before_step = what_acts
    terminated = by_chance


def play(envs, steps, seed=0):
    """Observations of all steps with whether an episode began, and actions; that after an end begins one."""
    rng = np.random.default_rng(seed)
    rows, actions = [(envs.reset(seed=seed)[0], np.ones(envs.num_envs, bool))], [None]
    for _ in range(steps):
        actions.append(rng.uniform(-1.0, 1.0, (envs.num_envs, 2)))
        rows.append((envs.step(actions[-1])[0], envs._episodes.results.began.copy()))
    return rows, actions


@pytest.mark.parametrize("delay", [0, 1, 3, (0, 2)])
def test_actions_act_late_as_in_a_queue(delay):
    envs = saltus.env.make_vec(Acting, 6, threads=1, action_delay=delay)
    rows, actions = play(envs, 60)
    low, high = delay if isinstance(delay, tuple) else (delay, delay)
    drawn = []
    for i in range(6):
        for (seen, began), action in zip(rows, actions, strict=True):
            if began[i]:
                queue, possible = deque([np.zeros(2)] * (high + 1), high + 1), set(range(low, high + 1))
                drawn.append(possible)
                continue
            queue.appendleft(action[i])
            possible &= {k for k in possible if np.array_equal(queue[k], seen[i, :2])}
            drawn[-1] = possible
            assert possible, "the action that acts is in no place of the queue that is possible for this episode"
            assert seen[i, 2] == action[i, 0], "terms read the action that was given"
    assert len(drawn) > 12
    assert {k for possible in drawn for k in possible if len(possible) == 1} == set(range(low, high + 1))


def test_previous_actions_are_those_that_were_given():
    envs = saltus.env.make_vec(Acting, 3, threads=1, action_delay=1, action_noise=0.5)
    rows, actions = play(envs, 30)
    for k in range(2, 31):
        steady = ~rows[k][1] & ~rows[k - 1][1]
        np.testing.assert_array_equal(rows[k][0][steady, 3], actions[k - 1][steady, 0])


@pytest.mark.parametrize("delay", [1, 2, (1, 4)])
def test_observations_are_seen_late_as_in_a_queue(delay):
    low, high = delay if isinstance(delay, tuple) else (delay, delay)

    class Seeing(Acting):
        observation = (count, observed(count, delay=delay, scale=2.0), observed("ctrl[0]", delay=delay), "ctrl[0]")

    envs = saltus.env.make_vec(Seeing, 6, threads=1)
    rows, _ = play(envs, 60)
    drawn = set()
    for i in range(6):
        for seen, began in rows:
            if began[i]:
                history, first = deque([seen[i].copy()] * (high + 1), high + 1), None
                np.testing.assert_array_equal(seen[i, 2:5], [0.0, -0.0, seen[i, 5]])
                continue
            history.appendleft(seen[i].copy())
            late = int(seen[i, 0] - seen[i, 2] / 2.0)
            if seen[i, 0] > high:
                first = late if first is None else first
                assert late == first, "the delay belongs to the episode"
                drawn.add(late)
                np.testing.assert_array_equal(seen[i, 2:4], 2.0 * history[late][:2])
                assert seen[i, 4] == history[late][5], "one delay for all parts with one range"
    assert drawn == set(range(low, high + 1))


def test_noise_of_actions_has_its_deviations():
    envs = saltus.env.make_vec(Acting, 8, threads=1, action_noise=[0.5, 0.0], autoreset_mode="SameStep")
    rows, actions = play(envs, 300)
    noise = np.concatenate([(seen[:, :2] - a)[~began] for (seen, began), a in zip(rows[1:], actions[1:], strict=True)])
    assert not noise[:, 1].any()
    assert kstest(noise[:, 0] / 0.5, "norm").pvalue > 1e-4
    together = np.corrcoef(noise[8:, 0], noise[:-8, 0])[0, 1]
    assert abs(together) < 5.0 / np.sqrt(len(noise))


class Pushed(Environment):
    model = FREE_BODY
    frame_skip = 2
    observation = ("qvel", "qpos")
    pushes = (
        Push("block", uniform(0.5, 1.0), every=uniform(0.1, 0.3), info="shove"),
        Push("qvel[hinge]", normal(0.0, 0.4), every=0.1, info="twist"),
        Push("flap", force=log_uniform(0.1, 1.0), duration=0.06, every=uniform(0.1, 0.2), info="gust"),
        Push("block", force=uniform("gale", "gale"), duration=0.02, every=0.14, direction=(0, 0, 2), info="lift"),
    )
    parameters = {"gale": 3.0}


def test_pushes_are_those_that_infos_report():
    envs = saltus.env.make_vec(Pushed, 3, threads=1)
    envs.reset(seed=0)
    sims = [saltus.Simulation(FREE_BODY) for _ in range(3)]
    rng = np.random.default_rng(0)
    shoves = np.zeros(3)
    for k in range(25):
        actions = rng.uniform(-0.1, 0.1, (3, 1))
        observations, *_, infos = envs.step(actions)
        for i, sim in enumerate(sims):
            sim.ctrl = actions[i]
            sim.qvel[:3] += infos["shove"][i]
            sim.qvel[6] += infos["twist"][i, 0]
            sim.xfrc_applied[2, :3], sim.xfrc_applied[1, :3] = infos["gust"][i], infos["lift"][i]
            sim.step(2)
            wanted = np.concatenate([sim.qvel, sim.qpos])
            np.testing.assert_allclose(observations[i], wanted, rtol=1e-12, atol=1e-12, err_msg=f"step {k}")
        size = np.linalg.norm(infos["shove"], axis=1)
        assert not infos["shove"][:, 2].any() and ((size == 0.0) | ((size >= 0.5) & (size <= 1.0))).all()
        np.testing.assert_array_equal(infos["lift"], np.tile([0.0, 0.0, 3.0 if k % 7 == 0 and k else 0.0], (3, 1)))
        np.testing.assert_array_equal(infos["twist"][:, 0] != 0.0, k % 5 == 0 and k > 0)
        shoves += size > 0
    assert (shoves >= 1).all() and shoves.sum() >= 4


def test_forces_last_and_times_between_pushes_are_as_declared():
    given = Push("flap", force=1.0, duration=0.06, every=uniform(0.1, 0.2), info="gust")
    envs = saltus.env.make_vec(Pushed, 4, threads=1, pushes=given)
    envs.reset(seed=2)
    gusts = np.array([envs.step(np.zeros((4, 1)))[-1]["gust"] for _ in range(400)])
    size = np.linalg.norm(gusts, axis=2)
    np.testing.assert_allclose(size[size > 0.0], 1.0, rtol=1e-15)
    angles, between = [], []
    for i in range(4):
        starts = np.flatnonzero((size[1:, i] > 0.0) & (gusts[1:, i] != gusts[:-1, i]).any(axis=1)) + 1
        between += [*np.diff(starts)]
        for s in starts[:-1]:
            np.testing.assert_array_equal(size[s : s + 4, i] > 0.0, [True, True, True, False])
        angles += [*np.arctan2(gusts[starts, i, 1], gusts[starts, i, 0])]
    assert set(between) <= set(range(5, 11)) and len(set(between)) == 6
    assert kstest((np.array(angles) + np.pi) / (2.0 * np.pi), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_equal_bits_for_any_number_of_simulations_threads_and_autoreset_mode(mode):
    class All(Pushed):
        observation = ("qvel", observed("qpos", delay=(0, 3)))
        action_noise = 0.1
        action_delay = (0, 2)
        max_episode_steps = 9

    def run(n, threads, mode, seed):
        envs = saltus.env.make_vec(All, n, threads=threads, autoreset_mode=mode)
        envs._episodes.seconds = 1.0
        found = [envs.reset(seed=seed)[0]]
        for k in range(27):
            observations, _, _, truncated, _ = envs.step(np.full((n, 1), 0.1 * (k % 9)))
            if truncated.any():
                if mode == "Disabled":
                    observations, _ = envs.reset(options={"reset_mask": truncated})
                elif mode == "NextStep":
                    observations = envs.step(np.zeros((n, 1)))[0]
            found.append(observations)
        return np.array(found)

    whole = run(7, 2, "NextStep", 0)
    np.testing.assert_array_equal(whole, run(7, 1, mode, 0))
    np.testing.assert_array_equal(whole[:, 5:6], run(1, 1, mode, 5))


def test_verlets_method_notices_pushes():
    """It keeps a velocity of its own between steps, which a push makes void; free motion is exact under it."""
    push = Push("block", 1.0, every=0.04, direction=(1, 0, 0))
    envs = saltus.env.make_vec(Pushed, 2, threads=1, integrator="verlet", pushes=push)
    envs.reset(seed=0)
    for k in range(5):
        seen = envs.step(np.zeros((2, 1)))[0]
        np.testing.assert_allclose(seen[:, 0], k // 2, atol=1e-12)


@pytest.mark.parametrize(
    "changes, words",
    [
        (dict(action_noise=-1.0), "action_noise must be a number ≥ 0, or 2 of them"),
        (dict(action_noise=[1.0] * 3), "action_noise must be a number ≥ 0, or 2 of them"),
        (dict(action_delay=-1), "action_delay must not be negative"),
        (dict(action_delay=1.5), "action_delay must be a whole number"),
        (dict(action_delay=(2, 1)), r"action_delay must be \(least, largest\)"),
        (dict(action_delay=(1, 2, 3)), "action_delay must be a whole number of steps or"),
        (dict(action_delay="ab"), "action_delay must be a whole number"),
        (dict(pushes="torso"), "pushes consist of saltus.env.Push, not of 't'"),
        (dict(pushes=Push("hand", 1.0, every=1.0)), "no body 'hand'"),
        (dict(pushes=Push("qvel[c]", 1.0, every=1.0)), "no joint 'c'"),
        (dict(pushes=Push("qvel[7:]", 1.0, every=1.0)), r"Push\(qvel\[7:\]\): expected consecutive degrees of freedom"),
        (dict(pushes=Push("qpos[a]", 1.0, every=1.0)), "expected a body, or degrees of freedom"),
        (dict(pushes=Push("qvel[a]", force=1.0, duration=1.0, every=1.0)), "forces and directions are for bodies"),
        (dict(pushes=Push("world", 1.0, every=1.0)), "the body has no free joint"),
        (dict(pushes=[Push("qvel[a]", 1.0, every=1.0, info="x")] * 2), "two pushes have the same name"),
        (dict(pushes=Push("qvel[a]", uniform("least", 1.0), every=1.0)), r"parameter in Push\(qvel\[a\]\) 'least'"),
    ],
)
def test_bad_disturbances_are_refused(changes, words):
    with pytest.raises(OptionError, match=words):
        saltus.env.make_vec(Acting, 2, threads=1, **changes)


@pytest.mark.parametrize(
    "made, words",
    [
        (lambda: Push("torso", every=1.0), r"Push\(torso\) needs either velocity or force"),
        (lambda: Push("torso", 1.0, force=1.0, duration=1.0, every=1.0), "needs either velocity or force"),
        (lambda: Push("torso", force=1.0, every=1.0), "force and duration belong together"),
        (lambda: Push("torso", choice([1.0]), every=1.0), "may be uniform, log_uniform, or normal without limits"),
        (lambda: Push("torso", normal(0, 1, low=-1), every=1.0), "normal without limits"),
        (lambda: Push("torso", 1.0, every="often"), "every must be"),
        (lambda: Push("torso", 1.0, every=1.0, direction=(0, 0, 0)), "direction must be"),
        (lambda: observed("qpos", delay=(3, 1)), r"observed: delay must be \(least, largest\)"),
        (lambda: observed("qpos", delay=-1), "observed: delay must not be negative"),
    ],
)
def test_bad_declarations_are_refused(made, words):
    with pytest.raises(OptionError, match=words):
        made()
