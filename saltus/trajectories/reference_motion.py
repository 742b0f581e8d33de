"""Positions that are wanted at each time, with their velocities and accelerations.

Positions are those of the first way point, moved by polynomials of time along the axes of qvel: q(t) = q₀ ⊕ p(t), where
rotations of ball and free joints are exponentials of rotation vectors (Grassia, Practical parameterization of rotations
using the exponential map (1998)). What is continuous in p is continuous on the manifold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.model.enums import BALL, FREE
from saltus.model.model import Model
from saltus.trajectories.exponential import angular_motion
from saltus.trajectories.functions import pose_function, scalar_function

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

Array = NDArray[np.float64]
MOST = 200  # samples for each way point that are compared with limits of joints


@dataclass(frozen=True, eq=False)
class ReferenceMotion:
    """A motion that is wanted: functions of time, made by `minimum_jerk`, `spline`, `gait` or `read_motion`.

    Before `start` and after `end` (s) positions stay as they are there; a motion with a `period` (s) goes on for ever,
    from `start`. `joints`: names of the joints that it moves; others stay at `first`.

    Attributes:
        model: whose joints move.
        first [nq]: positions at the first way point (rad, m, quaternion parts).
        polynomials: displacements [nv] from there along the axes of qvel, as a SciPy PPoly.
        period: s; 0 for a motion with an end.
        joints: names of the joints that move.
    """

    model: Model
    first: Array
    polynomials: PPoly
    period: float
    joints: tuple[str, ...]

    @property
    def start(self) -> float:
        """Time of the first way point (s)."""
        return float(self.polynomials.x[0])

    @property
    def end(self) -> float:
        """Time of the last way point (s), or of the end of the first period."""
        return float(self.polynomials.x[-1])

    def __repr__(self) -> str:
        ends = f"period={self.period:g} s" if self.period else f"{self.start:g} to {self.end:g} s"
        return f"ReferenceMotion({', '.join(self.joints)}; {ends})"

    def qpos(self, t: ArrayLike) -> Array:
        """Positions [nq] at time t (s), or [n, nq] at times [n]."""
        return self._shaped(t, self._positions)

    def qvel(self, t: ArrayLike) -> Array:
        """Velocities [nv] (rad/s, m/s) at time t (s), or [n, nv] at times [n], along the axes of `Simulation.qvel`."""
        return self._shaped(t, lambda times: self._motions(times)[0])

    def qacc(self, t: ArrayLike) -> Array:
        """Accelerations [nv] (rad/s², m/s²) at time t (s), or [n, nv] at times [n]: derivatives of `qvel`."""
        return self._shaped(t, lambda times: self._motions(times)[1])

    def beyond_limits(self) -> dict[str, float]:
        """Joints that leave their range, and by how much at most (rad, m), at some hundred times of the motion."""
        m = self.model.mj_model
        samples = MOST * (len(self.polynomials.x) - 1) + 1
        positions = self._positions(np.linspace(self.start, self.end, samples))
        found = {}
        for j in np.flatnonzero(m.jnt_limited):
            low, high = m.jnt_range[j]
            q = positions[:, m.jnt_qposadr[j]]
            if m.jnt_type[j] == BALL:
                q, low = (
                    2.0 * np.arctan2(np.linalg.norm(positions[:, _quat(m, int(j))][:, 1:], axis=1), abs(q)),
                    -np.inf,
                )
            most = float(max((q - high).max(), (low - q).max()))
            if most > 1e-9:
                found[self.model.names("joint")[j]] = most
        return found

    def pose(self, joint: str) -> Callable[[float], tuple[tuple[float, ...], tuple[float, ...]]]:
        """Position (m) and quaternion of a free joint as a function of time, for `motions=` of a mocap body."""
        m = self.model.mj_model
        j = self.model.id("joint", joint)
        if m.jnt_type[j] != FREE:
            raise OptionError(f"pose: {joint!r} is no free joint; position() is for hinges and slides")
        first = self.first[m.jnt_qposadr[j] :][:7]
        return pose_function(self.polynomials, float(self.period), int(m.jnt_dofadr[j]), first)

    def position(self, joint: str) -> Callable[[float], float]:
        """Position of a hinge (rad) or slide (m) as a function of time, for `motions=`."""
        m = self.model.mj_model
        j = self.model.id("joint", joint)
        if m.jnt_type[j] in (BALL, FREE):
            raise OptionError(f"position: {joint!r} is a ball or free joint; pose() is for free joints")
        first = float(self.first[m.jnt_qposadr[j]])
        return scalar_function(self.polynomials, float(self.period), int(m.jnt_dofadr[j]), first)

    def _shaped(self, t: ArrayLike, read: Callable[[Array], Array]) -> Array:
        """Result of `read` for times [n], as an array [m] if t is one time."""
        times = numbers("t", t)
        if times.ndim > 1 or not np.isfinite(times).all():
            raise OptionError(f"t must be a finite time or times [n], got {t!r:.80}")
        found = read(np.atleast_1d(times))
        return found if times.ndim else found[0]

    def _local(self, times: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Times within the polynomials, and where the motion goes on there."""
        if self.period:
            return self.start + np.mod(times - self.start, self.period), np.ones(len(times), bool)
        return np.clip(times, self.start, self.end), (times >= self.start) & (times < self.end)

    def _positions(self, times: Array) -> Array:
        m = self.model.mj_model
        found = np.tile(self.first, (len(times), 1))
        for row, p in zip(found, self.polynomials(self._local(times)[0]), strict=True):
            mujoco.mj_integratePos(m, row, p, 1.0)
        return found

    def _motions(self, times: Array) -> tuple[Array, Array]:
        m = self.model.mj_model
        local, moves = self._local(times)
        p, rate, change = (self.polynomials(local, k) * (moves | (k == 0))[:, None] for k in range(3))
        velocity, acceleration = rate.copy(), change.copy()
        for j in np.flatnonzero(np.isin(m.jnt_type, (BALL, FREE))):
            i = turns(m, int(j))
            velocity[:, i], acceleration[:, i] = angular_motion(p[:, i], rate[:, i], change[:, i])
        return velocity, acceleration


def turns(m: mujoco.MjModel, joint: int) -> slice:
    """Degrees of freedom that turn a ball or free joint."""
    first = int(m.jnt_dofadr[joint]) + (3 if m.jnt_type[joint] == FREE else 0)
    return slice(first, first + 3)


def _quat(m: mujoco.MjModel, joint: int) -> slice:
    """Places of a ball joint's quaternion in qpos."""
    return slice(int(m.jnt_qposadr[joint]), int(m.jnt_qposadr[joint]) + 4)
