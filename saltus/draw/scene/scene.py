"""The visible parts of a model, independent of its state: shapes and the bodies that they are attached to.

Scenes are used by the rasteriser and, as plain numbers, by other viewers. The world has z up; lengths are in m, colours
are red, green, blue and opacity from 0 to 1. Groups 0 to 2 are shown by default, as in MuJoCo. Skins are left out; the
geoms underneath are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.draw.scene.framing import default_camera
from saltus.draw.scene.materials import Checker, Looks
from saltus.draw.scene.meshes import Mesh, height_field, mesh
from saltus.draw.scene.paths import tendon_paths
from saltus.draw.scene.view import Camera
from saltus.model.enums import ROPE, SOLID
from saltus.model.model import Model

GROUPS = (0, 1, 2)  # groups that MuJoCo shows by default
KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "mesh")  # by mjtGeom


@dataclass(frozen=True)
class Shape:
    """A rigid shape on a body.

    kind: "plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box" or "mesh".
    body: index of the body. pos [3], quat [4] (w x y z): the shape's frame in the body's.
    size [3]: MuJoCo's half sizes (m); a plane is infinite along axes of size 0. Unused for "hfield" and "mesh".
    mesh: index into `Scene.meshes`, -1 if there is none. group: MuJoCo's group. source: "geom" or "site".
    checker: the pattern of a plane, or None.
    """

    kind: str
    body: int
    pos: tuple[float, float, float]
    quat: tuple[float, float, float, float]
    size: tuple[float, float, float]
    rgba: tuple[float, float, float, float]
    mesh: int
    group: int
    source: str
    name: str
    checker: Checker | None


@dataclass(frozen=True)
class Tendon:
    """A branch of a spatial tendon; pulleys separate branches.

    width: drawn radius (m). points: largest number of points of its path.
    """

    name: str
    width: float
    rgba: tuple[float, float, float, float]
    points: int


@dataclass(frozen=True, eq=False)
class Flex:
    """A deformable body's surface. nvert: number of its vertices (in `Pose.flexes`).

    faces: int32 [n, 3], drawn on both sides if `dim` is 2. edges: int32 [n, 2] of a cable (`dim` 1).
    radius: radius of a cable (m).
    """

    name: str
    rgba: tuple[float, float, float, float]
    nvert: int
    dim: int
    faces: NDArray[np.int32]
    edges: NDArray[np.int32]
    radius: float


@dataclass(frozen=True, eq=False)
class Scene:
    """The visible parts of a model.

    bodies: names. moving: [nbody] bool, whether a body can move. trees: [nbody], the kinematic tree of each body, -1
    for none. center [3], extent (m): position and size of the model. camera: the default view.
    """

    bodies: tuple[str, ...]
    moving: tuple[bool, ...]
    trees: tuple[int, ...]
    shapes: tuple[Shape, ...]
    meshes: tuple[Mesh, ...]
    tendons: tuple[Tendon, ...]
    flexes: tuple[Flex, ...]
    center: tuple[float, float, float]
    extent: float
    camera: Camera


def not_drawn(model: Model) -> str:
    """Describe the parts of a model that are left out of all pictures; "" if there are none."""
    found, m = [], model.mujoco
    if model.nskin:
        found.append(
            f"{model.nskin} skin{'s' * (model.nskin > 1)} of the model cannot be drawn; the geoms underneath are"
        )
    if textures := Looks(m).flattened():
        plural = "s" * (len(textures) > 1)
        found.append(f"texture{plural} {', '.join(textures)}: drawn as the mean colour of the picture{plural}")
    return "; ".join(found)


def scene(model: Model, groups: Sequence[int] = GROUPS) -> Scene:
    """Make the scene of a model with some groups of geoms, sites, tendons and flexes."""
    m = model.mujoco
    looks = Looks(m)
    meshes = _Meshes(m)
    shapes = _shapes(model, m, "geom", groups, looks, meshes) + _shapes(model, m, "site", groups, looks, meshes)
    return Scene(
        bodies=tuple(model.names("body")),
        moving=tuple(bool(x) for x in (m.body_weldid != 0) | (m.body_mocapid[m.body_rootid] >= 0)),
        trees=tuple(map(int, m.body_treeid)),
        shapes=tuple(shapes),
        meshes=tuple(meshes.found),
        tendons=tuple(
            Tendon(path.name, float(m.tendon_width[path.tendon]), looks.rgba("tendon", path.tendon), path.points)
            for path in tendon_paths(m, groups)
        ),
        flexes=tuple(_flex(model, m, i, looks) for i in shown_flexes(m, groups)),
        center=_triple(m.stat.center),
        extent=float(m.stat.extent),
        camera=default_camera(m, groups),
    )


def shown_flexes(m: mujoco.MjModel, groups: Sequence[int] = GROUPS) -> list[int]:
    """Indices of the flexes of some groups."""
    return [i for i in range(m.nflex) if m.flex_group[i] in groups]


class _Meshes:
    """Meshes and height fields used by shapes, without duplicates."""

    def __init__(self, m: mujoco.MjModel):
        self._m = m
        self._index: dict[tuple[str, int], int] = {}
        self.found: list[Mesh] = []

    def index(self, kind: str, dataid: int) -> int:
        """Index of a mesh or height field among `found`; -1 for other kinds."""
        if kind not in ("mesh", "hfield") or dataid < 0:
            return -1
        key = kind, dataid
        if key not in self._index:
            self._index[key] = len(self.found)
            self.found.append((mesh if kind == "mesh" else height_field)(self._m, dataid))
        return self._index[key]


def _shapes(model, m, source, groups, looks, meshes) -> list[Shape]:
    """Shapes of all visible geoms or sites of some groups."""
    of = lambda field: getattr(m, f"{source}_{field}")  # noqa: E731
    found = []
    for i, name in enumerate(model.names(source)):
        rgba = looks.rgba(source, i)
        kind = KINDS[of("type")[i]]
        index = meshes.index(kind, int(of("dataid")[i]))
        if of("group")[i] not in groups or rgba[3] == 0 or (kind in ("mesh", "hfield") and index < 0):
            continue
        shape = Shape(
            kind=kind,
            body=int(of("bodyid")[i]),
            pos=_triple(of("pos")[i]),
            quat=tuple(float(x) for x in of("quat")[i]),  # type: ignore[arg-type]
            size=_triple(of("size")[i]),
            rgba=rgba,
            mesh=index,
            group=int(of("group")[i]),
            source=source,
            name=name,
            checker=looks.checker(i) if kind == "plane" and source == "geom" else None,
        )
        found.append(shape)
    return found


def _flex(model, m, i, looks) -> Flex:
    dim, nelem = int(m.flex_dim[i]), int(m.flex_elemnum[i])
    start = int(m.flex_elemdataadr[i])
    elements = np.array(m.flex_elem[start : start + nelem * (dim + 1)], np.int32).reshape(-1, dim + 1)
    if dim == SOLID:
        start = int(m.flex_shelldataadr[i])
        elements = np.array(m.flex_shell[start : start + 3 * int(m.flex_shellnum[i])], np.int32).reshape(-1, 3)
    return Flex(
        name=model.names("flex")[i],
        rgba=looks.rgba("flex", i),
        nvert=int(m.flex_vertnum[i]),
        dim=dim,
        faces=elements if dim != ROPE else np.zeros((0, 3), np.int32),
        edges=elements if dim == ROPE else np.zeros((0, 2), np.int32),
        radius=float(m.flex_radius[i]),
    )


def _triple(values) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
