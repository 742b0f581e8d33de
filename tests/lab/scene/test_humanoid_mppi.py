"""The humanoid under predictive control, in the lab and without it.

References: what the scene claims, against the same body without a plan: that it stands where its servos alone let it
fall, by the impulse J of a push, which changes the momentum of the whole body by J; that it gets up; that it walks the
distance that it is asked for, alternately on its feet. Runs are those of `Simulation.run` with the same planner.
"""

import numpy as np
import pytest
from helpers.lab import FRAME, assert_same_state, do, notices, opened, run

import saltus
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.humanoid_cost import Goal
from saltus.lab.scene.humanoid_mppi import NOISE, STRENGTHS, TIMESTEP, WALK, humanoid_planner, strong_humanoid
from saltus.lab.scene.scenes import scenes

PUSH, PUSHED = 60.0, 0.2  # N s, s
FALLEN = 0.8  # m, of the head


@pytest.fixture(scope="module")
def model():
    return strong_humanoid()


def start(model, key="standing"):
    sim = saltus.Simulation(model, timestep=TIMESTEP)
    sim.reset(key)
    return sim


def acting(sim, control, seconds, push=None):
    """Heights of the head and places of the centre of mass [steps, 4]; a push [3] (N s) on the chest acts first."""
    names, found = sim.model.names("body"), []
    head, chest = names.index("head"), names.index("chest")
    for k in range(round(seconds / TIMESTEP)):
        pushing = push is not None and k < round(PUSHED / TIMESTEP)
        sim.xfrc_applied[chest, :3] = 0.0  # a planner does not know of the push
        sim.ctrl[:] = control(sim)
        sim.xfrc_applied[chest, :3] = np.asarray(push) / PUSHED if pushing else 0.0
        sim.step()
        found.append([sim.data.xpos[head, 2], *sim.data.subtree_com[0]])
    return np.array(found)


def in_one_of(runs, succeeds):
    """Whether a run succeeds with one of the first seeds: each is chaotic, and other processors round otherwise."""
    for seed in range(runs):
        try:
            succeeds(seed)
        except AssertionError:
            if seed == runs - 1:
                raise
        else:
            return


def test_the_body_is_the_bundled_one_with_bounded_torques(model):
    bundled = saltus.load("humanoid")
    for name in (
        "body_mass",
        "body_inertia",
        "body_pos",
        "jnt_range",
        "key_qpos",
        "actuator_gainprm",
        "actuator_biasprm",
    ):
        np.testing.assert_array_equal(getattr(model, name), getattr(bundled, name))
    assert model.actuator_forcelimited.all()
    sides = [name.removeprefix("left_").removeprefix("right_") for name in model.names("actuator")]
    np.testing.assert_array_equal(model.actuator_forcerange, [[-STRENGTHS[s], STRENGTHS[s]] for s in sides])
    assert set(STRENGTHS) == set(sides) and set(NOISE) <= {"neck", "waist", "shoulder", "elbow", "hip", "knee", "ankle"}


@pytest.mark.slow
@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (-1, 0, 0)], ids=["forward", "left", "back"])
def test_it_catches_itself_where_its_servos_let_it_fall(model, direction):
    push = PUSH * np.array(direction, float)
    free = acting(start(model), lambda sim: 0.0, 3.0, push)
    assert free[-1, 0] < FALLEN

    def catches(seed):
        sim = start(model)
        caught = acting(sim, humanoid_planner(sim, Goal(), seed=seed), 3.0, push)
        assert caught[:, 0].min() > 1.1 and caught[-50:, 0].min() > 1.2
        mass = float(sim.model.body_mass.sum())
        last = np.gradient(caught[-100:, 1:], TIMESTEP, axis=0)[:, :2].mean(axis=0)
        assert np.linalg.norm(last) < 0.5 * PUSH / mass  # of the velocity that the push gave

    in_one_of(3, catches)


@pytest.mark.slow
def test_it_gets_up_from_its_back(model):
    lying = acting(start(model, "lying"), lambda sim: 0.0, 1.0)
    assert lying[-1, 0] < 0.3

    def rises(seed):
        sim = start(model, "lying")
        sim.step(50)
        up = acting(sim, humanoid_planner(sim, Goal(), seed=seed), 6.0)
        assert (up[:, 0] > 1.3).any() and up[-50:, 0].min() > 1.1

    in_one_of(3, rises)


@pytest.mark.slow
def test_it_walks(model):
    feet = [model.names("body").index(f"{side}_foot") for side in ("left", "right")]

    def walks(seed):
        sim = start(model)
        control, heights = humanoid_planner(sim, Goal(speed=WALK), seed=seed), []

        def recorded(now):
            heights.append(now.data.xpos[feet, 2])
            return control(now)

        walked = acting(sim, recorded, 5.0)
        assert walked[:, 0].min() > 1.1 and 0.5 < walked[-1, 1] / (5.0 * WALK) < 1.2
        left, right = np.array(heights).T
        higher = np.sign(left - right)[np.abs(left - right) > 0.04]
        assert (np.diff(higher) != 0).sum() >= 6  # one foot swings, then the other, two steps a second

    in_one_of(3, walks)


def test_goals_by_sliders_and_keys():
    session = scenes()["humanoid_mppi"].open(Downloads(), {"playing": False})
    try:
        ids = [slider["id"] for slider in session.scene()["sliders"][:2]]
        assert ids == ["walking speed", "heading"] and session.status()["walking"] is False
        assert session.status()["follow"] == "pelvis"
        session.do_keydown("w")
        assert session.goal.speed == WALK == session.slider_values()["walking speed"] and session.status()["walking"]
        session.do_keydown("q")
        assert 0.1 < session.goal.heading < 0.5
        session.do_keydown("e")
        assert session.goal.heading == pytest.approx(0.0)
        session.do_keydown("w")
        assert session.goal.speed == 0.0
        session.do_slider("walking speed", 0.4)
        session.do_slider("heading", -1.0)
        assert session.goal == Goal(0.4, -1.0)
        session.do_slider("walking speed", 9.0)
        assert session.goal.speed == 1.0 and any("set to its bound" in text for text in notices(session))
        assert "w - walk or stand" in session.hud()[-1][1]
        assert [action["label"] for action in session.actions()] == [
            "Planner",
            "Plan",
            "Walk",
            "Turn left",
            "Turn right",
        ]
    finally:
        session.close()


def test_hard_contact_is_refused_by_name():
    with pytest.raises(saltus.OptionError, match="humanoid_mppi plans with soft contact"):
        scenes()["humanoid_mppi"].open(Downloads(), {"contact": "hard"})


@pytest.mark.slow
def test_the_scene_runs_as_the_planner_does_and_is_pulled():
    session = opened("humanoid_mppi")
    run(session, 0.3)
    other = session.setup.simulation()
    other.run(session.sim.time, control=humanoid_planner(other, Goal()), progress=False)
    assert_same_state(session.sim, other)
    assert session.drawings() and session.sim.time > 0.2
    chest = session.sim.model.names("body").index("chest")
    do(session, "drag", body=chest, point=(0.1, 0.0, 0.2), target=(0.4, 0.0, 1.3))
    pulls = [session.sim.xfrc_applied[chest, 0] for _ in range(12) if run(session, FRAME)]
    assert max(pulls) > 10.0
    do(session, "release")
    do(session, "keydown", key="w")
    run(session, 0.3)
    assert not session.sim.xfrc_applied.any() and session.playing and not notices(session)
    session.close()
