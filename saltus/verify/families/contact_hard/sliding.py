"""Sticking, sliding and rolling in closed form, on the floor, on slopes and on a sphere."""

import math

import numpy as np

from saltus.verify.case import Check, Curve, Data, Figure, Result, family
from saltus.verify.families.contact_hard.scenes import (
    BALL,
    BLOCK,
    EXACT,
    LOCATED,
    RADIUS,
    G,
    held_and_moving,
    instants,
    slope,
    start,
    world,
)

benchmark = family("contact_hard")

# ---------------------------------------------------------------- sliding, sticking, rolling


@benchmark(
    "coulomb-block", "Block that slides to rest", source="closed form: t = v/(μ g), x = v²/(2 μ g)", allowed=EXACT
)
def coulomb_block(data: Data) -> Result:
    """A block with μ = 0.2 at 3 m/s on a floor."""
    sim = start(world(BLOCK, friction=0.2), [3.0])
    trajectory = sim.run(2.0, sample=0.02, progress=False)
    found = [
        Check("stops at", float(instants(trajectory.events, "stick")[0]), 1.529051987767584, 1e-10, "s"),
        Check("distance", float(sim.qpos[0]), 2.293577981651376, 1e-10, "m"),
        Check("speed afterwards", float(np.max(np.abs(sim.qvel))), 0.0, 1e-12, "m/s"),
    ]
    line = Curve("3 - μ g t", [0, 1.529051987767584], [3, 0], "marks")
    return Result(
        found, Figure("t (s)", "speed (m/s)", [Curve("reached", trajectory.time, trajectory.qvel[:, 0]), line])
    )


@benchmark(
    "block-on-slope",
    "Block on a slope",
    source="closed form: a = g (sin θ - μ cos θ), or rest if tan θ ≤ μ",
    allowed=EXACT,
)
def block_on_slope(data: Data) -> Result:
    """μ = 0.3: at tan θ = 0.25 a block stays for 20 s, at tan θ = 0.4 it slides for 2 s."""
    angle = math.atan(0.4)
    a = G * (math.sin(angle) - 0.3 * math.cos(angle))
    return Result(*held_and_moving(BLOCK, 0.3, (0.25, 20.0), 0.4, a, 1e-10))


ROLL = "closed form: rolls from 2 (v + R ω)/(7 μ g) on, at (5 v - 2 R ω)/7, ω the backspin"


def _rolling(spin: float, when: float, speed: float) -> Result:
    sim = start(world(BALL, friction=0.2), [3.0, 0, 0, 0, spin, 0])
    trajectory = sim.run(2.0, sample=0.02, progress=False)
    found = [
        Check("rolls from", float(instants(trajectory.events, "stick")[0]), when, 1e-9, "s"),
        Check("speed", float(sim.qvel[0]), speed, 1e-7, "m/s"),
        Check("R ω", float(RADIUS * sim.qvel[4]), speed, 1e-7, "m/s"),
    ]
    v, turning = trajectory.qvel[:, 0], RADIUS * trajectory.qvel[:, 4]
    mark = Curve("closed form", [when], [speed], "marks")
    return Result(
        found, Figure("t (s)", "m/s", [Curve("v", trajectory.time, v), Curve("R ω", trajectory.time, turning), mark])
    )


@benchmark("sphere-rolls", "Sliding sphere begins to roll", source=ROLL, allowed=LOCATED)
def sphere_rolls(data: Data) -> Result:
    """A solid sphere, R = 0.1 m, μ = 0.2, slides at 3 m/s without spin."""
    return _rolling(0.0, 2 * 3.0 / (7 * 0.2 * G), 15 / 7)


@benchmark("sphere-backspin", "Sphere with backspin", source=ROLL, allowed=LOCATED)
def sphere_backspin(data: Data) -> Result:
    """A solid sphere, R = 0.1 m, μ = 0.2, slides at 3 m/s with a backspin of 60 rad/s."""
    return _rolling(-60.0, 1.310615989515072, 3 / 7)


@benchmark(
    "sphere-on-slope",
    "Sphere on a slope of 30 degrees",
    source="closed form: rolls at 5/7 g sin θ if μ ≥ 2/7 tan θ = 0.16496, otherwise g (sin θ - μ cos θ)",
    allowed=LOCATED,
)
def sphere_on_slope(data: Data) -> Result:
    """A solid sphere from rest with μ just below and just above the least friction at which it rolls."""
    least = 0.1649572197684645
    found, curves = [], []
    for friction in (least - 5e-3, least + 5e-3):
        sim = start(slope(BALL, math.pi / 6, friction))
        trajectory = sim.run(1.0, sample=0.01, progress=False)
        rolls = friction > least
        wanted = 5 / 7 * G / 2 if rolls else G * (0.5 - friction * math.cos(math.pi / 6))
        spin = wanted if rolls else 2.5 * friction * G * math.cos(math.pi / 6)
        label = f"μ = {friction:.3f}"
        found.append(Check(f"{label}: speed at 1 s", float(sim.qvel[0]), wanted, 1e-7, "m/s", relative=True))
        found.append(Check(f"{label}: R ω at 1 s", float(RADIUS * sim.qvel[4]), spin, 1e-7, "m/s", relative=True))
        curves.append(Curve(f"{label}: v", trajectory.time, trajectory.qvel[:, 0]))
        curves.append(Curve(f"{label}: R ω", trajectory.time[::10], RADIUS * trajectory.qvel[::10, 4], "points"))
    return Result(found, Figure("t (s)", "m/s", curves))


# ---------------------------------------------------------------- leaving a sphere

BIG, SMALL = 1.0, 0.1  # radii, m


def on_a_sphere(angle: float, friction: float) -> str:
    """A ball at rest on a fixed sphere, `angle` (rad) from its top."""
    x, z = (BIG + SMALL) * math.sin(angle), (BIG + SMALL) * math.cos(angle)
    ball = (
        f'<geom name="hill" size="{BIG}"/><body name="ball" pos="{x!r} 0 {z!r}">'
        f'<freejoint/><geom name="ball" size="{SMALL}" mass="1"/></body>'
    )
    return world(ball, friction=friction, height=-100.0)


def _leaving(friction: float, ratio: float, tolerance: float) -> Result:
    first, duration = 0.1, 1.6
    sim = start(on_a_sphere(first, friction))
    trajectory = sim.run(duration, sample=0.01, progress=False)
    flight = duration - float(instants(trajectory.events, "liftoff")[0])
    # back along the parabola to the point where it left
    x, z = sim.qpos[[0, 2]] - flight * sim.qvel[[0, 2]] - np.array([0.0, 0.5 * G * flight**2])
    cosine = float(z / (BIG + SMALL))
    found = [
        Check("cos of the angle where it leaves", cosine, ratio * math.cos(first), tolerance),
        Check("distance of the centres there", math.hypot(x, z), BIG + SMALL, 1e-6, "m", relative=True),
    ]
    turn = np.linspace(0, np.pi / 2, 100)
    circle = Curve("centres that touch", (BIG + SMALL) * np.sin(turn), (BIG + SMALL) * np.cos(turn), "dashed")
    path = Curve("reached", trajectory.qpos[:, 0], trajectory.qpos[:, 2])
    return Result(found, Figure("x (m)", "z (m)", [path, circle, Curve("leaves", [x], [z], "points")], equal=True))


@benchmark(
    "leaves-sliding",
    "Sliding down a sphere",
    source="closed form: N = 0 at cos θ = 2/3 cos θ₀ (48.19 degrees from the top)",
    allowed=LOCATED + ", over 1.6 s",
)
def leaves_sliding(data: Data) -> Result:
    """A ball without friction, released at rest 0.1 rad from the top of a fixed sphere, leaves it."""
    return _leaving(0.0, 2 / 3, 1e-6)


@benchmark(
    "leaves-rolling",
    "Rolling down a sphere",
    source="closed form: N = 0 at cos θ = 10/17 cos θ₀",
    allowed="it rolls until N = T/μ, 1e-5 of its weight before it leaves: 1e-4",
)
def leaves_rolling(data: Data) -> Result:
    """A solid ball with μ = 10⁴, released at rest 0.1 rad from the top of a fixed sphere, rolls and leaves it."""
    return _leaving(1e4, 10 / 17, 1e-4)
