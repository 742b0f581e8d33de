"""What the lab says of steps and gains before anything explodes.

Charter: semi-implicit Euler keeps x'' = -ω² x bounded up to h = 2/ω (Hairer, Lubich & Wanner, Geometric Numerical
Integration (2006), I.1), with a spring, a servo of the model or a PID's kp alike; a step that is proposed is that limit
with two digits, rounded down, and gains of h > 2/ω are stable times (2/ω h)². The library's search is exact to 0.5 %.
"""

import math
import time

import pytest
from helpers.lab import FRAME, do, notices, run

import saltus
from saltus.lab.data.recording import Downloads
from saltus.lab.making import stability
from saltus.lab.making.judge import TERMS, explained
from saltus.lab.making.setup import LabStart
from saltus.lab.scene.scenes import scenes
from saltus.lab.session import LiveSession
from saltus.simulate.diagnosis import divergence

MODEL = """
<mujoco><option gravity="0 0 0" timestep="{h}"/><worldbody><body>
  <joint name="hinge" axis="0 1 0" stiffness="{spring}"/>
  <inertial pos="1 0 0" mass="1" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody>
  <actuator>{actuator}</actuator></mujoco>"""
MOTOR = '<motor joint="hinge"/>'


def session_of(h, spring=0.0, actuator=MOTOR, **setup):
    model = saltus.load(MODEL.format(h=h, spring=spring, actuator=actuator))
    return do(LiveSession(LabStart("test", "Test", model, **setup), Downloads()), "pause")


def judged(session, patience=120.0):
    """The verdict in the status, once what the session has now has been judged."""
    run(session, stability.PAUSE + 0.1)
    until = time.monotonic() + patience
    while session.stability._job is not None:
        assert time.monotonic() < until
        time.sleep(0.005)
        session.tick(FRAME)
    return session.status()["stability"]


def test_a_step_beyond_the_limit_of_a_spring_and_the_one_that_is_proposed():
    session = session_of(0.05, spring=90.0)
    assert judged(session) is None
    do(session, "timestep", value=0.25)
    verdict = judged(session)
    assert verdict["timestep"] == 0.21 < 2 / math.sqrt(90.0) < 0.22
    assert (
        verdict["text"].startswith("euler is unstable with a timestep of 0.25 s") and "up to 0.21 s" in verdict["text"]
    )
    assert f"{math.sqrt(90.0) / (2 * math.pi):.3g} Hz" in verdict["text"]
    do(session, "timestep", value=verdict["timestep"])
    assert judged(session) is None


def test_an_integrator_under_which_every_oscillation_grows():
    session = session_of(0.01, spring=90.0)
    do(session, "integrator", name="explicit_euler")
    verdict = judged(session)
    assert verdict["timestep"] is None and "unstable with any timestep" in verdict["text"]
    do(session, "integrator", name="rk4")
    assert judged(session) is None


def test_gains_beyond_the_limit_of_the_step_and_what_would_do():
    session = session_of(0.1, control=saltus.PID(kp=100.0))
    assert judged(session) is None
    session.sim.control_prm[0] = 1000.0
    verdict, limit = judged(session), 2 / math.sqrt(1000.0)
    assert verdict["timestep"] == pytest.approx(limit, rel=0.02) and verdict["timestep"] <= 1.005 * limit
    share = float(verdict["text"].rpartition("with all gains ")[2].split()[0])
    assert share == pytest.approx((limit / 0.1) ** 2, rel=0.03)
    session.sim.control_prm[0] *= 0.99 * share
    assert judged(session) is None


def test_gains_that_no_step_makes_stable():
    session = session_of(0.01, control=saltus.PID(kp=100.0, ki=500.0, kd=1.0))
    verdict = judged(session)
    assert verdict["timestep"] is None and "The gains are the cause" in verdict["text"]


@pytest.mark.slow
def test_servos_of_the_model():
    session = session_of(0.1, actuator='<position joint="hinge" kp="1000"/>')
    verdict = judged(session)
    assert verdict["timestep"] == pytest.approx(2 / math.sqrt(1000.0), rel=0.02)
    assert "the model's servos" in verdict["text"]


def test_a_servo_that_is_off_makes_nothing_unstable():
    session = scenes()["pendularm"].open(Downloads(), {"playing": False, "timestep": 0.2})
    do(session, "pause")
    assert judged(session) is None
    session.switch(True)
    assert "this controller" in judged(session)["text"]
    session.switch(False)
    assert judged(session) is None


def test_it_is_judged_once_a_change_and_not_while_a_slider_moves(monkeypatch):
    session = session_of(0.1, control=saltus.PID(kp=100.0))
    judged(session)
    asked = []
    judge = stability.judge
    monkeypatch.setattr(stability, "judge", lambda *given: asked.append(given[2][0]) or judge(*given))
    run(session, 2.0)
    for kp in range(200, 220):
        session.sim.control_prm[0] = kp
        session.tick(FRAME)
    assert asked == []
    judged(session)
    run(session, 2.0)
    assert asked == [219.0]


def test_a_divergence_says_what_was_strongest_and_proposes_the_step():
    session = session_of(1.0, spring=90.0, playing=True)
    session.sim.qpos[0] = 1e-3
    do(session, "play")
    for _ in range(2000):
        session.tick(FRAME)
        if not session.playing:
            break
    (text,) = [text for text in notices(session) if "diverged" in text]
    assert "largest term: qfrc_spring" in text and text.endswith("The largest force there is that of the springs.")
    assert session.status()["stability"]["timestep"] == 0.21
    assert set(TERMS) == set(divergence.TERMS)
    error = saltus.DivergenceError(1.0, timestep=0.1)
    assert explained(error) == str(error)  # no term is known
