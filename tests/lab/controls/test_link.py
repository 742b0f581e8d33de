"""Links to the lab: settings and a start that apply before the first step.

Reference: `saltus.Simulation` with the settings and the start of the link, stepped by itself: equal bits.
"""

import numpy as np
import pytest
from helpers.lab import FRAME, do, notices, opened, ready, run, session_of

import saltus
from saltus.lab.messages.protocol import Command


def test_the_run_is_the_one_that_the_link_names():
    session = session_of("double_pendulum", integrator="explicit_euler")
    run(session, 0.3)
    settings = {"integrator": "rk4", "timestep": "0.01", "qpos": "0.4,-0.2", "qvel[theta2]": "-1.7", "ctrl": "2.5,0.1"}
    do(session, "link", settings={**settings, "gravity": "0,0,-1.62", "speed": "2"})
    run(session, 0.5)
    model = saltus.load("double_pendulum").changed({"opt.gravity[2]": -1.62})
    sim = saltus.Simulation(model, "rk4", timestep=0.01)
    sim.qpos[:], sim.qvel[:], sim.ctrl[:] = [0.4, -0.2], [0.0, -1.7], [2.5, 0.1]
    sim.step(round(session.sim.time / 0.01))
    assert session.sim.time > 0.9 and session.sim.integrator.name == "rk4" and session.speed == 2.0
    assert np.array_equal(session.sim.qpos, sim.qpos) and np.array_equal(session.sim.qvel, sim.qvel)
    assert session.signals.history.times[0] == 0.0
    do(session, "reset", key=None)
    assert session.sim.qpos.tolist() == [0.4, -0.2] and session.sim.qvel.tolist() == [0.0, -1.7]


def test_no_step_is_taken_while_the_link_is_prepared():
    session = session_of("double_pendulum", integrator="explicit_euler")
    session.handle(Command("link", {"settings": {"integrator": "rk4", "qpos": "1,0"}}))
    session.tick(FRAME)
    if session.builder.busy:
        assert session.sim.time == 0.0
    assert ready(session).sim.time == 0.0 and session.sim.qpos.tolist() == [1.0, 0.0]


def test_keyframes_servo_and_pause():
    session = do(opened("pendularm"), "link", settings={"servo": "true", "playing": "false", "slider.kp": "700"})
    session.tick(0.0)
    assert session.servo() and not session.playing and session.slider_values()["kp"] == 700.0
    session = do(session_of("double_pendulum"), "link", settings={"key": "release"})
    session.tick(0.0)
    assert session.sim.qpos.tolist() == [np.pi / 2, -np.pi / 2]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"qpos": "1"}, "qpos has 2 numbers, not 1"),
        ({"qpos[knee]": "1"}, "knee"),
        ({"timestep": "-1"}, "not between"),
        ({"integrator": "none at all"}, "none at all"),
        ({"colour": "red"}, "no such setting"),
        ({"key": "up"}, "no such keyframe"),
        ({"servo": "true"}, "no servo"),
        ({"playing": "perhaps"}, "neither true nor false"),
    ],
)
def test_what_cannot_be_set_is_named(entry, words):
    session = do(session_of("double_pendulum"), "link", settings=entry)
    session.tick(0.0)
    assert any(words in text for text in notices(session))
