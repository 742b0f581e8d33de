"""Smooth motion: pendula and Lagrange's top against digits from other integrations, and each integrator's order.

References are solutions of the equations of motion by a Gragg-Bulirsch-Stoer method in 25 to 34 digits (energy drift
below 1e-18) unless a closed form or a table is named.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

import saltus
from saltus.verify.case import Benchmark, Check, Curve, Data, Figure, Result, checks, family, order_check, order_figure

benchmark = family("smooth")

G = 9.81
TIGHT = (1e-13, 1e-14)
IFTOMM = "IFToMM library of multibody benchmarks, A01 (simple pendulum); digits from integration in extended precision"
TUTORIAL = (
    "n-link pendulum of Knemeyer, Shield & Patel, 'Minor change, major gains: the effect of orientation formulation "
    "on solving time for multi-body trajectory optimization', IEEE RA-L 5 (2020)"
)
EXTENDED = "integration of the equations of motion in extended precision (Gragg-Bulirsch-Stoer, 25 to 34 digits)"
GROWTH = "the integrator's tolerance, 1e-13 a step, times the growth of errors of the motion"

# ---------------------------------------------------------------- the pendulum A01

PLACES = {
    1.0: (0.9862917511318753, -0.1650108531255412),
    5.0: (-0.9423054350437573, -0.3347543384140006),
    10.0: (-0.2750874625761169, -0.9614192050991251),
}
PERIOD = 2.3678419475762374493


def a01(integrator: str, timestep: float, tolerance: tuple[float, float] | None = None) -> saltus.Simulation:
    """Simulation of the pendulum at rest at (-1, 0)."""
    model = saltus.n_link(1, l=1.0, d=1.0, inertia=0.0, pivot=(0.0, 0.0))
    sim = saltus.Simulation(model, integrator, timestep=timestep, tolerance=tolerance)
    sim.qpos[0] = -np.pi / 2
    return sim


def place(theta: float) -> NDArray[np.float64]:
    """Position (x, y) of the point mass."""
    return np.array([np.sin(theta), -np.cos(theta)])


@benchmark("pendulum-a01", "Pendulum A01", source=IFTOMM, allowed=GROWTH + "; energy as the benchmark asks, 5e-5 J")
def pendulum(data: Data) -> Result:
    """A point mass of 1 kg on a rod of 1 m, released at rest from (-1, 0), for 10 s; dopri5."""
    sim = a01("dopri5", 0.05, TIGHT)
    found: list[Check] = []
    times, path = [0.0], [place(sim.qpos[0])]
    lost = 0.0
    for k in range(1, 201):
        sim.step()
        times.append(k * 0.05)
        path.append(place(sim.qpos[0]))
        lost = max(lost, abs(G * path[-1][1] + sim.qvel[0] ** 2 / 2))
        if round(times[-1], 9) in PLACES:
            t = round(times[-1])
            found += checks([f"x at {t} s", f"y at {t} s"], path[-1], PLACES[float(t)], 1e-11, "m")
    found.append(Check("energy, largest change", lost, 0.0, 5e-5, "J"))
    x, y = np.transpose(path)
    at, given = np.transpose([(t, value) for t, point in PLACES.items() for value in point])
    marks = Curve("reference", at, given, "marks")
    return Result(found, Figure("t (s)", "position (m)", [Curve("x", times, x), Curve("y", times, y), marks]))


@benchmark("pendulum-period", "Period of the pendulum A01", source=IFTOMM, allowed=GROWTH)
def pendulum_period(data: Data) -> Result:
    """A pendulum released at rest from (-1, 0), after one to four periods, 4 K(1/2)/√(g/l) by the complete elliptic
    integral: back at rest at (-1, 0)."""
    sim = a01("dopri5", PERIOD / 40, TIGHT)
    angles, rates = [float(sim.qpos[0])], [0.0]
    for _ in range(160):
        sim.step()
        angles.append(float(sim.qpos[0]))
        rates.append(float(sim.qvel[0]))
    back = [(angles[40 * k], rates[40 * k]) for k in range(1, 5)]
    found = checks(
        [f"angle after {k} periods" for k in range(1, 5)], [a for a, _ in back], [-np.pi / 2] * 4, 1e-11, "rad"
    )
    found += checks([f"rate after {k} periods" for k in range(1, 5)], [r for _, r in back], [0.0] * 4, 1e-10, "rad/s")
    t = PERIOD / 40 * np.arange(161)
    curves = [Curve("angle", t, angles), Curve("after whole periods", t[::40], angles[::40], "marks")]
    return Result(found, Figure("t (s)", "angle (rad)", curves))


@benchmark(
    "pendulum-fixed-steps",
    "Pendulum A01 in steps of 1 ms",
    source=IFTOMM + "; MuJoCo's own errors at 1 ms are 2e-8 (RK4) and 2.1e-3 (Euler)",
    allowed="the errors of the same methods at the same step in MuJoCo, with half as much to spare",
)
def pendulum_fixed_steps(data: Data) -> Result:
    """A point mass of 1 kg on a rod of 1 m, released at rest from (-1, 0), with rk4 and semi-implicit Euler: position
    errors at 1, 5 and 10 s."""
    found, curves = [], []
    for name, allowed in (("rk4", 3e-8), ("euler", 3e-3)):
        sim, errors = a01(name, 1e-3), []
        for t, wanted in PLACES.items():
            sim.step(round((t - sim.time) / 1e-3))
            errors.append(float(np.max(np.abs(place(sim.qpos[0]) - wanted))))
        found.append(Check(f"{name}: largest error", max(errors), 0.0, allowed, "m"))
        curves.append(Curve(name, list(PLACES), errors, "points"))
    return Result(found, Figure("t (s)", "error (m)", curves, log_y=True))


# ---------------------------------------------------------------- the tutorial's n-link pendulum

A_ANGLES = {
    1: (-0.101355489466139,),
    2: (-0.01393061200271415, 0.1141395879641071),
    3: (0.03571540741921724, 0.05559588450347966, -0.0633590754752446),
    4: (0.05325083635382396, 0.0338994484057665, -0.03834705510822934, 0.0007984448829697091),
}
A_RATES = (-0.1696021367149584, -0.5943819466443383)
B_ANGLES = (-0.02711825783209075, 0.07303740753427433)
A_EXACT = (-0.01410149626385145, 0.1148861063737002)


def push(sim: saltus.Simulation, at: float) -> None:
    """The force 5 sin(8 π t) N along x at the tip, at time `at`, as joint torques."""
    tip, _ = sim.jacobian(f"link{sim.model.nv}", sim.data.site_xpos[0].copy())
    sim.qfrc_applied = tip[0] * 5 * np.sin(8 * np.pi * at)


def tutorial(n: int) -> tuple[saltus.Simulation, NDArray[np.float64]]:
    """Run 100 steps of semi-implicit Euler of option A; return the final simulation and all absolute angles."""
    sim = saltus.Simulation(saltus.n_link(n), "euler", timestep=0.01)
    path = [np.cumsum(sim.qpos)]
    for _ in range(100):
        push(sim, sim.time)
        sim.step()
        path.append(np.cumsum(sim.qpos))
    return sim, np.array(path)


def angle_figure(times: ArrayLike, path: NDArray[np.float64], reference: Sequence[float]) -> Figure:
    """Figure of the links' angles over time, with reference angles at the end."""
    times = np.asarray(times)
    curves = [Curve(f"link {i + 1}", times, path[:, i]) for i in range(path.shape[1])]
    last = Curve("reference", [times[-1]] * path.shape[1], reference, "marks")
    return Figure("t (s)", "absolute angle (rad)", [*curves, last])


def _n_link(n: int) -> Benchmark:
    links = "1 link" if n == 1 else f"{n} links"

    def measure(data: Data) -> Result:
        sim, path = tutorial(n)
        found = checks([f"angle {i + 1} at 1 s" for i in range(n)], path[-1], A_ANGLES[n], 1e-12, "rad")
        if n == 2:
            found += checks(["rate 1 at 1 s", "rate 2 at 1 s"], np.cumsum(sim.qvel), A_RATES, 1e-11, "rad/s")
        return Result(found, angle_figure(0.01 * np.arange(101), path, A_ANGLES[n]))

    measure.__doc__ = f"""A chain of {links} from hanging at rest, pushed by 5 sin(8 π t) N along x at its tip; 100
        steps of semi-implicit Euler of 0.01 s, the force sampled at the start of each. Angles are absolute."""
    return benchmark(
        f"n-link-{n}",
        f"Tutorial's pendulum, {links}",
        source=TUTORIAL + "; 100 steps in independent implementations (SymPy, MuJoCo)",
        allowed="the method is fixed, so rounding alone: 1e-16 over 100 steps, amplified some hundred times",
    )(measure)


n_link_1, n_link_2, n_link_3, n_link_4 = (_n_link(n) for n in (1, 2, 3, 4))


@benchmark(
    "n-link-motor",
    "Tutorial's pendulum, turned by a motor",
    source=TUTORIAL + "; 100 steps in independent implementations (SymPy, MuJoCo)",
    allowed="the method is fixed, so rounding alone: 1e-16 over 100 steps, amplified some hundred times",
)
def n_link_motor(data: Data) -> Result:
    """Two links from hanging at rest; a motor of 5 sin(8 π t) N m between them; 100 steps of semi-implicit Euler of
    0.01 s."""
    sim = saltus.Simulation(saltus.n_link(2), "euler", timestep=0.01)
    path = [np.cumsum(sim.qpos)]
    for _ in range(100):
        sim.ctrl = [0.0, 5 * np.sin(8 * np.pi * sim.time)]
        sim.step()
        path.append(np.cumsum(sim.qpos))
    found = checks(["angle 1 at 1 s", "angle 2 at 1 s"], path[-1], B_ANGLES, 1e-12, "rad")
    return Result(found, angle_figure(0.01 * np.arange(101), np.array(path), B_ANGLES))


@benchmark(
    "n-link-continuous",
    "Tutorial's pendulum in continuous time",
    source=TUTORIAL + "; " + EXTENDED,
    allowed="order within 0.2; the extrapolated angles to the next order's error, 1e-7",
)
def n_link_continuous(data: Data) -> Result:
    """Two links pushed as before, now with rk4 and the force of each step's middle: the error is of second order, and
    runs of two steps extrapolate to the exact motion."""
    counts, ends = (125, 250, 500, 1000), []
    steps = 1 / np.array(counts)
    for n in counts:
        h = 1.0 / n
        sim = saltus.Simulation(saltus.n_link(2), "rk4", timestep=h)
        for _ in range(n):
            start = sim.snapshot()
            sim.qpos += h / 2 * sim.qvel
            push(sim, sim.time + h / 2)
            force = sim.qfrc_applied.copy()
            sim.restore(start)
            sim.qfrc_applied = force
            sim.step()
        ends.append(np.cumsum(sim.qpos))
    errors = [float(np.max(np.abs(end - A_EXACT))) for end in ends]
    names = ["angle 1 at 1 s, extrapolated", "angle 2 at 1 s, extrapolated"]
    found = [order_check(steps, errors, 2), *checks(names, (4 * ends[-1] - ends[-2]) / 3, A_EXACT, 1e-7, "rad")]
    return Result(found, order_figure(steps, errors, 2, y="error (rad)"))


# ---------------------------------------------------------------- the free double pendulum

RODS = {
    1: (-0.8194304729531812, -1.974142274100581),
    2: (0.4563375522146064, 0.2226622412698278, 8.56241311538501, -12.98769685363786),
    5: (1.121484440720317, -8.820715509554648),
}
POINTS = {5: (-0.6271867050665307, -1.301315550209812)}


def _double(model: saltus.Model, wanted: dict[int, tuple[float, ...]], start: tuple[float, float]) -> Result:
    sim = saltus.Simulation(model, "dopri5", timestep=0.02, tolerance=TIGHT)
    sim.qpos = np.diff(np.radians([0, *start]))
    found, path = list[Check](), [np.cumsum(sim.qpos)]
    for k in range(1, 251):
        sim.step()
        path.append(np.cumsum(sim.qpos))
        if k % 50 == 0 and k // 50 in wanted:
            t = k // 50
            values = np.concatenate([np.cumsum(sim.qpos), np.cumsum(sim.qvel)])[: len(wanted[t])]
            names = [f"{what} {i} at {t} s" for what in ("angle", "rate") for i in (1, 2)][: len(values)]
            found += [
                Check(name, float(a), b, 1e-9, "rad" if "angle" in name else "rad/s")
                for name, a, b in zip(names, values, wanted[t], strict=True)
            ]
    return Result(found, angle_figure(0.02 * np.arange(251), np.array(path), wanted[5]))


@benchmark("double-pendulum-rods", "Free double pendulum of rods", source=EXTENDED, allowed=GROWTH)
def double_pendulum_rods(data: Data) -> Result:
    """Two uniform rods of 1 kg and 1 m, released at rest from absolute angles of 90 and 180 degrees; 5 s, dopri5."""
    return _double(saltus.n_link(2, inertia=1 / 12), RODS, (90, 180))


@benchmark("double-pendulum-points", "Free double pendulum of point masses", source=EXTENDED, allowed=GROWTH)
def double_pendulum_points(data: Data) -> Result:
    """Two point masses of 1 kg on rods of 1 m, released at rest from absolute angles of 90 degrees; 5 s, dopri5."""
    return _double(saltus.n_link(2, d=1.0, inertia=0.0), POINTS, (90, 90))


# ---------------------------------------------------------------- Lagrange's top

TOP = "Goldstein, Classical Mechanics, 3rd ed., section 5.7; "


def axis_angles(sim: saltus.Simulation) -> tuple[float, float]:
    """Tilt from the vertical and azimuth of the top's axis, rad."""
    x, y, z = sim.data.xmat[1].reshape(3, 3)[:, 2]
    return float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))


def _precession(key: str, rate: float, duration: float) -> Result:
    sim = saltus.Simulation("top", "dopri5", timestep=duration / 50, tolerance=TIGHT)
    sim.reset(key)
    path = [axis_angles(sim)]
    for _ in range(50):
        sim.step()
        path.append(axis_angles(sim))
    tilts, azimuths = np.transpose(path)
    azimuths = np.unwrap(azimuths)
    t = duration / 50 * np.arange(51)
    worst = tilts[np.argmax(np.abs(tilts - np.pi / 6))]
    found = [
        Check("tilt, furthest from 30 degrees", float(np.degrees(worst)), 30.0, 1e-8, "degrees"),
        Check("precession", float(azimuths[-1] / duration), rate, 1e-10 / duration, "rad/s"),
    ]
    curves = [Curve("reached", t, azimuths, "points"), Curve("reference", t, rate * t, "dashed")]
    return Result(found, Figure("t (s)", "azimuth (rad)", curves))


ROOT = "roots of (I₁ cos θ) Ω² - I₃ ω₃ Ω + m g l = 0"


@benchmark("top-slow", "Lagrange's top, slow precession", source=TOP + ROOT, allowed=GROWTH)
def top_slow(data: Data) -> Result:
    """A top of 0.5 kg, l = 0.04 m, I₁ = 1e-3 and I₃ = 4e-4 kg m² about its pivot, spin 200 rad/s, tilted by 30
    degrees: it precesses steadily."""
    return _precession("slow_precession", 2.5213169686090051, 1.0)


@benchmark("top-fast", "Lagrange's top, fast precession", source=TOP + ROOT, allowed=GROWTH)
def top_fast(data: Data) -> Result:
    """A top of 0.5 kg, l = 0.04 m, tilted by 30 degrees, in the fast of its two steady precessions."""
    return _precession("fast_precession", 89.854726101731117, 0.03)


@benchmark("top-nutation", "Lagrange's top, nutation", source=TOP + EXTENDED, allowed=GROWTH)
def top_nutation(data: Data) -> Result:
    """A top of 0.5 kg, l = 0.04 m, released with pure spin: it nods between 30 degrees and a largest tilt."""
    period, widest = 0.083001599334966545, 31.9081826631441472
    sim = saltus.Simulation("top", "dopri5", timestep=period / 40, tolerance=TIGHT)
    sim.reset("release")
    tilts = [np.degrees(axis_angles(sim)[0])]
    for _ in range(80):
        sim.step()
        tilts.append(np.degrees(axis_angles(sim)[0]))
    names = [f"tilt after {k / 2:g} periods" for k in (1, 2, 3, 4)]
    found = checks(names, tilts[20::20], [widest, 30.0, widest, 30.0], 1e-9, "degrees")
    t = period / 40 * np.arange(81)
    marks = Curve("reference", t[::20], [30.0, widest, 30.0, widest, 30.0], "marks")
    return Result(found, Figure("t (s)", "tilt (degrees)", [Curve("reached", t, tilts), marks]))


# ---------------------------------------------------------------- energy in the long run

LECTURE = {
    "explicit_euler": (13.386, 1e-3),
    "velocity_verlet": (0.99954, 1e-5),
    "midpoint": (1.03490, 1e-5),
    "rk4": (0.99997, 1e-5),
}


@benchmark(
    "pendulum-energy",
    "Energy of a pendulum in 100 s",
    source="O. C. Jenkins, 'Dynamics and Numerical Integration', University of Michigan, 2019; ratios of independent "
    "implementations",
    allowed="one unit of the last digit given",
)
def pendulum_energy(data: Data) -> Result:
    """2 kg on 2 m, released at rest from 90 degrees, in steps of 0.05 s: the energy at the end over that at first."""
    found, curves = [], []
    for name, (wanted, digit) in LECTURE.items():
        sim = saltus.Simulation("pendulum", name, timestep=0.05)
        ratios = [1.0]
        for _ in range(2000):
            sim.step()
            ratios.append(float(4.0 * sim.qvel[0] ** 2 + 4 * G * (1 - np.cos(sim.qpos[0]))) / (4 * G))
        found.append(Check(f"{name}: E/E₀ after 100 s", ratios[-1], wanted, digit))
        changes = np.maximum(np.abs(np.array(ratios[::5]) - 1), 1e-9)
        curves.append(Curve(name, 0.05 * np.arange(0, 2001, 5), changes))
    return Result(found, Figure("t (s)", "|E/E₀ - 1|", curves, log_y=True))


# ---------------------------------------------------------------- orders

GAUSS = saltus.ButcherTableau(
    [[1 / 4, 1 / 4 - np.sqrt(3) / 6], [1 / 4 + np.sqrt(3) / 6, 1 / 4]], [1 / 2, 1 / 2], name="gauss4"
)
Runs = tuple[tuple[int, ...], int]
# steps a second, and seconds after which errors of all orders count
LOWER, FOURTH, ACCURATE = ((1000, 2000, 4000, 8000), 1), ((800, 1600, 3200, 6400), 2), ((100, 200, 400, 800), 1)


def _order(name: str, declared: int, runs: Runs = LOWER, choice: saltus.ButcherTableau | None = None) -> Benchmark:
    counts, duration = runs
    steps = 1 / np.array(counts)

    def measure(data: Data) -> Result:
        errors = []
        for n in counts:
            sim = saltus.Simulation(saltus.n_link(2, inertia=1 / 12), choice or name, timestep=1.0 / n)
            sim.qpos = np.diff(np.radians([0, 90, 180]))
            sim.step(n * duration)
            errors.append(float(np.max(np.abs(np.cumsum(sim.qpos) - RODS[duration][:2]))))
        figure = order_figure(steps, errors, declared, y=f"error of angles at {duration} s (rad)")
        return Result([order_check(steps, errors, declared)], figure)

    measure.__doc__ = f"""The free double pendulum of rods for {duration} s, with {counts[0]} to {counts[-1]} steps a
        second: the error of the angles falls with the step's power {declared}."""
    return benchmark(
        f"order-{name.replace('_', '-')}",
        f"Order of {name}",
        source="declared order of the method; " + EXTENDED,
        allowed="0.2 around the declared order",
    )(measure)


order_explicit_euler = _order("explicit_euler", 1)
order_euler = _order("euler", 1)
order_implicit = _order("implicit", 1)
order_implicitfast = _order("implicitfast", 1)
order_verlet = _order("verlet", 2)
order_velocity_verlet = _order("velocity_verlet", 2)
order_midpoint = _order("midpoint", 2)
order_implicit_midpoint = _order("implicit_midpoint", 2)
order_energy_momentum = _order("energy_momentum", 2)
order_rk4 = _order("rk4", 4, FOURTH)
order_gauss = _order("gauss4", 4, ACCURATE, GAUSS)
