"""Items of the rasteriser: shapes, rods, arrows and marks as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.draw.raster.mesh_buffers import Stock
from saltus.draw.raster.resolve import ALPHA, HIDDEN, LOOK_NUMBERS, SHINE
from saltus.draw.raster.triangles import HALF, ITEM_NUMBERS, POS, REACH, ROTATION, ROUND, SCALE
from saltus.draw.scene.scene import Scene, Shape
from saltus.model.enums import ROPE, SHEET

BOUNDLESS = 1e9  # m, reach of items that are never culled
ENDLESS = 20.0  # extents: half size of an infinite translucent plane


class Items(NamedTuple):
    """numbers [n, ITEM_NUMBERS], kinds [n, 3], looks [n, LOOK_NUMBERS] float32 (see `triangles` and `resolve`)."""

    numbers: NDArray[np.float64]
    kinds: NDArray[np.int64]
    looks: NDArray[np.float32]

    @classmethod
    def empty(cls, count: int) -> Items:
        """Make items at the origin without rotation, to be filled in."""
        numbers = np.zeros((count, ITEM_NUMBERS))
        numbers[:, ROTATION : ROTATION + 9] = np.eye(3).ravel()
        numbers[:, SCALE : SCALE + 3] = 1.0
        looks = np.zeros((count, LOOK_NUMBERS), np.float32)
        looks[:, SHINE] = 1.0
        return cls(numbers, np.zeros((count, 3), np.int64), looks)


def joined(parts: Sequence[Items]) -> Items:
    """Concatenate items."""
    if len(parts) == 1:
        return parts[0]
    return Items(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def set_look(looks: NDArray[np.float32], rgba, hidden: float = 0.0, shine: float = 1.0) -> None:
    """Set the colour of items [n, LOOK_NUMBERS]; `hidden`: fraction of its opacity behind other objects."""
    looks[:, :3] = np.square(rgba[:3])
    looks[:, ALPHA], looks[:, HIDDEN], looks[:, SHINE] = rgba[3], hidden, shine


def shape_items(shapes: Sequence[Shape], stock: Stock, scene: Scene) -> Items:
    """Make items of shapes, not placed on their bodies yet."""
    items = Items.empty(len(shapes))
    for numbers, kinds, looks, shape in zip(*items, shapes, strict=True):
        scale, half, reach, radius = _dimensions(shape, stock, scene)
        numbers[SCALE : SCALE + 3], numbers[HALF], numbers[REACH], numbers[ROUND] = scale, half, reach, radius
        key = ("mesh", shape.mesh) if shape.mesh >= 0 else shape.kind
        kinds[:2] = stock.families[key]
        kinds[2] = shape.kind == "plane"
        set_look(looks[None], shape.rgba)
    return items


def _dimensions(shape: Shape, stock: Stock, scene: Scene):
    """Scale of the unit shape, half length of a capsule, distance of the farthest point, largest radius (m)."""
    a, b, c = shape.size
    if shape.mesh >= 0:
        vertices = stock.room(("mesh", shape.mesh))[0]
        return (1.0, 1.0, 1.0), 0.0, float(np.linalg.norm(vertices[:, :3], axis=1).max()), 0.0
    if shape.kind == "plane":
        a, b = a or ENDLESS * scene.extent, b or ENDLESS * scene.extent
        return (a, b, 1.0), 0.0, float(np.hypot(a, b)), 0.0
    if shape.kind == "sphere":
        return (a, a, a), 0.0, a, a
    if shape.kind == "capsule":
        return (a, a, a), b, a + b, a
    if shape.kind == "cylinder":
        return (a, a, b), 0.0, float(np.hypot(a, b)), a
    return (a, b, c), 0.0, float(np.linalg.norm(shape.size)), max(a, b, c) if shape.kind == "ellipsoid" else 0.0


def rods(stock: Stock, starts, ends, radius, rgba, kind: str = "capsule") -> Items:
    """Make capsules, cylinders or cones [n] from points to points [n, 3] (m), with radii [n] or one (m)."""
    starts, ends = np.asarray(starts, float), np.asarray(ends, float)
    items = Items.empty(len(starts))
    along = ends - starts
    length = np.linalg.norm(along, axis=1)
    axis = np.where(length[:, None] > 0, along / np.maximum(length, 1e-300)[:, None], [0.0, 0.0, 1.0])
    # any perpendicular direction will do: take the candidate less parallel to the axis
    helper = np.where(np.abs(axis[:, 2:]) < 0.9, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    across = np.cross(helper, axis)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    frame = np.stack([across, np.cross(axis, across), axis], axis=2)
    items.numbers[:, POS : POS + 3] = 0.5 * (starts + ends)
    items.numbers[:, ROTATION : ROTATION + 9] = frame.reshape(-1, 9)
    items.numbers[:, SCALE : SCALE + 3] = np.broadcast_to(radius, len(starts))[:, None]
    if kind == "capsule":
        items.numbers[:, HALF] = 0.5 * length
    else:
        items.numbers[:, SCALE + 2] = 0.5 * length
    items.numbers[:, REACH] = 0.5 * length + radius
    items.numbers[:, ROUND] = radius
    items.kinds[:, :2] = stock.families[kind]
    set_look(items.looks, rgba)
    return items


def balls(stock: Stock, centres, radius, rgba, kind: str | tuple[str, int] = "sphere") -> Items:
    """Make spheres [n] about points [n, 3] (m), with radii [n] or one (m)."""
    items = Items.empty(len(centres))
    items.numbers[:, POS : POS + 3] = centres
    items.numbers[:, SCALE : SCALE + 3] = np.broadcast_to(radius, len(centres))[:, None]
    items.numbers[:, REACH] = items.numbers[:, ROUND] = radius
    items.kinds[:, :2] = stock.families[kind]
    set_look(items.looks, rgba)
    return items


def flex_items(stock: Stock, scene: Scene) -> Items:
    """Make items of flexes' surfaces, with vertices in world axes; sheets are two-sided."""
    surfaces = [i for i, flex in enumerate(scene.flexes) if flex.dim != ROPE]
    items = Items.empty(len(surfaces))
    for numbers, kinds, looks, i in zip(*items, surfaces, strict=True):
        flex = scene.flexes[i]
        numbers[REACH] = BOUNDLESS
        kinds[:2] = stock.families["flex", i]
        kinds[2] = flex.dim == SHEET
        set_look(looks[None], flex.rgba, shine=0.5)
    return items
