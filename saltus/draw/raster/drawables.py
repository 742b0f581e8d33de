"""A model's shapes, tendons and flexes at a pose as items of the rasteriser, also as ghosts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.draw.raster.floors import is_floor
from saltus.draw.raster.items import Items, flex_items, joined, rods, shape_items
from saltus.draw.raster.mesh_buffers import Stock
from saltus.draw.raster.resolve import ALPHA
from saltus.draw.raster.surface import smooth_normals
from saltus.draw.raster.triangles import POS, attach
from saltus.draw.scene.camera import Eye
from saltus.draw.scene.poses import Pose
from saltus.draw.scene.scene import Scene
from saltus.model.enums import ROPE

# Okabe and Ito's palette for colour-blind people, without black and yellow
GHOST_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
GHOST_OPACITY = 0.5
TINT = 0.85  # fraction of a ghost's own colour
ASLEEP = 0.45  # brightness of sleeping bodies relative to awake ones


class Subject:
    """The shapes, tendons and flexible surfaces of a scene as items."""

    def __init__(self, scene: Scene, stock: Stock, *, sites: bool, tendons: bool):
        self._scene, self._stock = scene, stock
        shapes = [s for s in scene.shapes if not is_floor(s) and (sites or s.source == "geom")]
        self._tendons = scene.tendons if tendons else ()
        self._shapes = shape_items(shapes, stock, scene)
        self._local = np.array([(*s.pos, *s.quat) for s in shapes]).reshape(-1, 7)
        self._body = np.array([s.body for s in shapes], np.int64)
        self._moving = np.array([scene.moving[s.body] for s in shapes], bool)
        self._tree = np.array([scene.trees[s.body] for s in shapes], np.int64)
        self._solid = np.array([s.source == "geom" for s in shapes], bool)
        self._surfaces = flex_items(stock, scene)
        self.has_flexes = bool(scene.flexes)

    @property
    def is_rigid(self) -> bool:
        """Whether there are shapes alone."""
        return not self.has_flexes and not self._tendons

    def shapes(self) -> tuple[Items, NDArray[np.float64], NDArray[np.int64]]:
        """Shapes to be placed: a copy of their items, local [n, 7] and body [n] of `attach`."""
        numbers, kinds, looks = self._shapes
        return Items(numbers.copy(), kinds.copy(), looks.copy()), self._local, self._body

    def at(self, pose: Pose, tree_asleep: NDArray[np.floating] | None = None) -> Items:
        """All items at a pose; sleeping ones are darker. tree_asleep [ntree]: see `Still`."""
        numbers, looks = self._shapes.numbers.copy(), self._shapes.looks
        attach(numbers, self._local, self._body, pose.xpos, pose.xquat)
        if tree_asleep is not None and tree_asleep.size:
            looks = looks.copy()
            looks[(self._tree >= 0) & (tree_asleep[self._tree] >= 0), :3] *= ASLEEP
        parts = [self._shapes._replace(numbers=numbers, looks=looks), *self._flexible(pose)]
        return joined(parts)

    def opaque(self, items: Items) -> NDArray[np.int64]:
        """Indices of opaque items."""
        return np.flatnonzero(items.looks[:, ALPHA] >= 1.0)

    def casting(self, items: Items) -> NDArray[np.int64]:
        """Indices of the items that cast a shadow: opaque ones except sites."""
        casts = items.looks[:, ALPHA] >= 1.0
        casts[: len(self._solid)] &= self._solid
        return np.flatnonzero(casts)

    def translucent(self, items: Items, eye: Eye) -> list[NDArray[np.int64]]:
        """Indices of translucent items, each in an array of its own, from the farthest to the nearest."""
        found = see_through(items)
        depth = (items.numbers[found, POS : POS + 3] - eye.pos) @ eye.forward
        return [found[k : k + 1] for k in np.argsort(-depth, kind="stable")]

    def ghost(self, pose: Pose, number: int) -> Items:
        """Moving items at a pose, in the colour of a ghost."""
        items = self.at(pose)
        chosen = np.ones(len(items.numbers), bool)
        chosen[: len(self._moving)] = self._moving
        numbers, kinds, looks = items.numbers[chosen], items.kinds[chosen], items.looks[chosen]
        colour = GHOST_COLOURS[number % len(GHOST_COLOURS)]
        tint = np.square([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        looks[:, :3] += TINT * (tint.astype(np.float32) - looks[:, :3])
        looks[:, ALPHA] = GHOST_OPACITY
        return Items(numbers, kinds, looks)

    def bend(self, pose: Pose) -> None:
        """Set the vertices and normals of flexible surfaces."""
        for i, points in enumerate(pose.flexes):
            vertices, normals, faces = self._stock.room(("flex", i))
            if len(faces):
                vertices[:, :3] = points
                smooth_normals(vertices, faces, normals)

    def _flexible(self, pose: Pose) -> list[Items]:
        parts = []
        if self.has_flexes:
            self.bend(pose)
            parts.append(self._surfaces)
            for flex, points in zip(self._scene.flexes, pose.flexes, strict=True):
                if flex.dim == ROPE:
                    ends = points[flex.edges]
                    parts.append(rods(self._stock, ends[:, 0], ends[:, 1], flex.radius, flex.rgba))
        for tendon, points in zip(self._tendons, pose.tendons, strict=False):
            parts.append(rods(self._stock, points[:-1], points[1:], tendon.width, tendon.rgba))
        return parts


def see_through(items: Items) -> NDArray[np.int64]:
    """Indices of translucent items."""
    return np.flatnonzero(items.looks[:, ALPHA] < 1.0)
