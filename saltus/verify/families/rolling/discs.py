"""A disc of no width that rolls: in a circle, on the spot, upright; and a sleigh on the edge of a wheel."""

import math

import numpy as np

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family
from saltus.verify.families.rolling.scenes import CONTROLLED, STICKS, G, inertial, matrices, wheel, world

benchmark = family("rolling")

RADIUS = 0.5  # m
ACROSS, ALONG = RADIUS**2 / 4, RADIUS**2 / 2  # moments of inertia of 1 kg


def disc() -> str:
    """A uniform disc of 1 kg and no width."""
    return world(
        f'<body name="disc"><freejoint/>{inertial(1.0, (ACROSS, ACROSS, ALONG))}{wheel("disc", RADIUS)}</body>', STICKS
    )


def steady_rate(inclination: float, path: float) -> float:
    """The rate (rad/s) at which a disc, inclined to the floor by an angle (rad), rolls while its centre moves in a
    circle of radius `path` (m).

    From d/dt L = r × F in the frame that turns with it, where the spin ω₃ = -Ω b/a makes it roll:
    A Ω² sin α cos α - (C + m a²) ω₃ Ω sin α = m g a cos α.
    """
    s, c = math.sin(inclination), math.cos(inclination)
    return math.sqrt(G * RADIUS * c / (s * (ACROSS * c + (ALONG + RADIUS**2) * path / RADIUS)))


def rolling(sim: saltus.Simulation, inclination: float, path: float) -> float:
    """Set the disc into steady rolling; returns its rate."""
    rate = steady_rate(inclination, path)
    spin = -rate * path / RADIUS
    s = math.sin(inclination)
    sim.reset()
    sim.qpos[:] = 0, 0, RADIUS * s, math.cos(inclination / 2), 0, math.sin(inclination / 2), 0
    # disc's axes: z is its axis, -x points up its plane
    sim.qvel[:] = 0, -RADIUS * spin, 0, -rate * s, 0, spin
    return rate


def _steady(inclination: float, path: float, turns: int) -> Result:
    sim = saltus.Simulation(disc(), contact="hard")
    period = 2 * math.pi / rolling(sim, inclination, path)
    run = sim.run(turns * period, sample=period / 100, progress=False)
    tilt = np.arccos(matrices(run.qpos[:, 3:7])[:, 2, 2])
    across = np.max(np.linalg.norm(run.qpos[:100, :2] - run.qpos[50:150, :2], axis=1))
    energy = run.energy.sum(axis=1)
    found = [
        Check("inclination, largest error", float(np.max(np.abs(tilt - inclination))), 0.0, 1e-7, "rad"),
        Check("diameter of the centre's path", float(across), 2 * path, 1e-6, "m"),
        Check(
            "away from the start after whole turns",
            float(np.linalg.norm(sim.qpos[:3] - run.qpos[0, :3])),
            0.0,
            1e-6,
            "m",
        ),
        Check("energy, largest change", float(np.max(np.abs(energy / energy[0] - 1))), 0.0, 1e-7),
    ]
    turn = np.linspace(0, 2 * np.pi, 61)
    side = math.copysign(path, run.qpos[50, 0] - run.qpos[0, 0])
    circle = Curve("closed form", side * (1 - np.cos(turn)), path * np.sin(turn), "dashed")
    return Result(
        found, Figure("x (m)", "y (m)", [Curve("centre", run.qpos[:101, 0], run.qpos[:101, 1]), circle], equal=True)
    )


@benchmark(
    "disc-circle",
    "Disc that rolls in a circle",
    source="closed form: Ω² sin α (m a²/4 cos α + 3/2 m a b) = m g a cos α; Routh, Advanced Rigid Dynamics (1905), "
    "241-244",
    allowed=CONTROLLED + ", over three turns: 1e-7, and 1e-6 of 2 m π b, the path",
)
def disc_circle(data: Data) -> Result:
    """A disc of radius 0.5 m without width, inclined by 60 degrees, rolls so that its centre moves in a circle of 2 m:
    it keeps its inclination and comes back, three times."""
    return _steady(math.radians(60), 2.0, 3)


@benchmark(
    "euler-disc",
    "Euler's disc",
    source="closed form: the point of contact goes round at Ω = 2 √(g/(a sin α)); Moffatt, Nature 404 (2000)",
    allowed=CONTROLLED + ", over ten turns",
)
def euler_disc(data: Data) -> Result:
    """A disc, inclined by 10 degrees, rolls round on the spot: its centre stays where it is, and after ten
    periods 2π/Ω so is everything else. It rolls without loss: losses would take it through such motions."""
    result = _steady(math.radians(10), 0.0, 10)
    sim = saltus.Simulation(disc(), contact="hard")
    rate = rolling(sim, math.radians(10), 0.0)
    wanted = 2 * math.sqrt(G / (RADIUS * math.sin(math.radians(10))))
    run = sim.run(2 * math.pi / wanted, sample=2 * math.pi / wanted / 100, progress=False)
    axis = matrices(run.qpos[:, 3:7])[:, :, 2]
    turned = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    own = Check("rate of the contact point", float(turned[-1] / run.time[-1]), wanted, 1e-7, "rad/s", relative=True)
    assert abs(rate - wanted) < 1e-9 * wanted
    curves = [Curve("reached", run.time, turned), Curve("Ω t", run.time[::10], wanted * run.time[::10], "marks")]
    return Result([own, *result.checks], Figure("t (s)", "direction of the axis (rad)", curves))


# ---------------------------------------------------------------- Chaplygin's sleigh

BODY, AHEAD, YAW = 2.0, 0.4, 0.3  # kg, m, kg m²
ROLLER, HALF = 0.05, 0.1  # wheel: kg, m


@benchmark(
    "chaplygin-sleigh",
    "Chaplygin's sleigh",
    source="closed form: u = U tanh(k t + c), ω = W/cosh(k t + c); Chaplygin (1911), in Neimark & Fufaev, Dynamics of "
    "Nonholonomic Systems (1972), II.4; the wheel's rolling adds to the mass along it",
    allowed=CONTROLLED + ", over 6 s",
)
def chaplygin_sleigh(data: Data) -> Result:
    """A body that stays level, whose edge cannot move sideways: a wheel of no width. Its centre of mass is behind the
    edge at first, in the direction of motion, and it turns around."""
    moment = ROLLER * HALF**2
    moments = moment / 4, moment / 2, moment / 4
    joints = "".join(
        f'<joint name="{name}" type="slide" axis="{axis}"/>'
        for name, axis in (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1"))
    )
    sim = saltus.Simulation(
        world(
            f"""<body name="sleigh" pos="0 0 {HALF}">{joints}<joint name="yaw" axis="0 0 1"/>
              {inertial(BODY, (YAW, YAW, YAW), (AHEAD, 0, 0))}
              <body name="edge"><joint name="edge" axis="0 1 0"/>{inertial(ROLLER, moments)}
              {wheel("edge", HALF, 'zaxis="0 1 0"')}</body></body>""",
            STICKS,
        ),
        contact="hard",
    )
    first, turning = -1.0, 0.5
    along, about_edge = BODY + 1.5 * ROLLER, YAW + moment / 4 + BODY * AHEAD**2
    sim.qvel[:] = first, 0, 0, turning, first / HALF
    run = sim.run(6.0, sample=0.05, progress=False)
    # (M + J_w/r²) u' = m a ω², (I + m a²) ω' = -m a u ω
    fastest = math.sqrt(first**2 + about_edge / along * turning**2)
    most = fastest * math.sqrt(along / about_edge)
    k, shift = BODY * AHEAD * fastest / about_edge, math.atanh(first / fastest)
    phase = k * run.time + shift
    heading = most / k * (np.arctan(np.sinh(phase)) - math.atan(math.sinh(shift)))
    c, s, (vx, vy) = np.cos(heading), np.sin(heading), run.qvel[:, :2].T
    found = [
        Check(
            "speed along the edge, largest error",
            float(np.max(np.abs(vx * c + vy * s - fastest * np.tanh(phase)))),
            0.0,
            1e-7,
            "m/s",
        ),
        Check("speed across it", float(np.max(np.abs(vy * c - vx * s))), 0.0, 1e-7, "m/s"),
        Check(
            "turning, largest error", float(np.max(np.abs(run.qvel[:, 3] - most / np.cosh(phase)))), 0.0, 1e-7, "rad/s"
        ),
        Check("heading, largest error", float(np.max(np.abs(run.qpos[:, 3] - heading))), 0.0, 1e-7, "rad"),
    ]
    curves = [
        Curve("speed (m/s)", run.time, vx * c + vy * s),
        Curve("turning (rad/s)", run.time, run.qvel[:, 3]),
        Curve("U tanh", run.time[::6], fastest * np.tanh(phase)[::6], "marks"),
        Curve("W/cosh", run.time[::6], (most / np.cosh(phase))[::6], "marks"),
    ]
    return Result(found, Figure("t (s)", "along and about the edge", curves))
