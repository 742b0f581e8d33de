"""Models, starts and tolerances that the benchmarks of hard contact share."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Check, Curve, Figure

G = 9.81
EXACT = "paths are parabolas and motion is integrated exactly: rounding and the location of events, 1e-12 relative each"
LOCATED = "the location of events (1e-12 relative each) and the integrator's tolerance, 1e-8 relative"
CLOSED = "closed form"
FAR = 1000.0  # m: height of a box that never touches anything; with it all models share their compiled code
RADIUS = 0.1
BALL = f'<body name="ball" pos="0 0 {RADIUS}"><freejoint/><geom name="ball" size="{RADIUS}" mass="1"/></body>'
BLOCK = (
    '<body name="block" pos="0 0 0.1"><freejoint/><geom name="block" type="box" size="0.2 0.15 0.1" mass="2"/></body>'
)


def world(
    content: str,
    *,
    friction: float = 0.0,
    gravity: Sequence[float] = (0.0, 0.0, -G),
    height: float = 0.0,
) -> str:
    """Model of bodies and a floor at some height, all with one friction; the last joint belongs to the box far away."""
    far = (
        f'<body pos="0 0 {FAR}"><joint type="slide" axis="0 1 0"/>'
        '<geom name="far" type="box" size="1 1 1" mass="1" contype="0" conaffinity="0"/></body>'
    )
    return f"""<mujoco><option timestep="0.001" gravity="{" ".join(map(repr, gravity))}"/>
      <default><geom condim="3" friction="{friction!r} 0 0"/></default>
      <worldbody><geom name="floor" type="plane" size="9 9 0.1" pos="0 0 {height}"/>{content}{far}</worldbody>
      <contact><pair geom1="floor" geom2="far"/></contact></mujoco>"""


def slope(content: str, angle: float, friction: float) -> str:
    """A slope of some angle (rad), as a floor with gravity turned so that down the slope is +x."""
    return world(content, friction=friction, gravity=(G * math.sin(angle), 0.0, -G * math.cos(angle)))


def start(
    model: str | saltus.Model, qvel: Sequence[float] = (), law: saltus.Hard | None = None, **options: Any
) -> saltus.Simulation:
    """A simulation with located events whose first velocities are given."""
    sim = saltus.Simulation(model, contact=law or saltus.Hard(), **options)
    sim.qvel[: len(qvel)] = qvel
    return sim


def held_and_moving(
    body: str, friction: float, held: tuple[float, float], moving: float, a: float, exact: float
) -> tuple[list[Check], Figure]:
    """Checks, and their figure, of a body that stays on a slope of `held`, tan θ and duration (s), and then moves.

    It moves on a slope of tan θ = `moving` for 2 s, from rest at the acceleration `a` (m/s²), within `exact` (m/s, m).
    """
    resting = start(slope(body, math.atan(held[0]), friction))
    rest = resting.qpos.copy()
    stays = resting.run(held[1], sample=0.1, progress=False)
    moved = float(np.max(np.abs(resting.qpos - rest)))
    sim = start(slope(body, math.atan(moving), friction))
    run = sim.run(2.0, sample=0.02, progress=False)
    found = [
        Check(f"tan θ = {held[0]:g}: moved in {held[1]:g} s", moved, 0.0, 1e-12, "m"),
        Check(f"tan θ = {moving:g}: speed at 2 s", float(sim.qvel[0]), 2 * a, exact, "m/s"),
        Check(f"tan θ = {moving:g}: distance at 2 s", float(sim.qpos[0]), 2 * a, exact, "m"),
    ]
    t = run.time[::10]
    curves = [
        Curve(f"tan θ = {moving:g}", run.time, run.qpos[:, 0]),
        Curve("a t²/2", t, a * t * t / 2, "marks"),
        Curve(f"tan θ = {held[0]:g}", stays.time[:21], stays.qpos[:21, 0]),
    ]
    return found, Figure("t (s)", "distance (m)", curves)


def instants(events: Any, kind: str) -> NDArray[np.float64]:
    """Times after the start (s) of events of a kind; events of one instant count once."""
    found = np.sort(events["time"][events["kind"] == kind])
    return found[(np.diff(found, prepend=-np.inf) > 1e-9) & (found > 1e-6)]
