"""Friction by bristles: presliding, break-away, sliding, Dahl's hysteresis, stick-slip, a day at rest."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import saltus
from saltus.verify.case import Curve, Data, Figure, Result, checks, family

benchmark = family("drives")

CANUDAS = (
    "Canudas de Wit, Olsson, Åström & Lischinsky, 'A new model for control of systems with friction', IEEE Trans. "
    "Automatic Control 40 (1995)"
)
DAHL = "Dahl, 'Solid friction damping of mechanical vibrations', AIAA Journal 14 (1976)"
# numbers of the paper's table: N/m, N s/m, N, N, m/s, N s/m; the block has 1 kg
LUGRE = saltus.LuGre(stiffness=1e5, damping=math.sqrt(1e5), coulomb=1.0, static=1.5, velocity=0.001, viscous=0.4)
SOLVED = "SciPy's solution of the same equations with a tolerance of 1e-12"
TIGHT = (1e-10, 1e-14)


def block(
    friction: saltus.LuGre | saltus.Dahl, actuator: str = '<motor joint="x"/>', mass: float = 1.0
) -> saltus.Model:
    """A block on a slide without weight, with an actuator and friction."""
    source = f"""<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><body><joint name="x" type="slide"
      axis="1 0 0"/><geom size="0.1" mass="{mass!r}"/></body></worldbody><actuator>{actuator}</actuator></mujoco>"""
    return saltus.drive(source, "x", friction=friction)


def solved(force: Callable[[float, Any], float], end: float, **options: Any) -> Any:
    """LuGre's equations for a block of 1 kg under force(t, x), from rest."""

    def rates(t: float, y: Any) -> Any:
        x, v, z = y
        g = LUGRE.coulomb + (LUGRE.static - LUGRE.coulomb) * np.exp(-((v / LUGRE.velocity) ** 2))
        bending = v - LUGRE.stiffness * abs(v) / g * z
        friction = LUGRE.stiffness * z + LUGRE.damping * bending + (LUGRE.viscous or 0.0) * v
        return [v, force(t, x) - friction, bending]

    return solve_ivp(rates, (0.0, end), [0.0, 0.0, 0.0], method="Radau", rtol=1e-12, atol=1e-15, **options)


@benchmark(
    "bristles-presliding",
    "Friction by the displacement before and after breaking away",
    source=f"{CANUDAS}; closed form at constant velocity: σ₀ z = g(v) (1 - exp(-σ₀ x/g(v)))",
    allowed="the integrator's tolerance, 1e-10 a step, times σ₀ = 1e5 N/m",
)
def presliding(data: Data) -> Result:
    """A slide that moves by 0.1, 1 and 10 mm/s: friction at 5, 20 and 100 μm, less the parts of velocity."""
    found, wanted, names, curves = [], [], [], []
    places = np.array([5e-6, 2e-5, 1e-4])
    line = np.linspace(0.0, 1e-4, 80)
    for v in (1e-4, 1e-3, 1e-2):
        g = LUGRE.coulomb + (LUGRE.static - LUGRE.coulomb) * math.exp(-((v / LUGRE.velocity) ** 2))
        closed = lambda x, g=g: g * (1.0 - np.exp(-LUGRE.stiffness * x / g))  # noqa: E731
        force = []
        sim = saltus.Simulation(block(LUGRE), "dopri5", tolerance=TIGHT, motions={"x": lambda t, v=v: v * t})
        for x in places:
            sim.run(float(x / v) - sim.time)
            force.append(LUGRE.stiffness * float(sim.act[0]))
        found += force
        wanted += [float(closed(x)) for x in places]
        names += [f"F({1e6 * x:g} μm) at {1e3 * v:g} mm/s" for x in places]
        curves += [Curve(f"closed form, {1e3 * v:g} mm/s", 1e6 * line, closed(line), "dashed")]
        curves += [Curve(f"reached, {1e3 * v:g} mm/s", 1e6 * places, force, "marks")]
    return Result(checks(names, found, wanted, 1e-7, "N"), Figure("displacement (μm)", "friction σ₀ z (N)", curves))


@benchmark(
    "bristles-breakaway",
    "Force at which a block breaks away, by the rate of the force",
    source=f"{CANUDAS}; {SOLVED}",
    allowed="the integrator's tolerance, and the interpolation between samples",
)
def breakaway(data: Data) -> Result:
    """The force grows from 0 by 1 to 50 N/s; the block breaks away where its velocity passes v_S = 1 mm/s."""
    growths = np.array([1.0, 5.0, 20.0, 50.0])
    found, wanted = [], []
    for growth in growths:

        def moves(t: float, y: Any) -> float:
            return y[1] - LUGRE.velocity

        moves.terminal = True  # type: ignore[attr-defined]
        reference = solved(lambda t, x, growth=growth: growth * t, 3.0, events=moves)
        time = float(reference.t[-1])
        sim = saltus.Simulation(block(LUGRE, '<general joint="x" dyntype="integrator"/>'), "radau", tolerance=TIGHT)
        sim.ctrl[0] = growth
        track = sim.run(1.01 * time, sample=time / 2000.0)
        late = track.time > 0.97 * time
        speed = CubicSpline(track.time[late], track.qvel[late, 0] - LUGRE.velocity)
        wanted.append(growth * time)
        found.append(growth * float(np.append(speed.roots(extrapolate=False), np.nan)[0]))
    compared = checks([f"force at {x:g} N/s" for x in growths], found, wanted, 1e-6, "N")
    curves = [Curve("SciPy", growths, wanted, "dashed"), Curve("reached", growths, found, "marks")]
    return Result(compared, Figure("rate of the force (N/s)", "break-away force (N)", curves))


@benchmark(
    "bristles-sliding",
    "Friction by velocity in steady motion",
    source=f"{CANUDAS}; closed form: F_C + (F_S - F_C) exp(-(v/v_S)²) + σ₂ v",
    allowed="the change of velocity of a block of 1e9 kg, 1e-9 m/s each second, at a slope of 500 N s/m at most",
)
def sliding(data: Data) -> Result:
    """A heavy block that slides for a hundred times the bristles' length g/σ₀, in both directions."""
    speeds = np.array([-0.01, -0.001, 0.0003, 0.0008, 0.0015, 0.003, 0.02])
    closed = lambda v: np.sign(v) * (1.0 + 0.5 * np.exp(-((v / 0.001) ** 2))) + 0.4 * v  # noqa: E731
    found = []
    for v in speeds:
        sim = saltus.Simulation(block(LUGRE, mass=1e9), "radau", tolerance=TIGHT)
        sim.qvel[0] = v
        sim.run(float(1e-3 / abs(v)))
        sim.forward()
        found.append(float(0.4 * sim.qvel[0] - sim.data.actuator_force[1]))
    line = np.linspace(-0.01, 0.02, 301)
    curves = [Curve("closed form", 1e3 * line, closed(line)), Curve("reached", 1e3 * speeds, found, "marks")]
    compared = checks([f"friction at {1e3 * v:g} mm/s" for v in speeds], found, closed(speeds), 2e-6, "N")
    return Result(compared, Figure("velocity (mm/s)", "friction (N)", curves))


@benchmark(
    "dahl-hysteresis",
    "Loop of friction by displacement",
    source=f"{DAHL}; closed form: F = F_C - (F_C + F_m) exp(-σ (x + A)/F_C), F_m = F_C tanh(σ A/F_C), area "
    "4 F_C (A - F_m/σ)",
    allowed="the integrator's tolerance, and Simpson's rule on 4000 intervals of a branch",
)
def hysteresis(data: Data) -> Result:
    """σ = 1000 N/m, F_C = 2 N; amplitudes of 1, 2 and 5 mm, after twelve periods."""
    stiffness, coulomb = 1000.0, 2.0
    found, wanted, names, curves = [], [], [], []
    model = block(saltus.Dahl(stiffness, coulomb))
    for amplitude in (0.001, 0.002, 0.005):
        sim = saltus.Simulation(
            model,
            "dopri5",
            tolerance=(1e-12, 1e-14),
            motions={"x": lambda t, a=amplitude: -a * math.cos(2.0 * math.pi * t)},
        )
        sim.run(12.0)
        track = sim.run(0.5, sample=0.5 / 4000)
        x, force = track.qpos[:, 0], stiffness * track.act[:, 0]
        most = coulomb * math.tanh(stiffness * amplitude / coulomb)
        closed = coulomb - (coulomb + most) * np.exp(-stiffness * (x + amplitude) / coulomb)
        power = force * track.qvel[:, 0]
        weights = np.r_[1.0, np.tile([4.0, 2.0], 1999), 4.0, 1.0] * 0.5 / 4000 / 3.0
        found += [float(force[-1]), float(force[2000]), 2.0 * float(weights @ power)]
        wanted += [most, float(closed[2000]), 4.0 * coulomb * (amplitude - most / stiffness)]
        names += [f"{quantity}, A = {1e3 * amplitude:g} mm" for quantity in ("F(A)", "F(0)", "area (J)")]
        curves += [Curve(f"closed form, {1e3 * amplitude:g} mm", 1e3 * x[::100], closed[::100], "dashed")]
        curves += [Curve(f"reached, {1e3 * amplitude:g} mm", 1e3 * x[::400], force[::400], "marks")]
    return Result(checks(names, found, wanted, 1e-8), Figure("displacement (mm)", "friction (N)", curves))


@benchmark(
    "bristles-stick-slip",
    "Stick-slip of a block that is pulled through a spring",
    source=f"{CANUDAS}, section on stick-slip motion; {SOLVED}",
    allowed="the integrator's tolerance over three slips, each of which magnifies errors",
)
def stick_slip(data: Data) -> Result:
    """1 kg, a spring of 2 N/m whose end moves with 0.1 m/s: times at which slips are fastest, and places of rest."""
    end = 40.0
    reference = solved(lambda t, x: 2.0 * (0.1 * t - x), end, dense_output=True)
    sim = saltus.Simulation(block(LUGRE, '<intvelocity joint="x" kp="2" actrange="0 1e3"/>'), "radau", tolerance=TIGHT)
    sim.ctrl[0] = 0.1
    track = sim.run(end, sample=0.005)
    peaks, wanted_peaks = (_peaks(track.time, v) for v in (track.qvel[:, 0], reference.sol(track.time)[1]))
    rests = [float(np.interp(t - 1.5, track.time, track.qpos[:, 0])) for t in wanted_peaks]
    wanted_rests = [float(reference.sol(t - 1.5)[0]) for t in wanted_peaks]
    names = [f"slip {k + 1} (s)" for k in range(len(wanted_peaks))]
    compared = checks(names, peaks, wanted_peaks, 1e-5)
    compared += checks([f"rest before slip {k + 1} (m)" for k in range(len(rests))], rests, wanted_rests, 1e-6)
    line = np.linspace(0.0, end, 400)
    curves = [Curve("SciPy", line, reference.sol(line)[0], "dashed"), Curve("reached", track.time, track.qpos[:, 0])]
    return Result(compared, Figure("time (s)", "position (m)", curves))


def _peaks(time: Any, speed: Any) -> list[float]:
    """Times of the largest speeds of slips, by a parabola through three samples."""
    middle = np.flatnonzero((speed[1:-1] > 0.1) & (speed[1:-1] > speed[:-2]) & (speed[1:-1] >= speed[2:])) + 1
    before, at, after = speed[middle - 1], speed[middle], speed[middle + 1]
    return (time[middle] + 0.5 * (time[1] - time[0]) * (before - after) / (before - 2.0 * at + after)).tolist()


@benchmark(
    "bristles-at-rest",
    "A loaded block stands for a day",
    source=f"{CANUDAS}; closed form of slow loading: x = -F_S/σ₀ ln(1 - F/F_S), z = F/σ₀; no further motion",
    allowed="1e-12 m of motion in 86,400 s; 1e-9 m for inertia at the end of loading",
)
def at_rest(data: Data) -> Result:
    """Loads of 0.3, 0.9 and 1.4 N (F_C = 1 N, F_S = 1.5 N) that grow within 10,000 s and then stay."""
    loads = np.array([0.3, 0.9, 1.4])
    placed, bent, moved, curves = [], [], [], []
    for load in loads:
        sim = saltus.Simulation(block(LUGRE, '<general joint="x" dyntype="integrator"/>'), "radau", tolerance=TIGHT)
        sim.ctrl[0] = load / 1e4
        sim.run(1e4, sample=1e4)
        sim.ctrl[0] = 0.0
        sim.run(10.0, sample=10.0)
        placed.append(float(sim.qpos[0]))
        track = sim.run(86400.0, sample=3600.0)
        bent.append(float(sim.act[1]))
        moved.append(float(sim.qpos[0]) - placed[-1])
        curves.append(Curve(f"{load:g} N", track.time / 3600.0, 1e6 * track.qpos[:, 0], "marks"))
    wanted = -LUGRE.static / LUGRE.stiffness * np.log(1.0 - loads / LUGRE.static)
    compared = checks([f"displacement under {x:g} N" for x in loads], placed, wanted, 1e-9, "m")
    compared += checks([f"deflection under {x:g} N" for x in loads], bent, loads / LUGRE.stiffness, 1e-12, "m")
    compared += checks([f"motion in a day under {x:g} N" for x in loads], moved, [0.0] * 3, 1e-12, "m")
    curves += [Curve("closed form", [0.0, 24.0], [1e6 * x] * 2, "dashed") for x in wanted]
    return Result(compared, Figure("time (h)", "position (μm)", curves))
