"""The control function of a live run, called beside the session.

References: `Simulation.run` with the same function, to the bit; statics and the closed form of motions under constant
force.
"""

import threading

import numpy as np
import pytest
from helpers.lab import FRAME, SLIDE, assert_same_state, do, notices, ready, run

import saltus
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import LabStart
from saltus.lab.messages.protocol import Command
from saltus.lab.scene.planned import PlannedSession


def session_of(control, model=SLIDE, **setup):
    return ready(PlannedSession(LabStart("test", "Test", saltus.load(model), **setup), Downloads(), control))


def regulated(sim):
    return [-20.0 * (sim.qpos[0] - 0.5) - 8.0 * sim.qvel[0]]


@pytest.fixture
def session():
    made = session_of(regulated)
    yield made
    made.close()


def test_a_live_run_is_the_run_of_the_same_function(session):
    run(session, 1.0)
    other = session.setup.simulation()
    other.run(session.sim.time, control=regulated, progress=False)
    assert_same_state(session.sim, other)
    assert session.sim.time == pytest.approx(1.0) and session.sim.qpos[0] > 0.3


def test_a_pull_is_balanced_by_the_controls(session):
    """At rest, control and spring of the mouse cancel; after it, the regulator's place is reached again."""
    do(session, "drag", body=1, point=(0.0, 0.0, 0.0), target=(1.5, 0.0, 0.0))
    run(session, 4.0)
    x, pull = session.sim.qpos[0], session.sim.xfrc_applied[1, 0]
    assert x > 0.6 and pull == pytest.approx(20.0 * (x - 0.5), rel=1e-6)
    do(session, "release")
    run(session, 5.0)
    assert session.sim.qpos[0] == pytest.approx(0.5, abs=1e-4) and not session.sim.xfrc_applied.any()


def test_forces_that_the_function_assigns_act_with_a_pull():
    """Constant forces of 3 N on the body and 1 N along the joint move 2 kg by x = F h² n (n + 1) / 2 m."""

    def assign(sim):
        sim.xfrc_applied[1, 0], sim.qfrc_applied[0] = 3.0, 1.0

    session = session_of(assign)
    run(session, 0.5)
    n = round(session.sim.time / 0.01)
    assert session.sim.qpos[0] == pytest.approx(4.0 * 0.01**2 * n * (n + 1) / 4, rel=1e-12)
    do(session, "drag", body=1, point=(0.0, 0.0, 0.0), target=(0.0, 0.0, 0.0))
    run(session, 4.0)
    here = session.motion.drag
    here.apply(session.sim)  # the spring alone, at rest
    assert session.sim.xfrc_applied[1, 0] == pytest.approx(-4.0, rel=1e-5)
    session.close()


def test_the_session_goes_on_while_the_function_thinks(monkeypatch):
    monkeypatch.setattr("saltus.lab.motion.BUDGET", 0.002)
    thought, asked = threading.Event(), threading.Event()

    def slow(sim):
        asked.set()
        thought.wait(60.0)
        return [1.0]

    session = session_of(slow)
    for _ in range(150):
        session.tick(FRAME)
    assert asked.is_set() and session.sim.time == 0.0 and session.frame() is not None and session.share == 0.0
    session.handle(Command("drag", {"body": 1, "point": (0.0, 0.0, 0.0), "target": (0.5, 0.0, 0.0)}))
    session.handle(Command("pause", {}))
    assert session.status()["playing"] is False and session.motion.drag is not None
    do(session, "release")
    do(session, "play")
    thought.set()
    while session.sim.time < 0.2:
        session.tick(FRAME)
    n = round(session.sim.time / 0.01)
    assert session.sim.qpos[0] == pytest.approx(0.01**2 * n * (n + 1) / 4, rel=1e-12)
    assert any("times real time here" in text for text in notices(session))
    session.close()


def test_a_state_that_jumps_while_the_function_thinks_is_asked_anew(monkeypatch):
    monkeypatch.setattr("saltus.lab.motion.BUDGET", 0.002)
    thought, seen = threading.Event(), []

    def slow(sim):
        seen.append(float(sim.qpos[0]))
        thought.wait(60.0)
        return [0.0]

    session = session_of(slow)
    session.tick(FRAME)
    session.handle(Command("slider", {"id": "qpos[x]", "value": 0.1}))
    session.tick(FRAME)
    thought.set()
    while session.sim.time == 0.0:
        session.tick(FRAME)
    assert seen[:2] == [0.0, 0.1] and session.sim.qpos[0] == 0.1
    session.close()


def test_an_error_is_shown_and_pauses_the_run():
    limit = [0.095]

    def fail(sim):
        if sim.time > limit[0]:
            raise ValueError("no way ahead")
        return [1.0]

    session = session_of(fail)
    run(session, 1.0)
    assert not session.playing and session.sim.time == pytest.approx(0.1)
    (text,) = notices(session)
    assert text.startswith("control: ValueError: no way ahead (test_pilot.py, line ") and "paused" in text
    do(session, "play")
    run(session, 0.1)
    assert not session.playing and len(notices(session)) == 1
    limit[0] = 9.0
    do(session, "play")
    run(session, 0.1)
    assert session.playing and session.sim.time > 0.15
    session.close()


@pytest.mark.parametrize("answer", [[1.0, 2.0], "none"])
def test_what_is_no_control_is_refused(answer):
    session = session_of(lambda sim: answer)
    run(session, 0.1)
    (text,) = notices(session)
    assert text.startswith("control: ") and not session.playing and session.sim.time == 0.0
    session.close()


def test_off_all_controls_are_zero(session):
    run(session, 0.3)
    do(session, "keydown", key="c")
    run(session, 0.1)
    velocity = session.sim.qvel[0]
    run(session, 0.5)
    assert session.status()["servo"] is False and session.sim.ctrl[0] == 0.0 and session.sim.qvel[0] == velocity
    do(session, "keydown", key="c")
    run(session, 4.0)
    assert session.sim.qpos[0] == pytest.approx(0.5, abs=1e-3)


def test_it_goes_on_from_an_earlier_time(session):
    for _ in range(60):
        session.tick(FRAME)
        session.frame()
    end, at = session.sim.time, np.array(session.sim.qpos)
    do(session, "seek", time=0.4)
    do(session, "from_here")
    assert session.sim.time < 0.45 and session.playing
    session.playing = False
    do(session, "step", n=round((end - session.sim.time) / 0.01))
    run(session, 3.0)
    np.testing.assert_array_equal(session.sim.qpos, at)
    assert session.sim.time == pytest.approx(end, abs=1e-12)


def test_other_methods_are_taken_over(session):
    """A function reads the running simulation, so that a heavier body is seen at once: m = f(sim)."""
    seen = []
    session.pilot._control = lambda sim: seen.append((sim.integrator.name, sim.timestep)) or [0.0]
    run(session, 0.1)
    do(session, "integrator", name="rk4")
    do(session, "timestep", value=0.005)
    run(session, 0.1)
    assert seen[-1] == ("rk4", 0.005) and seen[0][1] == 0.01 and not notices(session)
