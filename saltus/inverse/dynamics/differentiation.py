"""Velocities and accelerations of recorded positions: filter without phase, quintic splines, rates on the manifold.

A quaternion's four parts are splined and divided by their length, so that for the spline s

    ω = 2 Im(s̄ ṡ) / |s|²,    dω/dt = 2 Im(s̄ s̈) / |s|² - 2 ω (s · ṡ) / |s|²

in the axes of the body (Solà, Quaternion kinematics for the error-state Kalman filter (2017), section 1.5). Splines of
degree 5 follow a smooth motion with errors h⁶ in positions, h⁵ in velocities and h⁴ in accelerations for an interval h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.inverse.dynamics.recording import Recording
from saltus.model.enums import BALL, FREE, HINGE
from saltus.model.model import Model

Array = NDArray[np.float64]
DEGREE = 5  # of the splines
TURN = np.sqrt(0.5)  # cosine of half the largest rotation between samples, 90 degrees
PASS = (np.sqrt(2.0) - 1.0) ** 0.25  # cutoff of two passes over that of one, of second order each


class Motion(NamedTuple):
    """Positions [n, nq], velocities [n, nv] and accelerations [n, nv] at the times [n] (s) of a recording."""

    time: Array
    qpos: Array
    qvel: Array
    qacc: Array


def differentiated(model: Model, recording: Recording, cutoff: float | None) -> Motion:
    """The motion of a recording, filtered below `cutoff` (Hz) first if there is one.

    Raises:
        OptionError: there are too few samples, they are too far apart for rotations to be told, or a filter is asked
            for and the intervals are not equal.
    """
    from scipy.interpolate import make_interp_spline

    time, places = recording.time, _continued(model, recording.qpos)
    if len(time) <= DEGREE:
        raise OptionError(f"a recording needs at least {DEGREE + 1} samples, not {len(time)}")
    if cutoff is not None:
        places = filtered(time, places, cutoff)
    if not model.nv:
        return Motion(time, places, *(np.zeros((len(time), 0)) for _ in range(2)))
    spline = make_interp_spline(time, places, k=DEGREE)
    return _on_manifold(model, time, places, spline(time, 1), spline(time, 2))


def filtered(time: Array, values: Array, cutoff: float) -> Array:
    """Values [n, k] without what is faster than `cutoff` (Hz), without delay.

    Butterworth's filter of second order, forwards and backwards, whose gain at the cutoff is 1/√2 after both passes
    (Winter, Biomechanics and Motor Control of Human Movement (2009), section 3.4.4).
    """
    from scipy.signal import butter, sosfiltfilt

    steps = np.diff(time)
    if (abs(steps - steps.mean()) > 1e-6 * steps.mean()).any():
        raise OptionError("a cutoff needs equal intervals of time; resample the recording first")
    rate = 1.0 / steps.mean()
    if cutoff >= 0.5 * rate:
        raise OptionError(f"cutoff must be below half the sampling rate, {0.5 * rate:g} Hz")
    # the bilinear transform maps the frequency f to tan(π f / rate)
    once = np.arctan(np.tan(np.pi * cutoff / rate) / PASS) / np.pi
    return sosfiltfilt(
        butter(2, 2.0 * once, output="sos"), values, axis=0, padlen=min(len(values) - 1, round(3 / once))
    )


def _continued(model: Model, qpos: Array) -> Array:
    """Positions with quaternions of length 1 that do not change sign; refuses jumps that are no motion."""
    out, names = qpos.copy(), model.names("joint")
    for name, a, kind, limited in zip(names, model.jnt_qposadr, model.jnt_type, model.jnt_limited, strict=True):
        if kind == HINGE and not limited:
            angles = out[:, a]
            if np.ptp(angles) <= 2.0 * np.pi + 1e-6 and (abs(np.diff(angles)) > np.pi).any():
                raise OptionError(f"the angle of joint {name} jumps by a turn; numpy.unwrap it first")
        if kind not in (FREE, BALL):
            continue
        part = out[:, a + (3 if kind == FREE else 0) :][:, :4]
        lengths = np.linalg.norm(part, axis=1, keepdims=True)
        if (lengths == 0).any():
            raise OptionError(f"a quaternion of joint {name} is zero; it must have a length")
        part /= lengths
        cosines = (part[1:] * part[:-1]).sum(axis=1)
        if (abs(cosines) < TURN).any():
            raise OptionError(f"joint {name} turns by more than 90 degrees from sample to sample; record it faster")
        part[1:] *= np.cumprod(np.where(cosines < 0, -1.0, 1.0))[:, None]
    return out


def _on_manifold(model: Model, time: Array, s: Array, s1: Array, s2: Array) -> Motion:
    """Positions, velocities and accelerations from coordinates [n, nq] and their first and second derivatives."""
    n = len(time)
    qpos, qvel, qacc = s.copy(), np.zeros((n, model.nv)), np.zeros((n, model.nv))
    for a, i, kind in zip(model.jnt_qposadr, model.jnt_dofadr, model.jnt_type, strict=True):
        straight = {FREE: 3, BALL: 0}.get(kind, 1)
        qvel[:, i : i + straight], qacc[:, i : i + straight] = s1[:, a : a + straight], s2[:, a : a + straight]
        if kind in (FREE, BALL):
            a, i = a + straight, i + straight
            q, dq, ddq = (x[:, a : a + 4] for x in (s, s1, s2))
            square = (q * q).sum(axis=1, keepdims=True)
            rate = 2.0 * _imaginary(q, dq) / square
            qvel[:, i : i + 3] = rate
            qacc[:, i : i + 3] = 2.0 * (_imaginary(q, ddq) - rate * (q * dq).sum(axis=1, keepdims=True)) / square
            qpos[:, a : a + 4] = q / np.sqrt(square)
    return Motion(time, qpos, qvel, qacc)


def _imaginary(q: Array, p: Array) -> Array:
    """Imaginary part [n, 3] of the products q̄ p of quaternions [n, 4]."""
    return q[:, :1] * p[:, 1:] - p[:, :1] * q[:, 1:] - np.cross(q[:, 1:], p[:, 1:])
