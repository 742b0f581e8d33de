"""Scenes with known answers: the rows of the table of truth, and the laws that are its columns.

One world holds everything that can be touched, far from each other: a floor, a table, a height field, a wall, flush
boxes, stairs, a lift, and a plate that is welded to a mocap body. A scene is a start of some bodies there and checks of
what follows, each against a closed form, a conserved quantity or statics. Bodies that are not in a scene fall freely
high above. So one compilation of a law serves all scenes; the small world has spheres, boxes, and the floor, the table,
the wall and the lift alone.

`PYTHONPATH=tests python -m helpers.truth_scenes > docs/reference/truth.md` writes the table. Lengths in m, masses in
kg, times in s.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import saltus
import saltus.env
from helpers.lab import ready, run
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import LabStart
from saltus.lab.session import LiveSession
from saltus.number.functions import sqrt, where

G, MASS, RADIUS, H = 9.81, 1.0, 0.1, 0.001
#: Time constant of the soft law, s; stiffness and damping of the compliant one, N/m and N s/m.
TAU, STIFFNESS, DAMPING = 0.004, 1e5, 300.0
#: Every body's lowest point is RADIUS below its centre.
SHAPES = {
    "sphere": f'size="{RADIUS}"',
    "box": f'type="box" size="{RADIUS} {RADIUS} {RADIUS}"',
    "capsule": f'type="capsule" size="{RADIUS} .1" euler="90 0 0"',
    "cylinder": f'type="cylinder" size="{RADIUS} {RADIUS}"',
    "ellipsoid": f'type="ellipsoid" size=".15 .12 {RADIUS}"',
    "mesh": 'type="mesh" mesh="cube"',
}
SMALL = ("sphere", "box")
#: Places of scenes along y, and the height of what is there; a metre from body to body along x.
PLACES = {"plane": (0, 0), "box": (10, 1), "height field": (20, 1), "seam": (30, 1), "wall": (40, 5), "stairs": (50, 1)}
PLACES |= {"mocap lift": (60, 1), "plate welded to mocap": (70, 1), "air": (80, 5)}
STEP, STEPS = 0.1, 4


@dataclass(frozen=True)
class Law:
    """A law of contact and an integrator. `place`: how exactly bodies rest (m), in theory."""

    name: str
    integrator: str
    kind: str  # soft, compliant, located or stepped
    place: float

    def contact(self, restitution: float = 0.0) -> Any:
        """The choice of contact law."""
        if self.kind == "soft":
            return "soft"
        return saltus.Compliant(spring) if self.kind == "compliant" else saltus.Hard(restitution=restitution)

    @property
    def hard(self) -> bool:
        return self.kind in ("located", "stepped")

    @property
    def first_order(self) -> bool:
        """Whether an acceleration a takes a body a h t/2 too far, or not far enough, in a time t of steps of h."""
        return self.kind == "stepped" or saltus.integrators()[self.integrator].order == 1


def spring(m, d, gap, velocity):
    """A spring and a damper along the normal, and Coulomb's friction, smooth below 1 mm/s; see `world`."""
    push = -STIFFNESS * gap - (DAMPING - d.userdata[1]) * velocity[0]
    push = where(push > 0.0, push, 0.0)
    rub = d.userdata[0] * push / sqrt(velocity[1] * velocity[1] + velocity[2] * velocity[2] + 1e-6)
    return push, -rub * velocity[1], -rub * velocity[2]


#: Depths at rest: of the soft law g τ² at most, of the spring m g/k; gaps of located contacts are corrected to 1e-10 m;
#: time stepping leaves what is fallen in a step, g h².
LAWS = [
    Law("soft, euler", "euler", "soft", G * TAU**2),
    Law("soft, dopri5", "dopri5", "soft", G * TAU**2),
    Law("compliant, dopri5", "dopri5", "compliant", 1.1 * MASS * G / STIFFNESS),
    Law("soft, radau", "radau", "soft", G * TAU**2),
    Law("compliant, radau", "radau", "compliant", 1.1 * MASS * G / STIFFNESS),
    Law("soft, energy_momentum", "energy_momentum", "soft", G * TAU**2),
    Law("hard, dopri5", "dopri5", "located", 1e-6),
    Law("hard, rk4", "rk4", "located", 1e-6),
    Law("hard, energy_momentum", "energy_momentum", "located", 1e-6),
    Law("hard, moreau_jean", "moreau_jean", "stepped", 2 * G * H**2),
]
#: Methods that are tried with spheres and boxes alone.
OTHER_METHODS = ("explicit_euler", "implicit", "implicitfast", "discrete", "verlet", "velocity_verlet", "midpoint")
OTHER_METHODS += ("implicit_midpoint",)
OTHER_LAWS = [Law(f"soft, {method}", method, "soft", G * TAU**2) for method in (*OTHER_METHODS, "rk4")]
OTHER_LAWS += [Law(f"hard, {method}", method, "located", 1e-6) for method in OTHER_METHODS]


# ---------------------------------------------------------------- the world


def _statics(small: bool) -> str:
    stairs = "".join(
        f'<geom type="box" size=".5 .5 .5" pos="-2.5 {50.5 + i} {0.5 - STEP * i}"/>' for i in range(STEPS + 1)
    )
    table = '<geom type="box" size="4 2 .1" pos="0 10 .9"/><geom type="box" size="4 .01 2" pos="0 40 5"/>'
    more = f"""<geom type="hfield" hfield="flat" pos="0 20 1"/><geom type="box" size="4 1 .1" pos="0 29 .9"/>
      <geom type="box" size="4 1 .1" pos="0 31 .9"/>{stairs}"""
    return f'<geom name="floor" type="plane" size="5 5 .1"/>{table}{"" if small else more}'


def world(shapes: tuple[str, ...], start: dict[str, list[float]], friction: float) -> str:
    """MJCF of the world. `start`: position and linear velocity [6] of the scene's bodies, by shape."""
    small = set(shapes) <= set(SMALL)
    cube = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1))
    asset = f"""<asset><mesh name="cube" vertex="{cube}"/>
      <hfield name="flat" nrow="3" ncol="3" size="4 2 1 .1" elevation="1 1 1 1 1 1 1 1 1"/></asset>"""
    holder = '<body name="holder" mocap="true" pos="0 70 .95"/>'
    plate = '<body name="plate" pos="0 70 .95"><freejoint/><geom type="box" size="4 1 .05" mass="1000"/></body>'
    paired = f"""<body name="paired"><freejoint/>
      <geom name="paired" size="{RADIUS}" mass="{MASS}" contype="0" conaffinity="0"/></body>"""
    pair = f'<contact><pair geom1="floor" geom2="paired" condim="3" friction="0 0 0 0 0" solref="{TAU} 1"/></contact>'
    weld = '<equality><weld body1="holder" body2="plate" solref="0.002 1"/></equality>'
    parked = {shape: [k - 2.5, 0, 500 + 10 * k, 0, 0, 0] for k, shape in enumerate(shapes)}
    states = [(parked | start)[shape] for shape in shapes]
    x, y, z = start.get("paired", [0, 0, 600, 0, 0, 0])[:3]
    bodies = "".join(
        f"""<body name="{shape}"><freejoint/><geom name="{shape}" {SHAPES[shape]} mass="{MASS}"/>
        <site name="{shape}" type="box" size=".3 .3 .3"/></body>"""
        for shape in shapes
    )
    more = "" if small else f" 0 70 .95 1 0 0 0 {x} {y} {z} 1 0 0 0"
    qpos = " ".join(f"{x} {y} {z} 1 0 0 0" for x, y, z, *_ in states) + more
    qvel = " ".join(f"{u} {v} {w} 0 0 0" for *_, u, v, w in states) + ("" if small else " 0" * 12)
    sensors = "".join(
        f"""<touch name="{shape} touch" site="{shape}"/>
        <contact name="{shape} contact" body1="{shape}" data="force" num="1" reduce="netforce"/>"""
        for shape in shapes
    )
    sensors += "".join(f'<{kind} name="{kind}" site="box"/>' for kind in ("accelerometer", "force", "torque"))
    sensors += "".join(f'<{kind} name="{kind}" objtype="body" objname="box"/>' for kind in ("framepos", "framelinvel"))
    return f"""<mujoco><option timestep="{H}" cone="elliptic"/><size nuserdata="2"/>{"" if small else asset}
    <default><geom friction="{friction} 0 0" solref="{TAU} 1"/></default><worldbody>{_statics(small)}
      <body name="lift" mocap="true" pos="0 60 .9"><geom type="box" size="4 1 .1"/></body>{"" if small else holder}
      {bodies}{"" if small else plate + paired}</worldbody>{"" if small else weld + pair}<sensor>{sensors}</sensor>
    <keyframe><key name="start" qpos="{qpos}" qvel="{qvel}"/></keyframe></mujoco>"""


def simulation(law: Law, shapes: tuple[str, ...], start: dict[str, list[float]], **values: float) -> saltus.Simulation:
    """At the scene's start. Values: `friction`, `restitution`, `damping` of the spring."""
    friction = values.get("friction", 0.0)
    sim = saltus.Simulation(
        world(shapes, start, friction), law.integrator, contact=law.contact(values.get("restitution", 0.0))
    )
    sim.reset("start")
    sim.userdata[:] = friction, DAMPING - values.get("damping", DAMPING)
    return sim


def at(place: str, shapes: tuple[str, ...], above: float = 0.0, along: float = 0.0, speed: float = 0.0) -> dict:
    """Starts of all shapes side by side: `above` the place's surface, `along` y from its middle."""
    y, z = PLACES[place]
    return {shape: [k - 2.5, y + along, z + RADIUS + above, 0, speed, 0] for k, shape in enumerate(shapes)}


CLOTH_RADIUS = 0.01
CLOTH = f"""<mujoco><option timestep="{H}" cone="elliptic"/><size nuserdata="2"/><worldbody>
  <geom type="plane" size="2 2 .1" friction="0 0 0" solref="{TAU} 1"/>
  <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 {CLOTH_RADIUS + 0.05}" dim="2"
    radius="{CLOTH_RADIUS}" mass="{MASS}"><edge equality="true"/>
    <contact selfcollide="none" friction="0 0 0" solref="{TAU} 1"/></flexcomp></worldbody></mujoco>"""
ROD = f"""<mujoco><option timestep="{H}" cone="elliptic"/><size nuserdata="2"/><worldbody>
  <geom type="plane" size="2 2 .1" friction="0 0 0" solref="{TAU} 1"/>
  <flexcomp name="rod" type="grid" count="6 1 1" spacing=".1 .1 .1" pos="0 0 {CLOTH_RADIUS + 0.05}" dim="1"
    radius="{CLOTH_RADIUS}" mass="{MASS}"><edge equality="true"/><elasticity young="1e6" poisson="0.3" damping="0.01"/>
    <contact selfcollide="none" friction="0 0 0" solref="{TAU} 1"/></flexcomp></worldbody></mujoco>"""
BLOCKS_ON_A_SLOPE = "blocks on a slope between friction at rest and in motion"
PRESCRIBED = "on lifts with prescribed motions: a joint, a mocap body"
TWISTING = "a rod that bends and twists on the floor"
TOP = '<geom type="box" size="1 1 .1" pos="0 0 -.1" mass="1000"/>'
LIFTS = f"""<mujoco><option timestep="{H}" cone="elliptic"/><size nuserdata="2"/>
  <default><geom friction="0 0 0" solref="{TAU} 1"/></default><worldbody>
  <body><joint name="joint" type="slide" axis="0 0 1"/>{TOP}</body>
  <body name="mocap" mocap="true" pos="5 0 0">{TOP}</body>
  <body pos="0 0 {RADIUS}"><freejoint/><geom size="{RADIUS}" mass="{MASS}"/></body>
  <body pos="5 0 {RADIUS}"><freejoint/><geom size="{RADIUS}" mass="{MASS}"/></body></worldbody></mujoco>"""
#: A lift's way up: half the height (m), and the frequency (1/s) of the cosine that it follows.
HALF, RATE = 0.2, 10.0


# ---------------------------------------------------------------- scenes


@dataclass(frozen=True)
class Check:
    """A quantity [n], its right value and how far it may be from it."""

    quantity: str
    got: Any
    right: Any
    tolerance: float


@dataclass(frozen=True)
class Scene:
    """A row of the table for all its shapes: `play(law, shapes)` gives checks by shape, or of "" where they are one."""

    name: str
    shapes: tuple[str, ...]
    reference: str
    play: Callable[[Law, tuple[str, ...]], dict[str, list[Check]]]


@dataclass(frozen=True)
class Reading:
    """A row of a reader or carrier, with a ball and a box above the table."""

    name: str
    reference: str
    play: Callable[[Law], list[Check]]


def heights(sim: saltus.Simulation, shapes: tuple[str, ...]) -> np.ndarray:
    """Positions of the bodies' centres [n, 3], m."""
    return sim.qpos[: 7 * len(shapes)].reshape(-1, 7)[:, :3].copy()


def speeds(sim: saltus.Simulation, shapes: tuple[str, ...]) -> np.ndarray:
    """Their velocities [n, 3], m/s."""
    return sim.qvel[: 6 * len(shapes)].reshape(-1, 6)[:, :3].copy()


def by_shape(shapes: tuple[str, ...], *checks: tuple[str, Any, Any, float]) -> dict[str, list[Check]]:
    """Checks of quantities [n, ...] of the bodies, split up; right values are for all of them, or [n]."""
    found: dict[str, list[Check]] = {shape: [] for shape in shapes}
    for quantity, got, right, tolerance in checks:
        for k, shape in enumerate(shapes):
            value = right[k] if np.ndim(right) else right
            found[shape].append(Check(quantity, got[k], value, tolerance))
    return found


def rests(place: str) -> Callable[[Law, tuple[str, ...]], dict[str, list[Check]]]:
    """Dropped from 5 cm without restitution: after a second all rest there, and carry their weight."""

    def play(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
        sim = simulation(law, shapes, at(place, shapes, above=0.05))
        sim.run(1.0, sample=1.0)
        force = 1e-5 * MASS * G if law.hard else 1e-3 * MASS * G
        names = [f"{shape} {kind}" for kind in ("touch", "contact") for shape in shapes]
        touch, contact = np.split(np.array([np.linalg.norm(sim.sensor(name)) for name in names]), 2)
        outside = [sim.data.cfrc_ext[sim.model.names("body").index(shape), 5] for shape in shapes]
        return by_shape(
            shapes,
            ("height", heights(sim, shapes)[:, 2], PLACES[place][1] + RADIUS, law.place),
            ("touch", touch, MASS * G, force),
            ("contact sensor", contact, MASS * G, force),
            ("cfrc_ext", outside, MASS * G, force),
        )

    return play


def bounces(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
    """Dropped from 0.2 m: half the time of the fall after the impact."""
    e = {"soft": 0.0, "compliant": 1.0}.get(law.kind, 0.5)
    fall = math.sqrt(2 * 0.2 / G)
    sim = simulation(law, shapes, at("box", shapes, above=0.2), restitution=e, damping=0.0)
    sim.run(0.99 * fall, sample=1.0)
    flight = 0.99 * fall
    too_far = G * H * flight if law.first_order else 1e-9
    found = by_shape(shapes, ("flight", heights(sim, shapes)[:, 2] - 1.1, 0.2 - G * flight**2 / 2, too_far))
    sim.run(0.51 * fall, sample=1.0)
    z, w = heights(sim, shapes)[:, 2] - 1.1, speeds(sim, shapes)[:, 2]
    held = (G * z + w**2 / 2) / (G * 0.2)
    if law.kind == "soft":
        more = by_shape(shapes, ("energy, at most", np.maximum(held, 0.0), 0.0, 2e-3))
    else:
        # where contact points come and go, steps are relaxed, for all bodies of the world, with a warning
        relaxed = 1e-5 if set(shapes) <= set(SMALL) else 0.02
        # methods of first order are off by the share (e² + 1/2) h/fall
        rough = {"compliant": relaxed}.get(law.kind, 2 * e * H / fall if law.first_order else 1e-7)
        more = by_shape(shapes, ("energy", held, e**2, rough))
    return {shape: found[shape] + more[shape] for shape in shapes}


def slides(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
    """At 1 m/s with friction 1/2: blocks stop after v²/(2 μ g), a ball that slips rolls with 5/7 of its speed."""
    mu, end = 0.5, 0.5
    sim = simulation(law, shapes, at("box", shapes, speed=1.0), friction=mu)
    sim.run(end, sample=1.0)
    slip = 2 / (7 * mu * G)
    rolled = slip - mu * G * slip**2 / 2 + 5 / 7 * (end - slip)
    rolls = np.array([shape == "sphere" for shape in shapes])
    late = H if law.first_order else 1e-7
    delay = {"soft": TAU + H, "compliant": 2 * math.sqrt(MASS / STIFFNESS)}.get(law.kind, late)
    return by_shape(
        shapes,
        ("distance", heights(sim, shapes)[:, 1] - 10, np.where(rolls, rolled, 1 / (2 * mu * G)), delay),
        ("speed", speeds(sim, shapes)[:, 1], np.where(rolls, 5 / 7, 0.0), 1e-6 if law.hard else 5e-3),
    )


def thrown(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
    """At 20 m/s at a wall of 2 cm: none passes it, and all come back with e times the speed."""
    sim = simulation(law, shapes, at("wall", shapes, along=-1.0, speed=20.0), restitution=0.5)
    sim.run(0.1, sample=1.0)
    behind = np.maximum(heights(sim, shapes)[:, 1] - (40 - 0.01 - RADIUS), 0.0)
    found = by_shape(shapes, ("passed", behind, 0.0, 1e-6))
    if not law.hard:
        gained = np.maximum(np.abs(speeds(sim, shapes)[:, 1]) - 20.0, 0.0)
        more = by_shape(shapes, ("speed gained", gained, 0.0, 1e-9))
    else:
        more = by_shape(shapes, ("speed", speeds(sim, shapes)[:, 1], -10.0, 1e-6))
    return {shape: found[shape] + more[shape] for shape in shapes}


def seam(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
    """At 1 m/s without friction over the edge between two flush boxes: nothing happens."""
    sim = simulation(law, shapes, at("seam", shapes, along=-0.5, speed=1.0))
    sim.run(1.0, sample=1.0)
    places = {"soft": 1e-3, "compliant": 1e-3, "stepped": 1e-6}.get(law.kind, 1e-7)
    return by_shape(
        shapes,
        ("distance", heights(sim, shapes)[:, 1] - 30, 0.5, places),
        ("speed", speeds(sim, shapes)[:, 1], 1.0, places),
        ("height", heights(sim, shapes)[:, 2], 1.1, law.place),
    )


def stairs(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
    """A ball flies off each edge of a stair at 2 m/s, since v² > g r, and lands on the next step."""
    sim = simulation(law, tuple(SHAPES), {"sphere": [-2.5, 50.5, 1 + RADIUS, 0, 2.0, 0]})  # the large world
    sim.run(2.2, sample=1.0)
    places = {"soft": 2e-3, "compliant": 2e-3, "stepped": 1e-6}.get(law.kind, 1e-7)
    checks = [
        Check("distance", sim.qpos[1] - 50.5, 4.4, places),
        Check("speed", sim.qvel[1], 2.0, places),
        Check("height", sim.qpos[2], 1 - STEPS * STEP + RADIUS, law.place),
    ]
    return {"sphere": checks}


def rests_by_pair(law: Law, _: tuple[str, ...]) -> dict[str, list[Check]]:
    """A ball that touches nothing but by a `<pair>` with the floor, dropped from 5 cm without restitution."""
    sim = simulation(law, ALL, {"paired": [3.5, 0, RADIUS + 0.05, 0, 0, 0]})
    sim.run(1.0, sample=1.0)
    force = 1e-5 * MASS * G if law.hard else 1e-3 * MASS * G
    outside = sim.data.cfrc_ext[sim.model.names("body").index("paired"), 5]
    return {"": [Check("height", sim.qpos[-5], RADIUS, law.place), Check("cfrc_ext", outside, MASS * G, force)]}


def lies(xml: str) -> Callable[[Law, tuple[str, ...]], dict[str, list[Check]]]:
    """A deformable body falls flat on the floor from 5 cm: its points come to rest, and carry their weight."""

    def play(law: Law, _: tuple[str, ...]) -> dict[str, list[Check]]:
        sim = saltus.Simulation(xml, law.integrator, contact=law.contact())
        sim.userdata[:] = 0.0, 0.0
        sim.run(1.0, sample=1.0)
        z = sim.data.flexvert_xpos[:, 2]
        push = sim.data.qfrc_constraint[2 : 3 * len(z) : 3].sum()
        return {"": [Check("height", z, CLOTH_RADIUS, law.place), Check("forces", push, MASS * G, 1e-3 * MASS * G)]}

    return play


TORSION, ROLLING = 0.002, 0.005
BILLIARD = f"""<mujoco><option timestep="{H}" cone="elliptic"/><size nuserdata="2"/>
  <default><geom condim="6" friction="1 {TORSION} {ROLLING}" solref=".01 1"/></default><worldbody>
  <geom type="plane" size="5 5 .1"/><body pos="0 0 {RADIUS}"><freejoint/><geom size="{RADIUS}" mass="{MASS}"/></body>
  </worldbody></mujoco>"""


def comes_to_rest(axis: int, first: float, slows: float) -> Callable[[Law, tuple[str, ...]], dict[str, list[Check]]]:
    """A ball spins about the normal or rolls, at its first speed, and stops: its speed on the way, and at the end.

    axis: of qvel. slows: rate at which it slows down. Soft friction is viscous at small speeds: it slows down less.
    """

    def play(law: Law, _: tuple[str, ...]) -> dict[str, list[Check]]:
        sim = saltus.Simulation(BILLIARD, law.integrator, contact=law.contact())
        sim.userdata[:] = 1.0, DAMPING
        sim.qvel[axis] = first
        if axis == 0:
            sim.qvel[4] = first / RADIUS
        sim.run(0.3, sample=1.0)
        slower = sim.qvel[axis] - (first - 0.3 * slows)
        slower = slower if law.kind in ("located", "stepped", "compliant") else min(slower, 0.0)
        share = {"located": 1e-7, "stepped": 2e-3}.get(law.kind, 0.01)
        found = [Check("speed on the way", slower, 0.0, share * first)]
        sim.run(first / slows, sample=1.0)
        rest = {"located": 1e-9, "stepped": 1e-6}.get(law.kind, 0.25)
        found.append(Check("speed at rest", sim.qvel[axis], 0.0, rest * first))
        return {"": found}

    return play


spins_to_rest = comes_to_rest(5, 3.0, TORSION * G / (0.4 * RADIUS**2))
rolls_to_rest = comes_to_rest(0, 0.3, ROLLING * G / (1.4 * RADIUS))


#: Friction at rest and in motion, and the slope between both on which two blocks lie.
AT_REST, IN_MOTION, SLOPE = 0.8, 0.3, math.atan(0.5)
BLOCKS = f"""<mujoco><option timestep="{H}" cone="elliptic" gravity="{G * math.sin(SLOPE)} 0 {-G * math.cos(SLOPE)}"/>
  <size nuserdata="2"/><default><geom type="box" friction="{IN_MOTION} 0 0" solref="{TAU} 1"/></default><worldbody>
  <geom name="table" size="5 5 .1" pos="0 0 -.1"/>
  <body pos="0 0 .05"><freejoint/><geom name="waits" size=".1 .1 .05" mass="{MASS}"/></body>
  <body pos="0 2 .05"><freejoint/><geom name="slides" size=".1 .1 .05" mass="{MASS}"/></body></worldbody></mujoco>"""


def held_at_rest(law: Law, _: tuple[str, ...]) -> dict[str, list[Check]]:
    """A block at rest stays, and an equal one that moves slides faster; soft laws ignore static friction."""
    model = saltus.static_friction(saltus.static_friction(BLOCKS, "waits", AT_REST), "slides", AT_REST)
    sim = saltus.Simulation(model, law.integrator, contact=law.contact())
    sim.userdata[:] = IN_MOTION, 0.0
    sim.qvel[6] = speed = 0.5
    sim.run(0.4, sample=0.4)
    gained = 0.4 * G * (math.sin(SLOPE) - IN_MOTION * math.cos(SLOPE))
    found = [Check("speed of the one that slides", sim.qvel[6] - speed, gained, (1e-7 if law.hard else 0.03) * gained)]
    rest = [Check("speed of the one at rest", sim.qvel[0], 0.0, 1e-9)]
    return {"": found + (rest if law.hard else [Check("speed", sim.qvel[0], gained, 0.03 * gained)])}


def switched(law: Law, _: tuple[str, ...]) -> dict[str, list[Check]]:
    """The weld holds the plate, then lets go of it: free fall."""
    sim = simulation(law, ALL, {})
    sim.run(0.1, sample=1.0)
    held, t = float(sim.body("plate").xpos[2]), 0.2
    sim.eq_active[0] = 0
    sim.run(t, sample=1.0)
    fall = held - float(sim.body("plate").xpos[2])
    return {"": [Check("held", held, 0.95, 1e-3), Check("fall", fall, G * t**2 / 2, G * t * H)]}


def collides(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
    """A body at 1 m/s meets an equal one at rest, both in free fall: momentum and restitution."""
    e = {"soft": 0.0, "compliant": 1.0}.get(law.kind, 0.5)
    start = {"sphere": [-0.3, 80, 5, 1.0, 0, 0], "box": [0.0, 80, 5, 0, 0, 0]}
    sim = simulation(law, shapes, start, restitution=e, damping=0.0)
    sim.run(0.5, sample=1.0)
    u = speeds(sim, shapes)[:2, 0]
    checks = [Check("momentum", u.sum(), 1.0, 1e-9)]
    if law.kind == "soft":
        checks.append(Check("energy gained", max(np.sum(u**2) - 1, 0), 0.0, 1e-9))
        checks.append(Check("approach", max(u[0] - u[1], 0), 0.0, 2e-2))
    else:
        checks.append(Check("speeds", u, [(1 - e) / 2, (1 + e) / 2], 1e-5 if law.kind == "compliant" else 1e-8))
    return {"": checks}


def lifted(place: str, mover: int) -> Callable[[Law, tuple[str, ...]], dict[str, list[Check]]]:
    """Bodies on what rises at 2 m/s for 0.2 s and stops: thrown to v²/2g, then at rest 0.4 m higher."""

    def play(law: Law, shapes: tuple[str, ...]) -> dict[str, list[Check]]:
        sim = simulation(law, shapes, at(place, shapes))
        low = sim.mocap_pos[mover, 2]

        def rise(sim: saltus.Simulation) -> None:
            sim.mocap_pos[mover, 2] = low + 2 * min(sim.time, 0.2)

        trajectory = sim.run(1.5, sample=2 * H, control=rise)
        highest = trajectory.qpos[:, 2 : 7 * len(shapes) : 7].max(axis=0)
        z = heights(sim, shapes)[:, 2]
        found = by_shape(shapes, ("height", z, PLACES[place][1] + 0.4 + RADIUS, law.place + 1e-5))
        if law.hard:
            summit = PLACES[place][1] + 0.4 + RADIUS + 2**2 / (2 * G)
            rough = G * H**2 / 2 + (4 * H if law.first_order else 1e-6)
            more = by_shape(shapes, ("summit", highest, summit, rough))
            found = {shape: found[shape] + more[shape] for shape in shapes}
        return found

    return play


def rise(t: float) -> float:
    """The way of a lift up to 2 HALF (m)."""
    return HALF * (1.0 - math.cos(RATE * t)) if RATE * t < math.pi else 2.0 * HALF


def rise_of_mocap(t: float) -> tuple[float, float, float]:
    """The place of the mocap lift (m)."""
    return 5.0, 0.0, HALF * (1.0 - math.cos(RATE * t)) if RATE * t < math.pi else 2.0 * HALF


def tossed(law: Law, _: tuple[str, ...]) -> dict[str, list[Check]]:
    """Balls on lifts with prescribed motions leave them where these fall behind by g, and rest on them at the end."""
    motions = {"joint": rise, "mocap": rise_of_mocap}
    sim = saltus.Simulation(LIFTS, law.integrator, contact=law.contact(), motions=motions)
    sim.userdata[:] = 0.0, 0.0
    trajectory = sim.run(1.5, sample=2 * H)
    z = trajectory.qpos[:, [3, 10]] - RADIUS
    checks = [Check("height", z[-1], 2 * HALF, law.place + 1e-5)]
    if law.hard:
        leaves = math.acos(-G / (HALF * RATE**2)) / RATE
        summit = rise(leaves) + (HALF * RATE * math.sin(RATE * leaves)) ** 2 / (2 * G)
        rough = G * H**2 / 2 + (4 * H if law.kind == "stepped" else 1e-6)
        checks.append(Check("summit", z.max(axis=0), summit, rough))
    return {"": checks}


# ---------------------------------------------------------------- machines, in a world of their own

LINK, DRIVE = 0.2, 0.1  # m, N m
MACHINES_XML = f"""<mujoco><option timestep="{H}"/><size nuserdata="2"/>
  <default><geom contype="0" conaffinity="0"/></default><worldbody>
  <body><joint name="bristles" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
  <body><joint name="dry" type="slide" axis="1 0 0" solreffriction="{TAU} 1" solimpfriction="0.9999 0.9999 1"/>
    <geom size=".1" mass="1"/></body>
  <body><joint name="shaft" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/></body>
  <body><joint name="follower" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
  <geom name="post" type="cylinder" size=".1 .1" euler="90 0 0"/>
  <site name="top" pos="0 0 .2"/>
  <body pos="-.1 0 -1"><joint name="light" type="slide" axis="0 0 1"/><geom size=".05" mass="1"/><site name="l"/></body>
  <body pos=".1 0 -1"><joint name="heavy" type="slide" axis="0 0 1"/><geom size=".05" mass="2"/><site name="r"/></body>
  <body><joint name="rotor" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/></body>
  <body pos="0 5 0"><joint name="crank" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia=".02 .02 .02"/>
    <body name="coupler" pos="{LINK} 0 0"><joint name="pin" axis="0 0 1"/>
      <inertial pos="0 .1 0" mass=".5" diaginertia=".01 .01 .01"/></body></body>
  <body name="other" pos="0 5.3 0"><joint name="other" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="1" diaginertia=".03 .03 .03"/></body>
</worldbody>
<equality><connect body1="coupler" body2="other" anchor="0 .3 0" solref="{TAU} 1" solimp=".9999 .9999 1"/></equality>
<tendon><spatial name="rope" stiffness="1e5" damping="100" springlength="{{length!r}}" solreffriction="{TAU} 1"
  solimpfriction="0.9999 0.9999 1"><site site="l"/><geom geom="post" sidesite="top"/><site site="r"/></spatial></tendon>
<actuator><motor name="push" joint="bristles"/><motor name="press" joint="dry"/><motor name="turn" joint="shaft"/>
<motor name="drive" joint="crank"/></actuator></mujoco>"""
SIGMA, PUSH, PRESS, TURN, RATIO = 1e4, 0.5, 1.2, 0.01, 0.05  # N/m, N, N, N m, m/rad
CONSTANT, CURRENT, VOLTS = 0.05, 4.0, 24.0  # N m/A, A, V
RUNNING = 0.5  # s
#: Velocity by force (m/(N s) for 1 kg) with which soft friction creeps: R/b, with R = 1e-4/m and b = 2/τ.
CREEP = 1e-4 * TAU / 2


@cache
def machines(law: Law) -> saltus.Simulation:
    """Bristles, dry friction, a cam, a rope over a post, a dc motor and a closed loop after `RUNNING` seconds."""
    length = 2.0 + 0.1 * math.pi - 1.5 * G / 1e5  # stretched by the mean of both weights
    model = saltus.drive(
        MACHINES_XML.format(length=length), "bristles", friction=saltus.LuGre(SIGMA, 100, 1, 1.5, 0.01)
    )
    model = saltus.drive(model, "dry", friction=saltus.Stribeck(1.0, 1.5, 0.01))
    model = saltus.drive(model, "rotor", motor=saltus.Motor(1.2, CONSTANT, voltage=VOLTS, current_limit=CURRENT))
    model = saltus.cam(model, "follower", "shaft", saltus.CamCurve([-1.0, 0.0, 1.0], [-RATIO, 0.0, RATIO]))
    sim = saltus.Simulation(saltus.capstan(model, "rope", 0.3), law.integrator, contact=law.contact())
    sim.ctrl = PUSH, PRESS, TURN, DRIVE, VOLTS
    sim.run(RUNNING, sample=RUNNING)
    return sim


def bristles(law: Law) -> list[Check]:
    """Bristles of stiffness σ₀ hold a force F below kinetic friction with the deflection F/σ₀."""
    sim = machines(law)
    return [Check("deflection", sim.act[0], PUSH / SIGMA, 1e-9), Check("velocity", sim.qvel[0], 0.0, 1e-8)]


def dry_friction(law: Law) -> list[Check]:
    """Static friction holds under hard laws, and creeps with R F/b under soft ones."""
    return [Check("velocity", machines(law).qvel[1], 0.0 if law.hard else PRESS * CREEP, 1e-12)]


def cam(law: Law) -> list[Check]:
    """A torque turns a shaft with inertia I and a follower of mass m at the ratio i: T/(I + i² m)."""
    sim = machines(law)
    inertia = 0.01 + RATIO**2
    # soft couplings give way by their regularisation, a twentieth of the follower's share
    slack = 1e-9 if law.hard else 0.05 * RATIO**2 / inertia
    return [Check("rate", sim.qvel[2] * inertia / (TURN * RUNNING), 1.0, slack)]


def rope(law: Law) -> list[Check]:
    """1 kg and 2 kg hang over a post with e^(μ π) = 2.57: friction holds their difference, g, or creeps with it.

    The rope's spring vibrates by the tolerance of adaptive methods.
    """
    creep = 0.0 if law.hard else 1.5 * G * CREEP
    return [Check("velocities", machines(law).qvel[4:6], [creep, -creep], 1e-9)]


def parallelogram(law: Law) -> list[Check]:
    """A torque T on one of two equal cranks, whose coupler moves on a circle without turning: T/(I₁ + I₂ + m l²).

    Methods of second order turn too far by the relative error (ω h)²/4 at most, time stepping by ω h, with the rate ω.
    """
    sim = machines(law)
    rate = DRIVE * RUNNING / (0.02 + 0.03 + 0.5 * LINK**2)
    rough = {"stepped": rate * H, "located": 0.25 * (rate * H) ** 2 + 1e-9}.get(law.kind, 1e-4)
    angles = sim.qvel[[7, 8, 9]] / rate
    return [Check("rates of the cranks and the pin", angles, [1.0, -1.0, 1.0], rough)]


def motor(law: Law) -> list[Check]:
    """The current is at its limit I, so that the speed is K I t/J, as long as the voltage drives more."""
    return [Check("speed", machines(law).qvel[6] * 0.01 / (CONSTANT * CURRENT * RUNNING), 1.0, 1e-9)]


# ---------------------------------------------------------------- readers and carriers, in the small world

DROP = 0.05


def dropped(law: Law) -> saltus.Simulation:
    """A ball and a box 5 cm above the table."""
    return simulation(law, SMALL, at("box", SMALL, above=DROP))


def sensed_motion(law: Law) -> list[Check]:
    """In free fall: position, velocity, no acceleration felt; at rest the accelerometer feels the weight."""
    sim, fall = dropped(law), 0.08
    sim.run(fall, sample=fall)
    rough = 1e-9 + (G * H * fall if law.first_order else 0.0)
    flying = [
        Check("framepos", sim.sensor("framepos")[2] - 1.1, DROP - G * fall**2 / 2, rough),
        Check("framelinvel", sim.sensor("framelinvel")[2], -G * fall, rough),
        Check("accelerometer in flight", sim.sensor("accelerometer"), 0.0, 1e-9),
    ]
    sim.run(1.0 - fall, sample=1.0)
    return [
        *flying,
        Check("framepos at rest", sim.sensor("framepos")[2], 1.1, law.place),
        Check("accelerometer at rest", sim.sensor("accelerometer"), [0, 0, G], 1e-3 * G),
    ]


def sensed_forces(law: Law) -> list[Check]:
    """A free body is held by nothing, at rest as in flight: its weight is carried by contacts alone."""
    sim = dropped(law)
    sim.run(1.0, sample=1.0)
    return [Check(kind, sim.sensor(kind), 0.0, 1e-3 * MASS * G) for kind in ("force", "torque")]


def contact_records(law: Law) -> list[Check]:
    """Forces are on the second geom of a pair, which may be the table."""
    trajectory = dropped(law).run(1.0, sample=0.5)
    force = 1e-5 if law.hard else 1e-3
    total = np.abs(trajectory.contact_force[-1]).sum(axis=0)
    return [Check("sum of forces", total, [0, 0, 2 * MASS * G], force * MASS * G)]


def energy_ledger(law: Law) -> list[Check]:
    """Contacts take what gravity gave; no more than the error of a step is left over."""
    report = dropped(law).run(1.0, sample=0.5, ledger=True).energy_report()
    given = 2 * MASS * G * DROP
    taken = report["contact"][-1] + report["impacts"][-1]
    rough = 1e-6 if law.kind == "located" else 0.02
    return [
        Check("work of contacts", taken, -given, rough * given + 2 * MASS * G * law.place),
        Check("residual", report.residual[-1], 0.0, rough * given),
    ]


def inverse_forces(law: Law) -> list[Check]:
    """In the air a ball that does not accelerate needs m g; on the table contacts carry it."""
    sim = dropped(law)
    floating = sim.inverse(np.zeros(sim.model.nv))[2]
    sim.run(1.5, sample=1.5)
    resting = sim.inverse(np.zeros(sim.model.nv))[2]
    return [
        Check("in the air", floating, MASS * G, 1e-9),
        Check("at rest", resting, 0.0, 1e-3 * MASS * G),
    ]


def derivatives_of_inverse(law: Law) -> list[Check]:
    """In the air the force along z grows with the acceleration by the mass, and with nothing else."""
    _, dv, da = dropped(law).linearize_inverse()
    return [Check("by acceleration and velocity", [da[2, 2], dv[2, 2]], [MASS, 0.0], 1e-9)]


def second_derivatives(law: Law) -> list[Check]:
    """In the air the acceleration grows with a force by 1/m, wherever the ball is and however it moves."""
    found = dropped(law).second_derivatives()
    of_forces = found.by("qfrc", "qpos")[2], found.by("qfrc", "qvel")[2]
    return [
        Check("by the force", found.by("qfrc")[2, 2], 1 / MASS, 1e-9),
        Check("twice", np.concatenate(of_forces), 0.0, 1e-12),
    ]


def event_derivatives(law: Law) -> list[Check]:
    """The time of the first impact, √(2 h/g), grows with the height h by 1/(g t), and with the velocity by 1/g."""
    start, fall = at("box", SMALL, above=DROP), math.sqrt(2 * DROP / G)
    start["box"][2] += 1.0  # lands later
    run = simulation(law, SMALL, start).run(1.2 * fall, sensitivity=("qpos", "qvel"))
    found = run.events.sensitivity
    return [Check("time", [found["qpos"].time[0, 2], found["qvel"].time[0, 2]], [1 / (G * fall), 1 / G], 1e-7)]


def estimated(law: Law) -> list[Check]:
    """A step of free flight turns the variance p of z into p (1 + h²), with its velocity it has the covariance p h."""
    sim, p = dropped(law), 1e-4
    estimate = saltus.kalman(sim, 0.0, 1e-6, covariance=p, sensors=["framepos"])
    estimate.predict()
    P, n = estimate.covariance, sim.model.nv
    return [Check("variances", [P[2, 2], P[n + 2, n + 2], P[2, n + 2]], [p * (1 + H**2), p, p * H], 1e-12)]


def estimated_in_a_window(law: Law) -> list[Check]:
    """Two places in free flight, a step apart, tell the velocity, which was thought to be another by 1 m/s."""
    truth, thought = dropped(law), dropped(law)
    down = thought.model.dof_names().index("#1.vz")  # of the box, whose place is measured
    thought.qvel[down] += 1.0
    estimate = saltus.moving_horizon(thought, 1e-14, 1e-14, covariance=1.0, sensors=["framepos"])
    estimate.update(truth.sensor("framepos"))
    truth.step()
    estimate.predict()
    estimate.update(truth.sensor("framepos"))
    return [Check("velocity", [estimate.qvel[down]], [-G * H], 1e-6)]


def event_log(law: Law) -> list[Check]:
    """Each body hits once, at √(2 h/g), with √(2 g h)."""
    events = dropped(law).run(1.0, sample=0.5).events
    if not law.hard:
        return [Check("events", len(events), 0, 0)]
    fall, late = math.sqrt(2 * DROP / G), H if law.kind == "stepped" else 1e-8
    hits = events[events["kind"] == "impact"]
    touched = [{str(name).split(".")[0] for name in (hit["name"], hit["other"])} for hit in hits]
    first = [hits[[shape in names for names in touched].index(True)] for shape in SMALL]
    return [
        Check("time", [hit["time"] for hit in first], fall, 2 * late),
        Check("velocity", [hit["velocity"] for hit in first], -G * fall, 2 * G * late),
    ]


def certificate(law: Law) -> list[Check]:
    """The error that is stated is at least half of the true one: in flight, under hard contact also after a bounce."""
    e, fall = 0.5, math.sqrt(2 * DROP / G)
    end = 1.4 * fall if law.hard else 0.9 * fall
    after = end - fall
    right = e * G * fall * after - G * after**2 / 2 if law.hard else DROP - G * end**2 / 2
    sim = simulation(law, SMALL, at("box", SMALL, above=DROP), restitution=e)
    stated = sim.run(end, sample=end / 8, certify=True).certificate
    assert stated is not None
    scale = 1.0 if math.isnan(stated.timestep) else H / stated.timestep
    error = float(np.max(np.abs(heights(sim, SMALL)[:, 2] - 1.1 - right)))
    return [Check("error beyond twice the stated one", max(error - 2 * scale * stated.final_error, 0.0), 0.0, 1e-9)]


def derivatives(law: Law) -> list[Check]:
    """In free flight a step's derivative of z by the velocity is h, of all else by itself 1.

    Under hard contact also a step over a bounce: z = e v s - g s²/2 at s after the impact, which is later by dh/v.
    """
    a, _ = dropped(law).linearize()
    n = len(a) // 2
    found = [Check("A", [a[2, 2], a[2, n + 2], a[n + 2, n + 2], a[n + 2, 2]], [1, H, 1, 0], 1e-9)]
    if law.hard:
        e, fall = 0.5, math.sqrt(2 * DROP / G)
        start, after, speed = at("box", SMALL, above=DROP), 0.4 * fall, G * fall
        start["box"][2] += 1.0  # lands later
        sim = simulation(law, SMALL, start, restitution=e)
        sim.timestep = fall + after
        a, _ = sim.linearize()
        right = [((1 + e) * G * after - e * speed) / speed, (1 + e) * G / speed]
        found.append(Check("A over a bounce", a[[2, n + 2], 2], right, 1e-6))
    return found


def derivatives_by_parameters(law: Law) -> list[Check]:
    """In free flight a step changes the velocity by g h, so that its derivative by the option, which is -g, is h."""
    _, _, P = dropped(law).linearize(parameters="opt.gravity[2]")
    return [Check("P", P[len(P) // 2 + 2, 0], H, 1e-9)]


def derivatives_of_sensors(law: Law) -> list[Check]:
    """In free flight the place of a body grows by its position, and its acceleration, which is -g, by the option."""
    sim = dropped(law)
    C, _ = sim.linearize_sensors("framepos")
    _, _, P = sim.linearize_data("qacc[2]", parameters="opt.gravity[2]")
    return [Check("place", [C[2].sum(), C[2].max()], 1.0, 1e-9), Check("acceleration", P[0, 0], 1.0, 1e-9)]


def gradients_of_runs(law: Law) -> list[Check]:
    """In free flight the place after a time t has the derivatives 1 by the start's and t by its velocity."""
    sim, duration = dropped(law), 0.05
    _, gradient = saltus.run_gradient(sim, duration, lambda run: run.qpos[-1, 2], mode="forward")
    return [Check("gradient", [gradient["qpos"][2], gradient["qvel"][2]], [1, duration], 1e-9)]


def gradients_in_reverse(law: Law) -> list[Check]:
    """In free flight, back from the end: by start 1 and t, by gravity t (t + h)/2 after semi-implicit Euler steps."""
    sim, duration = dropped(law), 0.05
    wrt = ("qpos", "qvel", "opt.gravity")
    _, gradient = saltus.run_gradient(sim, duration, lambda run: run.qpos[-1, 2], wrt=wrt, mode="reverse")
    found = [gradient["qpos"][2], gradient["qvel"][2], gradient["opt.gravity"][2]]
    return [Check("gradient", found, [1, duration, duration * (duration + H) / 2], 1e-9)]


def by_steps(law: Law) -> list[Check]:
    sim = dropped(law)
    sim.step(1000)
    return [Check("height", heights(sim, SMALL)[:, 2], 1 + RADIUS, law.place)]


def by_run(law: Law) -> list[Check]:
    sim = dropped(law)
    trajectory = sim.run(1.0, sample=0.1)
    flight = trajectory.qpos[:2, 2] - 1.1
    return [
        Check("height", heights(sim, SMALL)[:, 2], 1 + RADIUS, law.place),
        Check("flight", flight, [DROP, DROP - G * 0.1**2 / 2], G * H * 0.1),
    ]


def by_batch(law: Law, precision: str = "float64") -> list[Check]:
    """One simulation is dropped, one is where it was before, one lies there already."""
    sim = dropped(law)
    options: dict[str, Any] = {"integrator": law.integrator, "contact": law.contact(), "precision": precision}
    batch = saltus.Batch(sim.model, 3, **options)
    start = np.array([sim.qpos] * 3)
    start[1, [2, 9]] += DROP
    start[2, [2, 9]] -= DROP
    batch.qpos, batch.userdata = start, np.array([sim.userdata] * 3)
    batch.step(1000)
    force = 1e-5 if law.hard else 1e-3
    z = np.asarray(batch.qpos, float)[:, [2, 9]]
    touch = np.concatenate([batch.sensor(f"{shape} touch") for shape in SMALL])
    return [
        Check("height", z, 1 + RADIUS, law.place + (1e-6 if precision == "float32" else 0.0)),
        Check("touch", touch, MASS * G, force * MASS * G),
    ]


def by_batch_32(law: Law) -> list[Check]:
    return by_batch(law, "float32")


def by_rollout(law: Law) -> list[Check]:
    """All steps of two simulations in one call, from the state of one that was dropped."""
    sim = dropped(law)
    batch = saltus.Batch(sim.model, 2, integrator=law.integrator, contact=law.contact())
    found = batch.rollout(np.zeros((1000, sim.model.nu)), "qpos", start=sim).qpos[..., [2, 9]]
    flight = found[:, 99] - 1 - RADIUS
    return [
        Check("height", found[:, -1], 1 + RADIUS, law.place),
        Check("flight", flight, DROP - G * 0.1**2 / 2, G * H * 0.1),
    ]


def by_environment(law: Law) -> list[Check]:
    """One step of a second."""

    class Resting(saltus.env.Environment):
        model = world(SMALL, at("box", SMALL, above=DROP), 0.0)
        key, observation, frame_skip = "start", ("qpos",), 1000
        integrator, contact = law.integrator, law.contact()

    envs = saltus.env.make_vec(Resting, 2)
    envs.reset(seed=1)
    seen = envs.step(np.zeros(envs.action_space.shape))[0]
    return [Check("height", np.asarray(seen)[:, [2, 9]], 1 + RADIUS, law.place)]


def by_lab(law: Law) -> list[Check]:
    """A second of frames of the lab's session."""
    model = saltus.load(world(SMALL, at("box", SMALL, above=DROP), 0.0))
    setup = LabStart("truth", "Truth", model, key="start", integrator=law.integrator, contact=law.contact())
    session = ready(LiveSession(setup, Downloads()))
    session.playing = True
    run(session, 1.0)
    return [Check("height", heights(session.sim, SMALL)[:, 2], 1 + RADIUS, law.place)]


def final_height(trajectory: saltus.Trajectory) -> float:
    """Height (m) of the ball at the end."""
    return float(trajectory.qpos[-1, 2])


def final_force(trajectory: saltus.Trajectory) -> float:
    """Sum of all contacts' normal forces (N) at the end."""
    return float(np.abs(trajectory.contact_force[-1, :, 2]).sum())


def by_sweep(law: Law) -> list[Check]:
    """Over masses of the ball: it rests at the same height, and more heavily."""
    found = saltus.sweep(
        world(SMALL, at("box", SMALL, above=DROP), 0.0),
        {"body_scale_mass[sphere]": [1.0, 2.0]},
        {"height": final_height, "force": final_force},
        1.0,
        integrator=law.integrator,
        contact=law.contact(),
        sample=0.5,
        key="start",
        workers=1,
        progress=False,
    )
    force = 1e-5 if law.hard else 1e-3
    return [
        Check("height", found["height"], 1 + RADIUS, 2 * law.place),
        Check("force", found["force"], np.array([2.0, 3.0]) * G, force * 3 * G),
    ]


# ---------------------------------------------------------------- the table

ALL = tuple(SHAPES)
SLIDERS = tuple(shape for shape in SHAPES if shape != "ellipsoid")  # which rolls and rocks
PAIRS = [
    Scene(
        "at rest on a plane", ALL, "height, weight in touch and contact sensors, `cfrc_ext` (statics)", rests("plane")
    ),
    Scene("at rest on a box", ALL, "the same", rests("box")),
    Scene("at rest on a height field", ALL, "the same", rests("height field")),
    Scene("bouncing on a box", ALL, "flight by g t²/2; energy e² m g h after it (soft: none gained)", bounces),
    Scene("sliding on a box", SLIDERS, "stops after v²/(2 μ g); a ball rolls at 5/7 v", slides),
    Scene(
        "a ball that spins to rest (dimension 6)",
        ("",),
        "slows by μ_t m g/I, and stays (soft: no faster, creeps)",
        spins_to_rest,
    ),
    Scene(
        "a ball that rolls to rest (dimension 6)",
        ("",),
        "slows by μ_r g/(r (1 + I/(m r²))), and stays (soft: no faster, creeps)",
        rolls_to_rest,
    ),
    Scene(
        BLOCKS_ON_A_SLOPE,
        ("",),
        "one stays, one slides with g (sin α - μ_k cos α) (soft: both slide, with a warning)",
        held_at_rest,
    ),
    Scene("thrown at a wall of 2 cm at 20 m/s", ALL, "stays before it; leaves at e v", thrown),
    Scene("over a seam of flush boxes", ALL, "distance v t, speed v", seam),
    Scene("down stairs of boxes", ("sphere",), "distance v t, speed v, height of the step", stairs),
    Scene("on the floor by a `<pair>`", ("",), "height, `cfrc_ext` (statics)", rests_by_pair),
    Scene("a cloth on the floor", ("",), "height, sum of forces (statics)", lies(CLOTH)),
    Scene(TWISTING, ("",), "the same", lies(ROD)),
]
MOVERS = [
    Scene("hit by a free body", ("",), "momentum, restitution (soft: no energy gained)", collides),
    Scene("on a mocap lift", ALL, "thrown v²/(2 g) high (hard); rests 0.4 m higher", lifted("mocap lift", 0)),
    Scene("on a plate welded to a mocap body", ALL, "the same", lifted("plate welded to mocap", 1)),
    Scene(
        PRESCRIBED,
        ("",),
        "thrown v²/(2 g) high from where z'' = -g (hard); rests on the lift",
        tossed,
    ),
    Scene("an equality switched off in the run", ("",), "free flight", switched),
]
REVERSE = '`run_gradient(mode="reverse")`'
READERS = [
    Reading("position, velocity, acceleration sensors", "free fall; at rest, the weight is felt", sensed_motion),
    Reading("force and torque sensors", "none between a free body and the world", sensed_forces),
    Reading("contact records of a recording", "their sum is the weight (statics)", contact_records),
    Reading("energy ledger", "contacts take m g h; no residual", energy_ledger),
    Reading("`inverse()`", "force for no acceleration: m g in the air, none at rest", inverse_forces),
    Reading("`linearize_inverse()`", "in the air by the acceleration: m, by the velocity: 0", derivatives_of_inverse),
    Reading("event log", "impact at √(2 h/g) with √(2 g h); soft contact has no events", event_log),
    Reading("certificate", "true error of a flight and a bounce", certificate),
    Reading("`linearize()`", "derivatives of a step in free flight: 1, h; over a bounce: (1 + e) g/v", derivatives),
    Reading(
        "`linearize(parameters=)`", "velocity after a step in free flight by gravity: h", derivatives_by_parameters
    ),
    Reading(
        "`linearize_sensors()`, `linearize_data()`",
        "place in free flight by itself: 1; acceleration by gravity: 1",
        derivatives_of_sensors,
    ),
    Reading("`run_gradient`", "height in free flight by its start: 1, t", gradients_of_runs),
    Reading(REVERSE, "height in free flight by its start and by gravity: 1, t, t (t + h)/2", gradients_in_reverse),
    Reading("`events.sensitivity`", "time of the impact by height and velocity: 1/(g t), 1/g", event_derivatives),
    Reading("`kalman`", "variances after a step in free flight: p (1 + h²), p", estimated),
    Reading("`moving_horizon`", "velocity in free flight from two places: -g h", estimated_in_a_window),
    Reading("`second_derivatives()`", "in the air by a force: 1/m; twice: 0", second_derivatives),
]
MACHINES = [
    Reading("friction by bristles (LuGre)", "at rest the deflection F/σ₀", bristles),
    Reading("static friction above kinetic", "at rest; soft laws creep with R F/b", dry_friction),
    Reading("a follower on a cam", "T/(I + i² m)", cam),
    Reading("a dc motor whose current is limited", "speed K I t/J", motor),
    Reading("a rope over a post", "holds e^(μ φ); soft laws creep with R F/b", rope),
    Reading("a closed loop: a parallelogram", "T/(I₁ + I₂ + m l²)", parallelogram),
]
CARRIERS = [
    Reading("`run`", "flight by g t²/2, height at rest", by_run),
    Reading("`step`", "height at rest", by_steps),
    Reading("`Batch`", "height at rest, weights, from three starts", by_batch),
    Reading("`Batch`, float32", "the same", by_batch_32),
    Reading("`Batch.rollout`", "flight by g t²/2, height at rest", by_rollout),
    Reading("`sweep`", "height at rest, weights of two masses", by_sweep),
    Reading("environment", "height at rest", by_environment),
    Reading("lab", "height at rest, in frames of 1/60 s", by_lab),
]
#: Scenes that the small world has, with its shapes.
CORE = [scene for scene in [*PAIRS, *MOVERS] if scene.play in (bounces, slides, held_at_rest, thrown, collides)]
CORE += [PAIRS[0], PAIRS[1], MOVERS[1]]
#: Cells that are refused, with the words that the error has.
REFUSED: dict[tuple[str, str], str] = {}
DEFORMABLE = "deformable bodies with contacts or edge-length constraints, which require the soft law"
DIFFERENTIATED = (
    "`linearize()`",
    "`linearize(parameters=)`",
    "`run_gradient`",
    REVERSE,
    "`kalman`",
    "`moving_horizon`",
)
for law in LAWS:
    if law.kind != "soft":
        words = "choose contact='soft'; second derivatives are those of motion without contacts"
        REFUSED[law.name, "`second_derivatives()`"] = words
    if law.hard:
        words = "forces do not follow from accelerations; choose contact='soft'"
        REFUSED |= {(law.name, row): words for row in ("`inverse()`", "`linearize_inverse()`")}
        if law.integrator == "moreau_jean":
            words = "moreau_jean steps over impacts, so its steps have no derivatives"
            REFUSED |= {(law.name, row): words for row in DIFFERENTIATED}
            words = "contact forces of moreau_jean are means over a step, without derivatives"
            REFUSED[law.name, "`linearize_sensors()`, `linearize_data()`"] = words
        else:
            REFUSED[law.name, REVERSE] = "goes back over steps of fixed length, not over located events"
        words = "hard contact and events need precision='float64': they are located in time"
        REFUSED[law.name, "`Batch`, float32"] = words
        REFUSED |= {(law.name, row): DEFORMABLE for row in ("a cloth on the floor", TWISTING)}
    elif law.integrator == "dopri5":
        words = "soft contacts and limits begin and end inside the steps of dopri5"
        REFUSED |= {(law.name, row): words for row in DIFFERENTIATED}
    elif law.integrator == "radau":
        REFUSED |= {(law.name, row): "linearize does not support radau" for row in DIFFERENTIATED}
        REFUSED[law.name, "`Batch`, float32"] = "radau needs precision='float64', as its derivatives are differences"
    if law.kind != "located":
        REFUSED[law.name, "`events.sensitivity`"] = "only located events have derivatives"
    if law.integrator == "energy_momentum":
        rows = (*DIFFERENTIATED, *(["`events.sensitivity`"] if law.hard else []))
        REFUSED |= {(law.name, row): "linearize does not support energy_momentum" for row in rows}
        REFUSED[law.name, PRESCRIBED] = "motions: not under energy_momentum"
    if law.kind != "soft":
        words = f"environments have soft contact, not {'hard' if law.hard else 'compliant'} contact; use saltus.Batch"
        REFUSED[law.name, "environment"] = words
for law in LAWS:
    if law.integrator in ("dopri5", "radau", "energy_momentum"):
        words = f"{law.integrator} does not support rods that twist, whose frames follow once a step of fixed length"
        REFUSED[law.name, TWISTING] = words
REFUSED |= {("hard, discrete", scene.name): "discrete does not support hard contact" for scene in CORE}
for method in ("dopri5", "radau"):
    words = f"environments take steps of equal length with soft contact, which {method} does not"
    REFUSED[f"soft, {method}", "environment"] = words

JITTER = "boxes and meshes jitter on the field by millimetres, capsules and cylinders by less, as in MuJoCo"
MEANS = "the solver's tolerance is missed in some steps, with a warning; forces are right to 1e-4"
FIELD = "at rest on a height field"
COMES = (
    "contact points come and go, each with a force of its own: boxes, cylinders and meshes jitter on the field by "
    "millimetres, forces on capsules waver by 1 %, and steps are relaxed, with a warning"
)
WAVERS = (
    "contact points come and go, each with a force of its own: steps are relaxed, with a warning; forces waver by 1 %"
)
EDGE = (
    "contacts with the edge push along it while a corner has hardly passed it, and take {} % of the speed; "
    "`saltus check` names seams, and hard contact acts on the union's surface"
)
SLOWED = {"compliant, dopri5": EDGE.format("3"), "soft, dopri5": EDGE.format("0.15")}
UNSOLVED = "Newton's method does not converge in some steps, with a warning; friction is 3 % off"
MOMENTS = "compliant laws are forces along the normal and two tangents, without torsional and rolling friction"
#: Scenes of which it depends on rounding how wrong they are at the time of looking.
BY_CHANCE = (COMES, WAVERS)
#: Cells that are wrong, by law, scene and shape ("" for all): what is seen.
WRONG: dict[tuple[str, str, str], str] = {
    **{
        (f"soft, {method}", FIELD, shape): JITTER
        for method in ("euler", "energy_momentum")
        for shape in ("box", "capsule", "cylinder", "mesh")
    },
    **{("hard, moreau_jean", FIELD, shape): MEANS for shape in ("box", "cylinder", "mesh")},
    **{("soft, dopri5", FIELD, shape): JITTER for shape in ("box", "cylinder", "mesh")},
    **{("compliant, dopri5", FIELD, shape): COMES for shape in ("box", "capsule", "cylinder", "mesh")},
    ("compliant, dopri5", "at rest on a box", "cylinder"): WAVERS,
    ("soft, implicit_midpoint", BLOCKS_ON_A_SLOPE, ""): UNSOLVED,
    **{
        ("compliant, dopri5", scene.name, ""): MOMENTS
        for scene in PAIRS
        if scene.play in (spins_to_rest, rolls_to_rest)
    },
    **{
        (law, "over a seam of flush boxes", shape): fault
        for law, fault in SLOWED.items()
        for shape in ("box", "cylinder", "mesh")
    },
}


def wrong(law: Law, scene: str, shape: str) -> str:
    """The fault of a cell; "" if there is none."""
    return WRONG.get((law.name, scene, shape), "") or WRONG.get((law.name, scene, ""), "")


def tried(law: Law, row: Scene | Reading) -> bool:
    """Whether a cell is played: few are with radau, whose steps are short where contact points come and go."""
    return law.integrator != "radau" or isinstance(row, Reading) or row in CORE


@cache
def outcome(law: Law, scene: Scene, small: bool) -> dict[str, list[Check]]:
    """The checks of a scene by shape: played once for all tests of its cells."""
    shapes = tuple(shape for shape in scene.shapes if shape in SMALL) if small else scene.shapes
    return scene.play(law, SMALL if scene.play is collides else shapes)


# ---------------------------------------------------------------- the page

HEAD = """# The table of truth

Contact laws, with their integrators, by what is done with them. ✓: right by the reference in the row; other entries
are refusals, in the words of the error, cells that are known to be wrong, and cells that take too long to be tried.
"Soft" and "compliant" are `contact="soft"` and `saltus.Compliant` with a stiff spring, "hard" is `contact="hard"`:
located in time, and stepped over with `moreau_jean`. Shapes are sphere, box, capsule, cylinder, ellipsoid and mesh,
unless a row says which; with `radau`, and in the tables of other methods, they are sphere and box.

Written by `PYTHONPATH=tests python -m helpers.truth_scenes > docs/reference/truth.md`; `tests/test_truth_table.py`
plays every cell.
"""


def cell(law: Law, row: Scene | Reading, notes: list[str]) -> str:
    """An entry of the table; `notes` grows."""
    refusal = REFUSED.get((law.name, row.name))
    if refusal:
        return f"refused {note(notes, refusal)}"
    if not tried(law, row):
        return "not tried"
    shapes = row.shapes if isinstance(row, Scene) else ("",)
    faults = {shape: wrong(law, row.name, shape) for shape in shapes if wrong(law, row.name, shape)}
    if not faults:
        return "✓"
    marks = " ".join(sorted({note(notes, fault) for fault in faults.values()}))
    return f"wrong {marks}" if len(faults) == len(shapes) else f"✓, wrong for {', '.join(faults)} {marks}"


def note(notes: list[str], text: str) -> str:
    """The mark of a note."""
    if text not in notes:
        notes.append(text)
    return f"({notes.index(text) + 1})"


def table(title: str, rows: Sequence[Scene | Reading], laws: list[Law], notes: list[str]) -> str:
    """A section of the page; `notes` grows."""
    lines = [[title.lower(), "reference", *(law.name for law in laws)], ["---"] * (2 + len(laws))]
    for row in rows:
        few = isinstance(row, Scene) and row.shapes not in (ALL, ("",)) and laws is LAWS
        name = f"{row.name} ({', '.join(row.shapes)})" if few else row.name
        lines.append([name, row.reference, *(cell(law, row, notes) for law in laws)])
    return f"## {title}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def page() -> str:
    """The page of the docs."""
    parts, notes = [HEAD], []
    groups = {"Pairs of shapes": PAIRS, "What moves": MOVERS, "Machines": MACHINES}
    groups |= {"What is read": READERS, "How it is run": CARRIERS}
    parts += [table(title, rows, LAWS, notes) for title, rows in groups.items()]
    for title, hard in (("Other methods under the soft law", False), ("Other methods under hard contact", True)):
        parts.append(table(title, CORE, [law for law in OTHER_LAWS if law.hard == hard], notes))
    if notes:
        parts.append("## Notes\n\n" + "\n".join(f"{k}. {text}" for k, text in enumerate(notes, 1)) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
