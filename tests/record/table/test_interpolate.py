"""States between samples.

Law: between samples numbers go along lines, quaternions along the shortest arc at constant angular velocity: after the
fraction t of a turn by θ about an axis, the orientation is the turn by t θ (closed form). At samples it is the sample.

Tolerance: rounding of a few operations, 1e-15 relative; where angles are found from chords, 1e-14.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.record import Trajectory
from saltus.record.table.interpolate import Interpolator, slerp

MIXED = """
<mujoco><worldbody>
  <body name="pusher" mocap="true"><geom size="0.1"/></body>
  <body><freejoint/><geom size="0.1"/>
    <body pos="0 0 1"><joint type="ball"/><geom size="0.1"/>
      <body pos="0 0 1"><joint type="hinge"/><geom size="0.1"/></body></body></body>
</worldbody></mujoco>"""


def turn(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.5, 2.0, 3.1, np.pi - 1e-7])
def test_slerp_turns_by_a_fraction_of_the_angle(angle):
    axis = [1.0, -2.0, 0.5]
    for t in (0.0, 0.1, 0.5, 0.99, 1.0):
        found = slerp(turn(axis, 0.0), turn(axis, angle), np.array(t))
        assert_allclose(found, turn(axis, t * angle), rtol=0, atol=1e-14)


def test_slerp_takes_the_shorter_way():
    """q and -q are one orientation: from 0 to 350 degrees it is 10 degrees back."""
    half = slerp(turn([0, 0, 1], 0.0), turn([0, 0, 1], np.radians(350)), np.array(0.5))
    assert_allclose(np.abs(half @ turn([0, 0, 1], np.radians(-5))), 1.0, rtol=1e-15)


def test_slerp_stays_on_the_sphere_at_one_speed():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4))
    rows = slerp(np.tile(a, (101, 1)), np.tile(b, (101, 1)), np.linspace(0.01, 1, 101))
    assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-15)
    steps = np.arccos(np.clip(np.sum(rows[:-1] * rows[1:], axis=1), -1, 1))
    assert_allclose(steps, steps[0], rtol=1e-8)


def recorded(count=5):
    """A free body, a ball and a hinge, with a mocap body, at times 0, 1, 2, ... s."""
    model = saltus.load(MIXED)
    rng = np.random.default_rng(3)
    qpos = rng.normal(size=(count, model.nq))
    for part in (slice(3, 7), slice(7, 11)):
        qpos[:, part] /= np.linalg.norm(qpos[:, part], axis=1, keepdims=True)
    quat = rng.normal(size=(count, 1, 4))
    quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
    qvel, ctrl = rng.normal(size=(count, model.nv)), np.arange(count)[:, None]
    poses = {"mocap_pos": rng.normal(size=(count, 1, 3)), "mocap_quat": quat}
    return Trajectory(np.arange(count), qpos, qvel, ctrl=ctrl, **poses, model=model)


def test_samples_are_given_bit_for_bit():
    t = recorded()
    found = Interpolator(t, t.model).at(t.time + np.array([0, 1e-12, -1e-12, 1e-12, 0]))
    for name in ("qpos", "qvel", "ctrl", "mocap_pos", "mocap_quat"):
        assert_array_equal(found[name], getattr(t, name))


def test_between_samples():
    t = recorded()
    found = Interpolator(t, t.model).at([1.25])
    for part in (slice(0, 3), slice(11, 12)):
        assert_allclose(found["qpos"][0, part], 0.75 * t.qpos[1, part] + 0.25 * t.qpos[2, part], rtol=1e-14)
    for part in (slice(3, 7), slice(7, 11)):
        expected = slerp(t.qpos[1, part], t.qpos[2, part], np.array(0.25))
        assert_allclose(found["qpos"][0, part], expected, rtol=1e-14)
    assert_allclose(found["mocap_quat"][0, 0], slerp(t.mocap_quat[1, 0], t.mocap_quat[2, 0], np.array(0.25)))
    assert found["ctrl"][0, 0] == 1.0  # controls are held


def test_beyond_the_ends_it_stays():
    t = recorded()
    found = Interpolator(t, t.model).at([-1.0, 9.0])
    assert_array_equal(found["qpos"], t.qpos[[0, -1]])


def test_the_end_counts_as_a_row():
    t = recorded()
    end = {"time": 4.5, "qpos": t.qpos[0], "qvel": t.qvel[0], "ctrl": [7.0]}
    end |= {"mocap_pos": t.mocap_pos[0], "mocap_quat": t.mocap_quat[0]}
    poses = {"mocap_pos": t.mocap_pos, "mocap_quat": t.mocap_quat}
    t = Trajectory(t.time, t.qpos, t.qvel, ctrl=t.ctrl, **poses, end=end, model=t.model)
    motion = Interpolator(t, t.model)
    assert motion.end == 4.5
    found = motion.at([4.25, 4.5])
    assert_allclose(found["qvel"][0], (t.qvel[4] + t.qvel[0]) / 2, rtol=1e-14)
    assert_array_equal(found["qpos"][1], t.qpos[0])


def test_one_sample():
    t = recorded(1)
    assert_array_equal(Interpolator(t, t.model).at([0.0, 3.0])["qpos"], t.qpos[[0, 0]])
