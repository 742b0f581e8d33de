"""States between samples, on the manifold.

Between two samples, numbers are interpolated linearly and orientations along the shortest arc at constant angular
velocity (slerp: Shoemake, Animating rotation with quaternion curves, SIGGRAPH 1985). The line through two quaternions
would leave the unit sphere and turn fastest in its middle. Curves of higher order that use the velocities would
overshoot where a contact changes them between samples. Controls and sleep states are held, as they were in the run. At
a sample the result is that sample bit for bit; beyond the last row it is the last row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.model.enums import BALL, FREE
from saltus.record.table.columns import COLUMNS, HELD, JOINTS, SLERP

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.table.trajectory_table import TrajectoryTable

#: Share of the time between two samples: a time nearer than this to a sample is at the sample.
ROUNDING = 1e-9
BETWEEN = {name: column.between for name, column in COLUMNS.items() if column.between}


class Interpolator:
    """The motion of a recording at any time.

    `end`: time (s) of the last row: that of the run's end where it was recorded, otherwise of the last sample.
    """

    def __init__(self, trajectory: TrajectoryTable, model: Model):
        self._rows = {name: _with_end(trajectory, name) for name in BETWEEN}
        self._time = _with_end(trajectory, "time")
        self._quaternions = quaternion_places(model)
        self.start, self.end = float(self._time[0]), float(self._time[-1])

    def at(self, times: ArrayLike) -> dict[str, NDArray[Any]]:
        """The columns that are known between samples, at times [T] (s, as in the recording), each with T rows."""
        lower, fraction = self._places(np.asarray(times, float))
        upper = np.minimum(lower + 1, len(self._time) - 1)
        found: dict[str, NDArray[Any]] = {}
        for name, rows in self._rows.items():
            a, b = rows[lower], rows[upper]
            if BETWEEN[name] == HELD:
                found[name] = a
            elif BETWEEN[name] == SLERP:
                found[name] = slerp(a, b, fraction[:, None])
            else:
                found[name] = _lerp(a, b, fraction)
            if BETWEEN[name] == JOINTS:
                for k in self._quaternions:
                    part = slice(k, k + 4)
                    found[name][:, part] = slerp(a[:, part], b[:, part], fraction)
        return found

    def _places(self, times: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The row before each time, and the fraction of the way to the next row, from 0 to 1."""
        last = len(self._time) - 1
        lower = np.clip(np.searchsorted(self._time, times, side="right") - 1, 0, last)
        width = self._time[np.minimum(lower + 1, last)] - self._time[lower]
        fraction = np.where(width > 0, (times - self._time[lower]) / np.where(width > 0, width, 1.0), 0.0)
        fraction = np.where(fraction < ROUNDING, 0.0, fraction)
        at_next = fraction > 1.0 - ROUNDING
        return np.where(at_next, np.minimum(lower + 1, last), lower), np.where(at_next, 0.0, fraction)


def _with_end(trajectory: TrajectoryTable, name: str) -> NDArray[Any]:
    rows = getattr(trajectory, name)
    if trajectory.end is None:
        return rows
    return np.concatenate([rows, trajectory.end[name][None]])


def quaternion_places(model: Model) -> list[int]:
    """Places in qpos where quaternions begin."""
    kinds, places = model.jnt_type, model.jnt_qposadr
    return [int(a) + (3 if kind == FREE else 0) for kind, a in zip(kinds, places, strict=True) if kind in (FREE, BALL)]


def _lerp(a: NDArray[Any], b: NDArray[Any], fraction: NDArray[Any]) -> NDArray[Any]:
    t = fraction.reshape(-1, *[1] * (a.ndim - 1))
    # where the fraction is zero, b's entries are ignored, even nan
    return np.where(t > 0.0, a + t * (b - a), a)


def slerp(a: NDArray[Any], b: NDArray[Any], fraction: NDArray[Any]) -> NDArray[Any]:
    """Slerp from quaternions a to b [..., 4]: along the shortest arc by a fraction [...] of it.

    a sin((1 - t) θ) / sin θ + b sin(t θ) / sin θ with θ the angle between them on the sphere; a itself where t is 0.
    """
    t = fraction[..., None]
    unit_a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    unit_b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    cosine = np.sum(unit_a * unit_b, axis=-1, keepdims=True)
    unit_b = np.where(cosine < 0.0, -unit_b, unit_b)  # q and -q are the same orientation
    # angle from both chords, exact for small and for large angles (Kahan)
    chord = np.linalg.norm(unit_a - unit_b, axis=-1, keepdims=True)
    sum_ = np.linalg.norm(unit_a + unit_b, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(chord, sum_)
    small = angle < 1e-12
    sine = np.where(small, 1.0, np.sin(angle))
    near = np.where(small, 1.0 - t, np.sin((1.0 - t) * angle) / sine)
    far = np.where(small, t, np.sin(t * angle) / sine)
    return np.where(t > 0.0, near * unit_a + far * unit_b, a)
