"""Random worlds for campaigns: what is in them, in MJCF, all with the same features, so that little is compiled.

Lengths in m, masses in kg, angles in rad.
"""

import math
from collections.abc import Iterable

import numpy as np

SHAPES = ("sphere", "box", "capsule", "cylinder", "ellipsoid", "mesh")
#: The last obstacle is a room: six walls.
OBSTACLES = ("plane", "box", "wall", "mesh", "height field", "tiles", "room")

FAR = 1000.0  # where the features are kept


def features() -> str:
    """Geoms that never come near anything, of all pairs of shapes, so that all worlds share their compiled kernels.

    They collide with each other alone, by other bits than those of what is simulated.
    """
    still = "".join(
        f'<geom {shape} pos="{-FAR} {20 * k} 0" contype="4" conaffinity="4"/>'
        for k, shape in enumerate(
            (
                'type="box" size=".1 .1 .1"',
                'type="ellipsoid" size=".1 .2 .1"',
                'type="mesh" mesh="kept"',
                'type="hfield" hfield="kept"',
            )
        )
    )
    seam = "".join(
        f'<geom type="box" size=".1 .1 .1" pos="{-FAR} {y} 0" contype="4" conaffinity="4"/>' for y in (-20, -19.8)
    )
    moving = "".join(
        f'<geom {shape} pos="0 {20 * k} 0" contype="4" conaffinity="4"/>'
        for k, shape in enumerate(
            (
                'size=".1"',
                'type="box" size=".1 .1 .1"',
                'type="capsule" size=".1 .1"',
                'type="cylinder" size=".1 .1"',
                'type="ellipsoid" size=".1 .1 .2"',
                'type="mesh" mesh="kept"',
            )
        )
    )
    return f"""<geom type="plane" size="1 1 1" pos="0 0 {-FAR}" contype="4" conaffinity="4"/>{still}{seam}
      <body name="kept" pos="{FAR} 0 0"><joint name="kept" type="slide" axis="0 1 0"/>{moving}</body>"""


def kept_assets() -> str:
    """Meshes and height fields of `features`."""
    vertices = "0 0 0 .1 0 0 0 .1 0 0 0 .1"
    return f"""<mesh name="kept" vertex="{vertices}"/>
      <hfield name="kept" nrow="2" ncol="2" size=".1 .1 .1 .1" elevation="1 1 1 1"/>"""


def world(content: str, assets: str = "", more: str = "", **options: object) -> str:
    """MJCF of a world with `content` in it, `more` after the world's body. Options: timestep, friction, gravity."""
    friction, gravity = options.get("friction", 0.0), options.get("gravity", "0 0 -9.81")
    tendon = """<tendon><fixed name="kept" stiffness="1e-9"><joint joint="kept" coef="1"/></fixed></tendon>"""
    return f"""<mujoco><compiler angle="radian" autolimits="true"/>
    <option timestep="{options.get("timestep", 0.002)}" gravity="{gravity}"/>
    <default><geom friction="{friction} 0 0"/></default><asset>{kept_assets()}{assets}</asset>
    <worldbody>{features()}{content}</worldbody>{tendon}{more}</mujoco>"""


def text(values: Iterable[float]) -> str:
    """Numbers as MJCF has them."""
    return " ".join(repr(float(x)) for x in values)


def box_vertices(half: np.ndarray) -> str:
    """The corners of a box."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    return text((signs * half).ravel())


def solid(rng: np.random.Generator, shape: str, name: str, size: float) -> tuple[str, str, float]:
    """A geom of a shape whose extents are about `size`: MJCF without mass, its assets, and its bounding radius."""
    a, b, c = size * rng.uniform(0.5, 1.0, 3)
    assets = ""
    if shape == "sphere":
        what, reach = f'type="sphere" size="{a}"', a
    elif shape == "mesh":
        vertices = rng.normal(size=(int(rng.integers(4, 12)), 3))
        vertices *= np.array([a, b, c]) / np.linalg.norm(vertices, axis=1, keepdims=True)
        assets = f'<mesh name="{name}" vertex="{text(vertices.ravel())}"/>'
        what, reach = f'type="mesh" mesh="{name}"', 2 * max(a, b, c)
    elif shape in ("capsule", "cylinder"):
        what, reach = f'type="{shape}" size="{text((a, b))}"', a + b
    else:
        what, reach = f'type="{shape}" size="{text((a, b, c))}"', math.hypot(a, b, c)
    return f'<geom name="{name}" {what}', assets, reach


def quaternion(rng: np.random.Generator) -> np.ndarray:
    """A random orientation."""
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def obstacle(rng: np.random.Generator, kind: str, thickness: float) -> tuple[str, str, np.ndarray]:
    """An obstacle whose surface passes through the origin: MJCF, assets, and the normal there."""
    half, wide = thickness / 2, 4.0
    tilt = rng.uniform(0, 0.4) if rng.random() < 0.5 else 0.0
    if kind == "wall":
        tilt = math.pi / 2
    turn = (math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0)
    normal = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    if kind == "plane":
        return f'<geom name="plane" type="plane" size="1 1 1" quat="{text(turn)}"/>', "", normal
    if kind in ("box", "wall"):
        size = text((wide, wide, half))
        place = f'pos="{text(-half * normal)}" quat="{text(turn)}"'
        return f'<geom name="box" type="box" size="{size}" {place}/>', "", normal
    if kind == "mesh":
        vertices = box_vertices(np.array([wide, wide, half]))
        return (
            f'<geom name="mesh" type="mesh" mesh="slab" pos="{text(-half * normal)}" quat="{text(turn)}"/>',
            f'<mesh name="slab" vertex="{vertices}"/>',
            normal,
        )
    if kind == "tiles":
        tiles = "".join(
            f'<geom type="box" size="1 1 {half!r}" pos="{x} {y} {-half!r}"/>' for x in (-2, 0, 2) for y in (-2, 0, 2)
        )
        return tiles, "", np.array([0.0, 0.0, 1.0])
    if kind == "height field":
        n, rise = 6, float(rng.choice([0.02, 0.1, 0.4]))
        elevation = rng.random((n, n))
        assets = (
            f'<hfield name="hills" nrow="{n}" ncol="{n}" size="2 2 {rise} .2" elevation="{text(elevation.ravel())}"/>'
        )
        return f'<geom name="hills" type="hfield" hfield="hills" pos="0 0 {-rise}"/>', assets, np.array([0.0, 0.0, 1.0])
    room, reach = "", 0.5
    for axis in range(3):
        for sign in (-1, 1):
            place, size = np.zeros(3), np.full(3, reach + thickness)
            place[axis], size[axis] = sign * (reach + half), half
            room += f'<geom type="box" size="{text(size)}" pos="{text(place + [0, 0, reach])}"/>'
    return room, "", np.array([0.0, 0.0, 1.0])
