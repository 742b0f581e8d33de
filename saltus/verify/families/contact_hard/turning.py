"""Torsional and rolling friction in closed form: balls that spin and roll to rest, on the floor and on slopes."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.verify.case import Check, Curve, Data, Figure, Result, family
from saltus.verify.families.contact_hard.scenes import (
    EXACT,
    LOCATED,
    RADIUS,
    G,
    held_and_moving,
    instants,
    start,
    world,
)

benchmark = family("contact_hard")

WHOLE = 7 / 5  # 1 + I/(m r²) of a solid sphere


def ball(torsion: float, rolling: float) -> str:
    """A solid sphere of 1 kg with sliding friction 1, torsional and rolling friction (m)."""
    return (
        f'<body name="ball" pos="0 0 {RADIUS}"><freejoint/><geom name="ball" size="{RADIUS}" mass="1" condim="6" '
        f'priority="1" friction="1 {torsion!r} {rolling!r}"/></body>'
    )


def _to_rest(
    qvel: Sequence[float], friction: tuple[float, float], column: int, slows: float
) -> tuple[list[Check], Figure, NDArray[np.float64]]:
    """Checks of a ball whose speed in a column of qvel falls at a constant rate, their figure, and the last qpos."""
    sim = start(world(ball(*friction)), qvel)
    speed, duration = qvel[column], 1.5 * qvel[column] / slows
    trajectory = sim.run(duration, sample=duration / 60, progress=False)
    unit = "rad/s" if column > 2 else "m/s"
    found = [
        Check("stops at", float(instants(trajectory.events, "stick")[0]), speed / slows, 1e-8, "s"),
        Check("speed afterwards", float(np.max(np.abs(sim.qvel))), 0.0, 1e-10, unit),
    ]
    line = Curve("closed form", [0, speed / slows], [speed, 0], "marks")
    reached = Curve("reached", trajectory.time, trajectory.qvel[:, column])
    return found, Figure("t (s)", unit, [reached, line]), sim.qpos.copy()


@benchmark(
    "ball-spins-to-rest",
    "Ball that spins to rest",
    source="closed form: dω/dt = -μ_t m g / I, so that it turns by ω² I/(2 μ_t m g)",
    allowed=LOCATED,
)
def ball_spins_to_rest(data: Data) -> Result:
    """A solid ball, r = 0.1 m, μ_t = 2 mm, spins about the normal of the floor at 3 rad/s."""
    slows = 0.002 * G / (0.4 * RADIUS**2)
    found, figure, qpos = _to_rest([0, 0, 0, 0, 0, 3.0], (0.002, 0.001), 5, slows)
    turned = 2 * math.atan2(float(qpos[6]), float(qpos[3]))
    found.append(Check("turned by", turned, 3.0**2 / (2 * slows), 1e-8, "rad"))
    return Result(found, figure)


@benchmark(
    "ball-rolls-to-rest",
    "Ball that rolls to rest",
    source="closed form: dv/dt = -μ_r g / (r (1 + I/(m r²))), so that it stops after v²/2 over that",
    allowed=LOCATED,
)
def ball_rolls_to_rest(data: Data) -> Result:
    """A solid ball, r = 0.1 m, μ_r = 5 mm, rolls at 0.5 m/s."""
    slows = 0.005 * G / (RADIUS * WHOLE)
    found, figure, qpos = _to_rest([0.5, 0, 0, 0, 0.5 / RADIUS, 0], (0.002, 0.005), 0, slows)
    found.append(Check("distance", float(qpos[0]), 0.5**2 / (2 * slows), 1e-8, "m"))
    return Result(found, figure)


@benchmark(
    "ball-held-by-rolling-friction",
    "Ball on a slope with rolling friction",
    source="closed form: rest if tan θ ≤ μ_r/r, otherwise a = (g sin θ - μ_r g cos θ/r) / (1 + I/(m r²))",
    allowed=EXACT,
)
def ball_held_by_rolling_friction(data: Data) -> Result:
    """A solid ball, r = 0.1 m, μ_r = 5 mm: at tan θ = 0.0499 it stays for 5 s, at tan θ = 0.06 it rolls for 2 s."""
    angle = math.atan(0.06)
    a = G * (math.sin(angle) - 0.05 * math.cos(angle)) / WHOLE
    return Result(*held_and_moving(ball(0.002, 0.005), 1.0, (0.0499, 5.0), 0.06, a, 1e-9))
