"""Triangles of mesh files that MuJoCo does not read: COLLADA (.dae) and STL as text.

COLLADA: the triangles and polygons of all geometries in the scene, in the unit of length of the file; its up axis is
left aside, as the tools of ROS do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

LARGEST = 2**28  # bytes
DEEPEST = 200  # levels of nodes
MOST = 10_000  # nodes, as often as they are placed
NUMBERS = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")

Triangles = tuple[np.ndarray, np.ndarray]  # vertices [n, 3] (m), and three of their numbers for each triangle [k, 3]


def triangles(path: str) -> Triangles | None:
    """The triangles of a mesh file; None if MuJoCo reads it itself. ValueError, with the reason: it holds none."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".dae", ".stl"):
        return None
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST)
    except OSError as error:
        raise ValueError(f"cannot read '{path}': {error.strerror}") from None
    if suffix == ".stl" and not (content.lstrip()[:5] == b"solid" and b"facet" in content[:2000]):
        return None
    try:
        with np.errstate(all="ignore"):
            vertices, faces = _of_stl(content) if suffix == ".stl" else _of_collada(content)
    except (ElementTree.ParseError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise ValueError(f"'{path}' cannot be read: {error}") from None
    if not len(faces):
        raise ValueError(f"'{path}' holds no triangles")
    if not np.isfinite(vertices).all():
        raise ValueError(f"'{path}' holds numbers that are not finite")
    return vertices, faces


def _of_stl(content: bytes) -> Triangles:
    vertices = np.array(NUMBERS.findall(content), float).reshape(-1, 3)
    vertices, at = np.unique(vertices[: len(vertices) // 3 * 3], axis=0, return_inverse=True)
    return vertices, at.reshape(-1, 3)


# ------------------------------------------------------------ COLLADA


def _of_collada(content: bytes) -> Triangles:
    root = ElementTree.fromstring(content)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    unit = root.find("asset/unit")
    scale = float(unit.get("meter", "1")) if unit is not None else 1.0
    geometries = {geometry.get("id", ""): geometry for geometry in root.iter("geometry")}
    nodes = {node.get("id", ""): node for node in root.iter("node")}
    parts: list[Triangles] = []
    count = 0
    for geometry, pose in _placed(root, nodes):
        if geometry in geometries:
            vertices, faces = _of_geometry(geometries[geometry])
            parts.append(((vertices @ pose[:3, :3].T + pose[:3, 3]) * scale, faces + count))
            count += len(vertices)
    if not parts:
        raise ValueError("no geometry is in its scene")
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate([faces for _, faces in parts])


def _placed(root: ElementTree.Element, nodes: dict[str, ElementTree.Element]) -> Iterator[tuple[str, np.ndarray]]:
    """Names of the geometries in the scene, with their poses [4, 4]."""
    instance = root.find("scene/instance_visual_scene")
    scenes = {scene.get("id"): scene for scene in root.iter("visual_scene")}
    scene = (
        scenes.get(instance.get("url", "").lstrip("#")) if instance is not None else next(iter(scenes.values()), None)
    )
    left = [(node, np.eye(4), 0) for node in (scene.findall("node") if scene is not None else [])]
    seen = 0
    while left:
        node, outer, depth = left.pop()
        seen += 1
        if depth > DEEPEST or seen > MOST:
            raise ValueError("it has too many nodes, or they are in themselves")
        pose = outer @ _pose(node)
        for inner in node.findall("instance_geometry"):
            yield inner.get("url", "").lstrip("#"), pose
        named = [nodes.get(other.get("url", "").lstrip("#")) for other in node.findall("instance_node")]
        left += [(inner, pose, depth + 1) for inner in (*node.findall("node"), *named) if inner is not None]


def _pose(node: ElementTree.Element) -> np.ndarray:
    """The product of a node's transformations [4, 4]."""
    pose = np.eye(4)
    for element in node:
        step = np.eye(4)
        if element.tag == "matrix":
            step = _numbers(element).reshape(4, 4)
        elif element.tag == "translate":
            step[:3, 3] = _numbers(element)
        elif element.tag == "scale":
            step[:3, :3] = np.diag(_numbers(element))
        elif element.tag == "rotate":
            step[:3, :3] = _rotation(*_numbers(element))
        pose = pose @ step
    return pose


def _rotation(x: float, y: float, z: float, degrees: float) -> np.ndarray:
    """Rodrigues' formula."""
    axis = np.array([x, y, z]) / max(math.sqrt(x * x + y * y + z * z), 1e-300)
    cross = np.cross(np.eye(3), axis)
    angle = math.radians(degrees)
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def _of_geometry(geometry: ElementTree.Element) -> Triangles:
    """Vertices and triangles of a geometry; polygons are fans of triangles."""
    mesh = geometry.find("mesh")
    if mesh is None:
        return np.zeros((0, 3)), np.zeros((0, 3), int)
    sources = {source.get("id", ""): source for source in mesh.findall("source")}
    positions = {vertices.get("id", ""): _source_of(vertices, "POSITION")[0] for vertices in mesh.findall("vertices")}
    parts: list[np.ndarray] = []
    places: list[np.ndarray] = []
    count = 0
    for kind in ("triangles", "polylist", "polygons"):
        for primitive in mesh.findall(kind):
            name, offset = _source_of(primitive, "VERTEX")
            vertices = _floats(sources[positions[name]])
            stride = 1 + max(int(given.get("offset", "0")) for given in primitive.findall("input"))
            for corners, sizes in _corners(primitive, kind, stride, offset):
                faces = _fans(corners, sizes)
                if len(faces) and not (0 <= faces.min() and faces.max() < len(vertices)):
                    raise ValueError("a triangle has a vertex that is not there")
                parts.append(faces + count)
            places.append(vertices)
            count += len(vertices)
    if not parts:
        return np.zeros((0, 3)), np.zeros((0, 3), int)
    return np.concatenate(places), np.concatenate(parts)


def _corners(
    primitive: ElementTree.Element, kind: str, stride: int, offset: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers of vertices, one polygon after another, and the numbers of corners of these."""
    counts = primitive.find("vcount")
    for element in primitive.findall("p"):
        corners = _numbers(element).astype(int)[offset::stride]
        if kind == "polygons":
            sizes = np.array([len(corners)])
        elif kind == "polylist" and counts is not None:
            sizes = _numbers(counts).astype(int)
        else:
            sizes = np.full(len(corners) // 3, 3)
        if (sizes < 0).any() or (sizes > len(corners)).any() or sizes.sum() > len(corners):
            raise ValueError("a polygon is cut off")
        yield corners, sizes


def _fans(corners: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Triangles [k, 3] of convex polygons."""
    begins = np.cumsum(sizes) - sizes
    inner = np.maximum(sizes - 2, 0)
    first = np.repeat(begins, inner)
    step = np.arange(inner.sum()) - np.repeat(np.cumsum(inner) - inner, inner)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)


def _source_of(element: ElementTree.Element, semantic: str) -> tuple[str, int]:
    """Name of the source, and offset, of the input with a meaning."""
    for given in element.findall("input"):
        if given.get("semantic") == semantic:
            return given.get("source", "").lstrip("#"), int(given.get("offset", "0"))
    raise ValueError(f"<{element.tag}> has no input {semantic}")


def _floats(source: ElementTree.Element) -> np.ndarray:
    """Vertices [n, 3] of a source."""
    array = source.find("float_array")
    accessor = source.find("technique_common/accessor")
    stride = int(accessor.get("stride", "3")) if accessor is not None else 3
    values = _numbers(array) if array is not None else np.zeros(0)
    return values[: len(values) // stride * stride].reshape(-1, stride)[:, :3]


def _numbers(element: ElementTree.Element) -> np.ndarray:
    return np.array((element.text or "").split(), float)
