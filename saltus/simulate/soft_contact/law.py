"""The law of a soft contact of a mass: impedance, force, and penetration at rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import number, numbers
from saltus.contact.rows import soft_law as kernels
from saltus.model.contact.contact_parameters import DEFAULT_SOLREF, impedance_parameters, reference
from saltus.number.kernels import interpret

_impedance: Callable[..., float] = interpret(kernels.impedance)
_reference: Callable[..., Any] = interpret(kernels.reference)


@dataclass(frozen=True)
class SoftContact:
    """Soft contact of a point mass.

    `solref`, `solimp`: as MuJoCo defines them. `mass` (kg), `gravity` (m/s²), `timestep` (s); `refsafe`: keep the time
    constant above two steps; `speed` (m/s) of an impact.
    """

    solref: tuple[float, float]
    solimp: tuple[float, float, float, float, float]
    mass: float = 1.0
    gravity: float = 9.81
    timestep: float = 0.002
    refsafe: bool = True
    speed: float = 1.0

    # ------------------------------------------------------------ the law

    @property
    def used_solref(self) -> tuple[float, float]:
        """The solref in effect: the default for mixed signs, the time constant at least two steps if `refsafe`."""
        first, second = self.solref
        if (first > 0) != (second > 0):
            first, second = DEFAULT_SOLREF
        if first > 0 and self.refsafe:
            first = max(first, 2 * self.timestep)
        return first, second

    @property
    def used_solimp(self) -> tuple[float, ...]:
        """The solimp in effect, clamped to its limits."""
        return tuple(impedance_parameters(self.solimp).tolist())

    @cached_property
    def _constants(self) -> tuple[float, float]:
        """(K, B) of a_ref = -B v - K d r (1/s², 1/s)."""
        safe = 2 * self.timestep if self.refsafe else 0.0
        K, B = reference(self.solref, self.used_solimp[1], safe)
        return abs(float(K)), abs(float(B))  # avoids -0

    def impedance(self, r: ArrayLike) -> NDArray[np.float64]:
        """d(r): the share of the reference acceleration in the motion, for violations r (m)."""
        curve = self.used_solimp
        return _each(lambda x: _impedance(curve, x), numbers("r", r))

    def force(self, r: ArrayLike, v: ArrayLike = 0.0) -> NDArray[np.float64]:
        """Force (N) on the mass at violations r (m, negative inside, no force elsewhere) and velocities v (m/s).

        The force depends on the acceleration without contact, which is that of gravity.
        """
        inside = numbers("r", r) < 0
        return np.where(inside, np.maximum(self.unclipped_force(r, v), 0.0), 0.0)

    def unclipped_force(self, r: ArrayLike, v: ArrayLike = 0.0) -> NDArray[np.float64]:
        """Force (N) on the mass without clipping at zero: negative if a bonded contact would pull."""
        K, B = self._constants
        curve, g, m = self.used_solimp, self.gravity, self.mass

        def one(r: float, v: float) -> float:
            d = _impedance(curve, r)
            return m * d * (_reference(K, B, d, r, v) + g)

        return _each(one, numbers("r", r), numbers("v", v))

    def shortest_time_at(self, d: float) -> float:
        """The shorter of 1/ω and 2/(d b) (s): the time scale of a contact of impedance d."""
        K, B = self._constants
        d = number("d", d)
        fastest = max(math.sqrt(K) * d, B * d / 2)
        return 1 / fastest if fastest else math.inf

    @property
    def largest_frequency(self) -> float:
        """ω = √K d (rad/s) at the largest impedance."""
        return math.sqrt(self._constants[0]) * max(self.used_solimp[:2])

    @property
    def shortest_time(self) -> float:
        """The shortest time (s) in which the contact acts at any depth."""
        return self.shortest_time_at(max(self.used_solimp[:2]))

    # ------------------------------------------------------------ at rest

    @cached_property
    def rest_penetration(self) -> float:
        """Depth (m) at which the mass rests: the solution of g (1 - d(r)) = K d(r)² |r|; inf without stiffness."""
        K, _ = self._constants
        g, (d0, d1) = self.gravity, self.used_solimp[:2]
        if g == 0:
            return 0.0
        if K == 0:
            return math.inf
        depth = lambda d: g * (1 - d) / (K * d * d)  # noqa: E731
        shallow, deep = sorted((depth(d0), depth(d1)))
        excess = lambda p: float(p - depth(float(self.impedance(-p))))  # noqa: E731
        # several solutions are possible if d(r) decreases with depth; the mass comes from above
        grid = np.geomspace(shallow, deep, 400 if d0 > d1 else 2)
        above = next((i for i, p in enumerate(grid) if i and excess(p) >= 0), len(grid) - 1)
        low, high = float(grid[above - 1]), float(grid[above])
        if not excess(low) < 0 < excess(high):
            return low if excess(low) >= 0 else high
        from scipy.optimize import brentq

        return float(brentq(excess, low, high, xtol=1e-15 * low, rtol=1e-14))  # type: ignore[arg-type]

    @cached_property
    def rest_impedance(self) -> float:
        """Impedance d at rest."""
        return float(self.impedance(-min(self.rest_penetration, 1e300)))

    @property
    def reference_stiffness(self) -> float:
        """k = K d (1/s²) of the reference acceleration -b v - k r, at rest."""
        return self._constants[0] * self.rest_impedance

    @property
    def reference_damping(self) -> float:
        """b (1/s) of the reference acceleration -b v - k r."""
        return self._constants[1]

    @property
    def stiffness(self) -> float:
        """m d k (N/m): stiffness of the spring that the mass feels at rest."""
        return self.mass * self.rest_impedance * self.reference_stiffness

    @property
    def damping(self) -> float:
        """m d b (N s/m): damping of the damper that the mass feels at rest."""
        return self.mass * self.rest_impedance * self.reference_damping

    @property
    def time_constant(self) -> float:
        """2 / (d b) (s): time in which the envelope of a small oscillation about rest falls to 1/e."""
        return 2 / (self.rest_impedance * self.reference_damping) if self.reference_damping else math.inf

    @property
    def damping_ratio(self) -> float:
        """b / (2 √K) at any depth: below 1 the mass oscillates about rest, otherwise it creeps to rest."""
        K, B = self._constants
        return B / (2 * math.sqrt(K)) if K else math.inf

    @property
    def xml(self) -> str:
        """MJCF of the mass on a vertical slide whose lower limit, at 0 m, is this contact."""
        numbers = lambda values: " ".join(repr(x) for x in values)  # noqa: E731
        return f"""<mujoco model="soft contact">
  <option timestep="{self.timestep!r}" gravity="0 0 {-self.gravity!r}" tolerance="1e-14">
    <flag refsafe="{"enable" if self.refsafe else "disable"}"/>
  </option>
  <worldbody>
    <body>
      <joint name="height" type="slide" axis="0 0 1" limited="true" range="0 1e9"
             solreflimit="{numbers(self.solref)}" solimplimit="{numbers(self.solimp)}"/>
      <inertial pos="0 0 0" mass="{self.mass!r}" diaginertia="1 1 1"/>
    </body>
  </worldbody>
</mujoco>"""


def _each(function: Callable[..., float], *arguments: ArrayLike) -> NDArray[np.float64]:
    """Apply a function of numbers elementwise, with broadcasting; numbers give a number."""
    values = np.broadcast_arrays(*(np.asarray(a, float) for a in arguments))
    out = np.empty(values[0].shape)
    for i in np.ndindex(out.shape):
        out[i] = function(*(float(x[i]) for x in values))
    return out[()]
