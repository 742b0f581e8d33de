"""Cubic splines through points, with continuous second derivative.

The slopes at the points solve a tridiagonal system, which says that second derivatives of neighbouring segments agree
(de Boor, A Practical Guide to Splines (1978), chapter IV). At the ends "not-a-knot": the first two segments are of one
cubic polynomial, and so are the last two; or the curve is periodic.
"""

import numpy as np


def spline_segments(x: np.ndarray, y: np.ndarray, *, periodic: bool) -> np.ndarray:
    """Coefficients of powers 0 to 3 of the distance from the beginning of each segment [n - 1, 4].

    `x` [n]: increasing; at least two, and three of a periodic curve, whose last `y` is its first one.
    """
    h = np.diff(x)
    chord = np.diff(y) / h
    slopes = _periodic_slopes(h, chord) if periodic else _slopes(h, chord)
    first, last = slopes[:-1], slopes[1:]
    square, cube = (3.0 * chord - 2.0 * first - last) / h, (first + last - 2.0 * chord) / (h * h)
    return np.column_stack([y[:-1], first, square, cube])


def _slopes(h: np.ndarray, chord: np.ndarray) -> np.ndarray:
    """Slopes [n] at the points of segments of widths h, by those of their chords; "not-a-knot" at the ends."""
    if len(h) == 1:
        return np.array([chord[0], chord[0]])
    if len(h) == 2:  # one parabola
        bend = (chord[1] - chord[0]) / (h[0] + h[1])
        return np.array([chord[0] - h[0] * bend, chord[0] + h[0] * bend, chord[1] + h[1] * bend])
    stiff = 1.0 / h
    inner = 3.0 * (stiff[:-1] * chord[:-1] + stiff[1:] * chord[1:])
    begin, end = _end_row(h[0], h[1], chord[0], chord[1]), _end_row(h[-1], h[-2], chord[-1], chord[-2])
    lower = np.array([*stiff[:-1], end[1]])
    upper = np.array([begin[1], *stiff[1:]])
    diagonal = np.array([begin[0], *(2.0 * (stiff[:-1] + stiff[1:])), end[0]])
    return _solve(lower, diagonal, upper, np.array([begin[2], *inner, end[2]]))


def _end_row(h0: float, h1: float, chord0: float, chord1: float) -> tuple[float, float, float]:
    """Equation of an end's slope and the next: its two coefficients and its right side; third derivatives agree."""
    both = h0 + h1
    return h1, both, ((h0 + 2.0 * both) * h1 * chord0 + h0 * h0 * chord1) / both


def _periodic_slopes(h: np.ndarray, chord: np.ndarray) -> np.ndarray:
    """Slopes [n] of a periodic curve; the corners of the cyclic matrix by Sherman & Morrison's formula."""
    stiff, before = 1.0 / h, np.roll(1.0 / h, 1)
    right = 3.0 * (before * np.roll(chord, 1) + stiff * chord)
    diagonal = 2.0 * (before + stiff)
    if len(h) == 2:
        coupling = stiff[0] + stiff[1]
        found = np.linalg.solve([[diagonal[0], coupling], [coupling, diagonal[1]]], right)
        return np.append(found, found[0])
    corner, pivot = before[0], -diagonal[0]
    changed = diagonal.copy()
    changed[0] -= pivot
    changed[-1] -= corner * corner / pivot
    u = np.zeros(len(h))
    u[0], u[-1] = pivot, corner
    p, q = (_solve(stiff[:-1], changed, stiff[:-1], side) for side in (right, u))
    share = (p[0] + corner / pivot * p[-1]) / (1.0 + q[0] + corner / pivot * q[-1])
    found = p - share * q
    return np.append(found, found[0])


def _solve(lower: np.ndarray, diagonal: np.ndarray, upper: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution of a tridiagonal system by elimination without exchanges."""
    pivot, out = diagonal.copy(), right.copy()
    for i in range(1, len(out)):
        factor = lower[i - 1] / pivot[i - 1]
        pivot[i] -= factor * upper[i - 1]
        out[i] -= factor * out[i - 1]
    out[-1] /= pivot[-1]
    for i in range(len(out) - 2, -1, -1):
        out[i] = (out[i] - upper[i] * out[i + 1]) / pivot[i]
    return out
