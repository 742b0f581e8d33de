"""Muscles: activation in closed form, and the curves and forces of Hill-type muscles against OpenSim."""

from collections.abc import Callable

import numpy as np

import saltus
from saltus.verify.case import Curve, Data, Figure, Result, checks, family

benchmark = family("muscle")

MILLARD = (
    "OpenSim 4.6, Millard2012EquilibriumMuscle without a least activation; Millard, Uchida, Seth & Delp, 'Flexing "
    "computational muscle', J. Biomech. Eng. 135 (2013)"
)
ACTIVATION = "closed form of da/dt = (u - a)/τ, τ = τₐ (1/2 + 3 a/2) if u > a, else τ_d/(1/2 + 3 a/2)"
TIGHT = (1e-13, 1e-14)


def slide(actuator: str) -> str:
    """A heavy body on a slide, pulled towards the origin by a muscle along it."""
    return f"""<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><site name="origin"/>
      <body><joint type="slide" axis="1 0 0"/><geom size="0.02" mass="1e12" contype="0" conaffinity="0"/>
      <site name="end"/></body></worldbody>
      <tendon><spatial name="path"><site site="origin"/><site site="end"/></spatial></tendon>
      <actuator>{actuator}</actuator></mujoco>"""


# ---------------------------------------------------------------- activation


def rise_time(a: np.ndarray) -> np.ndarray:
    """Seconds in which the activation comes from 0 to a with u = 1: τₐ (-2 ln(1 - a) - 3a/2)."""
    return 0.01 * (-2 * np.log(1 - a) - 1.5 * a)


def fall_time(a: np.ndarray) -> np.ndarray:
    """Seconds in which it comes from 1 to a with u = 0: τ_d 2 ln((1 + 3a)/(4a)) by partial fractions."""
    return 0.04 * 2 * np.log((1 + 3 * a) / (4 * a))


def _activation(start: float, excitation: float, at: dict[float, float], closed: Curve) -> Result:
    model = slide('<muscle tendon="path" timeconst="0.01 0.04" force="1" lengthrange="0.1 1"/>')
    sim = saltus.Simulation(model, "dopri5", tolerance=TIGHT)
    sim.qpos[0], sim.act, sim.ctrl = 0.5, start, excitation
    path = [start]
    for _ in range(60):
        sim.step()
        path.append(float(sim.act[0]))
    reached = [path[round(t / 1e-3)] for t in at]
    found = checks([f"a({t:g} s)" for t in at], reached, list(at.values()), 1e-11)
    return Result(found, Figure("t (s)", "activation", [Curve("reached", 1e-3 * np.arange(61), path), closed]))


@benchmark(
    "activation-rises", "Activation rises", source=ACTIVATION, allowed="the integrator's tolerance, 1e-13 a step"
)
def activation_rises(data: Data) -> Result:
    """MuJoCo's muscle, τ = 10 and 40 ms, from a = 0 with u = 1; dopri5."""
    a = np.linspace(0, 0.96, 13)
    at = {0.01: 0.61862319135056, 0.05: 0.96004633005527}
    return _activation(0.0, 1.0, at, Curve("closed form", rise_time(a), a, "marks"))


@benchmark(
    "activation-falls", "Activation falls", source=ACTIVATION, allowed="the integrator's tolerance, 1e-13 a step"
)
def activation_falls(data: Data) -> Result:
    """MuJoCo's muscle, τ = 10 and 40 ms, from a = 1 with u = 0; dopri5."""
    a = np.linspace(0.2, 1, 9)
    return _activation(1.0, 0.0, {0.01: 0.65248860591484}, Curve("closed form", fall_time(a), a, "marks"))


# ---------------------------------------------------------------- Hill-type muscles: curves

FORCE, OPTIMAL, SLACK = 500.0, 0.12, 0.24  # N, m, m
ACTIVE = {
    0.5: 0.09853248961876138,
    0.6: 0.4511018783255816,
    0.7: 0.7670203685686412,
    0.8: 0.87067661327986,
    1.0: 1.0,
    1.1: 0.957375532280429,
    1.2: 0.823680970871459,
    1.4: 0.543730727118193,
    1.6: 0.26302688371190536,
}
PASSIVE = {0.9: 0.0, 1.1: 0.01704483509737836, 1.4: 0.2628897766071385, 1.6: 0.7170695270830669, 1.7: 1.0}
VELOCITY = {
    -0.9: 0.0125,
    -0.5: 0.15808560444169842,
    -0.3: 0.33023970225592203,
    -0.1: 0.6252142843129728,
    0.0: 1.0,
    0.1: 1.225153837753858,
    0.3: 1.2947073906241897,
    0.5: 1.3311315693144758,
    0.9: 1.3925,
}
TENDON = {
    0.002: 0.007316946624299866,
    0.01: 0.09967827012198324,
    0.02: 0.2609359826149298,
    0.03: 0.47939871234804565,
    0.049: 1.0,
    0.06: 1.3086734693877551,
}
CURVES = "closed formulas on both sides: 1e-12; divided by what the muscle's other parts take away, 1e-11"
DAMPING = 1e-6  # force in units of the greatest, at the fastest contraction


def hill(rigid: bool = True) -> saltus.Simulation:
    """A muscle without pennation on the slide."""
    law = saltus.HillMuscle(FORCE, OPTIMAL, SLACK, fiber_damping=DAMPING, rigid_tendon=rigid)
    model = saltus.load(slide('<general name="muscle" tendon="path"/>'), muscles={"muscle": law})
    return saltus.Simulation(model, "rk4")


def rigid_force(sim: saltus.Simulation, activation: float, length: float, velocity: float = 0.0) -> float:
    """Force in units of the greatest with a rigid tendon; lengths in optimal ones, velocities in the fastest."""
    sim.qpos[0], sim.qvel[0] = SLACK + OPTIMAL * length, 10.0 * OPTIMAL * velocity
    sim.act = activation
    sim.forward()
    return -float(sim.data.actuator_force[0]) / FORCE


def curve(x: str, y: str, table: dict[float, float], reached: Callable[[float], float]) -> Result:
    """A curve and its points beside OpenSim's."""
    found = checks([f"{y}({value:g})" for value in table], list(map(reached, table)), list(table.values()), 1e-11)
    line = np.linspace(min(table), max(table), 120)
    curves = [Curve("reached", line, list(map(reached, line.tolist())))]
    return Result(found, Figure(x, y, [*curves, Curve("OpenSim", list(table), list(table.values()), "marks")]))


@benchmark("muscle-active", "Active force-length curve", source=MILLARD, allowed=CURVES)
def active(data: Data) -> Result:
    """Force of a fully active muscle at rest, less that of the passive one, over the fibre's length (rigid tendon)."""
    sim = hill()

    def reached(length: float) -> float:
        return rigid_force(sim, 1.0, length) - rigid_force(sim, 0.0, length)

    return curve("fibre length / optimal", "f_L", ACTIVE, reached)


@benchmark("muscle-passive", "Passive force-length curve", source=MILLARD, allowed=CURVES)
def passive(data: Data) -> Result:
    """Force of a muscle without activation, at rest (rigid tendon)."""
    sim = hill()
    return curve("fibre length / optimal", "f_P", PASSIVE, lambda length: rigid_force(sim, 0.0, length))


@benchmark("muscle-velocity", "Force-velocity curve", source=MILLARD, allowed=CURVES)
def velocity(data: Data) -> Result:
    """Force of a fully active muscle at its optimal length, less that of its damper (rigid tendon)."""
    sim = hill()
    return curve("velocity / fastest", "f_V", VELOCITY, lambda v: rigid_force(sim, 1.0, 1.0, v) - DAMPING * v)


@benchmark("muscle-tendon", "Tendon curve", source=MILLARD, allowed=CURVES)
def tendon(data: Data) -> Result:
    """Force of a muscle over its tendon's strain, with the fibre at its optimal length."""
    sim = hill(rigid=False)

    def reached(strain: float) -> float:
        sim.qpos[0], sim.qvel[0] = SLACK * (1 + strain) + OPTIMAL, 0.0
        sim.act = [0.5, 1.0]
        sim.forward()
        return -float(sim.data.actuator_force[0]) / FORCE

    return curve("tendon strain", "f_T", TENDON, reached)
