"""Velocities and accelerations of recordings. References: closed forms, and the gain of the filter at its cutoff.

A quintic spline's errors fall by h⁵ in velocities and h⁴ in accelerations; slopes are fitted away from the ends.
"""

import mujoco
import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import saltus
from saltus.errors import OptionError
from saltus.inverse.dynamics.differentiation import differentiated, filtered
from saltus.inverse.dynamics.recording import Recording

FREE = saltus.load('<mujoco><worldbody><body><freejoint name="j"/><geom size=".1"/></body></worldbody></mujoco>')
HINGE = saltus.load('<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody></mujoco>')


def recording(time, qpos):
    return Recording(time, qpos, np.zeros((len(time), 0, 3)), np.zeros((len(time), 0, 4)))


def tumbling(count):
    """Turns by Rz(a) Rx(b) with a = 3 t + t², b = sin 2t: ω = Rx(b)ᵀ (0, 0, a') + (b', 0, 0) in the body's axes."""
    t = np.linspace(0, 2, count)
    a, da, dda = 3 * t + t**2, 3 + 2 * t, 2 + 0 * t
    b, db, ddb = np.sin(2 * t), 2 * np.cos(2 * t), -4 * np.sin(2 * t)
    quats = np.zeros((count, 4))
    for k in range(count):
        mujoco.mju_mulQuat(
            quats[k],
            np.array([np.cos(a[k] / 2), 0, 0, np.sin(a[k] / 2)]),
            np.array([np.cos(b[k] / 2), np.sin(b[k] / 2), 0, 0]),
        )
    quats[1::2] *= -2.0  # neither the sign nor the length means anything
    s, c = np.sin(b), np.cos(b)
    rate = np.stack([db, da * s, da * c], axis=1)
    slope = np.stack([ddb, dda * s + da * c * db, dda * c - da * s * db], axis=1)
    place = np.stack([np.sin(3 * t), t**3, np.cos(t)], axis=1)
    return (
        t,
        np.concatenate([place, quats], axis=1),
        rate,
        slope,
        np.stack([-9 * np.sin(3 * t), 6 * t, -np.cos(t)], axis=1),
    )


def test_rates_of_rotations_have_the_order_of_the_spline():
    errors = []
    for count in (41, 81, 161):
        t, qpos, rate, slope, linear = tumbling(count)
        motion = differentiated(FREE, recording(t, qpos), None)
        inside = slice(count // 5, -count // 5)
        off = motion.qvel[:, 3:] - rate, motion.qacc[:, 3:] - slope, motion.qacc[:, :3] - linear
        errors.append([abs(x[inside]).max() for x in off])
        np.testing.assert_allclose(np.linalg.norm(motion.qpos[:, 3:], axis=1), 1, rtol=1e-15)
    orders = np.log2(np.array(errors[:-1]) / errors[1:])[-1]
    # velocities at the nodes of a spline of odd degree on equal intervals gain an order
    assert orders[0] > 5 - 0.2
    np.testing.assert_allclose(orders[1:], 4, atol=0.2)


def test_rates_of_filtered_quaternions_belong_together():
    """A filter shortens quaternions; accelerations are still the slopes of the velocities, to the spline's error."""
    t, qpos, *_ = tumbling(401)
    motion = differentiated(FREE, recording(t, qpos), 1.5)
    slopes = make_interp_spline(t, motion.qvel, k=5)(t, 1)
    np.testing.assert_allclose(motion.qacc[80:-80], slopes[80:-80], rtol=0, atol=1e-5 * abs(motion.qacc).max())


def test_the_filter_keeps_phase_and_halves_power_at_its_cutoff():
    """Sines of 2, 8 and 40 Hz with a cutoff of 8 Hz: gains 1/(1 + (f/fc)⁴ (√2 - 1)) but for the warped frequency."""
    t = np.arange(0, 4, 0.005)
    inside = slice(200, 600)
    for frequency in (2.0, 8.0, 40.0):
        wave = np.sin(2 * np.pi * frequency * t)
        found = filtered(t, wave[:, None], 8.0)[inside, 0]
        warped = np.tan(np.pi * frequency * 0.005) / np.tan(np.pi * 8 * 0.005)
        expected = wave[inside] / (1 + warped**4 * (np.sqrt(2) - 1))
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_straight_line_goes_through_the_filter_with_its_ends():
    t = np.arange(0, 1, 0.01)
    np.testing.assert_allclose(filtered(t, (3 * t - 1)[:, None], 6.0)[:, 0], 3 * t - 1, atol=1e-6)


def test_what_is_no_motion_is_refused():
    t = np.linspace(0, 1, 21)
    turns = (20 * t + np.pi) % (2 * np.pi) - np.pi
    with pytest.raises(OptionError, match="joint j jumps by a turn"):
        differentiated(HINGE, recording(t, turns[:, None]), None)
    fast = np.zeros((21, 7))
    fast[:, 3], fast[:, 6] = np.cos(20 * t), np.sin(20 * t)
    with pytest.raises(OptionError, match="joint j turns by more than 90 degrees"):
        differentiated(FREE, recording(t, fast), None)
    with pytest.raises(OptionError, match="quaternion of joint j is zero"):
        differentiated(FREE, recording(t, 0 * fast), None)
    with pytest.raises(OptionError, match="at least 6 samples"):
        differentiated(HINGE, recording(t[:5], t[:5, None]), None)
    with pytest.raises(OptionError, match="equal intervals"):
        differentiated(HINGE, recording(t**2, t[:, None]), 3.0)
    with pytest.raises(OptionError, match="below half the sampling rate, 10 Hz"):
        differentiated(HINGE, recording(t, t[:, None]), 10.0)
