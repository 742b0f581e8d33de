"""Reference motions as functions of time alone, in the form that prescribed motions are compiled from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

Array = NDArray[np.float64]


def _table(curve: PPoly, dofs: slice) -> tuple[Array, Array]:
    """Breaks [n + 1], and coefficients [n, degree + 1, channels] with the highest power first."""
    return np.array(curve.x), np.ascontiguousarray(np.moveaxis(curve.c[:, :, dofs], 0, 1))


def scalar_function(curve: PPoly, period: float, dof: int, first: float) -> Callable[[float], float]:
    """Position of a joint as a function of time: `first`, moved by channel `dof` of a curve with a period (s) or 0."""
    breaks, coefficients = _table(curve, slice(dof, dof + 1))
    last, powers, start, end = len(breaks) - 2, coefficients.shape[1], float(breaks[0]), float(breaks[-1])

    def position(t):
        # the time within the motion, outside that of its ends, and the segment there
        s = t
        if period > 0.0:
            s = start + (t - start) % period
        if s < start:
            s = 0.0 * t + start
        if s >= end:
            s = 0.0 * t + end
        k = 0
        while k < last and s >= breaks[k + 1]:
            k += 1
        # Horner's rule
        h = s - breaks[k]
        x = 0.0 * h + coefficients[k, 0, 0]
        for power in range(1, powers):
            x = x * h + coefficients[k, power, 0]
        return first + x

    return position


def pose_function(
    curve: PPoly, period: float, dof: int, first: ArrayLike
) -> Callable[[float], tuple[tuple[float, ...], tuple[float, ...]]]:
    """Position and quaternion of a free joint as a function of time: the pose `first` [7], moved by six channels."""
    breaks, coefficients = _table(curve, slice(dof, dof + 6))
    last, powers, start, end = len(breaks) - 2, coefficients.shape[1], float(breaks[0]), float(breaks[-1])
    x0, y0, z0, a, b, c, d = (float(x) for x in np.asarray(first))

    def pose(t):
        # the time within the motion, outside that of its ends, and the segment there
        s = t
        if period > 0.0:
            s = start + (t - start) % period
        if s < start:
            s = 0.0 * t + start
        if s >= end:
            s = 0.0 * t + end
        k = 0
        while k < last and s >= breaks[k + 1]:
            k += 1
        # displacement (px, py, pz) and rotation vector (x, y, z), by Horner's rule
        h = s - breaks[k]
        zero = 0.0 * h
        px, py, pz, x, y, z = zero, zero, zero, zero, zero, zero
        for power in range(powers):
            px, py, pz = (
                px * h + coefficients[k, power, 0],
                py * h + coefficients[k, power, 1],
                pz * h + coefficients[k, power, 2],
            )
            x, y, z = (
                x * h + coefficients[k, power, 3],
                y * h + coefficients[k, power, 4],
                z * h + coefficients[k, power, 5],
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
            x0 + px,
            y0 + py,
            z0 + pz,
        )
        return place, (
            a * cosine - b * x - c * y - d * z,
            a * x + b * cosine + c * z - d * y,
            a * y - b * z + c * cosine + d * x,
            a * z + b * y - c * x + d * cosine,
        )

    return pose
