"""Splines through knots: noise of few numbers that lasts over many steps.

A spline through knots y_j at the steps j·hold is linear in them, x_k = Σ_j W_kj y_j. W is computed once; knots are held
or joined by lines or by natural cubic splines.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
INTERPOLATIONS = ("zero", "linear", "cubic")


class NoiseSpline:
    """Values at steps, from those at knots every `hold` steps.

    `interpolation`: "zero": each knot is held for `hold` steps; "linear": lines between knots; "cubic": natural cubic
    splines (C. de Boor, A Practical Guide to Splines, chapter IV). Lines and cubics have a knot at or after the last
    step.

    Attributes:
        knots: their number.
    """

    def __init__(self, steps: int, hold: int, interpolation: str):
        self._steps, self._hold = steps, hold
        self._matrix: Array | None = None  # W [steps, knots]; none where knots are held, or there is one at each step
        if interpolation == "zero" or hold == 1:
            self.knots = -(-steps // hold)
            return
        self.knots = max(-(-(steps - 1) // hold), 1) + 1
        at, places, each = np.arange(steps), hold * np.arange(self.knots), np.eye(self.knots)
        if interpolation == "linear":
            self._matrix = np.stack([np.interp(at, places, column) for column in each], axis=1)
        else:
            from scipy.interpolate import CubicSpline

            self._matrix = np.asarray(CubicSpline(places, each, bc_type="natural")(at))

    def __call__(self, values: Array) -> Array:
        """Values [..., steps, n] from those at knots [..., knots, n]; a new array."""
        if self._matrix is None:
            return np.repeat(values, self._hold, axis=-2)[..., : self._steps, :]
        return np.matmul(self._matrix, values)
