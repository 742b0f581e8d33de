"""The harmonic oscillator under each integrator: a thousand steps whose result follows from a 2x2 matrix.

Each method's step is linear in (x, v), so that 1000 steps are the 1000th power of a matrix; the references are such
powers in exact arithmetic. A method that is implemented as it is defined meets them to rounding.
"""

from collections.abc import Sequence

import numpy as np

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family

benchmark = family("oscillator")

STEP, STEPS = 0.1, 1000
MODEL = f"""
<mujoco><option gravity="0 0 0" timestep="{STEP}"/><worldbody>
  <body><joint type="slide" axis="1 0 0" stiffness="1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</worldbody></mujoco>"""
ALLOWED = "1000 steps of rounding, 1e-16 each and growing with their number"
DIGITS = "one unit of the last digit of the reference"
SOURCE = "powers of the method's step matrix in exact arithmetic ({})"


def path(integrator: saltus.Integrator | saltus.ButcherTableau | str) -> np.ndarray:
    """(x, v) at the start and after each of the steps."""
    sim = saltus.Simulation(MODEL, integrator)
    sim.qpos[0] = 1.0
    states = [(1.0, 0.0)]
    for _ in range(STEPS):
        sim.step()
        states.append((float(sim.qpos[0]), float(sim.qvel[0])))
    return np.array(states)


def phase(states: np.ndarray, circle: bool = True) -> Figure:
    """The path in the phase plane, beside the exact circle."""
    t = np.linspace(0, 2 * np.pi, 200)
    exact = [Curve("exact", np.cos(t), -np.sin(t), "dashed")] if circle else []
    return Figure("x (m)", "v (m/s)", [Curve("reached", *states[:300].T), *exact], equal=True)


def growth(states: np.ndarray, factor: float) -> Figure:
    """Figure of the energy over time, beside the geometric growth of the step matrix."""
    t = STEP * np.arange(len(states))
    energy = (states**2).sum(axis=1) / 2
    law = Curve("step matrix", t, 0.5 * factor ** (t / t[-1]), "dashed")
    return Figure("t (s)", "energy (J)", [Curve("reached", t, energy), law], log_y=not 0.1 < factor < 10)


def ends(states: np.ndarray, x: float, v: float) -> list[Check]:
    """Checks of the last position and velocity."""
    return [
        Check("x after 1000 steps", float(states[-1, 0]), x, 1e-12, "m"),
        Check("v after 1000 steps", float(states[-1, 1]), v, 1e-12, "m/s"),
    ]


def energy_factor(states: np.ndarray, factor: float, tolerance: float) -> list[Check]:
    """Check of the last energy over the first."""
    return [Check("energy over that at first", float((states[-1] ** 2).sum()), factor, tolerance, relative=True)]


def extent(states: np.ndarray, of: Sequence[float], value: float, name: str) -> Check:
    """Check of the quadratic form a x² + b v² + c x v where it is furthest from its constant value."""
    x, v = states.T
    form = of[0] * x * x + of[1] * v * v + of[2] * x * v
    worst = form[np.argmax(np.abs(form - value))]
    return Check(name, float(worst), value, 1e-12, "J")


@benchmark(
    "oscillator-euler",
    "Semi-implicit Euler",
    source=SOURCE.format("Hairer, Lubich & Wanner, Geometric Numerical Integration, 2006, I.1 and VI.3"),
    allowed=ALLOWED,
)
def euler(data: Data) -> Result:
    """x'' = -x from (1, 0), 1000 steps of 0.1 s. The method keeps (x² + v² - h x v)/2 exactly: its path is an
    ellipse."""
    states = path("euler")
    kept = extent(states, (0.5, 0.5, -STEP / 2), 0.5, "(x² + v² - h x v)/2, worst")
    return Result([*ends(states, 0.9062126531608056, 0.4705537168853154), kept], phase(states))


@benchmark(
    "oscillator-explicit-euler",
    "Explicit Euler gains energy",
    source=SOURCE.format("energy grows by 1 + h² a step"),
    allowed=DIGITS,
)
def explicit_euler(data: Data) -> Result:
    """x'' = -x from (1, 0), 1000 steps of 0.1 s: the energy grows by (1 + h²)¹⁰⁰⁰."""
    states = path("explicit_euler")
    return Result(energy_factor(states, 20959.1556378, 1e-11), growth(states, 20959.1556378))


@benchmark(
    "oscillator-implicit-euler",
    "Implicit Euler loses energy",
    source=SOURCE.format("energy shrinks by 1/(1 + h²) a step"),
    allowed=DIGITS,
)
def implicit_euler(data: Data) -> Result:
    """x'' = -x from (1, 0), 1000 steps of 0.1 s of the Runge-Kutta method with the tableau 1 | 1."""
    states = path(saltus.ButcherTableau([[1]], [1], name="implicit_euler"))
    return Result(energy_factor(states, 4.77118457098e-5, 1e-11), growth(states, 4.77118457098e-5))


@benchmark(
    "oscillator-implicit-midpoint",
    "Implicit midpoint rule",
    source=SOURCE.format("Hairer, Lubich & Wanner, 2006, IV.2: quadratic invariants are kept"),
    allowed=ALLOWED,
)
def implicit_midpoint(data: Data) -> Result:
    """x'' = -x from (1, 0), 1000 steps of 0.1 s. The energy stays; only the phase is wrong."""
    states = path("implicit_midpoint")
    kept = extent(states, (0.5, 0.5, 0.0), 0.5, "energy, worst")
    return Result([*ends(states, 0.8172500408145376, 0.5762832383373966), kept], phase(states))


@benchmark(
    "oscillator-velocity-verlet",
    "Velocity Verlet",
    source=SOURCE.format("Hairer, Lubich & Wanner, 2006, I.1.4"),
    allowed=ALLOWED,
)
def velocity_verlet(data: Data) -> Result:
    """x'' = -x from (1, 0), 1000 steps of 0.1 s. The method keeps (x² (1 - h²/4) + v²)/2 exactly."""
    states = path("velocity_verlet")
    kept = extent(states, (0.5 - STEP**2 / 8, 0.5, 0.0), 0.5 - STEP**2 / 8, "(x² (1 - h²/4) + v²)/2, worst")
    return Result([*ends(states, 0.8826849673165398, 0.4693773325931021), kept], phase(states))


@benchmark(
    "oscillator-rk4",
    "Runge-Kutta of order 4",
    source=SOURCE.format("energy shrinks by 1 - h⁶/72 + h⁸/576 a step"),
    allowed=ALLOWED,
)
def rk4(data: Data) -> Result:
    """x'' = -x from (1, 0), 1000 steps of 0.1 s of the classical method."""
    states, h = path("rk4"), STEP
    factor = (1 - h**6 / 72 + h**8 / 576) ** STEPS
    found = [*ends(states, 0.8622708422565101, 0.5064337302773028), *energy_factor(states, factor, 1e-11)]
    return Result(found, growth(states, factor))
