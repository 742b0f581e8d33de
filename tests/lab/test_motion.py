"""How a session's motion goes on: whole steps as the clock asks for them, and what is shown between two.

Reference: `saltus.Simulation` by itself, bit for bit; straight lines between its states.
"""

import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers.lab import FRAME, alone, assert_same_state, do, notices, pendulum, run

from saltus.bench.harness.page_process import node
from saltus.lab import motion

HERE = Path(__file__).parent
CASES = json.loads((HERE / "motion_cases.json").read_text(encoding="utf-8"))


def test_steps_are_exact():
    session = do(pendulum(playing=False), "step", n=1)
    run(session, FRAME)
    assert_same_state(session.sim, alone(session, 1))
    do(session, "step", n=70)
    run(session, FRAME)
    assert_same_state(session.sim, alone(session, 71))
    assert not session.playing and session.motion.shown == session.sim.time


@pytest.mark.parametrize("speed", [0.25, 1.0, 3.0])
def test_time_goes_by_as_on_the_wall(speed):
    """Shown is wall time times speed; the simulation is at the end of the step that this lies in."""
    session = do(pendulum(), "speed", value=speed)
    run(session, 2.0)
    assert session.motion.shown == pytest.approx(2.0 * speed, abs=1e-9)
    steps = math.ceil(2.0 * speed / 0.05 - 1e-6)
    assert_same_state(session.sim, alone(session, steps))


def test_a_pause_comes_to_the_end_of_the_step():
    """Within a tenth of a second, without a jump; then nothing moves and no frames are sent."""
    session = pendulum()
    run(session, 10 * FRAME)
    assert session.motion.shown < session.sim.time
    do(session, "pause")
    times = []
    for _ in range(12):
        session.tick(FRAME)
        frame = session.frame()
        times.append(frame.time if frame is not None else None)
    told = [t for t in times if t is not None]
    assert told == sorted(told) and told[-1] == session.sim.time == pytest.approx(0.2)
    assert times[-3:] == [None] * 3 and session.idle
    assert_same_state(session.sim, alone(session, 4))
    do(session, "play")
    run(session, 0.3)
    assert_same_state(session.sim, alone(session, 10))


def test_a_slow_computer_slows_the_motion_down(monkeypatch):
    """No step is left out and none is made up for: a session that can take three steps a frame takes these."""
    session = do(pendulum(), "speed", value=100.0)
    monkeypatch.setattr(motion, "BUDGET", 0.0)  # one chunk a frame
    monkeypatch.setattr(motion.Motion, "_chunk", lambda self, n: min(n, 3))
    run(session, 3.0)
    steps = round(session.sim.time / 0.05)
    assert steps == 3 * 180 and session.motion.shown == session.sim.time
    assert_same_state(session.sim, alone(session, steps))
    (text,) = [text for text in notices(session) if "real time" in text]
    assert "reaches 9 times real time here, not 100" in text
    monkeypatch.undo()
    do(session, "speed", value=1.0)
    began = session.sim.time
    run(session, 1.0)
    assert session.sim.time == pytest.approx(began + 1.0, abs=0.051)


class Clock:
    """A simulation whose only coordinate is its time."""

    def __init__(self, timestep):
        self.timestep, self.time, self.steps = timestep, 0.0, 0
        self.qpos, self.qvel = np.zeros(1), np.zeros(1)

    def step(self, n):
        for _ in range(n):
            self.time += self.timestep
        self.steps += n
        self.qpos[0] = self.time


def moved(case, monkeypatch):
    """What `Motion` makes of a case."""
    monkeypatch.setattr(motion, "BUDGET", case.get("budget", 60.0))
    sim = Clock(case["timestep"])
    moving, answer = motion.Motion(sim, lambda level, text: None), None
    for name, value in case["does"]:
        if name == "jump":
            sim.time = value
            moving.jump()
        else:
            answer = getattr(moving, name)(value)
    found = dict(steps=sim.steps, time=sim.time, shown=moving.shown, fraction=moving.fraction, answer=answer)
    return found | {"before": float(moving.before[0])}


def agree(found, case):
    then = case["then"]
    assert {name: found[name] for name in then} == pytest.approx(then, abs=1e-9), case["about"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_cases_by_hand(case, monkeypatch):
    agree(moved(case, monkeypatch), case)


def test_the_page_moves_as_the_lab():
    """The cases by hand once more, by the page's own Motion."""
    given = json.dumps({"cases": CASES, "timing": motion.TIMING})
    run = subprocess.run([node(), HERE / "motion_cases.mjs"], input=given, capture_output=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    for found, case in zip(json.loads(run.stdout), CASES, strict=True):
        agree(found, case)
