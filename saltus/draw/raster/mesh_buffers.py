"""All triangles of a model's pictures, in a few arrays for compiled code."""

from __future__ import annotations

import numpy as np

from saltus.draw.raster import tessellation
from saltus.draw.raster.tessellation import DEVIATION, QUARTERS, Tessellation
from saltus.draw.scene.scene import Scene

#: Largest radius (pixels) of each level of detail: a chord over the angle a deviates by r a²/8 from its circle.
RADII = np.array([8 * DEVIATION * (2 * q / np.pi) ** 2 for q in QUARTERS])


class Stock:
    """Tessellations of unit shapes by level of detail, a model's meshes, and room for its flexible surfaces.

    vertices [., 4], normals [., 3], faces [., 4] (three corners, smooth piece), table [n, 4] (first vertex, vertices,
    first face, faces). `families`: by kind, or (kind, index), the first row of the table and the number of levels.
    """

    def __init__(self, scene: Scene):
        self._parts: list[Tessellation] = []
        self.families: dict[str | tuple[str, int], tuple[int, int]] = {}
        for kind in ("sphere", "capsule", "cylinder", "cone"):
            self._add(kind, [getattr(tessellation, kind)(q) for q in QUARTERS])
        self.families["ellipsoid"] = self.families["sphere"]
        for even in (0, 1):
            self._add(("octants", even), [tessellation.octants(q, bool(even)) for q in QUARTERS[:7]])
        self._add("box", [tessellation.box()])
        self._add("plane", [tessellation.square()])
        for i, mesh in enumerate(scene.meshes):
            self._add(("mesh", i), [tessellation.surface(mesh.vertices, mesh.normals, mesh.faces)])
        for i, flex in enumerate(scene.flexes):
            blank = np.zeros((flex.nvert, 3))
            self._add(("flex", i), [tessellation.surface(blank, blank, flex.faces)])
        self._join()

    def _add(self, key, levels):
        self.families[key] = len(self._parts), len(levels)
        self._parts += levels

    def _join(self):
        sizes = np.array([(len(p.vertices), len(p.faces)) for p in self._parts])
        starts = np.cumsum(sizes, axis=0) - sizes
        self.table = np.column_stack([starts[:, 0], sizes[:, 0], starts[:, 1], sizes[:, 1]])
        self.vertices = np.concatenate([p.vertices for p in self._parts])
        self.normals = np.concatenate([p.normals for p in self._parts])
        self.faces = np.concatenate([np.column_stack([p.faces, p.pieces]) for p in self._parts]).astype(np.int64)
        self.largest = int(sizes[:, 0].max())
        self._parts = []

    def room(self, key: str | tuple[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Writable views of the vertices, normals and faces of a family with one level of detail."""
        first, count, first_face, faces = self.table[self.families[key][0]]
        return (
            self.vertices[first : first + count],
            self.normals[first : first + count],
            self.faces[first_face : first_face + faces],
        )
