"""Parts that benchmarks of rolling bodies share: the floor, a wheel of no width, turns of a body."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

G = 9.81
EDGE = (
    1e-9  # m: half width of a knife edge, as an ellipsoid's third half axis; it moves contacts by EDGE² over a radius
)
STICKS = 100.0  # a coefficient of friction with which nothing slips
CONTROLLED = "the integrator's tolerance, 1e-8 relative a step"


def world(content: str, friction: float) -> str:
    """Model of bodies on a floor, all with one friction."""
    return f"""<mujoco><compiler inertiafromgeom="false"/><option timestep="0.001" gravity="0 0 -{G}"/>
      <default><geom condim="3" friction="{friction!r} 0 0"/></default>
      <worldbody><geom name="floor" type="plane" size="9 9 0.1"/>{content}</worldbody></mujoco>"""


def inertial(mass: float, moments: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0), xz: float = 0.0) -> str:
    """A body's mass (kg), centre of mass (m), moments and one product of inertia (kg m²) about it."""
    place, values = " ".join(map(repr, map(float, at))), " ".join(map(repr, map(float, moments)))
    return f'<inertial pos="{place}" mass="{mass!r}" fullinertia="{values} 0 {float(xz)!r} 0"/>'


def wheel(name: str, radius: float, turn: str = "") -> str:
    """MJCF of a disc of no width about its z axis, turned as `turn` says: a flat ellipsoid.

    Its lowest point is one point at every tilt, upright too, where it goes over from one side to the other.
    """
    return f'<geom name="{name}" type="ellipsoid" size="{radius!r} {radius!r} {EDGE!r}" {turn}/>'


def about(axis: int, angle: float) -> NDArray[np.float64]:
    """The matrix of a turn by an angle (rad) about x, y or z."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = np.eye(3)
    turn[i, i] = turn[j, j] = c
    turn[i, j], turn[j, i] = -s, s
    return turn


def matrices(quaternions: ArrayLike) -> NDArray[np.float64]:
    """Rotation matrices [n, 3, 3] of unit quaternions [n, 4]."""
    w, x, y, z = np.asarray(quaternions, float).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)
