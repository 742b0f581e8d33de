"""A block on a belt or a slope with static friction above that of sliding, and closed forms of its motion.

A block on a belt of speed V, held by a spring k: with N = m g, ω = √(k/m) and Δ = (μ_s - μ_k) N / k it sticks until
the spring has μ_s N, and slips for 2 (π - arctan(ω Δ / V)) / ω to the same distance on the other side of μ_k N / k.
"""

import math
from typing import NamedTuple

import saltus

G, MASS, STATIC, KINETIC = 10.0, 2.0, 0.8, 0.3
BLOCK = 'size=".1 .1 .05"'
BELT = """<mujoco><option gravity="0 0 -10" timestep="{h}"/><default><geom type="box" friction=".3 0 0"/></default>
<worldbody><geom name="belt" size="5 1 .1" pos="0 0 -.1" surfacevel="{speed} 0 0 0 0 0"/>
<body name="block" pos="0 0 .05"><joint type="slide" axis="1 0 0" stiffness="{k}"/><joint type="slide" axis="0 1 0"/>
  <joint type="slide" axis="0 0 1"/><geom name="block" {shape} mass="{mass}"/></body>{more}
</worldbody></mujoco>"""


def belt(speed=0.0, k=0.0, mass=MASS, more="", gravity=(0.0, 0.0, -G), h=0.002, shape=BLOCK, static=STATIC):
    """A block (kg) on a belt (m/s) with a spring (N/m); without static friction if that is None."""
    text = BELT.format(speed=speed, k=k, mass=mass, more=more, h=h, shape=shape)
    model = saltus.load(text).changed({"opt.gravity": gravity})
    return model if static is None else saltus.static_friction(model, "block", static)


def slope(tangent):
    """Gravity (m/s²) on a slope down along x."""
    angle = math.atan(tangent)
    return G * math.sin(angle), 0.0, -G * math.cos(angle)


class Cycle(NamedTuple):
    """Stick and slip of the block on the belt, which carries it from the spring's rest.

    first: time of the first breakaway; slipping, sticking: durations (s); middle, swing: of the slip's oscillation (m).
    """

    first: float
    slipping: float
    sticking: float
    middle: float
    swing: float


def cycle(speed, k):
    """The cycle of the closed form."""
    normal, omega = MASS * G, math.sqrt(k / MASS)
    excess = (STATIC - KINETIC) * normal / k
    slipping = 2.0 * (math.pi - math.atan(omega * excess / speed)) / omega
    swing = math.sqrt(excess**2 + (speed / omega) ** 2)
    return Cycle(STATIC * normal / k / speed, slipping, 2.0 * excess / speed, KINETIC * normal / k, swing)
