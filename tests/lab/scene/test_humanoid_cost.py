"""Costs of the humanoid, for planning.

References: the closed form of an inverted pendulum of constant height (its capture point moves away from its foot as
exp(ω t), and stays where a foot is set on it); poses and motions whose terms are known without the code that computes
them: the keyframe, a turn about a known axis, a constant velocity. Single precision: 1e-5.
"""

import numpy as np
import pytest

import saltus
from saltus.lab.scene.humanoid_cost import (
    DOWN,
    HEAD,
    PELVIS,
    PERIOD,
    RECORD,
    SWING,
    WALKING,
    WEIGHTS,
    Goal,
    HumanoidCost,
    capture_point,
    joint_noise,
    smooth_abs,
    swing_heights,
)
from saltus.simulate.batches.rollout import Rollout

H = 0.01
GRAVITY = 9.81


@pytest.fixture(scope="module")
def model():
    return saltus.load("humanoid")


def rollout_of(model, qpos, times):
    """The fields of poses [T, nq] at times [T], by single simulations, as a rollout of one sample."""
    sim, rows = saltus.Simulation(model), []
    for pose in qpos:
        sim.qpos[:] = pose
        sim.forward()
        rows.append({name: np.array(getattr(sim.data, name)) for name in ("subtree_com", "xpos", "xmat")})
    fields = {name: np.array([row[name] for row in rows])[None] for name in rows[0]}
    fields |= {"qpos": np.array(qpos)[None], "qvel": np.zeros((1, len(qpos), model.nv)), "time": np.array(times)[None]}
    steps = np.array([len(qpos)])
    return Rollout(fields, np.zeros((1, len(qpos), model.nu)), steps, np.array([False]))


def standing(model, steps=3, **shift):
    """The standing keyframe [steps, nq], with elements of the root set by name."""
    qpos = np.tile(model.key_qpos[model.names("key").index("standing")], (steps, 1))
    for name, values in shift.items():
        qpos[:, "xyz".index(name)] += values
    return qpos


def terms(model, qpos, goal=None, times=None):
    times = H * np.arange(1, len(qpos) + 1) if times is None else times
    return HumanoidCost(model, goal or Goal(), H).terms(rollout_of(model, qpos, times))


def test_a_rounded_distance():
    np.testing.assert_allclose(smooth_abs([0.0, 0.3, -0.4], 0.4), [0.0, 0.1, 0.4 * (np.sqrt(2) - 1)], atol=1e-15)
    np.testing.assert_allclose(smooth_abs(1e-3, 0.1), 1e-6 / 0.2, rtol=1e-4)
    np.testing.assert_allclose(smooth_abs(1e3, 0.1), 1e3 - 0.1, rtol=1e-7)


def test_the_capture_point_of_a_pendulum():
    """From a foot at the origin, x = x0 cosh(ω t) + x'0 / ω sinh(ω t); from one on ξ, it comes to rest above it."""
    height, x0, v0 = 0.9, 0.05, 0.4
    omega = np.sqrt(GRAVITY / height)
    t = np.linspace(0.0, 1.0, 11)
    x = x0 * np.cosh(omega * t) + v0 / omega * np.sinh(omega * t)
    v = omega * x0 * np.sinh(omega * t) + v0 * np.cosh(omega * t)
    com, velocity = np.zeros((11, 3)), np.zeros((11, 3))
    com[:, 0], com[:, 2], velocity[:, 0] = x, height, v
    found = capture_point(com, velocity, GRAVITY)
    np.testing.assert_allclose(found[:, 0], found[0, 0] * np.exp(omega * t), rtol=1e-12)
    assert found[0, 0] == pytest.approx(x0 + v0 / omega) and not found[:, 1].any()
    foot = found[0, 0]
    com[:, 0] = foot + (x0 - foot) * np.exp(-omega * t)  # the closed form from a foot on the capture point
    velocity[:, 0] = -omega * (com[:, 0] - foot)
    np.testing.assert_allclose(capture_point(com, velocity, GRAVITY)[:, 0], foot, rtol=1e-12)


def test_one_foot_swings_and_then_the_other():
    t = np.array([0.0, 0.25, 0.5, 0.75, 1.0]) * PERIOD
    np.testing.assert_allclose(swing_heights(t)[:, 0], [0, SWING, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(swing_heights(t)[:, 1], [0, 0, 0, SWING, 0], atol=1e-15)


def test_a_man_who_stands_costs_little(model):
    found = terms(model, standing(model), times=np.zeros(3))
    for name in ("upright", "soles", "facing", "velocity", "rates", "posture", "arms", "swing"):
        np.testing.assert_allclose(found[name], 0.0, atol=1e-12, err_msg=name)
    # 1.466 and 0.976 m are the heights of the file; his soles are on the floor
    np.testing.assert_allclose(found["head"], (1.466 - HEAD) ** 2 / 0.2, rtol=2e-3)
    np.testing.assert_allclose(found["pelvis"], (0.976 - PELVIS) ** 2 / 0.2, rtol=2e-3)
    np.testing.assert_allclose(found["stance"], 0.0, atol=1e-12)  # soles 0.19 m apart
    raised = standing(model, z=SWING)
    np.testing.assert_allclose(terms(model, raised)["swing"], 2 * smooth_abs(SWING, 0.02), rtol=1e-9)
    walking = terms(model, raised, Goal(0.5), np.full(3, PERIOD / 4))["swing"]  # when the left one swings as high
    np.testing.assert_allclose(walking, smooth_abs(SWING, 0.02), rtol=1e-9)
    lower = terms(model, standing(model, z=DOWN - 1.466 + 0.1))  # the head is 0.1 m above DOWN
    np.testing.assert_allclose(lower["swing"], 0.2 * 2 * smooth_abs(DOWN - 1.366, 0.02), rtol=1e-9)
    turned = terms(model, standing(model), Goal(heading=np.pi / 2))
    np.testing.assert_allclose(turned["stance"], 0.19**2, rtol=1e-9)  # soles beside each other are in line then
    assert found["balance"].max() < 0.05  # his centre of mass is 6 cm behind the centres of his soles at most


def test_a_turned_body(model):
    """Turned by an angle about the vertical, and about the axis across: 1 - cos of the angle."""
    angle = 0.4
    about_z, about_y = standing(model), standing(model)
    about_z[:, 3:7] = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
    about_y[:, 3:7] = [np.cos(angle / 2), 0, np.sin(angle / 2), 0]
    np.testing.assert_allclose(terms(model, about_z)["facing"], 1 - np.cos(angle), rtol=1e-12)
    np.testing.assert_allclose(terms(model, about_z, Goal(heading=angle))["facing"], 0.0, atol=1e-12)
    np.testing.assert_allclose(terms(model, about_z)["upright"], 0.0, atol=1e-12)
    np.testing.assert_allclose(terms(model, about_y)["upright"], 1 - np.cos(angle), rtol=1e-12)
    np.testing.assert_allclose(terms(model, about_y)["soles"], 2 * (1 - np.cos(angle)), rtol=1e-12)


def test_a_body_that_goes_along(model):
    """At constant velocity v, the term is v² to stand, (v - wanted)² to walk; ξ is v sqrt(z / g) ahead."""
    speed = 0.6
    moving = standing(model, 5, x=speed * H * np.arange(5))
    still, ahead = terms(model, standing(model, 5)), terms(model, moving)
    np.testing.assert_allclose(ahead["velocity"], speed**2, rtol=1e-10)
    np.testing.assert_allclose(terms(model, moving, Goal(speed=speed))["velocity"], 0.0, atol=1e-20)
    slower = terms(model, moving, Goal(speed=0.5, heading=np.pi / 2))["velocity"]
    np.testing.assert_allclose(slower, speed**2 + 0.5**2, rtol=1e-10)
    np.testing.assert_allclose(terms(model, moving, Goal(speed=speed))["balance"], still["balance"], rtol=1e-9)
    com = np.array(rollout_of(model, standing(model, 1), [0.0]).subtree_com)[0, 0, 0]
    offset = com[0] - 0.06 + speed * np.sqrt(com[2] / GRAVITY)
    np.testing.assert_allclose(ahead["balance"], smooth_abs(offset, 0.05), rtol=1e-9)


def test_postures(model):
    bent = standing(model)
    joints = model.names("joint")
    bent[:, 6 + joints.index("left_elbow")] = 0.5
    bent[:, 6 + joints.index("right_knee")] = 0.3
    found = terms(model, bent)
    np.testing.assert_allclose(found["posture"], 0.5**2 + 0.3**2, rtol=1e-12)
    np.testing.assert_allclose(found["arms"], 0.5**2, rtol=1e-12)


def test_the_whole_is_the_weighted_sum_and_walking_has_weights_of_its_own(model):
    rollout = rollout_of(model, standing(model, y=0.1), H * np.arange(3))
    for goal, weights in ((Goal(), WEIGHTS), (Goal(0.5), WEIGHTS | WALKING)):
        cost = HumanoidCost(model, goal, H)
        found = cost.terms(rollout)
        assert set(found) == set(weights)
        np.testing.assert_allclose(cost(rollout), sum(weights[name] * found[name] for name in found), rtol=1e-13)
    assert set(WALKING) <= set(WEIGHTS) and set(RECORD) == set(rollout)


def test_what_is_no_humanoid_is_refused():
    with pytest.raises(saltus.OptionError, match="needs bodies named head, chest"):
        HumanoidCost(saltus.load("cart_pole"), Goal(), H)
    with pytest.raises(saltus.OptionError, match="no noise for knee"):
        joint_noise(["hip", "knee"], {"hip": 1.0})
    np.testing.assert_array_equal(joint_noise(["left_hip_out", "knee"], {"hip": 1.0, "knee": 2.0}), [1.0, 2.0])
