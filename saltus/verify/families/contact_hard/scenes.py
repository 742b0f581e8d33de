"""Models, starts and tolerances that the benchmarks of hard contact share."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import saltus

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


def start(model: str, qvel: Sequence[float] = (), law: saltus.Hard | None = None, **options: Any) -> saltus.Simulation:
    """A simulation with located events whose first velocities are given."""
    sim = saltus.Simulation(model, contact=law or saltus.Hard(), **options)
    sim.qvel[: len(qvel)] = qvel
    return sim


def instants(events: Any, kind: str) -> NDArray[np.float64]:
    """Times after the start (s) of events of a kind; events of one instant count once."""
    found = np.sort(events["time"][events["kind"] == kind])
    return found[(np.diff(found, prepend=-np.inf) > 1e-9) & (found > 1e-6)]
