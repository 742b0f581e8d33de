"""A planner in the loop of a live session.

References: `Simulation.run` with a planner of the same seed, to the bit; the closed form of a motion under constant
force; what the scene claims: that the pole swings up, and comes up again after a push.
"""

import numpy as np
import pytest
from helpers.lab import FRAME, SLIDE, assert_same_state, do, notices, opened, page, ready, run

import saltus
from saltus import lab
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import LabStart
from saltus.lab.scene.planned import PlannedSession
from saltus.lab.scene.swing_up import planner as swing_planner


def distance(batch):
    return (batch.qpos[:, 0] - 0.5) ** 2 + 0.05 * batch.qvel[:, 0] ** 2


def planner_of(sim, **how):
    how = {"noise": 5.0, "temperature": 0.05, "samples": 16, "hold": 5, "every": 4, "threads": 1, **how}
    return saltus.mppi(sim, distance, 40, **how)


def session_of(plan=None, start=None, **how):
    sim = saltus.Simulation(SLIDE, "euler")
    if start is not None:
        sim.qpos[0] = start
    setup = LabStart("test", "Test", sim.model, sim.integrator, source=sim)
    return ready(PlannedSession(setup, Downloads(), planner_of(sim, **how), plan))


def test_a_live_run_is_the_run_of_the_same_planner_also_after_a_reset():
    session = session_of()
    run(session, 1.0)
    other = saltus.Simulation(SLIDE, "euler")
    other.run(session.sim.time, control=planner_of(other), progress=False)
    assert_same_state(session.sim, other)
    assert 0.2 < session.sim.qpos[0] < 0.8
    do(session, "reset", key=None)
    run(session, 1.0)
    assert_same_state(session.sim, other)
    session.close()


def test_the_plan_is_drawn_where_the_motion_goes():
    """With almost no noise the plan is its first one, 6 N on 2 kg: x = F h² n (n + 1) / 2 m after n steps."""
    session = session_of(noise=1e-12, controls=np.full((40, 1), 6.0), every=40)
    assert session.drawings() == []
    session.playing = False
    do(session, "step", n=1)
    run(session, FRAME)
    drawn = session.drawings()
    x = np.concatenate([object["points"][0::3] for object in drawn])
    n = np.rint((np.sqrt(1 + 16 * x / 6e-4) - 1) / 2)
    np.testing.assert_allclose(x, 6e-4 * n * (n + 1) / 4, atol=1e-7)
    assert n.min() in (0, 1) and n.max() == 40  # from the time that is shown, to the end of the horizon
    alphas = [object["alpha"] for object in drawn]
    assert {object["kind"] for object in drawn} == {"line"} and alphas == sorted(alphas, reverse=True)
    for shown in (False, True):
        do(session, "keydown", key="p")
        assert session.status()["plan"] is shown and (session.drawings() != []) is shown
    session.close()


def test_another_method_is_refused_by_name_and_other_values_are_told():
    session = session_of()
    wishes = {"integrator": {"name": "rk4"}, "timestep": {"value": 0.02}, "contact": {"name": "hard"}}
    for type, fields in (wishes | {"restitution": {"value": 0.5}, "friction": {"value": 0.5}}).items():
        do(session, type, **fields)
        (text,) = notices(session)
        assert type.split("_")[0] in text and "cannot be changed while a planner is followed" in text
    assert session.sim.integrator.name == "euler" and session.sim.timestep == 0.01
    do(session, "gravity", value=(0.0, 0.0, -1.0))
    (text,) = notices(session)
    assert "plans with the model that it was made for" in text and session.sim.model.opt.gravity[2] == -1.0
    run(session, 0.2)
    assert session.playing and session.sim.time > 0.15
    session.close()


def test_a_planner_that_fails_pauses_the_run():
    sim = saltus.Simulation(SLIDE, "euler")
    planner = saltus.mppi(sim, lambda batch: batch.time * np.nan, 4, noise=1.0, samples=4, threads=1)
    session = ready(PlannedSession(LabStart("test", "Test", sim.model, sim.integrator), Downloads(), planner))
    run(session, 0.1)
    (text,) = notices(session)
    assert "mppi: cost must be finite" in text and not session.playing
    session.close()


def test_the_door_of_the_lab():
    """What the page is sent: readings, and the plan's drawing before its frame."""
    sim = saltus.Simulation(SLIDE, "euler")
    with lab.open(sim, control=planner_of(sim), plan=["cart"], browser=False) as opened_lab, page(opened_lab) as client:
        client.until(lambda: client.boards.get("drawings", {}).get("objects"))
        (first, *_) = client.boards["drawings"]["objects"]
        assert first["kind"] == "line" and first["body"] == 0
        client.until(lambda: any("one plan takes" in line for _, lines in client.status["hud"] for line in lines))
        assert [action["key"] for action in client.scene["actions"]] == ["c", "p"]
        assert [slider["id"] for slider in client.scene["sliders"]] == ["qpos[x]"]
        client.send("keydown", key="p")
        client.until(lambda: client.status["plan"] is False and client.boards["drawings"]["objects"] == [])


@pytest.mark.parametrize(
    ("what", "options", "said"),
    [
        ("cart_pole", {"control": [1.0]}, "control must be a function"),
        ("cart_pole", {"plan": ["tip"]}, "there is none without a planner"),
        ("cart_pole", {"control": lambda sim: [0.0], "plan": ["tip"]}, "only planners of saltus.mppi"),
        (saltus.Simulation(SLIDE, "euler"), {"plan": ["tip"], "control": "planner"}, "no site or body 'tip'"),
    ],
)
def test_what_does_not_fit_is_refused(what, options, said):
    if options.get("control") == "planner":
        options = {**options, "control": planner_of(what)}
    with pytest.raises(saltus.OptionError, match=said):
        lab.open(what, browser=False, **options)


def test_a_controller_in_the_time_loop_is_taken_too():
    control = saltus.PID(60.0, 0.0, 6.0, target=0.3)
    with lab.open("arm", control=control, browser=False, playing=False) as opened_lab, page(opened_lab) as client:
        client.until(lambda: client.scene is not None)
        assert client.scene["title"] == "arm (yours)" and not client.scene["actions"]


@pytest.mark.slow
def test_the_pole_is_swung_up_and_again_after_a_push():
    session = opened("swing_up")
    run(session, 3.0)
    other = session.setup.simulation()
    other.run(session.sim.time, control=swing_planner(other), progress=False)
    assert_same_state(session.sim, other)
    assert np.cos(session.sim.qpos[1]) > 0.95
    do(session, "drag", body=2, point=(0.0, 0.0, 0.9), target=(0.9, 0.0, 0.2))
    run(session, 0.3)
    do(session, "release")
    assert np.cos(session.sim.qpos[1]) < 0.9
    run(session, 5.0)
    assert np.cos(session.sim.qpos[1]) > 0.95 and abs(session.sim.qpos[0]) < 1.0
    session.close()
