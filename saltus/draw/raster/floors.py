"""Opaque planes of a model, drawn as background, and the choice of the one that receives shadows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.draw.raster import background
from saltus.draw.raster.light import TO_KEY, lit
from saltus.draw.raster.triangles import rotation
from saltus.draw.scene.scene import Scene, Shape

STEEP = 0.3  # least cosine between a floor's normal and the direction to the light


def is_floor(shape: Shape) -> bool:
    """Whether a shape is drawn as background."""
    return shape.kind == "plane" and shape.source == "geom" and shape.rgba[3] >= 1.0


class Floors:
    """Planes drawn as background. `lit`: index of the plane that receives shadows, None if there is none."""

    def __init__(self, scene: Scene):
        self._shapes = [shape for shape in scene.shapes if is_floor(shape)]
        self._rows = np.zeros((len(self._shapes), background.PLANE_NUMBERS))
        for row, shape in zip(self._rows, self._shapes, strict=True):
            row[background.HALF_U], row[background.HALF_V] = shape.size[:2]
            pattern = shape.checker
            row[background.CELL] = pattern.cell if pattern else 1.0
            row[background.RGB1 : background.RGB1 + 3] = pattern.rgb1 if pattern else shape.rgba[:3]
            row[background.RGB2 : background.RGB2 + 3] = pattern.rgb2 if pattern else shape.rgba[:3]
        self._colours = self._rows[:, background.RGB1 :].copy()
        self._moving = any(scene.moving[shape.body] for shape in self._shapes)
        self._placed: NDArray[np.float64] | None = None
        self.lit: int | None = None

    def at(self, xpos: NDArray[np.float64], xquat: NDArray[np.float64]) -> NDArray[np.float64]:
        """Planes [n, PLANE_NUMBERS] with bodies at xpos [nbody, 3] (m), xquat [nbody, 4]."""
        if self._placed is None or self._moving:
            self._placed = self._place(xpos, xquat)
            self.lit = self._choose(self._placed)
        return self._placed

    def at_each(self, xpos: NDArray[np.float64], xquat: NDArray[np.float64]) -> tuple[Any, Any]:
        """Planes [m, n, PLANE_NUMBERS] and the numbers [m] of those with shadows, -1 for none; m: 1 if none moves.

        xpos [m, nbody, 3] (m), xquat [m, nbody, 4].
        """
        count = len(xpos) if self._moving else 1
        planes, chosen = np.empty((count, *self._rows.shape)), np.empty(count, np.int64)
        for k in range(count):
            planes[k] = self.at(xpos[k], xquat[k])
            chosen[k] = -1 if self.lit is None else self.lit
        return planes, chosen

    def _place(self, xpos, xquat):
        rows = self._rows.copy()
        for row, colours, shape in zip(rows, self._colours, self._shapes, strict=True):
            body = _matrix(xquat[shape.body])
            axes = (body @ _matrix(shape.quat)).T
            row[background.ORIGIN : background.ORIGIN + 3] = xpos[shape.body] + body @ shape.pos
            row[background.AXIS_U : background.AXIS_U + 9] = axes.ravel()
            row[background.RGB1 :] = np.minimum(colours * lit(axes[2]), 1.0)
        return rows

    @staticmethod
    def _choose(rows) -> int | None:
        """Index of the largest plane that faces the light; None if there is none."""
        half = rows[:, [background.HALF_U, background.HALF_V]]
        size = np.where(half > 0, half, np.inf).min(axis=1)
        facing = rows[:, background.NORMAL : background.NORMAL + 3] @ TO_KEY
        size[facing < STEEP] = -1.0
        return int(size.argmax()) if len(size) and size.max() >= 0 else None


def _matrix(quat):
    out = np.empty(9)
    rotation.py_func(out, *quat)
    return out.reshape(3, 3)
