"""Reference motions as functions of time alone, in the form that prescribed motions are compiled from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.number.kernels import kernel

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

Array = NDArray[np.float64]


def _table(curve: PPoly, dofs: slice) -> tuple[Array, Array]:
    """Breaks [n + 1], and coefficients [n, degree + 1, channels] with the highest power first."""
    return np.array(curve.x), np.ascontiguousarray(np.moveaxis(curve.c[:, :, dofs], 0, 1))


@kernel
def segment_of(breaks, period, t):
    """The time within the motion, and the number of its segment; times outside are those of the ends."""
    start, end = breaks[0], breaks[-1]
    s = t
    if period > 0.0:
        s = start + (t - start) % period
    k = 0
    while k < breaks.shape[0] - 2 and s >= breaks[k + 1]:
        k += 1
    if s < start:
        s = 0.0 * t + start
    if s >= end:
        s = 0.0 * t + end
    return s, k


@kernel
def value_of(coefficients, k, channel, s):
    """Polynomial of segment k at a time s (s) after its break, by Horner's rule."""
    found = 0.0 * s + coefficients[k, 0, channel]
    for power in range(1, coefficients.shape[1]):
        found = found * s + coefficients[k, power, channel]
    return found


def scalar_function(curve: PPoly, period: float, dof: int, first: float) -> Callable[[float], float]:
    """Position of a joint as a function of time: `first`, moved by channel `dof` of a curve with a period (s) or 0."""
    breaks, coefficients = _table(curve, slice(dof, dof + 1))

    def position(t):
        s, k = segment_of(breaks, period, t)
        return first + value_of(coefficients, k, 0, s - breaks[k])

    return position


def pose_function(
    curve: PPoly, period: float, dof: int, first: ArrayLike
) -> Callable[[float], tuple[tuple[float, ...], tuple[float, ...]]]:
    """Position and quaternion of a free joint as a function of time: the pose `first` [7], moved by six channels."""
    breaks, coefficients = _table(curve, slice(dof, dof + 6))
    x0, y0, z0, a, b, c, d = (float(x) for x in np.asarray(first))

    def pose(t):
        s, k = segment_of(breaks, period, t)
        h = s - breaks[k]
        x, y, z = (
            value_of(coefficients, k, 3, h),
            value_of(coefficients, k, 4, h),
            value_of(coefficients, k, 5, h),
        )
        square = x * x + y * y + z * z
        if square < 1e-4:  # the series' first terms are exact to rounding there, with two derivatives
            cosine = 1.0 - square / 8.0 + square * square / 384.0 - square * square * square / 46080.0
            sine = 0.5 - square / 48.0 + square * square / 3840.0 - square * square * square / 645120.0
        else:
            angle = math.sqrt(square)
            cosine, sine = math.cos(0.5 * angle), math.sin(0.5 * angle) / angle
        x, y, z = sine * x, sine * y, sine * z
        place = (
            x0 + value_of(coefficients, k, 0, h),
            y0 + value_of(coefficients, k, 1, h),
            z0 + value_of(coefficients, k, 2, h),
        )
        return place, (
            a * cosine - b * x - c * y - d * z,
            a * x + b * cosine + c * z - d * y,
            a * y - b * z + c * cosine + d * x,
            a * z + b * y - c * x + d * cosine,
        )

    return pose
