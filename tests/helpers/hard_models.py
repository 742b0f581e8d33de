"""Mechanisms with impacts and dry friction whose motion is known in closed form: MJCF and numbers, with their sources.

Lengths in m, masses in kg, times in s. Every number is from the closed form beside it.
"""

import math

import numpy as np

G = 9.81


def floor(content, *, friction=0.0, gravity=(0.0, 0.0, -G), condim=3):
    """Bodies on a floor, all with one friction."""
    slide = f"{friction!r} 0 0"
    return f"""<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.001" gravity="{gravity[0]!r} {gravity[1]!r} {gravity[2]!r}"/>
  <default><geom condim="{condim}" friction="{slide}"/></default>
  <worldbody><geom name="floor" type="plane" size="9 9 0.1"/>{content}</worldbody>
</mujoco>"""


# ------------------------------------------------------------ the bouncing ball


def bounces(height, restitution, count):
    """Times of the first impacts of a ball dropped from a height: t1 (1 + 2 Σ eᵏ), t1 = √(2h/g)."""
    powers = restitution ** np.arange(1, count)
    return math.sqrt(2 * height / G) * (1 + 2 * np.concatenate(([0.0], np.cumsum(powers))))


def zeno_time(height, restitution):
    """When infinitely many bounces are over: t1 (1 + e)/(1 - e)."""
    return math.sqrt(2 * height / G) * (1 + restitution) / (1 - restitution)


# ------------------------------------------------------------ blocks and balls that slide and roll

BLOCK = '<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.15 0.1" mass="2"/></body>'
RADIUS = 0.1
SPHERE = f'<body name="ball" pos="0 0 {RADIUS}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="1"/></body>'


def slope(content, angle, friction):
    """A slope of some angle (rad), as a floor with gravity turned so that down the slope is +x."""
    return floor(content, friction=friction, gravity=(G * math.sin(angle), 0.0, -G * math.cos(angle)))


# block with friction 0.2 at 3 m/s: v/(μ g) and v²/(2 μ g)
STOP_TIME, STOP_DISTANCE = 1.529051987767584, 2.293577981651376
# sphere with friction 0.2 at 3 m/s that does not spin: it rolls from 2 v/(7 μ g) on, at 5/7 v
ROLL_TIME, ROLL_SPEED = 2 * 3.0 / (7 * 0.2 * G), 5 / 7 * 3.0
# the same with a backspin of 60 rad/s: 2 (v + R ω)/(7 μ g) and (5 v - 2 R ω)/7
BACKSPIN_TIME, BACKSPIN_SPEED = 1.310615989515072, 3 / 7
# a solid sphere rolls down a slope of angle θ if μ ≥ 2/7 tan θ
LEAST_FRICTION_30 = 0.1649572197684645

# ------------------------------------------------------------ leaving a sphere

BIG, SMALL = 1.0, 0.1  # radii
TURN = BIG + SMALL


def on_a_sphere(angle, friction):
    """A ball at rest on a fixed sphere, `angle` (rad) from its top."""
    place = f"{TURN * math.sin(angle)!r} 0 {TURN * math.cos(angle)!r}"
    return f"""<mujoco>
  <option timestep="0.001" gravity="0 0 {-G}"/>
  <default><geom type="sphere" condim="3" friction="{friction!r} 0 0"/></default>
  <worldbody>
    <geom name="hill" size="{BIG}"/>
    <body pos="{place}"><freejoint/><geom name="ball" size="{SMALL}" mass="1"/></body>
  </worldbody>
</mujoco>"""


def leaving_cosine(start, inertia):
    """Cosine of the angle at which a ball with I = `inertia` m r² leaves; 0: it slides without friction.

    Of (1 + i) v²/2 = g L (cos θ0 - cos θ) and m v²/L = m g cos θ: 2 cos θ0/(3 + i), thus 2/3 and, for i = 2/5, 10/17.
    """
    return 2 * math.cos(start) / (3 + inertia)


# ------------------------------------------------------------ the rocking block


def rocking_block(alpha, *, friction=1.0, diagonal=1.0):
    """A block in the plane whose half-diagonal, m, makes the angle alpha (rad) with the upright: slender if small."""
    b, h = diagonal * math.sin(alpha), diagonal * math.cos(alpha)
    block = f"""<body pos="0 0 {h!r}">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="tilt" axis="0 1 0"/>
      <geom name="block" type="box" size="{b!r} 0.2 {h!r}" mass="1"/>
    </body>"""
    return floor(block, friction=friction)


def tilted(alpha, tilt, diagonal=1.0):
    """qpos of the block tilted (rad) about its edge at +x."""
    b, h = diagonal * math.sin(alpha), diagonal * math.cos(alpha)
    c, s = math.cos(tilt), math.sin(tilt)
    return np.array([b - b * c + h * s, b * s + h * c - h, tilt])


def housner_ratio(alpha):
    """Angular velocity after over before the impact on the other edge: 1 - 3/2 sin² α (Housner 1963, equation 6)."""
    return 1 - 1.5 * math.sin(alpha) ** 2


def next_tilt(alpha, tilt):
    """Tilt to the other side: energy cos(α - θ) - cos α shrinks by the ratio squared."""
    energy = housner_ratio(alpha) ** 2 * (math.cos(alpha - tilt) - math.cos(alpha))
    return alpha - math.acos(math.cos(alpha) + energy)


# ------------------------------------------------------------ balls in a row


def row_of_balls(places, masses, radius=0.0625):
    """Balls on one line without gravity; places x (m) of their centres."""
    bodies = "".join(
        f'<body pos="{x!r} 0 0"><joint name="x{i}" type="slide" axis="1 0 0"/>'
        f'<geom name="ball{i}" type="sphere" size="{radius!r}" mass="{m!r}" condim="1"/></body>'
        for i, (x, m) in enumerate(zip(places, masses, strict=True))
    )
    return f'<mujoco><option gravity="0 0 0"/><worldbody>{bodies}</worldbody></mujoco>'


CRADLE = row_of_balls([-0.25, 0.125, 0.25, 0.375, 0.5], [1.0] * 5)  # 2 to 5 touch; 1 is 0.25 m from them
CRADLE_OF_TWO = row_of_balls([-0.25, -0.125, 0.25, 0.375, 0.5], [1.0] * 5)  # 1 and 2 come in together

# 1 kg at 2 m/s meets 3 kg at -1 m/s with e = 0.7: (m1 v1 + m2 v2 ∓ m e (v1 - v2))/(m1 + m2)
TWO_BALLS = row_of_balls([0.0, 1.0], [1.0, 3.0])
TWO_BALLS_AFTER = (-1.825, 0.275)

# ------------------------------------------------------------ oblique impact: e = 0.5, 1 m/s along, 2 m/s down

OBLIQUE = floor(SPHERE.replace(f"0 0 {RADIUS}", f"0 0 {RADIUS + 0.2}"), gravity=(0.0, 0.0, 0.0))
OBLIQUE_STICKS_FROM = 2 / 21  # 2 vt/(7 (1 + e) vn)


def oblique_after(friction):
    """(v_t, v_n, R ω) after: 5/7 of v_t if it sticks, otherwise the impulse is μ (1 + e) v_n."""
    slip = min(friction * 1.5 * 2.0, 2 / 7)
    return 1 - slip, 1.0, 2.5 * slip


# ------------------------------------------------------------ a rod with a tip that slides


def sliding_rod(friction, slope=2.0, tip=1e-6):
    """A uniform rod of 2 m and 1 kg that leans to +x with tan θ = `slope` from the floor; its tip is its lower end.

    Where the tip slides to -x, a normal force accelerates it by (1 + 3 cos θ (cos θ - μ sin θ))/m: downwards above
    μ = (1 + 3 cos² θ)/(3 sin θ cos θ), which is 4/3 for tan θ = 2 (Painlevé 1895; Génot & Brogliato 1999).
    """
    c = 1 / math.hypot(1, slope)
    s = slope * c
    rod = f"""<body pos="{c!r} 0 {s + tip!r}">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="turn" axis="0 -1 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{1 / 3!r} {1 / 3!r} {1 / 3!r}"/>
      <geom name="rod" type="capsule" fromto="{-c!r} 0 {-s!r} {c!r} 0 {s!r}" size="0.01" contype="0" conaffinity="0"/>
      <geom name="tip" type="sphere" size="{tip!r}" pos="{-c!r} 0 {-s!r}"/>
    </body>"""
    return floor(rod, friction=friction)


def sliding_rod_acceleration(friction, slope=2.0):
    """Acceleration of (x, z, turn) while the tip slides to -x and nothing turns: N = m g/(1 + 3 c (c - μ s))."""
    c = 1 / math.hypot(1, slope)
    s = slope * c
    normal = G / (1 + 3 * c * (c - friction * s))
    return np.array([friction * normal, normal - G, 3 * normal * (friction * s - c)])


# ------------------------------------------------------------ a double pendulum that strikes the floor

KANE_ANGLES, KANE_RATES = (math.radians(20), math.radians(30)), (-0.1, -0.2)  # of each rod from the vertical; rad/s


def double_pendulum_on_floor(friction):
    """Two uniform rods of 1 m and 1 kg whose end is just on the floor at `KANE_ANGLES`, absolute (Kane & Levinson).

    Dynamics: Theory and Applications (1985), section 5.10: with Newton's restitution and Coulomb's friction for the
    impulses such a collision can gain energy.
    """
    height = sum(math.cos(a) for a in KANE_ANGLES)
    rod = f'<inertial pos="0 0 -0.5" mass="1" diaginertia="{1 / 12!r} {1 / 12!r} 1e-9"/>'
    pendulum = f"""<body pos="0 0 {height!r}">
      <joint name="a" axis="0 -1 0"/>{rod}
      <body pos="0 0 -1">
        <joint name="b" axis="0 -1 0"/>{rod}
        <geom name="end" type="sphere" size="1e-6" pos="0 0 -0.999999"/>
      </body>
    </body>"""
    return floor(pendulum, friction=friction)
