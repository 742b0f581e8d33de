"""Worlds of many bodies, of any size, as MJCF text, reproducible from the arguments and the seed.

A scene gives the preparation of a measurement: initial velocities of some bodies, and the time for which it
moves until much is happening.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

GRAVITY = 9.81  # m/s²
SHAPES = {  # shapes of a heap, about 0.2 m across
    "sphere": "0.1",
    "box": "0.1 0.08 0.06",
    "capsule": "0.06 0.08",
}
SPACING = 0.31  # m between the bodies of a heap at the start, which do not touch however they are turned
BRICK = (0.2, 0.1, 0.075)  # m, half of a brick
JOINT = 0.002  # m, half of the gap between two bricks of a course
DOMINO = (0.01, 0.05, 0.1)  # m, half of a domino
BALL = '<geom size="0.1"/>'
ROLLING = {"ball": (-0.3, 0.0, 0.0, 0.0, -3.0, 0.0)}


@dataclass(frozen=True)
class Scene:
    """A world: its MJCF text, the number of moving bodies, and the state to begin from.

    `settle`: seconds that it moves before it is measured. `velocities`: of free bodies by name, at the start: linear
    (m/s, world frame) and angular (rad/s, body frame).
    """

    name: str
    xml: str
    bodies: int
    settle: float
    velocities: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def heap(n: int = 30, *, shapes: Sequence[str] = tuple(SHAPES), seed: int = 0) -> Scene:
    """n free spheres, boxes and capsules in turn, dropped into a box whose width grows with n.

    It is measured one second after the last has landed.
    """
    rng = np.random.default_rng(seed)
    across = math.ceil(n ** (1 / 3))
    half = 0.5 * SPACING * across + 0.03
    bodies = []
    for k in range(n):
        layer, place = divmod(k, across * across)
        row, column = divmod(place, across)
        at = SPACING * (np.array([row, column, layer]) - [0.5 * (across - 1), 0.5 * (across - 1), -0.6])
        shape = shapes[k % len(shapes)]
        geom = f'<geom type="{shape}" size="{SHAPES[shape]}"/>'
        bodies.append(_free(f"body{k}", at + rng.uniform(-0.01, 0.01, 3), geom, _unit(rng.normal(size=4))))
    walls = [
        f'<geom type="plane" size="5 5 0.1" pos="{x * half} {y * half} 0" zaxis="{-x} {-y} 0"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]
    height = SPACING * math.ceil(n / across**2)
    return Scene(f"heap {n}", _world(f"heap of {n}", [*walls, *bodies]), n, math.sqrt(2 * height / GRAVITY) + 1.0)


def wall(width: int = 20, height: int = 10) -> Scene:
    """A wall of bricks in courses, each half a brick off the last, while a ball goes through it."""
    bricks = _courses(width, height, 0.0)
    ball = _free("ball", (-2.0, 0.0, max(0.3, BRICK[2] * height)), '<geom size="0.25" density="2000"/>')
    text = _world("brick wall", [*bricks, ball])
    return Scene("wall", text, len(bricks) + 1, 0.3, {"ball": (15.0, 0.0, 1.0, 0.0, 0.0, 0.0)})


def dominoes(n: int = 1000) -> Scene:
    """n dominoes in a row, the first of them pushed: while they fall."""
    geom = f'<geom type="box" size="{_text(DOMINO)}" density="600"/>'
    stones = [_free(f"domino{k}", (0.08 * k, 0.0, DOMINO[2]), geom) for k in range(n)]
    pushed = (0.3, 0.0, 0.0, 0.0, 3.0, 0.0)
    return Scene("dominoes", _world("dominoes", stones), n, 0.5, {"domino0": pushed})


def humanoids(n: int = 100, *, seed: int = 0) -> Scene:
    """n of the bundled humanoids in a square, tilted so far that they fall: when they lie."""
    import mujoco

    from saltus.model.source.bundled_names import BUNDLED

    rng = np.random.default_rng(seed)
    text = (BUNDLED / "humanoid.xml").read_text(encoding="utf-8")
    spec = mujoco.MjSpec.from_string('<mujoco><worldbody><geom type="plane" size="50 50 0.1"/></worldbody></mujoco>')
    across = math.ceil(math.sqrt(n))
    moving = 0
    for k in range(n):
        child = mujoco.MjSpec.from_string(text)
        if k == 0:
            spec.option.timestep, spec.option.integrator = child.option.timestep, child.option.integrator
            moving = len(child.bodies) - 1
        for key in list(child.keys):
            child.delete(key)
        tilt, turn = rng.uniform(0.6, 1.2), rng.uniform(-math.pi, math.pi)
        quat = _product((math.cos(turn / 2), 0, 0, math.sin(turn / 2)), (math.cos(tilt / 2), math.sin(tilt / 2), 0, 0))
        at = [2.0 * (k % across), 2.0 * (k // across), 0.6]
        frame = spec.worldbody.add_frame(pos=at, quat=quat)
        frame.attach_body(child.worldbody.first_body(), f"h{k}_", "")
    spec.compile()
    return Scene("humanoids", spec.to_xml(), n * moving, 1.0)


def curtain(chains: int = 50, links: int = 100) -> Scene:
    """Chains side by side, hung from a bar, that swing against a rail."""
    length, radius = 0.03, 0.008
    hung = []
    for k in range(chains):
        y = 2.1 * radius * (k - 0.5 * (chains - 1))
        hung.append(_chain(f"c{k}_", links, length, radius, f'pos="0 {y:.5f} {links * length:.5f}" euler="0 25 0"'))
    rail_x = -0.13 * links * length
    rail = (
        f'<geom type="capsule" size="0.03" fromto="{rail_x} {-0.02 * chains} {0.5 * links * length} '
        f'{rail_x} {0.02 * chains} {0.5 * links * length}"/>'
    )
    return Scene("curtain", _world("chain curtain", [rail, *hung], floor=False), chains * links, 0.6)


def wrecking_ball(links: int = 10, width: int = 4, height: int = 10) -> Scene:
    """A heavy ball on a chain that swings into a tower of bricks."""
    length = 3.0 / links
    load = f'<body pos="0 0 {-length:.5f}"><joint type="ball" damping="1"/><geom size="0.3" density="2000"/></body>'
    chain = _chain("link", links, length, 0.04, 'pos="-0.5 0 3.6" euler="0 60 0"', load, density=7800, damping=1.0)
    bricks = _courses(width, height, 0.0)
    return Scene("wrecking ball", _world("wrecking ball", [chain, *bricks]), links + 1 + len(bricks), 1.0)


def room(n: int = 1000) -> Scene:
    """n spheres, boxes and capsules that sleep on the floor, and a ball that rolls away from them."""
    across = math.ceil(math.sqrt(n))
    shapes = "sphere", "box", "capsule"
    lying = {"sphere": 0.1, "box": 0.06, "capsule": 0.14}  # m, height of the centre
    asleep = [
        _free(
            f"body{k}",
            (1.0 + 0.5 * (k // across), 0.5 * (k % across - across // 2), lying[shapes[k % 3]]),
            f'<geom type="{shapes[k % 3]}" size="{SHAPES[shapes[k % 3]]}"/>',
            asleep=True,
        )
        for k in range(n)
    ]
    text = _world(f"room of {n} asleep", [*asleep, _free("ball", (-1.0, 0.0, 0.1), BALL)], asleep=True)
    return Scene("room", text, n + 1, 0.1, ROLLING)


def sleeping_wall(width: int = 25, height: int = 20) -> Scene:
    """A wall of bricks that sleeps, and a ball that rolls away from it."""
    bricks = _courses(width, height, 0.0, asleep=True)
    text = _world("sleeping wall", [*bricks, _free("ball", (-1.0, 0.0, 0.1), BALL)], asleep=True)
    return Scene("sleeping wall", text, len(bricks) + 1, 0.1, ROLLING)


#: The worlds by name; the first grows with the number of bodies.
WORLDS: Mapping[str, Callable[..., Scene]] = MappingProxyType(
    {
        "heap": heap,
        "wall": wall,
        "dominoes": dominoes,
        "humanoids": humanoids,
        "curtain": curtain,
        "wrecking_ball": wrecking_ball,
        "room": room,
        "sleeping_wall": sleeping_wall,
    }
)


def start(scene: Scene, m: Any) -> Any:
    """MuJoCo's data of the scene's compiled model at the start of its motion."""
    import mujoco

    data = mujoco.MjData(m)
    for name, velocity in scene.velocities.items():
        joint = m.body(name).jntadr[0]
        first = m.jnt_dofadr[joint]
        data.qvel[first : first + 6] = velocity
    return data


def _world(name: str, parts: Iterable[str], *, floor: bool = True, asleep: bool = False) -> str:
    ground = '<geom type="plane" size="50 50 0.1"/>' if floor else ""
    option = '<option timestep="0.002"><flag sleep="enable"/></option>' if asleep else '<option timestep="0.002"/>'
    return f'<mujoco model="{name}">{option}<worldbody>{ground}{"".join(parts)}</worldbody></mujoco>'


def _free(
    name: str,
    pos: Iterable[float],
    inside: str,
    quat: Iterable[float] = (1.0, 0.0, 0.0, 0.0),
    *,
    asleep: bool = False,
) -> str:
    about = f'name="{name}" pos="{_text(pos)}" quat="{_text(quat)}"' + (' sleep="init"' if asleep else "")
    return f"<body {about}><freejoint/>{inside}</body>"


def _courses(width: int, height: int, x: float, *, asleep: bool = False) -> list[str]:
    """Bricks across the x axis; half bricks end every other course, so that each brick lies on all of its length."""
    bricks = []
    for course in range(height):
        halves = course % 2
        lengths = [0.5] * halves + [1.0] * (width - halves) + [0.5] * halves
        end = -0.5 * width
        for k, length in enumerate(lengths):
            size = (BRICK[1], length * BRICK[0] - JOINT, BRICK[2])
            geom = f'<geom type="box" size="{_text(size)}" density="1500"/>'
            at = (x, 2 * BRICK[0] * (end + 0.5 * length), BRICK[2] * (2 * course + 1))
            bricks.append(_free(f"brick{course}_{k}", at, geom, asleep=asleep))
            end += length
    return bricks


def _chain(
    name: str,
    links: int,
    length: float,
    radius: float,
    place: str,
    end: str = "",
    density: float = 1000.0,
    damping: float = 1e-4,
) -> str:
    """Links on ball joints, each hung from the last; `place`: attributes of the first; `end`: load of the last."""
    size = f'size="{radius}" density="{density:g}"'
    geom = f'<geom type="capsule" {size} fromto="0 0 {-radius} 0 0 {radius - length:.5f}"/>'
    joint = f'<joint type="ball" damping="{damping:g}"/>'
    opened = [
        f'<body name="{name}{k}" {place if k == 0 else f"""pos="0 0 {-length:.5f}" """}>{joint}{geom}'
        for k in range(links)
    ]
    return f"{''.join(opened)}{end}{'</body>' * links}"


def _product(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Product of two quaternions."""
    import mujoco

    out = np.zeros(4)
    mujoco.mju_mulQuat(out, np.array(a, float), np.array(b, float))
    return out.tolist()


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def _text(values: Iterable[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)
