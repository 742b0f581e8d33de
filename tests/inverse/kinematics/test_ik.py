"""Inverse kinematics. Law: the configuration that is found puts things where they were wanted.

Reference: MuJoCo's forward kinematics of what was found, closed forms of a planar arm with two links, and conditions of
optimality with MuJoCo's Jacobians. Tolerance: the one asked for where a target is reached. At a minimum that is not
zero, steps end at 1e-9, and residuals differ from the least by its square.
"""

import mujoco
import numpy as np
import pytest
from helpers.seven_joints import SEVEN_JOINTS, reachable_poses, site_pose

import saltus

UPPER, LOWER = 0.5, 0.4  # m: the links of the bundled arm
SLIDER = """
<mujoco><worldbody><body name="cart"><joint name="rail" type="slide" axis="1 0 0" range="-1 1"/>
<geom size=".1"/></body></worldbody></mujoco>"""
FOUR_BAR = """
<mujoco><worldbody>
  <body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
    <body name="coupler" pos="0 0 .3"><joint name="coupler" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .8 0 0" size=".02"/><site name="middle" pos=".4 0 .1"/></body></body>
  <body name="rocker" pos=".8 0 0"><joint name="rocker" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/></body>
  <body name="follower" pos="0 1 0"><joint name="follower" axis="0 1 0"/><geom size=".1"/></body>
</worldbody><equality><connect body1="coupler" body2="rocker" anchor=".8 0 0"/>
  <joint joint1="follower" joint2="crank" polycoef=".1 2 0 0 0"/></equality></mujoco>"""
BALL = """
<mujoco><compiler angle="radian"/><worldbody><body name="stick"><joint name="ball" type="ball" range="0 .5"/>
<geom type="capsule" fromto="0 0 0 0 0 1" size=".02"/><site name="tip" pos="0 0 1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def arm():
    return saltus.load("arm")


@pytest.fixture(scope="module")
def seven():
    return saltus.load(SEVEN_JOINTS)


@pytest.fixture(scope="module")
def poses(seven):
    return reachable_poses(seven.mujoco, 1000)


def angle_between(a, b):
    return 2 * np.arccos(np.clip(np.abs((a * b).sum(axis=-1)), 0, 1))


# ---------------------------------------------------------------- closed forms of two links


def test_two_links_have_the_angles_of_the_law_of_cosines(arm):
    target = np.array([0.4, 0.0, 0.5])
    found = saltus.ik(arm, {"hand": target}, start=[0.3, -0.5], tolerance=1e-12)
    bend = -np.arccos((target @ target - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
    lift = np.arctan2(target[2], target[0]) - np.arctan2(LOWER * np.sin(bend), UPPER + LOWER * np.cos(bend))
    assert found.reached is True
    assert found.failed == ""
    np.testing.assert_allclose(found.qpos, [lift, bend], atol=1e-11)


@pytest.mark.parametrize("target", [(1.4, 0.0, 0.5), (-2.0, 0.0, 0.1), (0.05, 0.0, 0.02)])
def test_a_target_out_of_reach_is_approached_as_near_as_possible(arm, target):
    """The nearest point of a ring between the sum and the difference of the lengths."""
    found = saltus.ik(arm, {"hand": target})
    distance = np.linalg.norm(target)
    assert found.reached is False
    assert found.residual["hand"] == pytest.approx(max(distance - UPPER - LOWER, UPPER - LOWER - distance), abs=1e-9)
    assert "hand is" in found.failed


def test_what_is_out_of_the_plane_stays(arm):
    found = saltus.ik(arm, {"body:forearm": [0.0, 0.3, 0.5]})
    assert found.residual["body:forearm"] == pytest.approx(0.3, abs=1e-9)
    assert found.qpos[0] == pytest.approx(np.pi / 2, abs=1e-6)


def test_priority_comes_first(arm):
    """The elbow reaches its target, and the hand comes as near as its link allows from there; weights mix both."""
    elbow, far = UPPER * np.array([np.cos(1.2), 0, np.sin(1.2)]), np.array([1.0, 0.0, -0.8])
    targets = {"hand": far, "body:forearm": elbow}
    found = saltus.ik(arm, targets, priority=["body:forearm", "hand"])
    assert found.residual["body:forearm"] < 1e-6
    assert found.residual["hand"] == pytest.approx(np.linalg.norm(far - elbow) - LOWER, abs=1e-6)
    mixed = saltus.ik(arm, targets, weights={"hand": 4.0})
    assert mixed.residual["body:forearm"] > 0.1
    assert mixed.residual["hand"] < found.residual["hand"]
    one, other = saltus.ik(arm, targets, priority=[["hand"]]), saltus.ik(arm, {"hand": far})
    assert one.residual["hand"] == pytest.approx(other.residual["hand"], abs=1e-6)


# ---------------------------------------------------------------- an arm with seven joints


def test_random_reachable_poses_are_found(seven, poses):
    """All within reach, by restarts; what is found puts MuJoCo's hand there, within the joints' ranges."""
    positions, quats, _ = poses
    found = saltus.ik(seven, {"hand": (positions, quats)}, threads=2)
    assert found.reached.mean() >= 0.995
    m = seven.mujoco
    assert (found.qpos >= m.jnt_range[:, 0]).all()
    assert (found.qpos <= m.jnt_range[:, 1]).all()
    for k in np.flatnonzero(found.reached)[:100]:
        pos, quat = site_pose(m, found.qpos[k])
        assert np.linalg.norm(pos - positions[k]) <= 1.01e-6
        assert np.linalg.norm(pos - positions[k]) == pytest.approx(found.residual["hand"][k], abs=1e-12)
        assert angle_between(quat, quats[k]) <= 1e-6 + 3e-8  # arccos near 1
    assert not found.reached.all() or found.failed == ""


def test_a_batch_is_its_single_problems(seven, poses):
    positions, quats, _ = poses
    many = saltus.ik(seven, {"hand": (positions[:40], quats[:40])}, threads=2)
    alone = saltus.ik(seven, {"hand": (positions[:40], quats[:40])}, threads=1)
    np.testing.assert_array_equal(many.qpos, alone.qpos)
    for k in range(5):
        one = saltus.ik(seven, {"hand": saltus.Pose(positions[k], quats[k])})
        np.testing.assert_array_equal(one.qpos, many.qpos[k])
        assert one.residual["hand"] == many.residual["hand"][k]
        assert one.iterations == many.iterations[k]


def test_ranges_hold_in_each_iterate(seven, poses):
    m = seven.mujoco
    for iterations in range(12):
        found = saltus.ik(seven, {"hand": 1.5 * poses[0][:50]}, iterations=iterations, restarts=0)
        assert (found.qpos >= m.jnt_range[:, 0]).all()
        assert (found.qpos <= m.jnt_range[:, 1]).all()


def test_without_ranges_more_is_reached():
    inside, beyond = ({"cart": [2.0, 0.0, 0.0]} for _ in range(2))
    found = saltus.ik(SLIDER, inside)
    assert found.qpos == [1.0]
    assert found.residual == {"cart": pytest.approx(1.0)}
    assert "rail (upper, 1)" in found.failed
    assert saltus.ik(SLIDER, beyond, limits=False).qpos == pytest.approx(2.0, abs=1e-6)


def test_joints_that_may_not_move_stay(seven, poses):
    start = poses[2][0]
    found = saltus.ik(seven, {"hand": poses[0][1]}, start=start, joints=["joint1", "joint3", "joint5"])
    np.testing.assert_array_equal(found.qpos[[0, 2, 4, 6]], start[[0, 2, 4, 6]])


def test_a_posture_chooses_among_solutions(seven, poses):
    """At the constrained minimum, what is left of the posture has no part that keeps the target (MuJoCo's Jacobian)."""
    posture = np.array([0.2, 0.6, -0.3, 1.2, 0.4, 0.5, 0.1])
    target = site_pose(seven.mujoco, posture + 0.1)[0]
    found = saltus.ik(seven, {"hand": target}, start=posture, posture=(posture, 0.1))
    assert found.residual["hand"] < 1e-6
    m = seven.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = found.qpos
    mujoco.mj_forward(m, d)
    J = np.zeros((3, m.nv))
    mujoco.mj_jacSite(m, d, J, None, m.site("hand").id)
    left = posture - found.qpos
    free = left - np.linalg.pinv(J) @ J @ left
    assert np.abs(free).max() < 1e-5
    assert np.linalg.norm(left) > 0.05


def test_directions_and_looks(seven):
    """ "axis:" turns the z-axis along a direction, "look:" the camera's view through a point."""
    m = seven.mujoco
    d = mujoco.MjData(m)
    point = np.array([0.8, 0.3, 0.2])
    found = saltus.ik(seven, {"hand": [0.4, 0.1, 0.6], "axis:hand": [0, 0, -2.0]})
    assert found.reached
    d.qpos[:] = found.qpos
    mujoco.mj_forward(m, d)
    np.testing.assert_allclose(d.site("hand").xmat.reshape(3, 3)[:, 2], [0, 0, -1], atol=1e-6)
    found = saltus.ik(seven, {"look:eye": point, "hand": [0.2, 0.1, 0.9]})
    assert found.reached
    d.qpos[:] = found.qpos
    mujoco.mj_forward(m, d)
    view = -d.cam("eye").xmat.reshape(3, 3)[:, 2]
    line = point - d.cam("eye").xpos
    assert np.linalg.norm(np.cross(view, line)) / np.linalg.norm(line) < 2e-6
    assert view @ line > 0


@pytest.mark.parametrize("kind", ["pose", "look"])
def test_steps_converge_fast_near_solutions(seven, kind):
    """Superlinearly, as the damping falls: from 1e-2 to 1e-11 in few steps, which takes exact Jacobians."""
    m = seven.mujoco
    d, goals, quats = mujoco.MjData(m), [], []
    random = np.random.default_rng(3)
    states = random.uniform(-1, 1, (50, 7)) + [0, 0.3, 0, 1.2, 0, 0.5, 0]
    for qpos in states:
        d.qpos[:] = qpos
        mujoco.mj_forward(m, d)
        goals.append(d.cam("eye").xpos - 0.3 * d.cam("eye").xmat.reshape(3, 3)[:, 2])
        quats.append(d.body("link6").xquat.copy())
    targets = {"look:eye": np.array(goals)} if kind == "look" else {"link6": (None, np.array(quats))}
    start = states + 0.01 * random.normal(size=states.shape)
    found = saltus.ik(seven, targets, start=start, restarts=0, tolerance=1e-11)
    assert found.reached.all(), found.failed
    assert np.median(found.iterations) <= 6


def test_motions_are_followed(seven):
    """Frame after frame begins at the one before; a marker that is not seen is left out."""
    m = seven.mujoco
    time = np.linspace(0, 1, 60)[:, None]
    motion = np.array([0.1, 0.7, -0.2, 1.1, 0.3, 0.6, 0.0]) + 0.4 * np.sin(2 * time + np.arange(7))
    d, hands, links = mujoco.MjData(m), [], []
    for qpos in motion:
        d.qpos[:] = qpos
        mujoco.mj_kinematics(m, d)
        hands.append(d.site("hand").xpos.copy())
        links.append(d.body("link4").xpos.copy())
    hands, links = np.array(hands), np.array(links)
    gaps = hands.copy()
    gaps[20:25] = np.nan
    found = saltus.ik(seven, {"hand": gaps, "link4": links}, follow=True, start=motion[0])
    seen = ~np.isnan(gaps[:, 0])
    assert found.reached.all()
    np.testing.assert_array_equal(np.isnan(found.residual["hand"]), ~seen)
    assert found.residual["link4"].max() < 1e-6
    assert np.abs(np.diff(found.qpos, axis=0)).max() < 0.2
    with pytest.raises(saltus.OptionError, match="follow=True"):
        saltus.ik(seven, {"hand": gaps})


# ---------------------------------------------------------------- loops, masses, turns


@pytest.mark.parametrize("target", [(0.5, 0.0, 0.35), (3.0, 0.0, 1.0)], ids=["near", "far"])
def test_closed_loops_stay_closed(target):
    """By MuJoCo's own residuals; the coupler's points move on circles with the radius of the crank."""
    model = saltus.load(FOUR_BAR)
    start = [0.3, -0.3, 0.3, 0.0]
    found = saltus.ik(model, {"middle": target}, start=start)
    m = model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = found.qpos
    mujoco.mj_forward(m, d)
    assert np.abs(d.efc_pos[d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY.value]).max() < 2e-6
    assert found.qpos[3] == pytest.approx(0.1 + 2 * found.qpos[0], abs=2e-6)
    centre = np.array([0.4, 0, 0.1])
    assert found.residual["middle"] == pytest.approx(abs(np.linalg.norm(target - centre) - 0.3), abs=1e-5)


def test_the_centre_of_mass_of_a_humanoid():
    """With both feet where they were."""
    model = saltus.load("humanoid")
    m = model.mujoco
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    feet = {side: d.body(f"{side}_foot") for side in ("left", "right")}
    targets = {f"{side}_foot": (foot.xpos.copy(), foot.xquat.copy()) for side, foot in feet.items()}
    goal, arm = d.subtree_com[0] + [0.02, 0.03, -0.08], d.body("left_upper_arm").xpos + [0.05, 0.1, -0.1]
    found = saltus.ik(model, targets | {"com": goal, "com:left_upper_arm": arm}, restarts=0)
    d.qpos[:] = found.qpos
    mujoco.mj_forward(m, d)
    assert np.linalg.norm(d.subtree_com[0] - goal) == pytest.approx(found.residual["com"], abs=1e-9)
    offset = d.subtree_com[m.body("left_upper_arm").id] - arm
    assert np.linalg.norm(offset) == pytest.approx(found.residual["com:left_upper_arm"], abs=1e-9)
    assert found.reached, found.failed


def test_free_bodies_turn_on_the_manifold():
    """From any orientation to any other one, in few iterations."""
    goal = np.array([0.1, -0.7, 0.5, 0.5])
    goal /= np.linalg.norm(goal)
    model = saltus.load('<mujoco><worldbody><body name="box"><freejoint/><geom size=".1"/></body></worldbody></mujoco>')
    found = saltus.ik(model, {"box": ([1.0, 2.0, 3.0], 2 * goal)}, tolerance=1e-10)
    np.testing.assert_allclose(found.qpos[:3], [1, 2, 3], atol=1e-10)
    assert abs(found.qpos[3:] @ goal) == pytest.approx(1, abs=1e-14)
    assert found.iterations < 15


def test_balls_keep_their_largest_angle():
    found = saltus.ik(BALL, {"tip": [1.0, 0.0, 0.0]})
    assert 2 * np.arccos(abs(found.qpos[0])) == pytest.approx(0.5, abs=1e-9)
    assert found.residual["tip"] == pytest.approx(np.hypot(1 - np.sin(0.5), np.cos(0.5)), abs=1e-6)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (dict(targets={}), "no target"),
        (dict(targets={"hnad": [0, 0, 0]}), "did you mean 'hand'"),
        (dict(targets={"hand": [0, 0]}), r"\[3\] or \[n, 3\]"),
        (dict(targets={"hand": [0, np.inf, 0]}), "not finite"),
        (dict(targets={"hand": (None, [0, 0, 0, 0])}), "must not be zero"),
        (dict(targets={"hand": (None, None)}), "neither"),
        (dict(targets={"hand": np.zeros((2, 3)), "body:forearm": np.zeros((3, 3))}), "as many rows"),
        (dict(start=[0, 0, 0]), "start must have shape"),
        (dict(weights={"foot": 1.0}), "unknown target in weights 'foot'"),
        (dict(weights={"hand": -1.0}), "positive"),
        (dict(priority=["hand", "hand"]), "two priorities"),
        (dict(posture=[0, 0, 0]), "posture must be"),
        (dict(joints=["knee"]), "no joint 'knee'"),
        (dict(tolerance=0), "positive"),
        (dict(collision=0.1), "can touch"),
        (dict(collision=-0.1), "at least 0 m"),
    ],
)
def test_what_makes_no_sense_is_refused(arm, arguments, text):
    with pytest.raises(saltus.OptionError, match=text):
        saltus.ik(arm, **({"targets": {"hand": [0.4, 0.0, 0.5]}} | arguments))


def test_a_model_without_joints_stays_where_it_is():
    """Distances are those in the file."""
    post = '<mujoco><worldbody><body name="top" pos="0 0 1"><geom size=".1"/></body></worldbody></mujoco>'
    assert saltus.ik(post, {"top": [0, 0, 1]}).reached
    assert saltus.ik(post, {"top": [0, 0, 3]}).residual["top"] == 2.0
