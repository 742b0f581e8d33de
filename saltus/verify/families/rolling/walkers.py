"""The simplest walker: two legs and a hip walk down a slope, by events of the user's and by feet in hard contact."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family
from saltus.verify.families.contact_hard.scenes import LOCATED, instants
from saltus.verify.families.rolling.scenes import STICKS

benchmark = family("rolling")
Vector = NDArray[np.float64]

INCLINE = 0.009  # rad; lengths, the hip's mass and gravity are one
GARCIA = (
    "Garcia, Chatterjee, Ruina & Coleman, 'The simplest walking model: stability, complexity, and scaling', J. "
    "Biomech. Eng. 120 (1998)"
)
GAIT = {"θ": 0.200310900544287, "θ̇": -0.199832473004977}  # just after heel strike, at the slope 0.009
LIGHT = 1e-9  # mass of a leg where feet have none, of a pendulum of the same period as a point at its end


def simplest_flow(t: float, state: Vector) -> Vector:
    """d/dt of (θ, φ, θ̇, φ̇): the stance leg's angle from the slope's normal, and the angle between the legs."""
    stance, between, rate, other = state
    fall = math.sin(stance - INCLINE)
    swing = fall + rate**2 * math.sin(between) - math.cos(stance - INCLINE) * math.sin(between)
    return np.array([rate, other, fall, swing])


def simplest_step(stance: float, rate: float) -> tuple[Vector, float]:
    """(θ, φ, θ̇, φ̇) just after the next heel strike, and its time, by SciPy; both start just after one."""

    def strikes(t: float, state: Vector) -> float:
        return float(state[1] - 2 * state[0]) if state[0] < -0.05 else -1.0

    strikes.terminal = True  # type: ignore[attr-defined]
    first = [stance, 2 * stance, rate, (1 - math.cos(2 * stance)) * rate]
    run = solve_ivp(simplest_flow, (0, 9), first, "DOP853", rtol=1e-12, atol=1e-13, events=strikes)
    end = run.y[:, -1]
    turned = math.cos(2 * end[0])
    return np.array([-end[0], -2 * end[0], turned * end[2], turned * (1 - turned) * end[2]]), float(run.t[-1])


def simplest_gait() -> tuple[Vector, float]:
    """The gait of `simplest_step`: (θ, φ, θ̇, φ̇) just after heel strike, and its period."""

    def off(start: Vector) -> Vector:
        return simplest_step(*start)[0][[0, 2]] - start

    start = np.asarray(fsolve(off, [0.2003, -0.1998], xtol=1e-13), float)
    return simplest_step(float(start[0]), float(start[1]))


# ---------------------------------------------------------------- by events of the user's


def _leg(mass: float, foot: str = "") -> str:
    """A leg that hangs from its hip and swings as a point at its end would: I + m r² = m r l."""
    moments = f"{0.25 * mass!r} " * 3
    return f'<inertial pos="0 0 -0.5" mass="{mass!r}" diaginertia="{moments}"/>{foot}'


def _model(content: str, defaults: str = "") -> str:
    gravity = f"{math.sin(INCLINE)!r} 0 {-math.cos(INCLINE)!r}"
    return f"""<mujoco><compiler inertiafromgeom="false"/><option timestep="0.001" gravity="{gravity}"/>{defaults}
      {content}</mujoco>"""


def pendula() -> str:
    """Model of the stance leg on a hinge with the hip's mass at its end, and from there the swing leg, without feet."""
    return _model(
        f"""<worldbody><body name="stance"><joint name="stance" axis="0 1 0"/>
          <inertial pos="0 0 1" mass="1" diaginertia="1e-12 1e-12 1e-12"/>
          <body name="swing" pos="0 0 1"><joint name="swing" axis="0 1 0"/>{_leg(LIGHT)}</body></body></worldbody>"""
    )


def foot_height(m, d):  # type: ignore[no-untyped-def]
    """The height (m) of the swing leg's end over the slope; the angles of the model are -θ and φ."""
    return math.cos(d.qpos[0]) - math.cos(d.qpos[0] + d.qpos[1])


def heel_strike(m, d):  # type: ignore[no-untyped-def]
    """The legs change their parts where the swing foot is in front; elsewhere it scuffs, which is ignored."""
    if d.qpos[0] > 0.05:
        turned = math.cos(2.0 * d.qpos[0])
        rate = turned * d.qvel[0]
        d.qpos[0], d.qpos[1] = -d.qpos[0], -d.qpos[1]
        d.qvel[0], d.qvel[1] = rate, -rate * (1.0 - turned)


@benchmark(
    "walker-events",
    "The simplest walker, by events",
    source=GARCIA
    + ": the gait at the slope 0.009; its period from its equations, integrated by SciPy's DOP853 to 1e-12",
    allowed="the location of events (1e-12) and the integrator's tolerance, 1e-11 a step, over ten steps: 1e-7",
)
def walker_by_events(data: Data) -> Result:
    """The published gait, ten steps: a model of two pendula, and an event of the user's, whose action changes the legs
    and applies the impact. The stance leg's angle and rate after each heel strike stay those of the paper."""
    _, period = simplest_gait()
    theta, rate = GAIT.values()
    strike = saltus.Event(foot_height, heel_strike, name="heel strike", direction="down")
    sim = saltus.Simulation(pendula(), contact="hard", tolerance=(1e-11, 1e-12), events=[strike])
    sim.qpos[:] = -theta, 2 * theta
    sim.qvel[:] = -rate, (1 - math.cos(2 * theta)) * rate
    run = sim.run(10 * period + 1e-6, sample=period / 100, progress=False)
    times = run.events["time"][1::2]  # every other event is a scuff
    found = [
        Check("period", float(np.mean(np.diff(times))), period, 1e-7),
        Check(
            "largest error of a heel strike's time", float(np.max(np.abs(times - period * np.arange(1, 11)))), 0.0, 1e-7
        ),
        Check("θ after ten steps", float(-sim.qpos[0] - 1e-6 * rate), theta, 1e-7),
        Check("θ̇ after ten steps", float(-sim.qvel[0]), rate, 1e-6),
    ]
    early = run.time <= 2 * period
    curves = [
        Curve("θ", run.time[early], -run.qpos[early, 0]),
        Curve("φ", run.time[early], run.qpos[early, 1]),
        Curve("θ after heel strike, published", period * np.arange(3), [theta] * 3, "marks"),
    ]
    return Result(found, Figure("t (√(l/g))", "angle (rad)", curves))


# ---------------------------------------------------------------- by feet in contact

FOOT, BALL, STEPS = 1e-4, 1e-5, 6  # a leg's mass (of the hip's), radius of the balls that are feet (of a leg's length)
FALL = np.array([math.sin(INCLINE), -math.cos(INCLINE)])


def _along(angle: float) -> Vector:
    """Vector from the hip to a foot, at an angle from the normal."""
    return np.array([-math.sin(angle), -math.cos(angle)])


def _turned(angle: float) -> Vector:
    """The derivative of `_along` by the angle."""
    return np.array([-math.cos(angle), math.sin(angle)])


def _hip_and_legs(angles: Vector) -> Vector:
    """The inertia [4, 4] of the hip (x, z) and of two legs by their angles."""
    M = np.zeros((4, 4))
    M[0, 0] = M[1, 1] = 1 + 2 * FOOT
    for k in range(2):
        M[:2, 2 + k] = M[2 + k, :2] = 0.5 * FOOT * _turned(angles[k])
        M[2 + k, 2 + k] = 0.5 * FOOT
    return M


def _rolls(angle: float, leg: int) -> Vector:
    """The velocity [2, 4] of the lowest point of a foot's ball."""
    J = np.zeros((2, 4))
    J[:, :2] = np.eye(2)
    J[:, 2 + leg] = _turned(angle) - (BALL, 0)
    return J


def feet_flow(t: float, state: Vector) -> Vector:
    """d/dt of the angles of stance and swing leg and their rates, while the stance foot rolls."""
    angles, rates = state[:2], state[2:]
    M, J = _hip_and_legs(angles), _rolls(angles[0], 0)
    force = np.zeros(4)
    force[:2] = (1 + 2 * FOOT) * FALL
    for k in range(2):
        force[:2] += 0.5 * FOOT * rates[k] ** 2 * _along(angles[k])
        force[2 + k] = 0.5 * FOOT * _turned(angles[k]) @ FALL
    system = np.block([[M, -J.T], [J, np.zeros((2, 2))]])
    found = np.linalg.solve(system, np.concatenate([force, rates[0] ** 2 * _along(angles[0])]))
    return np.concatenate([rates, np.asarray(found[2:4], float)])


def feet_step(state: Vector) -> tuple[Vector, float]:
    """The state of `feet_flow` just after the next heel strike, the legs exchanged, and the time of it, by SciPy."""

    def strikes(t: float, state: Vector) -> float:
        return float(math.cos(state[0]) - math.cos(state[1])) if state[0] > 0.05 else 1.0

    strikes.terminal, strikes.direction = True, -1  # type: ignore[attr-defined]
    run = solve_ivp(feet_flow, (0, 9), state, "DOP853", rtol=1e-12, atol=1e-13, events=strikes)
    angles, rates = run.y[:2, -1], run.y[2:, -1]
    # plastic impact of the front foot; the other one comes off
    v = np.concatenate([-_rolls(angles[0], 0)[:, 2] * rates[0], rates])
    M, J = _hip_and_legs(angles), _rolls(angles[1], 1)
    v = v - np.linalg.solve(M, J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ v))
    return np.array([angles[1], angles[0], v[3], v[2]]), float(run.t[-1])


def feet_gait() -> tuple[Vector, float]:
    """The gait of `feet_step` just after heel strike, and its period."""

    def off(start: Vector) -> Vector:
        after = feet_step(np.array([start[0], -start[0], start[1], start[2]]))[0]
        return after[[0, 2, 3]] - start

    theta, rate = GAIT.values()
    x = np.asarray(fsolve(off, [-theta, -rate, -math.cos(2 * theta) * rate], xtol=1e-13), float)
    return feet_step(np.array([x[0], -x[0], x[1], x[2]]))


def walker_with_feet(step: float) -> str:
    """A hip and two legs with balls for feet, and for each foot stones of its own, where it must stand.

    The swing foot scuffs in the middle of a step, where it has no stone.
    """

    def leg(name: str) -> str:
        ball = f'<geom name="{name}" size="{BALL!r}" pos="0 0 -1"/>'
        return f'<body name="{name}"><joint name="{name}" axis="0 1 0"/>{_leg(FOOT, ball)}</body>'

    stones = "".join(
        f'<geom name="stone{k}" type="box" size="0.1 0.1 0.05" pos="{k * step!r} 0 -0.05"/>' for k in range(STEPS + 1)
    )
    pairs = "".join(
        f'<pair geom1="stone{k}" geom2="{("left", "right")[k % 2]}" condim="3" friction="{STICKS} {STICKS} 0 0 0"/>'
        for k in range(STEPS + 1)
    )
    return _model(
        f"""<worldbody>{stones}<body name="hip"><joint name="x" type="slide" axis="1 0 0"/>
          <joint name="z" type="slide" axis="0 0 1"/>
          <inertial pos="0 0 0" mass="1" diaginertia="1e-6 1e-6 1e-6"/>{leg("left")}{leg("right")}</body></worldbody>
          <contact>{pairs}</contact>""",
        '<default><geom contype="0" conaffinity="0"/></default>',
    )


@benchmark(
    "walker-feet",
    "The simplest walker, by feet",
    source=GARCIA + "; the equations of a hip and legs with feet of mass, integrated by SciPy's DOP853 to 1e-12",
    allowed=LOCATED
    + ", over five steps: 1e-7; feet of 1e-4 move the published gait by 0.06 of that, its period by 0.4",
)
def walker_by_feet(data: Data) -> Result:
    """The simplest walker with legs of 1e-4 of the hip's mass and balls for feet in hard contact, five steps: heel
    strike is an impact with e = 0, the stance foot sticks, the other one lifts off by itself."""
    first, period = feet_gait()
    angle, swing, rate, other = map(float, first)
    sim = saltus.Simulation(
        walker_with_feet(2 * (math.sin(-angle) - BALL * angle)), contact="hard", tolerance=(1e-10, 1e-11)
    )
    hip = -_rolls(angle, 0)[:, 2] * rate
    sim.qpos[:] = math.sin(angle), BALL + math.cos(angle), angle, swing
    sim.qvel[:] = *hip, rate, other
    run = sim.run(5.5 * period, sample=period / 50, progress=False)
    theta, stance_rate = GAIT.values()
    found = checks(
        [f"heel strike {k}" for k in range(1, 6)], instants(run.events, "impact")[:5], period * np.arange(1, 6), 1e-7
    )
    found += [
        Check("heel strikes", float(np.sum(run.events["kind"] == "impact")), 5.0, 0.0),
        Check("lift-offs", float(np.sum(run.events["kind"] == "liftoff")), 5.0, 0.0),
        Check("θ after heel strike, published", -angle, theta, 1e-5),
        Check("θ̇ after heel strike, published", -rate, stance_rate, 1e-5),
    ]
    curves = [
        Curve("left leg", run.time, run.qpos[:, 2]),
        Curve("right leg", run.time, run.qpos[:, 3]),
        Curve("heel strikes, SciPy", period * np.arange(1, 6), [-angle, angle, -angle, angle, -angle], "marks"),
    ]
    return Result(found, Figure("t (√(l/g))", "angle (rad)", curves))
