"""Motors by their windings: speed without load, warming, cogging."""

import numpy as np
from scipy.special import ellipk

import saltus
from saltus.verify.case import Curve, Data, Figure, Result, checks, family

benchmark = family("drives")

TIGHT = (1e-12, 1e-12)


def motor(attributes: str, inertia: float = 0.01, damping: float = 0.0) -> saltus.Model:
    """A rotor with a dc motor."""
    return saltus.load(f"""<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="x" axis="0 0 1"
      damping="{damping!r}"/><inertial pos="0 0 0" mass="1" diaginertia="{inertia!r} {inertia!r} {inertia!r}"/></body>
      </worldbody><actuator><dcmotor joint="x" {attributes}/></actuator></mujoco>""")


@benchmark(
    "dcmotor-run-up",
    "Run-up of a dc motor to its speed without load",
    source="closed form: J dω/dt = K (V - K ω)/R - b ω; ω₀ = V K/(K² + R b), T = J R/(K² + R b)",
    allowed="the integrator's tolerance, 1e-12 a step",
)
def run_up(data: Data) -> Result:
    """R = 1.2 Ω, K = 0.05 V s/rad, 12 V, J = 0.01 kg m², bearing friction b = 1e-4 N m s."""
    ohm, constant, volts, inertia, bearing = 1.2, 0.05, 12.0, 0.01, 1e-4
    slope = constant**2 + ohm * bearing
    limit, time = volts * constant / slope, inertia * ohm / slope
    closed = lambda t: limit * (1.0 - np.exp(-t / time))  # noqa: E731
    times = time * np.array([0.5, 1.0, 2.0, 30.0])
    sim = saltus.Simulation(motor('resistance="1.2" motorconst="0.05"', inertia, bearing), "dopri5", tolerance=TIGHT)
    sim.ctrl[0] = volts
    found = []
    for t in times:
        sim.run(float(t) - sim.time)
        found.append(float(sim.qvel[0]))
    line = np.linspace(0.0, 4.0 * time, 80)
    curves = [Curve("closed form", line, closed(line)), Curve("reached", times[:3], found[:3], "marks")]
    compared = checks([f"ω({t:.3g} s)" for t in times], found, closed(times), 1e-8, "rad/s")
    return Result(compared, Figure("time (s)", "speed (rad/s)", curves))


@benchmark(
    "dcmotor-temperature",
    "Temperature of the winding of a dc motor that is held",
    source="closed form: Θ (1 + α Θ) = Rth V²/R in the end; without α, Θ = Rth V²/R (1 - exp(-t/(Rth C)))",
    allowed="the integrator's tolerance; the motor turns by 1e-12 rad/s at most (1e12 kg m²)",
)
def temperature(data: Data) -> Result:
    """R = 1.2 Ω at 25 °C, 6 V, Rth = 2 K/W, C = 15 J/K, α = 0 and 0.0039/K of copper: above the surroundings."""
    ohm, volts, rise, capacity = 1.2, 6.0, 2.0, 15.0
    power, found, wanted, names, curves = rise * volts**2 / ohm, [], [], [], []
    line = np.linspace(0.0, 240.0, 80)
    for alpha in (0.0, 0.0039):
        heat = f'resistance="1.2" motorconst="0.05" thermal="2 {capacity!r} 0 {alpha!r} 25 25"'
        sim = saltus.Simulation(motor(heat, 1e12), "dopri5", tolerance=TIGHT)
        sim.ctrl[0] = volts
        track = sim.run(1200.0, sample=15.0)
        last = power if alpha == 0.0 else (np.sqrt(1.0 + 4.0 * alpha * power) - 1.0) / (2.0 * alpha)
        found.append(float(sim.act[0]))
        wanted.append(float(last))
        names.append(f"Θ at the end, α = {alpha:g}/K")
        if alpha == 0.0:
            found.append(float(track.act[2, 0]))
            wanted.append(float(power * (1.0 - np.exp(-30.0 / (rise * capacity)))))
            names.append("Θ(30 s), α = 0")
            curves.append(Curve("closed form, α = 0", line, power * (1.0 - np.exp(-line / (rise * capacity)))))
        curves.append(Curve(f"reached, α = {alpha:g}/K", track.time[:17], track.act[:17, 0], "marks"))
        curves.append(Curve(f"limit, α = {alpha:g}/K", [0.0, 240.0], [last, last], "dashed"))
    return Result(checks(names, found, wanted, 1e-7, "K"), Figure("time (s)", "temperature rise (K)", curves))


@benchmark(
    "dcmotor-cogging",
    "Oscillation of a rotor between its cogs",
    source="closed form: n θ is the angle of a pendulum, J θ'' = A sin(n θ): T = 4 K(sin(a/2)²)/√(n A/J)",
    allowed="the integrator's tolerance, 1e-12 a step",
)
def cogging(data: Data) -> Result:
    """A = 0.02 N m, n = 14 cogs, J = 1e-4 kg m²; amplitudes a = n θ of 0.1, 1 and 3 rad about the rest at n θ = π."""
    amplitudes = np.array([0.1, 1.0, 3.0])
    closed = lambda a: 4.0 * ellipk(np.sin(0.5 * a) ** 2) / np.sqrt(14.0 * 0.02 / 1e-4)  # noqa: E731
    back = []
    for a in amplitudes:
        cogs = 'resistance="1" motorconst="0" input="none" cogging="0.02 14 0"'
        sim = saltus.Simulation(motor(cogs, 1e-4), "dopri5", tolerance=TIGHT)
        sim.qpos[0] = (np.pi + a) / 14.0
        sim.run(float(closed(a)))
        # the phase that is missing after a period, by velocity over acceleration
        sim.forward()
        back.append(float(closed(a) - sim.qvel[0] / sim.data.qacc[0]))
    line = np.linspace(0.05, 3.05, 60)
    curves = [Curve("closed form", line, closed(line)), Curve("reached", amplitudes, back, "marks")]
    compared = checks([f"T({a:g} rad)" for a in amplitudes], back, closed(amplitudes), 1e-9, "s")
    return Result(compared, Figure("amplitude n θ (rad)", "period (s)", curves))


@benchmark(
    "dcmotor-derating",
    "Torque that a held dc motor keeps as its current is derated",
    source="closed form: R (I share)² = Θ/Rth, share = (T₂ - Tₐ - Θ)/(T₂ - T₁): a quadratic equation of Θ",
    allowed="the integrator's tolerance; the motor turns by 1e-12 rad/s at most (1e12 kg m²)",
)
def derating(data: Data) -> Result:
    """R = 1.2 Ω, K = 0.05 N m/A, Rth = 3 K/W, C = 2 J/K, 25 °C; limits of 4, 6, 10 A that fall from 60 to 90 °C."""
    ohm, constant, rise, begin, end, ambient = 1.2, 0.05, 3.0, 60.0, 90.0, 25.0
    rotor = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="x" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1e12 1e12 1e12"/></body></worldbody></mujoco>"""
    found, wanted, names, curves = [], [], [], []
    for most in (4.0, 6.0, 10.0):
        sheet = saltus.Motor(
            *(ohm, constant),
            current_limit=most,
            derating=(begin, end),
            thermal_resistance=rise,
            thermal_capacity=2.0,
            temperature_coefficient=0.0,
            ambient=ambient,
        )
        sim = saltus.Simulation(saltus.drive(rotor, "x", motor=sheet), "dopri5", tolerance=TIGHT)
        sim.ctrl[0] = 100.0
        track = sim.run(120.0, sample=2.0)
        sim.forward()
        # share s of the current: heat² s² + s = cold, with heat = Rth R I²/(T₂ - T₁), cold = (T₂ - Tₐ)/(T₂ - T₁)
        heat, cold = rise * ohm * most**2 / (end - begin), (end - ambient) / (end - begin)
        share = (np.sqrt(1.0 + 4.0 * heat * cold) - 1.0) / (2.0 * heat)
        found.append(float(sim.data.actuator_force[0]))
        wanted.append(float(constant * most * share))
        names.append(f"torque, {most:g} A")
        shares = np.clip((end - ambient - track.act[:, 0]) / (end - begin), 0.0, 1.0)
        curves.append(Curve(f"reached, {most:g} A", track.time, constant * most * shares))
        curves.append(Curve(f"limit, {most:g} A", [0.0, 120.0], [wanted[-1], wanted[-1]], "dashed"))
    return Result(checks(names, found, wanted, 1e-9, "N m"), Figure("time (s)", "torque (N m)", curves))
