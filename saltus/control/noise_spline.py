"""Splines through knots: noise of few numbers that lasts over many steps.

A spline through knots y_j at the steps j·hold is linear in them, x_k = Σ_j W_kj y_j. W is computed once; knots are held
or joined by lines or by natural cubic splines.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

INTERPOLATIONS = ("zero", "linear", "cubic")


def spline_matrix(steps: int, hold: int, interpolation: str) -> NDArray[np.float64]:
    """Values at steps, from those at knots: W [steps, knots], each row of which sums to 1.

    `interpolation`: "zero": each knot is held for `hold` steps; "linear": lines between knots; "cubic": natural cubic
    splines (C. de Boor, A Practical Guide to Splines, chapter IV). Lines and cubics have a knot more, at or after the
    last step.
    """
    at = np.arange(steps)
    if interpolation == "zero":
        return np.eye(-(-steps // hold))[at // hold]
    knots = -(-(steps - 1) // hold) + 1 if steps > 1 else 2
    places, each = hold * np.arange(knots), np.eye(knots)
    if interpolation == "linear":
        return np.stack([np.interp(at, places, column) for column in each], axis=1)
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(places, each, bc_type="natural")(at))
