"""What a session does with commands and other simulations.

Reference: `saltus.Simulation` by itself, bit for bit, where the session only decides when to step.
"""

import numpy as np
import pytest
from helpers.lab import FRAME, alone, assert_same_state, do, notices, opened, pendulum, ready, run, seen, session_of

import saltus
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import LabStart
from saltus.lab.messages.protocol import Command
from saltus.lab.scene.scenes import scenes
from saltus.simulate.engine.snapshot import checkpoint


def test_divergence_pauses_with_its_reason():
    session = pendulum(integrator="explicit_euler")
    do(session, "timestep", value=1.0)
    do(session, "slider", id="ctrl[motor]", value=100.0)
    session.sim.qvel[:] = 1e10 - 20.0  # the motor adds 12.5 rad/s each step, the weight at most 4.9
    run(session, 4.0)
    assert not session.playing
    assert [level for level, text in session.notices if "diverged" in text] == ["diverged"]
    (text,) = [t for t in notices(session) if "diverged" in t]
    assert "largest term: " in text
    assert "joint 'theta'" in text and "timestep 1" in text
    assert np.isfinite(session.sim.qvel).all() and abs(session.sim.qvel[0]) < 1e10
    do(session, "reset", key=None)
    do(session, "play")
    run(session, 3.0)
    assert session.sim.time == 3.0 and session.sim.qpos[0] != np.pi / 2


def test_reset_and_keyframes():
    session = pendulum()
    run(session, 1.0)
    do(session, "reset", key=None)
    assert session.sim.time == 0.0 and session.sim.qpos[0] == np.pi / 2 and session.playing
    run(session, 1.0)
    assert_same_state(session.sim, alone(session, 20))
    do(session, "reset", key="release")
    assert session.sim.qpos[0] == np.pi / 2
    do(session, "reset", key="realease")
    assert "did you mean 'release'" in notices(session)[-1]


# ---------------------------------------------------------------- other simulations


def test_another_integrator_goes_on_from_the_same_state():
    session = pendulum()
    run(session, 1.0)
    do(session, "pause")
    run(session, 1.0)
    before = session.sim.snapshot()
    do(session, "integrator", name="rk4")
    assert session.sim.integrator.name == "rk4" == session.status()["integrator"]
    np.testing.assert_array_equal(session.sim.snapshot()[:3], before[:3])  # time, qpos, qvel
    other = saltus.Simulation("pendulum", "rk4", timestep=0.05)
    other.time, other.qpos, other.qvel = before[:3]
    other.step(10)
    do(session, "step", n=10)
    run(session, FRAME)
    assert_same_state(session.sim, other)


@pytest.mark.slow
def test_verlet_begins_anew_when_it_is_chosen_but_not_when_only_the_weight_changes():
    """Its first step is the initial one of the method, x1 = x0 + v0 h + a0 h²/2; later ones remember."""
    session = pendulum(playing=False)
    do(session, "step", n=7)
    run(session, FRAME)
    x, v = float(session.sim.qpos[0]), float(session.sim.qvel[0])
    do(session, "integrator", name="verlet")
    do(session, "step", n=1)
    run(session, FRAME)
    assert session.sim.qpos[0] == pytest.approx(x + 0.05 * v - 9.81 / 2 * np.sin(x) * 0.05**2 / 2, abs=1e-13)
    memory = checkpoint(session.sim.engine)["state"]
    do(session, "gravity", value=[0.0, 0.0, -9.81 / 2])
    np.testing.assert_array_equal(checkpoint(session.sim.engine)["state"], memory)
    x, before = float(session.sim.qpos[0]), x
    do(session, "step", n=1)
    run(session, FRAME)
    assert session.sim.qpos[0] == pytest.approx(2 * x - before - 9.81 / 4 * np.sin(x) * 0.05**2, abs=1e-13)


@pytest.mark.slow
def test_step_gravity_and_parameters_while_it_runs():
    key = "body_mass[pendulum]"
    session = pendulum(parameters=(f"{key}=0.5:10", "dof_damping[theta]=0:5"))
    run(session, 0.5)
    do(session, "timestep", value=0.01)
    do(session, "gravity", value=[0.0, 0.0, -1.62])
    do(session, "slider", id=key, value=4.0)
    status = session.status()
    assert (status["timestep"], status["gravity"], status["sliders"][key]) == (0.01, [0.0, 0.0, -1.62], 4.0)
    assert session.sim.time == pytest.approx(0.5) and session.sim.model.body_mass[1] == 4.0
    do(session, "slider", id=key, value=1000.0)
    assert session.sim.model.body_mass[1] == 10.0 and f"{key} was set to its bound, 10." in notices(session)
    do(session, "slider", id="dof_damping[theta]", value=2.0)
    do(session, "speed", value=10.0)
    run(session, 30.0)  # which takes the energy out of it: the amplitude falls as exp(-t b/2I), by a factor 1800
    assert session.sim.model.changes[key] == 10.0 and session.sim.model.changes["dof_damping[theta]"] == 2.0
    assert abs(session.sim.qvel[0]) < 0.01


def test_what_comes_while_something_is_built_is_not_lost():
    """Of many wishes in a row the last one counts, and all kinds of them."""
    session = pendulum()
    for k in range(20):
        session.handle(Command("gravity", {"value": (0.0, 0.0, -float(k))}))
        session.handle(Command("timestep", {"value": 0.05 - 0.001 * k}))
        session.tick(FRAME)
    ready(session)
    assert session.sim.model.opt.gravity[2] == -19.0 and session.sim.timestep == pytest.approx(0.031)


@pytest.mark.parametrize(
    ("type", "fields", "message"),
    [
        ("integrator", {"name": "rk5"}, "unknown integrator"),
        ("contact", {"name": "rubber"}, "unknown contact law"),
        ("slider", {"id": "ctrl[moter]", "value": 1.0}, "did you mean 'ctrl"),
        ("drag", {"body": 7, "point": (0, 0, 0), "target": (0, 0, 0)}, "there is no body 7"),
        ("drag", {"body": 0, "point": (0, 0, 0), "target": (0, 0, 0)}, "this point of 'world' cannot move"),
        ("follow", {"body": "bob"}, "no body 'bob'"),
        ("ghosts", {"on": True}, "no ghosts"),
        ("from_here", {}, "look back first"),
        ("video", {}, "record first"),
    ],
)
def test_what_cannot_be_done_is_said(type, fields, message):
    session = pendulum()
    do(session, type, **fields)
    assert message in notices(session)[-1]
    run(session, 0.1)
    assert_same_state(session.sim, alone(session, 2))


# ---------------------------------------------------------------- sliders


def test_sliders_move_what_they_say():
    session = pendulum(playing=False)
    scene = session.scene()
    assert [(s["id"], s["group"], s["unit"]) for s in scene["sliders"]] == [
        ("ctrl[motor]", "control", ""),
        ("qpos[theta]", "joint", "rad"),
    ]
    # the weight at the end of its rod asks for m g l = 39.24 N m
    assert 39.24 < scene["sliders"][0]["max"] == -scene["sliders"][0]["min"] <= 4 * 39.24
    do(session, "step", n=5)
    run(session, FRAME)
    do(session, "slider", id="ctrl[motor]", value=3.0)
    do(session, "slider", id="qpos[theta]", value=0.25)
    assert (session.sim.ctrl[0], session.sim.qpos[0], session.sim.qvel[0]) == (3.0, 0.25, 0.0)
    assert session.status()["sliders"] == {"ctrl[motor]": 3.0, "qpos[theta]": 0.25}
    assert seen(session)["dofs"][0, 0, 0] == np.float32(0.25)
    session.sim.qpos[:] = 0.25 + 6 * np.pi
    assert session.status()["sliders"]["qpos[theta]"] == pytest.approx(0.25)


# ---------------------------------------------------------------- what the page is told


def test_the_scene_message_describes_the_model():
    scene = opened("double_pendulum").scene()
    assert scene["bodies"] == ["world", "upper", "lower"] and scene["kind"] == "live" and scene["duration"] is None
    hinge = {"unit": "rad", "kind": "hinge", "turns": True}
    assert scene["dofs"] == [
        hinge | {"name": "theta1", "relative": None},
        hinge | {"name": "theta2", "relative": "upper"},
    ]
    assert scene["keys"] == ["release", "horizontal"] and scene["contacts"] == ["soft", "hard"]
    assert scene["integrators"] == list(saltus.integrators()) and scene["extent"] > 0
    kinds = {shape["name"]: (shape["kind"], shape["body"]) for shape in scene["shapes"]}
    assert kinds["upper_bob"] == ("sphere", 1) and kinds["lower_rod"] == ("capsule", 2)
    assert all(len(shape["rgba"]) == 4 and len(shape["quat"]) == 4 for shape in scene["shapes"])


def test_a_simulation_is_gone_on_from():
    """The lab's motion is its own; the user's simulation stays where it was."""
    sim = saltus.Simulation("pendulum", "velocity_verlet", timestep=0.05)
    sim.step(13)
    sim.ctrl[:] = 2.0
    before = sim.snapshot()
    given = dict(integrator=sim.integrator, contact=sim.contact, timestep=sim.timestep, source=sim)
    session = session_of(sim.model, **given)
    assert_same_state(session.sim, sim)
    run(session, 1.0)
    np.testing.assert_array_equal(sim.snapshot(), before)
    sim.step(20)
    assert_same_state(session.sim, sim)


# ---------------------------------------------------------------- hard contact


@pytest.mark.slow
def test_the_contact_law_changes_and_the_ball_goes_on():
    """Over to hard contact in flight; it lands, bounces no more, and is told to stick."""
    session = run(session_of("bouncing_ball"), 0.1)
    qpos, qvel, time = session.sim.qpos.copy(), session.sim.qvel.copy(), session.sim.time
    do(session, "contact", name="hard")
    sim = session.sim
    assert sim.contact == "hard"
    np.testing.assert_array_equal([*sim.qpos, *sim.qvel, sim.time], [*qpos, *qvel, time])
    do(session, "record", on=True)
    run(session, 1.0)
    ((*_, gap, mode),) = seen(session)["contacts"]
    assert mode == 1 and abs(gap) < 1e-6 and abs(session.sim.qvel[0]) < 1e-9
    do(session, "contact", name="soft")
    assert session.sim.contact == "soft" and any("Recording stopped" in text for text in notices(session))
    trajectory = session.downloads._trajectory
    assert "impact" in trajectory.events["kind"] and trajectory.contact_mode[-1] == 1


@pytest.mark.slow
def test_the_ball_bounces_as_its_restitution_says():
    """Dropped from 0.5 m it rises to e² times that; a sample is within h/2 of the top, where it is g h²/8 lower."""
    session = opened("bouncing_ball", {"contact": "hard", "playing": False})
    for e in (0.8, 0.5):  # the scene's own, and another
        if e != session.status()["restitution"]:
            do(session, "restitution", value=e)
        do(session, "reset", key="dropped")
        heights = []
        for _ in range(750):
            session.sim.step()
            heights.append(session.sim.qpos[0])
        landed = int(np.argmin(heights[:400]))
        assert max(heights[landed:]) == pytest.approx(e**2 * 0.5, abs=9.81 * 0.001**2)
    assert opened("newtons_cradle", {"playing": False}).status()["restitution"] == 1.0


@pytest.mark.slow
def test_an_integrator_that_does_not_go_with_a_law_is_told():
    """Time stepping has no soft law: there the model's own integrator takes over."""
    session = session_of("bouncing_ball")
    own = session.sim.integrator.name
    session.handle(Command("integrator", {"name": "moreau_jean"}))
    assert notices(session) == ["moreau_jean does not support soft contact"]
    do(session, "contact", name="hard")
    do(session, "integrator", name="moreau_jean")
    do(session, "contact", name="soft")
    assert session.sim.integrator.name == own
    assert f"{own} is used: moreau_jean has no soft contact." in notices(session)


@pytest.mark.slow
def test_a_law_keeps_its_numbers():
    session = session_of("bouncing_ball", contact=saltus.Hard(restitution=0.5))
    do(session, "timestep", value=0.02)
    assert session.sim.law.restitution == 0.5
    do(session, "contact", name="soft")
    do(session, "contact", name="hard")
    assert session.sim.law.restitution == 0.5


def test_what_is_given_of_hard_contact_leaves_the_rest_of_the_law():
    """The cradle's restitution is 1, the ball's 0.8; a law of one's own keeps its bounce height."""
    for name, restitution in (("newtons_cradle", 1.0), ("bouncing_ball", 0.8)):
        session = scenes()[name].open(Downloads(), {"contact": "hard", "friction": 0.3})
        assert session.sim.law.restitution == session.status()["restitution"] == restitution
        assert session.sim.law.friction == session.status()["friction"] == 0.3
    session = scenes()["bouncing_ball"].open(Downloads(), {"contact": "hard", "restitution": 0.5})
    assert (session.sim.law.restitution, session.sim.law.friction) == (0.5, None)
    law = saltus.Hard(restitution=0.5, bounce_height=1e-6)
    setup = LabStart("test", "Test", saltus.load("bouncing_ball"), contact=law, friction=0.2)
    assert setup.simulation().law == saltus.Hard(restitution=0.5, friction=0.2, bounce_height=1e-6)


def test_a_state_that_hard_contact_cannot_start_from_is_told():
    session = session_of("bouncing_ball", contact="hard")
    session.sim.qpos[:] = -0.05  # deep in the floor
    assert len(seen(session)["contacts"]) == 0
    run(session, 0.1)
    assert not session.playing
    assert any("overlap by" in text for text in notices(session))
    session.handle(Command("reset", {"key": None}))
    session.handle(Command("play"))
    run(session, 0.1)
    assert session.playing and notices(session) == []
