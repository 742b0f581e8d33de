"""Reference motions through way points (`way_points`, `reference_motion`).

References: the minimum-jerk polynomial; Flash & Hogan's conditions; rotations about one axis; MuJoCo's
mj_differentiatePos of the motion's own positions, whose central differences err by h² times third derivatives.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.trajectories.exponential import angular_motion

TREE = """
<mujoco><worldbody><body><freejoint name="root"/><geom size=".1"/><body pos="0 0 .3"><joint type="ball" name="neck"/>
  <geom size=".1"/><body pos="0 0 .3"><joint name="head" range="-90 90"/><geom size=".1"/></body></body></body>
  </worldbody></mujoco>"""
TIMES, H = [0.5, 1.5, 2.2, 3.5], 1e-4
SIMPLE = """<mujoco><worldbody><body><joint name="a" axis="0 1 0" range="-60 60"/><geom size=".1"/>
  <body pos="0 0 1"><joint name="b" axis="0 1 0"/><geom size=".1"/></body></body></worldbody></mujoco>"""


def way_points(size=0.5):
    """Random positions [4, nq] of the tree."""
    m = saltus.load(TREE).mj_model
    points = np.tile(m.qpos0, (4, 1))
    rng = np.random.default_rng(1)
    for row in points:
        mujoco.mj_integratePos(m, row, size * rng.normal(size=m.nv), 1.0)
    return points


def change(motion, t):
    """Velocity at t by MuJoCo's difference of positions on their manifold."""
    found = np.zeros(motion.model.nv)
    mujoco.mj_differentiatePos(motion.model.mj_model, found, 2 * H, motion.qpos(t - H), motion.qpos(t + H))
    return found


MOTIONS = {
    "minimum_jerk": lambda points: saltus.minimum_jerk(TREE, points, TIMES),
    "spline": lambda points: saltus.spline(TREE, points, TIMES),
    "natural": lambda points: saltus.spline(TREE, points, TIMES, at_rest=False),
    "gait": lambda points: saltus.gait(TREE, points, [0, 0.3, 0.5, 0.8], 3.0, start=0.5),
}


@pytest.mark.parametrize("kind", MOTIONS)
def test_velocities_and_accelerations_are_those_of_the_positions(kind):
    motion = MOTIONS[kind](way_points())
    for t in (0.9, 1.5, 2.1, 3.1):
        assert np.allclose(change(motion, t), motion.qvel(t), rtol=0, atol=1e-5)
    for t in (0.9, 2.1, 3.1):
        rate = (motion.qvel(t + H) - motion.qvel(t - H)) / (2 * H)
        assert np.allclose(rate, motion.qacc(t), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", MOTIONS)
def test_it_passes_its_points_without_jumps_of_velocity_or_acceleration(kind):
    points = way_points()
    motion = MOTIONS[kind](points)
    at = motion.polynomials.x[:4]
    assert np.allclose(abs(motion.qpos(at) - points), 0, atol=1e-12)  # quaternions with their signs
    for t in motion.polynomials.x[1:-1]:
        for read in (motion.qvel, motion.qacc):
            assert np.allclose(read(t - 1e-9), read(t + 1e-9), rtol=0, atol=1e-6)


def test_between_two_points_it_is_the_minimum_jerk_polynomial():
    motion = saltus.minimum_jerk(SIMPLE, [[0.1, -1.0], [0.9, 2.0]], [1.0, 3.0])
    way, t = np.array([0.8, 3.0]), np.array([1.3, 2.0, 2.9])
    s = ((t - 1.0) / 2.0)[:, None]
    assert np.allclose(motion.qpos(t), [0.1, -1.0] + way * (10 * s**3 - 15 * s**4 + 6 * s**5), rtol=0, atol=1e-13)
    assert np.allclose(motion.qvel(t), way / 2 * (30 * s**2 - 60 * s**3 + 30 * s**4), rtol=0, atol=1e-13)
    assert np.allclose(motion.qacc(t), way / 4 * (60 * s - 180 * s**2 + 120 * s**3), rtol=0, atol=1e-12)
    for end, place in ((0.0, [0.1, -1.0]), (1.0, [0.1, -1.0]), (3.0, [0.9, 2.0]), (9.0, [0.9, 2.0])):
        assert np.allclose(motion.qpos(end), place, atol=1e-13)
        assert np.allclose([motion.qvel(end), motion.qacc(end)], 0.0, atol=1e-12)


def test_no_motion_through_the_points_has_less_jerk():
    """Flash & Hogan's optimality: variations that vanish at the points, and at rest at the ends, only add jerk."""
    t = np.array([0.0, 0.4, 1.0])
    motion = saltus.minimum_jerk(SIMPLE, [[0, 0], [0.5, -0.2], [0.3, 0.4]], t)
    x = np.linspace(0.0, 1.0, 20001)
    jerk = motion.polynomials(x, 3)[:, 0]
    bump = np.polynomial.Polynomial.fromroots([0, 0, 0, 0.4, 1, 1, 1]).deriv(3)(x)
    first = np.trapezoid(jerk * bump, x) / np.sqrt(np.trapezoid(jerk**2, x) * np.trapezoid(bump**2, x))
    assert abs(first) < 1e-6  # of the trapezoidal rule


def test_two_orientations_are_joined_by_a_turn_about_one_axis():
    ball = '<mujoco><worldbody><body><joint type="ball"/><geom size=".1"/></body></worldbody></mujoco>'
    axis, angle = np.array([0.0, 0.6, 0.8]), 2.5
    end = np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis]
    motion = saltus.minimum_jerk(ball, [[1, 0, 0, 0], end], [0.0, 1.0])
    s, rate = 10 * 0.3**3 - 15 * 0.3**4 + 6 * 0.3**5, 30 * 0.3**2 - 60 * 0.3**3 + 30 * 0.3**4
    assert np.allclose(motion.qpos(0.3), np.r_[np.cos(s * angle / 2), np.sin(s * angle / 2) * axis], atol=1e-14)
    assert np.allclose(motion.qvel(0.3), rate * angle * axis, atol=1e-13)


def test_coefficients_of_rotations_agree_where_series_and_closed_form_meet():
    """Rounding of the closed form: 1e-16 / θ⁴ in what the derivatives' differences lose, with θ = 0.1."""
    p = np.array([[0.06, 0.0, 0.08]])
    near = [angular_motion(p * (1 + e), p[:, ::-1], p[:, [1, 2, 0]]) for e in (-1e-9, 1e-9)]
    assert np.allclose(near[0], near[1], rtol=0, atol=1e-11)


def test_a_gait_repeats_itself_and_moves_the_named_joints_alone():
    motion = saltus.gait(SIMPLE, [0.0, 0.7, -0.2], [0.0, 0.25, 0.6], 0.8, joints="b", start=0.1)
    for t in (0.1, 0.33, 0.75):
        for read in (motion.qpos, motion.qvel, motion.qacc):
            assert np.allclose(read(t), read(t + 4 * 0.8), atol=1e-11)
            assert read(t)[0] == 0.0
    assert np.allclose(motion.qpos([0.1, 0.3, 0.58])[:, 1], [0.0, 0.7, -0.2], atol=1e-12)


def test_joints_beyond_their_range_are_told():
    with pytest.warns(saltus.SaltusWarning, match=r"'a' by 0\.153"):
        motion = saltus.minimum_jerk(SIMPLE, [[0.0, 0.0], [1.2, 0.0]], [0.0, 1.0])
    assert np.isclose(motion.beyond_limits()["a"], 1.2 - np.pi / 3, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: saltus.minimum_jerk(SIMPLE, [[0, 0], [1, 1]], [1.0, 1.0]), "times must be 2 finite times"),
        (lambda: saltus.spline(SIMPLE, [[0, 0, 0], [1, 1, 1]], [0, 1]), r"\[n, 2\].*for a, b"),
        (lambda: saltus.spline(SIMPLE, [[0, np.nan], [1, 1]], [0, 1]), "points must be finite"),
        (lambda: saltus.gait(SIMPLE, [[0, 0], [1, 1], [0, 1]], [0.1, 0.2, 0.5], 1.0), "phases must be 3 numbers"),
        (lambda: saltus.gait(SIMPLE, [[0, 0], [1, 1], [0, 1]], [0, 0.2, 0.5], -1.0), "period"),
        (lambda: saltus.spline(SIMPLE, [0, 1], [0, 1], joints=["x"]), "no joint 'x'"),
        (lambda: saltus.minimum_jerk(TREE, 2 * way_points(), TIMES), "quaternions of length"),
        (lambda: saltus.minimum_jerk(SIMPLE, [[0, 0], [1, 1]], [0, 1]).pose("a"), "'a' is no free joint"),
        (lambda: saltus.minimum_jerk(TREE, way_points(), TIMES).position("root"), "'root' is a ball or free joint"),
        (lambda: saltus.minimum_jerk(SIMPLE, [[0, 0], [1, 1]], [0, 1]).qpos(np.nan), "finite time"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(make, said):
    with pytest.raises(saltus.OptionError, match=said):
        make()


def test_turns_by_more_than_270_degrees_are_refused():
    ball = '<mujoco><worldbody><body><joint type="ball" name="b"/><geom size=".1"/></body></worldbody></mujoco>'
    angles = np.linspace(0.0, 6.0, 5)
    points = np.stack([np.cos(angles / 2), np.sin(angles / 2), 0 * angles, 0 * angles], axis=1)
    with pytest.raises(saltus.OptionError, match="'b' turns by more than 270°"):
        saltus.spline(ball, points, np.arange(5.0))
    shorter = saltus.spline(ball, points[:4], np.arange(4.0))  # 258°, unwound beyond half a turn
    assert np.isclose(shorter.polynomials(3.0)[0], 4.5)
