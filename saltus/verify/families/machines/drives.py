"""Drives: friction by Stribeck's curve stops and releases a block; gears take a share of a torque, twist, have play."""

from typing import Any

import numpy as np
from scipy.integrate import quad

import saltus
from saltus.verify.case import Curve, Data, Figure, Result, checks, family

benchmark = family("drives")

TIGHT = (1e-12, 1e-12)
MASS, COULOMB, STATIC, VELOCITY = 2.0, 1.0, 3.0, 0.1  # kg, N, N, m/s
STARTS = (0.1, 0.3, 0.5)  # m/s
CURVE = (
    "F = F_C + (F_S - F_C) exp(-|v/v_S|^δ): Olsson, Åström, Canudas de Wit, Gäfvert & Lischinsky, 'Friction models and "
    "friction compensation', Eur. J. Control 4 (1998)"
)
TOLERANCE = "the integrator's tolerance, 1e-12 a step"


def block(gear: saltus.Gear | None = None, friction: saltus.Stribeck | None = None) -> saltus.Model:
    """A block on a slide without weight, with a motor."""
    source = """<mujoco><option gravity="0 0 0" timestep="0.01"/><worldbody><body><joint name="x" type="slide"
      axis="1 0 0"/><geom size="0.1" mass="2"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    return saltus.drive(source, "x", gear, friction)


def stopped(exponent: int, speed: float) -> tuple[float, float]:
    """Time (s) and path (m) of a block that slides until friction stops it."""
    model = block(friction=saltus.Stribeck(COULOMB, STATIC, VELOCITY, exponent))
    sim = saltus.Simulation(model, "dopri5", contact="hard", tolerance=TIGHT)
    sim.qvel[0] = speed
    track = sim.run(1.5)
    return float(track.events["time"][-1]), float(sim.qpos[0])


def rising(speed: Any) -> Any:
    """Closed form of the time (s) in which friction with δ = 1 stops the block."""
    excess = STATIC - COULOMB
    return MASS * VELOCITY / COULOMB * np.log((COULOMB * np.exp(speed / VELOCITY) + excess) / STATIC)


@benchmark(
    "stribeck-stop-time",
    "Time until friction stops a block",
    source=f"{CURVE}; closed form for δ = 1: T = m v_S/F_C ln((F_C exp(v/v_S) + F_S - F_C)/F_S)",
    allowed=TOLERANCE,
)
def stop_time(data: Data) -> Result:
    """F_C = 1 N, F_S = 3 N, v_S = 0.1 m/s, δ = 1; dopri5 with located stops."""
    found = [stopped(1, speed)[0] for speed in STARTS]
    closed = [rising(speed) for speed in STARTS]
    speeds = np.linspace(0.0, 0.55, 45)
    curves = [Curve("closed form", speeds, rising(speeds)), Curve("reached", STARTS, found, "marks")]
    return Result(checks([f"T({v:g} m/s)" for v in STARTS], found, closed, 1e-9), Figure("v (m/s)", "time (s)", curves))


@benchmark(
    "stribeck-stop-path", "Path until friction stops a block", source=f"{CURVE}; ∫ m v/F(v) dv", allowed=TOLERANCE
)
def stop_path(data: Data) -> Result:
    """F_C = 1 N, F_S = 3 N, v_S = 0.1 m/s, δ = 2; dopri5 with located stops."""
    friction = lambda v: COULOMB + (STATIC - COULOMB) * np.exp(-((v / VELOCITY) ** 2))  # noqa: E731
    path = lambda speed: quad(lambda v: MASS * v / friction(v), 0.0, speed, epsabs=1e-14)[0]  # noqa: E731
    found = [stopped(2, speed)[1] for speed in STARTS]
    speeds = np.linspace(0.0, 0.55, 45)
    curves = [Curve("quadrature", speeds, [path(v) for v in speeds]), Curve("reached", STARTS, found, "marks")]
    wanted = [path(v) for v in STARTS]
    return Result(checks([f"s({v:g} m/s)" for v in STARTS], found, wanted, 1e-9), Figure("v (m/s)", "path (m)", curves))


@benchmark(
    "stribeck-breakaway",
    "Force that sets a block in motion",
    source=f"{CURVE}; F_S",
    allowed="1e-6 of F_S on both sides",
)
def breakaway(data: Data) -> Result:
    """A block at rest under forces a millionth below and above F_S, for 10 s."""
    moved = []
    forces = [factor * STATIC for factor in (1.0 - 1e-6, 1.0 + 1e-6, -1.0 + 1e-6, -1.0 - 1e-6)]
    for force in forces:
        model = block(friction=saltus.Stribeck(COULOMB, STATIC, VELOCITY))
        sim = saltus.Simulation(model, "dopri5", contact="hard", tolerance=TIGHT)
        sim.ctrl[0] = force
        sim.run(10.0)
        moved.append(float(np.sign(sim.qvel[0])))
    wanted = [0.0, 1.0, 0.0, -1.0]
    curves = [Curve("expected", forces, wanted, "dashed"), Curve("reached", forces, moved, "marks")]
    found = checks([f"direction under {force:.6f} N" for force in forces], moved, wanted, 0.0)
    return Result(found, Figure("force (N)", "direction of motion", curves))


@benchmark(
    "gear-efficiency",
    "Acceleration through a gear",
    source="power balance: driving, η τ arrives; driven, the load brings (2 - η) τ",
    allowed="the bearing's friction that a gear needs, 1e-9 N, and rounding",
)
def gear_efficiency(data: Data) -> Result:
    """2 N at a block of 2 kg through gears of several efficiencies, with the motor and against it."""
    found: dict[str, list[float]] = {"driving": [], "driven": []}
    efficiencies = np.array([1.0, 0.8, 0.5])
    for efficiency in efficiencies:
        sim = saltus.Simulation(block(saltus.Gear(efficiency=efficiency)), "euler", contact="hard")
        for speed, name in ((5.0, "driving"), (-5.0, "driven")):
            sim.reset()
            sim.qvel[0], sim.ctrl[0] = speed, 2.0
            sim.step(100)
            found[name].append(float(sim.qvel[0] - speed) / sim.time)
    wanted = {"driving": efficiencies, "driven": 2.0 - efficiencies}
    checked = [
        check
        for name, values in found.items()
        for check in checks([f"{name}, η = {x:g}" for x in efficiencies], values, wanted[name], 2e-9, "m/s²")
    ]
    curves = [Curve(f"{name}, closed form", efficiencies, wanted[name], "dashed") for name in found]
    curves += [Curve(name, efficiencies, values, "marks") for name, values in found.items()]
    return Result(checked, Figure("efficiency", "acceleration (m/s²)", curves))


LINK, MOTOR, RATIO, PLAY = 0.5, 0.002, 10.0, 0.02  # kg m², kg m², 1, rad
REDUCED = 1.0 / (1.0 / LINK + 1.0 / (RATIO**2 * MOTOR))  # kg m²: of link and motor about the joint
SPONG = "Spong, 'Modeling and control of elastic joint robots', J. Dyn. Syst. Meas. Control 109 (1987) 310"


def link(held: bool = False, **numbers: float) -> saltus.Model:
    """A link of 0.5 kg m² without weight, a motor of 0.002 kg m² and a gear of ratio 10; its motor may be held."""
    source = """<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><body><joint name="x" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 0.5"/></body></worldbody><actuator><motor joint="x"/></actuator>
      </mujoco>"""
    model = saltus.drive(source, "x", saltus.Gear(RATIO, rotor_inertia=MOTOR, **numbers))
    return saltus.drive(model, "x_rotor", friction=saltus.Stribeck(1e3, 1e3, 1.0)) if held else model


def rate(m: Any, d: Any) -> Any:
    """Rate of a gear's twist (rad/s)."""
    return d.qvel[1] / RATIO - d.qvel[0]


def turns(model: saltus.Model, qpos: float, qvel: float, duration: float) -> Any:
    """Times (s) at which the twist of a link's gear turns back."""
    sim = saltus.Simulation(model, "dopri5", contact="hard", tolerance=TIGHT, events=[saltus.Event(rate)])
    sim.qpos[0], sim.qvel[0] = qpos, qvel
    track = sim.run(duration)
    return track.events["time"][track.events["name"] == "rate"]


@benchmark(
    "elastic-gear-frequency",
    "Natural frequency of a link on an elastic gear",
    source=f"{SPONG}; closed form: ω² = k/I with the motor held, k (1/I + 1/(N² J)) with it free",
    allowed=TOLERANCE,
)
def elastic_frequency(data: Data) -> Result:
    """I = 0.5 kg m², J = 0.002 kg m², N = 10; half periods between located turns of the twist."""
    stiffness = np.array([20.0, 80.0, 320.0])
    found: dict[str, list[float]] = {"free": [], "held": []}
    for name, values in found.items():
        for k in stiffness:
            times = turns(link(name == "held", stiffness=float(k)), 0.01, 0.0, 2.0)
            values.append(float(np.pi / np.diff(times).mean()))
    closed = {"free": np.sqrt(stiffness / REDUCED), "held": np.sqrt(stiffness / LINK)}
    checked = [
        check
        for name, values in found.items()
        for check in checks([f"motor {name}, k = {k:g} N m/rad" for k in stiffness], values, closed[name], 1e-8)
    ]
    curves = [Curve(f"motor {name}, closed form", stiffness, closed[name], "dashed") for name in found]
    curves += [Curve(f"motor {name}", stiffness, values, "marks") for name, values in found.items()]
    return Result(checked, Figure("stiffness (N m/rad)", "frequency (rad/s)", curves))


@benchmark(
    "backlash-springs",
    "Motion in a gap between springs",
    source="closed form: a period takes 2 (b/u + π √(μ/k)), μ = 1/(1/I + 1/(N² J))",
    allowed=TOLERANCE,
)
def backlash_springs(data: Data) -> Result:
    """A gap of b = 0.02 rad at several relative speeds u; k = 80 N m/rad; half periods between turns of the twist."""
    speeds = np.array([0.1, 0.3, 1.0])
    period = lambda u: 2.0 * (PLAY / u + np.pi * np.sqrt(REDUCED / 80.0))  # noqa: E731
    model = link(stiffness=80.0, backlash=PLAY)
    found = [2.0 * float(np.diff(turns(model, 0.0, float(u), 3.0)).mean()) for u in speeds]
    line = np.linspace(0.08, 1.05, 60)
    curves = [Curve("closed form", line, period(line)), Curve("reached", speeds, found, "marks")]
    compared = checks([f"T({u:g} rad/s)" for u in speeds], found, period(speeds), 1e-8, "s")
    return Result(compared, Figure("relative speed (rad/s)", "period (s)", curves))


@benchmark(
    "backlash-impacts",
    "Impacts in a gap",
    source="closed form: crossing n takes b/(u eⁿ); I q' + N J θ' is conserved",
    allowed="bodies touch at gaps below 1e-10 rad, at each end, over the slowest crossing of 0.064 rad/s",
)
def backlash_impacts(data: Data) -> Result:
    """A gap of 0.02 rad between rigid sides, restitution 0.8, relative speed 0.5 rad/s; ten located impacts."""
    sim = saltus.Simulation(link(backlash=PLAY), "dopri5", contact=saltus.Hard(limits=0.8), tolerance=TIGHT)
    sim.qvel[0] = 0.5
    track = sim.run(1.5)
    closed = 0.5 * PLAY / 0.5 + np.cumsum([0.0, *(PLAY / (0.5 * 0.8**n) for n in range(1, 10))])
    found = track.events["time"][:10]
    momentum = float(LINK * sim.qvel[0] + RATIO * MOTOR * sim.qvel[1])
    count = np.arange(1, 11)
    compared = checks([f"impact {n}" for n in count], found, closed, 1e-8, "s")
    compared += checks(["angular momentum"], [momentum], [LINK * 0.5], 1e-12, "kg m²/s")
    curves = [Curve("closed form", count, closed, "dashed"), Curve("reached", count, found, "marks")]
    return Result(compared, Figure("impact", "time (s)", curves))


LOAD, STIFFNESS = 3.0, 80.0  # N m, N m/rad
WORM = "Budynas & Nisbett, Shigley's Mechanical Engineering Design, 11th ed. (2020), sections 8-2 and 13-11"
FRICTION_ANGLE = np.arctan(0.1)


def worm(lead: Any) -> tuple[Any, Any]:
    """Efficiencies of a worm with a lead angle (rad), driving and driven: tan λ / tan(λ + ρ), tan(λ - ρ) / tan λ."""
    return np.tan(lead) / np.tan(lead + FRICTION_ANGLE), np.tan(lead - FRICTION_ANGLE) / np.tan(lead)


def lifting(lead: float, torque: float, speed: float = 0.0, transmitted: float = LOAD) -> saltus.Simulation:
    """A link under a load on a worm gear whose spring transmits a torque."""
    driving, driven = worm(lead)
    model = link(efficiency=float(driving), back_efficiency=float(driven), stiffness=STIFFNESS)
    sim = saltus.Simulation(model, "dopri5", contact="hard", tolerance=TIGHT)
    sim.qpos[1], sim.qvel[:] = RATIO * transmitted / STIFFNESS, [speed, RATIO * speed]
    sim.ctrl[0], sim.qfrc_applied[0] = torque, -LOAD
    return sim


@benchmark(
    "worm-acceleration",
    "Acceleration through a worm gear, driving and driven",
    source=f"{WORM}; closed form: J N a = u - τ/(N η) up, u - η' τ/N down, τ = I a + Q",
    allowed="dry friction of the motor that a gear needs, 1e-9 N m",
)
def worm_acceleration(data: Data) -> Result:
    """Friction coefficient 0.1, lead angles of 3° to 20°, a load of Q = 3 N m; the gear's twist is constant."""
    leads = np.radians([3.0, 10.0, 20.0])
    wanted = {"up": 2.0, "down": -1.5}
    found: dict[str, list[float]] = {name: [] for name in wanted}
    for name, acceleration in wanted.items():
        transmitted = LINK * acceleration + LOAD
        for lead in leads:
            driving, driven = worm(lead)
            share = 1.0 / driving if name == "up" else driven
            torque = MOTOR * RATIO * acceleration + share * transmitted / RATIO
            speed = float(np.sign(acceleration))
            sim = lifting(lead, torque, speed, transmitted)
            sim.run(0.1)
            found[name].append(float(sim.qvel[0] - speed) / 0.1)
    checked = [
        check
        for name, values in found.items()
        for check in checks([f"{name}, λ = {x:.0f}°" for x in np.degrees(leads)], values, [wanted[name]] * 3, 1e-7)
    ]
    curves = [Curve(f"{name}, closed form", np.degrees(leads), [wanted[name]] * 3, "dashed") for name in found]
    curves += [Curve(name, np.degrees(leads), values, "marks") for name, values in found.items()]
    return Result(checked, Figure("lead angle (°)", "acceleration (rad/s²)", curves))


@benchmark(
    "worm-breakaway",
    "Torques between which a worm gear stands",
    source=f"{WORM}; closed form: η' Q/N and Q/(N η); without torque it stands where tan λ <= 0.1",
    allowed="1e-6 of Q/N on both sides",
)
def worm_breakaway(data: Data) -> Result:
    """Friction coefficient 0.1, lead angles of 3° and 10°: the direction of motion a millionth beside both torques."""
    moved, wanted, torques, names = [], [], [], []
    for lead in np.radians([3.0, 10.0]):
        driving, driven = worm(lead)
        share = LOAD / RATIO
        for limit, direction in ((share / driving, 1.0), (share * driven, -1.0)):
            for side in (1.0, -1.0):
                torques.append(float(limit + direction * side * 1e-6 * share))
                sim = lifting(lead, torques[-1])
                sim.run(0.05)
                moved.append(float(np.sign(sim.qvel[1])))
                wanted.append(direction if side > 0.0 else 0.0)
                names.append(f"direction at λ = {np.degrees(lead):.0f}° under {torques[-1]:.7f} N m")
    curves = [Curve("expected", torques, wanted, "dashed"), Curve("reached", torques, moved, "marks")]
    return Result(checks(names, moved, wanted, 0.0), Figure("torque of the motor (N m)", "direction of motion", curves))


@benchmark(
    "torque-curve-run-up",
    "Run-up of a motor along its curve of torque by speed",
    source="closed form: I v₁/T at constant torque, then I (v₀ - v₁)/T ln((v₀ - v₁)/(v₀ - v)) on a line to 0 at v₀",
    allowed=TOLERANCE,
)
def run_up(data: Data) -> Result:
    """T = 2 N m up to v₁ = 300 rad/s, falling to 0 at v₀ = 400 rad/s; a rotor of 0.01 kg m² under full command."""
    source = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="x" axis="0 0 1"/><inertial pos="0 0 0"
      mass="1" diaginertia="1 1 .01"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    model = saltus.drive(source, "x", curve=saltus.TorqueCurve([0.0, 300.0, 400.0], [2.0, 2.0, 0.0]))
    constant, fall = 0.01 * 300.0 / 2.0, 0.01 * 100.0 / 2.0  # s
    time = lambda v: constant + fall * np.log(100.0 / (400.0 - v))  # noqa: E731
    speeds = np.array([330.0, 360.0, 390.0])
    found = []
    for v in speeds:
        sim = saltus.Simulation(model, "dopri5", tolerance=TIGHT)
        sim.ctrl[0] = 10.0
        sim.run(float(time(v)))
        found.append(float(sim.qvel[0]))
    line = np.linspace(constant, time(395.0), 60)
    curves = [Curve("closed form", line, 400.0 - 100.0 * np.exp(-(line - constant) / fall))]
    curves += [Curve("reached", time(speeds), found, "marks")]
    compared = checks([f"v after {time(v):.4f} s" for v in speeds], found, speeds, 1e-7, "rad/s")
    return Result(compared, Figure("time (s)", "speed (rad/s)", curves))
