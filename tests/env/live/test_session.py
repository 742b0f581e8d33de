"""An environment in a session of the lab: episodes, pushing, inputs, and other choices while a policy acts.

References: `saltus.env.SingleEnvironment` with the same seed and policy, to the rounding of some seconds of a stable
motion (1e-9); the formula of dragging; the declaration.
"""

import numpy as np
import pytest
from helpers.lab import FRAME, do, notices, ready, run
from helpers.steered import Steered

import saltus.env
from saltus.env.live.opening import setup_of
from saltus.env.live.pilot import Pilot
from saltus.env.live.session import PolicySession
from saltus.lab.data.recording import Downloads


def session_of(environment, policy=None, *, restart=True, seed=3, **options):
    pilot = Pilot(environment, policy, restart, seed)
    return ready(PolicySession(setup_of("test", pilot, options), Downloads(), pilot))


def towards(seen):
    return np.tanh(seen[:1])


@pytest.fixture(scope="module")
def shared():
    """A session that is reset between tests."""
    return session_of(Steered(max_episode_steps=1000), towards)


@pytest.fixture
def session(shared):
    do(shared, "release")
    do(shared, "reset", key=None)
    do(shared, "keydown", key="x")
    do(shared, "play")
    shared.pilot.on = True
    notices(shared)
    return shared


def test_it_moves_as_the_environment_does():
    """For a second: 33 steps of 0.03 s, of three each; the lab shows 1.0 s, a third of the next one."""

    class Calm(Steered):
        inputs = {}

    env = saltus.env.make(Calm, max_episode_steps=None)
    seen, _ = env.reset(seed=3)
    total = 0.0
    for _ in range(33):
        seen, reward, *_ = env.step(towards(seen))
        total += reward
    session = session_of(Calm(max_episode_steps=None), towards, playing=False)
    do(session, "step", n=99)
    run(session, FRAME)
    np.testing.assert_allclose(session.sim.qpos, env.read("qpos"), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(session.sim.qvel, env.read("qvel"), rtol=1e-9, atol=1e-9)
    do(session, "step", n=1)
    run(session, FRAME)
    assert session.pilot.steps == 33 and session.pilot.total == pytest.approx(total, rel=1e-9)


def test_episodes_begin_anew():
    session = session_of(Steered(max_episode_steps=10), towards)
    run(session, 1.0)  # 0.3 s each
    assert session.pilot.episode == 4 and session.sim.time < 0.3
    total, steps = session.pilot.last
    assert steps == 10 and total < 0
    assert "last episode" in str(session.hud())
    assert session.playing and not notices(session)


def test_reset_begins_an_episode_and_keyframes_are_starts(session):
    run(session, 0.5)
    episode = session.pilot.episode
    do(session, "reset", key=None)
    assert session.pilot.episode == episode + 1 and session.sim.time == 0.0
    assert list(session.sim.qpos) == [0.0, 0.05]  # the model's own start
    do(session, "reset", key="hanging")
    assert session.sim.qpos[1] == np.pi
    run(session, 0.1)
    assert session.pilot.steps > 0


def test_the_mouse_pushes_it_and_the_environments_forces_stay(session):
    do(session, "slider", id="wind[0]", value=0.1)
    run(session, 0.5)
    wind = 0.1 * (session.pilot.task.read_parameter("steps")[0])
    assert session.sim.xfrc_applied[2, 0] == pytest.approx(wind) and wind > 1.0
    do(session, "drag", body=1, point=(0.0, 0.0, 0.0), target=(-1.0, 0.0, 0.0))
    run(session, 2.0)
    assert session.sim.xfrc_applied[1, 0] < -10.0
    assert session.sim.xfrc_applied[2, 0] == pytest.approx(0.1 * session.pilot.task.read_parameter("steps")[0])
    assert session.sim.qpos[0] < -0.5
    do(session, "release")
    run(session, 3.0)
    assert session.sim.qpos[0] > -0.5  # the policy has brought it back
    assert not session.sim.xfrc_applied[1].any()


def test_sliders_and_keys_set_inputs(session):
    groups = {slider["id"]: slider["group"] for slider in session.scene()["sliders"]}
    assert {id for id, group in groups.items() if group == "input"} == {"command[0]", "command[1]", "wind[0]"}
    assert "control" not in groups.values()  # the policy has them
    do(session, "slider", id="command[0]", value=0.8)
    run(session, 4.0)
    assert session.status()["sliders"]["command[0]"] == 0.8
    assert session.pilot.task.results.observations[0, 0] == pytest.approx(0.8 - session.sim.qpos[0], abs=0.05)
    do(session, "slider", id="command[0]", value=7.0)
    assert session.pilot.set["command[0]"] == 1.0 and "set to its bound" in notices(session)[0]
    do(session, "keydown", key="S")
    run(session, 50 * FRAME)  # half its range of 2
    do(session, "keyup", key="s")
    run(session, 10 * FRAME)
    assert session.pilot.set["command[0]"] == pytest.approx(0.0, abs=1e-12)
    do(session, "keydown", key="a")
    do(session, "keyup", key="a")  # within a frame
    assert session.pilot.set["command[1]"] == pytest.approx(0.02)
    do(session, "keydown", key="x")
    assert session.pilot.set == {"command[0]": 0.25, "command[1]": 0.0, "wind[0]": 0.01}


def test_the_policy_is_switched_off_and_on(session):
    assert session.status()["servo"] is True
    run(session, 0.2)
    assert session.pilot.action != 0.0
    do(session, "keydown", key="c")
    do(session, "keyup", key="c")
    run(session, 0.2)
    assert session.status()["servo"] is False and session.pilot.action == 0.0


def test_it_goes_on_under_another_integrator_and_weight(session):
    run(session, 0.5)
    steps, time = session.pilot.steps, session.sim.time
    do(session, "integrator", name="rk4")
    do(session, "gravity", value=[0.0, 0.0, -1.0])
    assert session.sim.time == time and session.pilot.steps == steps
    assert session.pilot.task.model is session.sim.model and session.sim.model.opt.gravity[2] == -1.0
    run(session, 0.5)
    assert session.sim.integrator.name == "rk4" and steps + 14 <= session.pilot.steps <= steps + 18
    do(session, "gravity", value=[0.0, 0.0, -9.81])
    do(session, "integrator", name="euler")


def test_rewards_inputs_and_actions_can_be_plotted(session):
    run(session, 0.5)
    ids = [signal.id for signal in session.signals.signals]
    assert {"reward", "reward[closeness]", "input[place]", "action[0]"} < set(ids)
    assert session.signals.chosen[:2] == ["reward", "input[place]"]
    read = dict(zip(ids, session.own_sources()[0].read(session.sim), strict=False))
    results = session.pilot.task.results
    assert read["reward"] == read["reward[closeness]"] == results.rewards[0]
    assert read["action[0]"] == session.pilot.action[0] and read["input[place]"] == 0.25


def test_a_policy_that_fails_pauses_with_the_reason():
    session = session_of(Steered(), lambda seen: seen)
    run(session, 0.1)
    assert not session.playing and "policy: expected 1 finite numbers" in notices(session)[0]
