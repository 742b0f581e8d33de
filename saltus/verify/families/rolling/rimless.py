"""The rimless wheel, which walks down a slope: ratios of rates at impacts, and durations of steps."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family
from saltus.verify.families.contact_hard.scenes import LOCATED, instants
from saltus.verify.families.rolling.scenes import STICKS, G

benchmark = family("rolling")

SPOKES, SPOKE, TIP = 8, 1.0, 1e-3  # number, length to the centre of a tip (m), radius of a tip (m)
MASS, INERTIA, SLOPE = 1.0, 0.1, 0.1  # kg, kg m², rad


@dataclass(frozen=True)
class Wheel:
    """Closed forms of a rimless wheel whose spokes end in small balls that roll while they stand.

    With h(θ) the moment of inertia about the point of contact, P its potential energy, θ the turn from upright:
    ½ h θ̇² + P is kept, and an impact at θ = α keeps the angular momentum about the new contact, θ̇⁺ = η θ̇⁻ with
    η = (I + m (c² - s²))/(I + m (c² + s²)), which is (I + m l² cos 2α)/(I + m l²) for points.
    """

    half: float = math.pi / SPOKES

    def moment(self, turn: float) -> float:
        """Moment of inertia about the point of contact, kg m²."""
        return INERTIA + MASS * (SPOKE**2 + TIP**2 + 2 * SPOKE * TIP * math.cos(turn))

    def potential(self, turn: float) -> float:
        """Potential energy relative to the wheel upright at this contact, J."""
        height, along = TIP + SPOKE * math.cos(turn), SPOKE * math.sin(turn) + TIP * turn
        return MASS * G * (height * math.cos(SLOPE) - along * math.sin(SLOPE))

    @property
    def ratio(self) -> float:
        """Ratio η of the rates after and before an impact."""
        c, s = SPOKE * math.cos(self.half) + TIP, SPOKE * math.sin(self.half)
        return (INERTIA + MASS * (c * c - s * s)) / (INERTIA + MASS * (c * c + s * s))

    @property
    def gain(self) -> float:
        """Growth of the square of the rate in a step, between impacts (rad²/s²)."""
        return 2 * (self.potential(-self.half) - self.potential(self.half)) / self.moment(self.half)

    @property
    def steady(self) -> float:
        """Rate just after an impact in steady walking, rad/s."""
        return self.ratio * math.sqrt(self.gain / (1 - self.ratio**2))

    def rate(self, after: float, turn: float) -> float:
        """Rate (rad/s) at a turn (rad) in a step that began at the rate `after`."""
        energy = self.moment(self.half) * after**2 + 2 * (self.potential(-self.half) - self.potential(turn))
        return math.sqrt(energy / self.moment(turn))

    def duration(self, after: float, start: float) -> float:
        """Duration (s) of the rest of a step that began at the rate `after`, from a turn `start` on."""
        return float(quad(lambda turn: 1 / self.rate(after, turn), start, self.half, epsabs=1e-13, epsrel=1e-12)[0])


def rimless_wheel() -> str:
    """Model of the wheel in its plane on a floor, with gravity turned by the slope."""
    tips = "".join(
        f'<geom name="tip{k}" size="{TIP}" pos="{SPOKE * math.sin(a)!r} 0 {-SPOKE * math.cos(a)!r}"/>'
        for k, a in enumerate(2 * math.pi * np.arange(SPOKES) / SPOKES)
    )
    return f"""<mujoco><compiler inertiafromgeom="false"/>
      <option timestep="0.001" gravity="{G * math.sin(SLOPE)!r} 0 {-G * math.cos(SLOPE)!r}"/>
      <default><geom condim="3" friction="{STICKS} 0 0"/></default>
      <worldbody><geom name="floor" type="plane" size="9 9 0.1"/><body name="wheel">
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <joint name="turn" axis="0 1 0"/>
        <inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>{tips}
      </body></worldbody></mujoco>"""


@benchmark(
    "rimless-wheel",
    "Rimless wheel",
    source="closed form: θ̇⁺ = θ̇⁻ (I + m l² cos 2α)/(I + m l²); McGeer, 'Passive dynamic walking', Int. J. Robotics "
    "Research 9 (1990), Coleman, Chatterjee & Ruina, Dynamics and Stability of Systems 12 (1997); durations by "
    "quadrature",
    allowed=LOCATED + ", over five steps: 1e-7",
)
def rimless_wheel_walks(data: Data) -> Result:
    """Eight spokes of 1 m that end in balls of 1 mm, on a slope of 0.1 rad: ratios of rates at impacts, and durations
    of steps, started in steady walking and 10 % faster."""
    wheel = Wheel()
    sim = saltus.Simulation(rimless_wheel(), contact="hard")
    found: list[Check] = []
    curves: list[Curve] = []
    step = 2 * (SPOKE * math.sin(wheel.half) + TIP * wheel.half)
    for label, factor in (("steady", 1.0), ("fast", 1.1)):
        after = factor * wheel.steady
        rate = wheel.rate(after, 0.0)
        sim.reset()
        sim.qpos[1] = SPOKE + TIP
        sim.qvel[:] = rate * (SPOKE + TIP), 0, rate
        wanted = [wheel.duration(after, 0.0)]
        for _ in range(4):
            after = wheel.ratio * math.sqrt(after**2 + wheel.gain)
            wanted.append(wanted[-1] + wheel.duration(after, -wheel.half))
        run = sim.run(wanted[-1] + 0.1, sample=0.01, progress=False)
        impacts = run.events[run.events["kind"] == "impact"]
        reached = instants(run.events, "impact")
        found += checks([f"{label}: impact {k + 1} at" for k in range(5)], reached[:5], wanted, 1e-7, "s")
        for k in (0, 4):
            one = impacts[np.argmin(np.abs(impacts["time"] - wanted[k]))]
            low = wheel.potential(wheel.half) - MASS * G * math.sin(SLOPE) * k * step
            squared = (float(one["energy_after"]) - low) / (float(one["energy_before"]) - low)
            found.append(Check(f"{label}: ratio at impact {k + 1}", math.sqrt(squared), wheel.ratio, 1e-7))
        curves.append(Curve(label, run.time, run.qvel[:, 2]))
        curves.append(Curve(f"{label}: impacts, closed form", wanted, [wheel.steady] * 5, "marks"))
    return Result(found, Figure("t (s)", "rate (rad/s)", curves))
