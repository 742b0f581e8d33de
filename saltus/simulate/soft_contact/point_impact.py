"""Impact of a point mass on a soft contact: depth, duration and restitution.

The contact is the lower limit of a vertical slide, a constraint with one row, so the motion is that of the soft law
alone. The law's own value comes from steps with error control that begin and end at the surface and meet no
discontinuity between; that of a fixed step depends on where in a step the mass touches, and is taken at several places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, OptionError
from saltus.simulate.simulation import Simulation
from saltus.simulate.soft_contact.law import SoftContact

RELATIVE = 1e-10  # tolerance of a step
PARTS = 20  # number of steps in the shortest time of the law, or for crossing the layer in which d(r) varies
LONGEST = 20_000  # number of steps after which a motion that neither leaves nor settles counts as staying
SURFACE = 1e-5  # relative to the largest depth: from here to the surface the acceleration counts as constant
NEAR_REST = 1e-4  # distance from rest, relative to the depth at rest, at which the mass counts as staying
PATIENCE = 20  # multiple of the law's turning time within which a fixed step should bring the mass back
CLOCK = 1e-12  # s; shorter times count as zero
FINE = 20_000  # number of steps per turn above which fixed steps agree with the continuous law
PHASES = 8  # number of places within a fixed step at which the mass touches


@dataclass(frozen=True)
class Impact:
    """An impact under the continuous law.

    Attributes:
        restitution: ratio of the rebound speed at the surface to the impact speed; 0 if the mass stays.
        shortfall: m, depth at which a mass that stays turns again, otherwise 0.
        deepest: m, the largest penetration.
        duration: s, from the impact until the contact stops pushing; inf if the mass stays.
        turn: s, from the impact to the deepest point, or until it is clear that there is none.
        r, v: [T] violation (m, negative inside) and velocity (m/s) during the contact.
    """

    restitution: float
    shortfall: float
    deepest: float
    duration: float
    turn: float
    r: NDArray[np.float64]
    v: NDArray[np.float64]


def impact(law: SoftContact) -> Impact:
    """The impact of `law.mass` at `law.speed`, simulated by `dopri5`."""
    if law.reference_stiffness == 0:
        # no force turns the mass around
        return Impact(0.0, math.inf, math.inf, math.inf, law.timestep, np.empty(0), np.empty(0))
    try:
        return _Fall(law).run()
    except DivergenceError:
        raise _beyond_the_clock(law) from None


def _beyond_the_clock(law: SoftContact) -> OptionError:
    what = f"an impact at {law.speed:g} m/s on a contact that acts within {law.shortest_time:.2g} s"
    return OptionError(f"solref, speed: {what} cannot be simulated")


class _Fall:
    """Simulation of an impact, from one event to the next."""

    def __init__(self, law: SoftContact):
        self.law = law
        self.scale, self.omega = law.shortest_time, law.largest_frequency
        tolerance = RELATIVE, 1e-4 * RELATIVE * law.speed * min(1.0, self.scale)
        # the clamped parameters, without a lower limit by another step
        xml = replace(law, solref=law.used_solref, refsafe=False).xml
        self.sim = Simulation(xml, "dopri5", tolerance=tolerance)
        self.sim.qpos[0], self.sim.qvel[0] = -1e-12 * law.speed * self.scale, -law.speed
        self.path: list[tuple[float, float]] = []
        self.deepest = self.turn = 0.0
        self.released = math.inf

    @property
    def r(self) -> float:
        return float(self.sim.qpos[0])

    @property
    def v(self) -> float:
        return float(self.sim.qvel[0])

    def run(self) -> Impact:
        rising = False
        for _ in range(LONGEST):
            self.path.append((self.r, self.v))
            before, part = self.sim.snapshot(), self._part()
            if not CLOCK < part < math.inf:
                raise _beyond_the_clock(self.law)
            self._go(before, part)
            if self.deepest == 0 and self.v >= 0:
                self._go_to(before, lambda: self.v)
                self.deepest, self.turn = -self.r, self.sim.time
            elif self.deepest > 0:
                if rising and self.v < 0:
                    self._go_to(before, lambda: self.v)
                    return self._stays(-self.r)
                rising = rising or self.v > 0
                if self.released == math.inf and self._push() <= 0:
                    self._go_to(before, self._push)
                    self.released = self.sim.time
                if rising and -self.r <= self._near():
                    return self._leaves()
            if self._settles():
                break
        return self._stays(self.law.rest_penetration)

    def _part(self) -> float:
        """Time (s) to the next evaluation: no event is missed within, and the surface is approached by halves."""
        law, v = self.law, abs(self.v)
        d = float(law.impedance(self.r))
        part = law.shortest_time_at(d) / PARTS
        width = law.used_solimp[2]
        if -self.r < width:
            part = min(part, width / (v * PARTS)) if v > 0 else part
        return min(part, 0.5 * abs(self.r) / v) if self.v > 0 else part

    def _near(self) -> float:
        """Depth (m) from which the acceleration hardly changes the speed on the way to the surface."""
        braking = self.v**2 / self.law.gravity if self.law.gravity else math.inf
        return SURFACE * max(min(self.deepest, braking), SURFACE * self.deepest)

    def _push(self) -> float:
        """Force (N) of the law on the mass, negative if only a pull would provide it."""
        return float(self.law.unclipped_force(self.r, self.v))

    def _settles(self) -> bool:
        """Whether the mass is practically at rest, or will creep to rest from its side, pushed all the way.

        With the distance x from rest, an overdamped motion x(t) = A exp(-λ₁ t) + C exp(-λ₂ t), λ₁ <= ω <= λ₂, does not
        pass it if |v| < λ₂ |x|. On its way up it brakes by no more than about λ₁² x; gravity alone has to exceed this,
        or the contact opens.
        """
        law = self.law
        rest, ratio = law.rest_penetration, law.damping_ratio
        x, ahead = -self.r - rest, self.v * self.scale
        if math.hypot(x, ahead) < NEAR_REST * rest:
            return True
        if ratio < 1 - 1e-9 or x * ahead <= 0 or abs(ahead) > 0.5 * abs(x):
            return False
        slow = self.omega * (ratio - math.sqrt(max(ratio**2 - 1, 0.0)))
        return x < 0 or 1.5 * slow**2 * x < law.gravity

    def _go(self, start: np.ndarray, h: float) -> None:
        self.sim.restore(start)
        if h > CLOCK:
            self.sim.timestep = h
            self.sim.step()
        self.last = h

    def _go_to(self, start: np.ndarray, value: Callable[[], float]) -> None:
        """Go to the sign change of a value within the last step, which began at `start`."""
        from scipy.optimize import brentq

        def at(h: float) -> float:
            self._go(start, h)
            return value()

        h = self.last
        if at(0.0) * at(h) < 0:
            self._go(start, brentq(at, 0.0, h, xtol=CLOCK))  # type: ignore[arg-type]

    def _leaves(self) -> Impact:
        a = max(self._push(), 0.0) / self.law.mass - self.law.gravity
        speed = math.sqrt(max(self.v**2 - 2 * a * self.r, 0.0))
        end = self.sim.time + max(-self.r, 0.0) / self.v
        return self._result(speed / self.law.speed, 0.0, min(self.released, end))

    def _stays(self, shortfall: float) -> Impact:
        self.deepest = self.deepest or max(-self.r, self.law.rest_penetration)
        return self._result(0.0, shortfall, math.inf)

    def _result(self, restitution: float, shortfall: float, duration: float) -> Impact:
        self.path.append((self.r, self.v))
        r, v = np.array(self.path).T
        return Impact(restitution, shortfall, self.deepest, duration, self.turn or self.sim.time, r, v)


def stepped_restitution(law: SoftContact, exact: Impact, integrator: str = "euler") -> NDArray[np.float64]:
    """Restitution [PHASES] with steps of `law.timestep`, for several lengths of the first step's part in contact.

    The speed at the surface is that of the flight to which the step belongs: semi-implicit Euler keeps
    v²/2 + g x - g h v/2 in free fall. inf where the motion diverges; that of `exact`, the impact under the continuous
    law, where it takes very many steps.
    """
    if exact.turn > FINE * law.timestep:
        return np.full(PHASES, exact.restitution)
    sim = Simulation(law.xml, integrator, timestep=law.timestep)
    phases = (np.arange(PHASES) + 0.5) / PHASES
    return np.array([_stepped(law, exact.turn, sim, float(phase)) for phase in phases])


def _stepped(law: SoftContact, turn: float, sim: Simulation, phase: float) -> float:
    g, h, speed = law.gravity, law.timestep, law.speed
    sim.reset()
    r = -phase * h * speed
    sim.qpos[0] = r
    sim.qvel[0] = g * h / 2 - math.sqrt((g * h / 2) ** 2 + speed**2 - 2 * g * r)
    rising = False
    # several short steps at once, still shorter than a flight, whose invariant is read below
    several = max(1, int(turn / (PARTS * PARTS * h)))
    for _ in range(math.ceil(PATIENCE * (turn / h + PARTS) / several)):
        try:
            sim.step(several)
        except DivergenceError:
            return math.inf
        r, v = float(sim.qpos[0]), float(sim.qvel[0])
        if r >= 0:
            return math.sqrt(max(v**2 + 2 * g * r - g * h * v, 0.0)) / speed
        if rising and v <= 0:
            return 0.0
        rising = v > 0
    return 0.0
