"""Cams in the kernels' Model: joints and tendons that follow others along a smooth curve through points.

A model file declares the curve of an equality of joints or tendons in <custom>, which MuJoCo ignores, in a tuple of
pairs: the equality, and a numeric whose data are positions of the second joint, each followed by one of the first:

    <equality><joint name="lift" joint1="follower" joint2="cam"/></equality>
    <custom>
      <numeric name="lift_curve" data="0 0  1.5 .01  3 .02  4.5 .01  6.283185307179586 0"/>
      <tuple name="cam_curve">
        <element objtype="equality" objname="lift"/><element objtype="numeric" objname="lift_curve" prm="1"/>
      </tuple>
    </custom>

The `prm` of the numeric: 0 for a curve with two ends, 1 for a periodic one, 2 for one that goes on by the difference of
its ends each period. The curve s is the cubic spline with continuous second derivative (de Boor, A Practical Guide to
Splines (1978), chapter IV), "not-a-knot" at its ends and straight beyond them. It stands inside the polynomial of the
equality, q₁ - q₁⁰ = P(s(q₂ - q₂⁰)), which is P(s) = s unless the file says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.errors import ModelError, proposal
from saltus.model.compile.constraints.cubic_spline import spline_segments
from saltus.model.enums import JOINT, TENDON

TITLE = "cam_curve"
ENDS, PERIODIC, ADVANCING = 0.0, 1.0, 2.0  # kinds of curves: the prm of a curve's numeric
CLOSE = 1e-9  # relative to the range of a periodic curve: the difference of its ends


class Curve(NamedTuple):
    """Points [n, 2] of a curve, and its kind."""

    points: np.ndarray
    kind: float

    @property
    def period(self) -> float:
        """Period (rad, m); 0 for a curve that is not periodic."""
        return float(self.points[-1, 0] - self.points[0, 0]) if self.kind != ENDS else 0.0

    @property
    def advance(self) -> float:
        """Change of the first joint in a period (rad, m)."""
        return float(self.points[-1, 1] - self.points[0, 1]) if self.kind == ADVANCING else 0.0

    def why_none(self) -> str:
        """Why the points make no curve of this kind; "" for one."""
        x, y = self.points[:, 0], self.points[:, 1]
        least = 2 if self.kind == ENDS else 3
        if len(x) < least or not np.isfinite(self.points).all():
            return f"expected at least {least} points of finite numbers"
        if (np.diff(x) <= 0.0).any():
            return "the positions of the cam must increase"
        if self.kind == PERIODIC and abs(y[-1] - y[0]) > CLOSE * np.ptp(y):
            return f"the last point of a period repeats the first: expected {y[0]:g} there, not {y[-1]:g}"
        return ""

    def segments(self) -> np.ndarray:
        """Beginnings of the segments, and their coefficients of powers 0 to 3 of the distance from there [n + 1, 5].

        The first goes to the left of the first point, the last to the right of the last one; both are straight.
        """
        x, y = self.points[:, 0], self.points[:, 1].copy()
        slope = self.advance / self.period if self.period else 0.0
        y -= slope * (x - x[0])  # what a periodic curve repeats
        if self.period:
            y[-1] = y[0]
        inside = spline_segments(x, y, periodic=self.period > 0.0)
        inside[:, 0] += slope * (x[:-1] - x[0])
        inside[:, 1] += slope
        # straight lines with the slopes at both ends
        _, b, c, e = inside[-1]
        h = x[-1] - x[-2]
        before, after = inside[0, 1], b + h * (2.0 * c + h * 3.0 * e)
        lines = [[self.points[p, 1], rate, 0.0, 0.0] for p, rate in ((0, before), (-1, after))]
        return np.column_stack([[x[0], *x], np.vstack([lines[0], inside, lines[1]])])


def cam_curves(m: mujoco.MjModel) -> dict[int, Curve]:
    """Curves by the number of their equality in the file.

    Raises:
        ModelError: a tuple is no list of equalities of two joints or tendons with their numerics, or a curve is none.
    """
    found: dict[int, Curve] = {}
    for title, elements in _declared(m):
        kinds = [int(m.tuple_objtype[k]) for k in elements]
        pair = [mujoco.mjtObj.mjOBJ_EQUALITY.value, mujoco.mjtObj.mjOBJ_NUMERIC.value]
        if len(kinds) % 2 or kinds != pair * (len(kinds) // 2):
            raise ModelError("expected pairs of an equality and the numeric of its curve", element="tuple", name=title)
        for k in elements[::2]:
            equality, numeric = int(m.tuple_objid[k]), int(m.tuple_objid[k + 1])
            if m.eq_type[equality] not in (JOINT, TENDON) or m.eq_obj2id[equality] < 0:
                raise ModelError(
                    "a curve is that of an equality of two joints, or of two tendons",
                    element="equality",
                    name=mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_EQUALITY, equality),
                )
            found[equality] = _curve(m, numeric, float(m.tuple_objprm[k + 1]))
    return found


def _declared(m: mujoco.MjModel) -> Iterator[tuple[str, range]]:
    """Tuples that declare curves: their names, and the numbers of their elements."""
    for t in range(m.ntuple):
        title = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_TUPLE, t) or ""
        if title.endswith(TITLE):
            yield title, range(m.tuple_adr[t], m.tuple_adr[t] + m.tuple_size[t])
        elif (at := title.rfind("cam_cu")) >= 0 and (hint := proposal(title[at:], (TITLE,))):
            raise ModelError(f"not a curve of a cam{hint}", element="tuple", name=title)


def _curve(m: mujoco.MjModel, numeric: int, kind: float) -> Curve:
    """The curve of a numeric."""
    first, size = m.numeric_adr[numeric], m.numeric_size[numeric]
    points = m.numeric_data[first : first + size - size % 2].reshape(-1, 2).copy()
    curve = Curve(points, kind)
    if kind not in (ENDS, PERIODIC, ADVANCING):
        why = f"the prm of its numeric is {kind:g}; expected 0 (two ends), 1 (periodic) or 2 (goes on each period)"
    elif size % 2:
        why = "it has a position of the follower after each of the cam"
    else:
        why = curve.why_none()
    if why:
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_NUMERIC, numeric)
        raise ModelError(f"no curve of a cam: {why}", element="numeric", name=name)
    return curve


def cam_values(m: mujoco.MjModel, active: Sequence[int]) -> tuple[dict[str, Any], dict[str, int]]:
    """Fields and sizes of the curves of the simulated equalities; both empty if there are none."""
    curves = {k: curve for k, curve in cam_curves(m).items() if k in active}
    if not curves:
        return {}, {}
    segments = [curves[k].segments() if k in curves else np.zeros((0, 5)) for k in active]
    count = np.array([len(s) for s in segments])
    every = np.concatenate(segments)
    values = {
        "cam_num": count,
        "cam_adr": np.cumsum(count) - count,
        "cam_period": np.array([curves[k].period if k in curves else 0.0 for k in active]),
        "cam_advance": np.array([curves[k].advance if k in curves else 0.0 for k in active]),
        "cam_begin": every[:, 0],
        "cam_coef": every[:, 1:],
    }
    return values, {"ncamsegment": len(every)}
