"""Bodies whose spin is not kept: a rattleback that turns back, and a tippe top that stands up on its stem."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family
from saltus.verify.families.rolling.scenes import STICKS, G, about, inertial, matrices, world

benchmark = family("rolling")
Vector = NDArray[np.float64]
Flow = Callable[[float, Vector], Vector]

# ---------------------------------------------------------------- the rattleback

AXES = np.array([0.2, 0.06, 0.05])  # half axes, m
SKEW = math.radians(5)  # rad: turn of the axes of inertia about the vertical
SPIN, LEAN = -5.0, 0.01  # rad/s, rad


def _skewed() -> Vector:
    """The inertia of a solid ellipsoid of 1 kg, turned about its vertical axis."""
    a, b, c = AXES**2
    turn = about(2, SKEW)
    return turn @ (np.array([b + c, a + c, a + b]) / 5 * turn).T


def rolling_ellipsoid(inertia: Vector) -> Flow:
    """d/dt of (γ, ω), the vertical and the turning in the body's axes, of an ellipsoid of 1 kg that rolls.

    With r = -S² γ/|S γ| to the point of contact and v = r × ω:
    γ̇ = γ × ω, v̇ + ω × v + g γ = F, I ω̇ + ω × I ω = r × F.
    """
    squares = AXES**2

    def flow(t: float, state: Vector) -> Vector:
        up, turning = state[:3], state[3:]
        long = math.sqrt(up @ (squares * up))
        arm = -squares * up / long
        moves = np.cross(up, turning)
        slides = -squares * moves / long + squares * up * (up @ (squares * moves)) / long**3
        known = np.cross(slides, turning) + np.cross(turning, np.cross(arm, turning)) + G * up
        crossed = np.cross(arm, np.eye(3)).T
        load = np.cross(arm, known) - np.cross(turning, inertia @ turning)
        speeds_up = np.linalg.solve(inertia - crossed @ crossed, load)
        return np.concatenate([moves, np.asarray(speeds_up, float)])

    return flow


@benchmark(
    "rattleback",
    "Rattleback",
    source="the equations of a rolling ellipsoid (Bondi, Proc. R. Soc. A 405 (1986)), integrated by SciPy's DOP853 to "
    "1e-12",
    allowed="the integrator's tolerance, 1e-11 a step, times the growth of its rattling, by 1e3 in 8 s, and the steps",
)
def rattleback(data: Data) -> Result:
    """A solid ellipsoid of 0.4 x 0.12 x 0.1 m, whose axes of inertia are turned by 5 degrees against those of its
    shape, spins at 5 rad/s the wrong way and leans by 0.01 rad: it begins to rattle and turns back."""
    inertia = _skewed()
    xx, yy, zz = np.diag(inertia)
    body = f"""<body name="stone"><freejoint/>
      <inertial mass="1" pos="0 0 0" fullinertia="{xx:.17g} {yy:.17g} {zz:.17g} {inertia[0, 1]:.17g} 0 0"/>
      <geom name="stone" type="ellipsoid" size="{AXES[0]} {AXES[1]} {AXES[2]}"/></body>"""
    sim = saltus.Simulation(world(body, 10 * STICKS), contact="hard", tolerance=(1e-11, 1e-12))
    turn = about(1, LEAN)
    up, turning = turn[2], np.array([0, 0, SPIN])
    long = math.sqrt(up @ (AXES**2 * up))
    sim.qpos[2:] = long, math.cos(LEAN / 2), 0, math.sin(LEAN / 2), 0
    sim.qvel[:] = *(turn @ np.cross(-(AXES**2) * up / long, turning)), *turning
    run = sim.run(8.0, sample=0.02, progress=False)
    exact = solve_ivp(
        rolling_ellipsoid(inertia), (0, 8.0), np.concatenate([up, turning]), "DOP853", run.time, rtol=1e-12, atol=1e-13
    ).y.T
    vertical = matrices(run.qpos[:, 3:7])[:, 2]
    energy = run.energy.sum(axis=1)
    found = [
        Check("vertical, largest error", float(np.max(np.abs(vertical - exact[:, :3]))), 0.0, 1e-6),
        Check("turning, largest error", float(np.max(np.abs(run.qvel[:, 3:] - exact[:, 3:]))), 0.0, 1e-5, "rad/s"),
        Check("spin at 8 s", float(run.qvel[-1, 5]), float(exact[-1, 5]), 1e-5, "rad/s"),
        Check("turned back (1: yes)", float(run.qvel[:, 5].max() > 0.1 * abs(SPIN)), 1.0, 0.0),
        Check("energy, largest change", float(np.max(np.abs(energy / energy[0] - 1))), 0.0, 1e-7),
    ]
    curves = [
        Curve("reached", run.time, run.qvel[:, 5]),
        Curve("SciPy", run.time[::10], exact[::10, 5], "marks"),
    ]
    return Result(found, Figure("t (s)", "spin (rad/s)", curves))


# ---------------------------------------------------------------- the tippe top

BALL, OFF, MASS = 0.02, 0.006, 0.015  # radius and offset of its centre from the centre of mass (m), kg
ACROSS, ALONG = 0.45 * MASS * BALL**2, 0.4 * MASS * BALL**2  # moments of inertia, kg m²
RUBS, FAST, TIPPED = 0.1, 200.0, 0.1  # friction, rad/s, rad


def sliding_top(t: float, state: Vector) -> Vector:
    """d/dt of (e, L, v): axis, angular momentum about the centre of mass, its horizontal velocity; the top slides.

    With r = a e - R ẑ to the point of contact: L̇ = r × F, F = N (ẑ - μ u/|u|), and the height of the centre of mass is
    R - a e_z.
    """
    axis, spin, v = state[:3], state[3:6], state[6:]
    k = 1 / ALONG - 1 / ACROSS
    turning = spin / ACROSS + k * (spin @ axis) * axis
    moves = np.cross(turning, axis)
    arm = OFF * axis - np.array([0, 0, BALL])
    slip = v + np.cross(turning, arm)[:2]
    force = np.array([*(-RUBS * slip / math.hypot(*slip)), 1.0])

    def turns(torque: Vector) -> Vector:
        return torque / ACROSS + k * ((torque @ axis + spin @ moves) * axis + (spin @ axis) * moves)

    # height: z̈ = -a ë_z, linear in N
    free = turns(np.zeros(3))
    each = turns(np.cross(arm, force)) - free
    rise = -OFF * (np.cross(free, axis) + np.cross(turning, moves))[2]
    press = MASS * (rise + G) / (1 + MASS * OFF * np.cross(each, axis)[2])
    return np.concatenate([moves, press * np.cross(arm, force), press * force[:2] / MASS])


@benchmark(
    "tippe-top",
    "Tippe top",
    source="Jellett's invariant L·r (Jellett, A Treatise on the Theory of Friction (1872)), kept under any force at "
    "the contact; the equations of a sliding top, integrated by SciPy's DOP853 to 1e-11",
    allowed="the integrator's tolerance, 1e-11 a step, over 1000 turns, in which errors grow with time squared; "
    "Jellett's invariant: 1e-7",
)
def tippe_top(data: Data) -> Result:
    """A ball of 20 mm whose centre of mass is 6 mm below its centre spins at 200 rad/s, tipped by 0.1 rad, on a floor
    with μ = 0.1: sliding friction turns it over. Compared until it first hops, at 2.3 s; then it hops now and then."""
    body = f"""<body name="top"><freejoint/>{inertial(MASS, (ACROSS, ACROSS, ALONG))}
      <geom name="top" type="ellipsoid" size="{BALL} {BALL} {BALL}" pos="0 0 {OFF}"/></body>"""
    sim = saltus.Simulation(world(body, RUBS), contact="hard", tolerance=(1e-11, 1e-12))
    turn = about(1, TIPPED)
    sim.qpos[2:] = BALL - OFF * math.cos(TIPPED), math.cos(TIPPED / 2), 0, math.sin(TIPPED / 2), 0
    sim.qvel[3:] = turn.T @ (0, 0, FAST)
    moments = np.array([ACROSS, ACROSS, ALONG])
    first = np.concatenate([turn[:, 2], turn @ (moments * sim.qvel[3:]), [0, 0]])
    run = sim.run(4.0, sample=0.01, progress=False)
    early = run.time <= 2.0 + 1e-9
    exact = solve_ivp(sliding_top, (0, 2.0), first, "DOP853", run.time[early], rtol=1e-11, atol=1e-14).y.T
    turned = matrices(run.qpos[:, 3:7])
    axis = turned[:, :, 2]
    spin = np.einsum("tij,tj->ti", turned, moments * run.qvel[:, 3:])
    jellett = np.sum(spin * (OFF * axis - np.array([0, 0, BALL])), axis=1)
    found = [
        Check("axis up to 2 s, largest error", float(np.max(np.abs(axis[early] - exact[:, :3]))), 0.0, 1e-5),
        Check("Jellett's invariant, largest change", float(np.max(np.abs(jellett / jellett[0] - 1))), 0.0, 1e-7),
        Check("stands on its stem at 4 s (1: yes)", float(axis[-1, 2] < -0.9), 1.0, 0.0),
    ]
    curves = [
        Curve("cosine of the tilt", run.time, axis[:, 2]),
        Curve("SciPy, sliding", run.time[early][::10], exact[::10, 2], "marks"),
        Curve("Jellett's invariant over its first value", run.time, jellett / jellett[0]),
    ]
    return Result(found, Figure("t (s)", "cosine; ratio", curves))
