"""Pictures and depths of many states of a model, drawn on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.draw.canvas import FIRST_RECORDS, NO_LIGHT, blur_of
from saltus.draw.raster.background import ROWS
from saltus.draw.raster.cover import TILE
from saltus.draw.raster.drawables import Subject, see_through
from saltus.draw.raster.floors import Floors
from saltus.draw.raster.mesh_buffers import RADII, Stock
from saltus.draw.raster.pictures import draw_pictures
from saltus.draw.raster.triangles import RECORD
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.camera import Viewpoint
from saltus.draw.scene.scene import scene
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View
from saltus.model.model import Model

Array = NDArray[np.float64]


class States(NamedTuple):
    """States to draw: qpos [n, nq], mocap_pos [n, nmocap, 3] (m), mocap_quat [n, nmocap, 4], and where they put bodies.

    xpos, subtree_com [n, nbody, 3] (m), xquat [n, nbody, 4].
    """

    qpos: Array
    mocap_pos: Array
    mocap_quat: Array
    xpos: Array
    xquat: Array
    subtree_com: Array


class ManyPictures:
    """Draws many states of a model from one view, as `Rasteriser` draws each; a thread at a time for each worker.

    Rigid shapes seen by a free camera, or one that is fixed on a body, are drawn in one compiled call a thread. Others
    (flexible bodies, tendons, cameras that track) by a `Rasteriser` for each worker.
    """

    def __init__(self, model: Model, view: View):
        self._model, self._view = model, view
        self._scene = scene(model, view.groups)
        self._viewpoint = Viewpoint(model, self._scene, view)
        self._floors, self._stock = Floors(self._scene), Stock(self._scene)
        self._subject = Subject(self._scene, self._stock, sites=view.sites, tendons=view.tendons)
        self._at_once = self._subject.is_rigid and self._viewpoint.on_body
        self._rooms: dict[int, _Room] = {}
        self._rasterisers: dict[int, Rasteriser] = {}

    def work(
        self, states: States, images: NDArray[np.uint8], depths: NDArray[np.float32] | None
    ) -> Callable[[int, int, int], None]:
        """The function `draw(worker, first, last)` that fills images [n, height, width, 3] of states first to last.

        depths: [n, height, width] (m), filled too.
        """
        if not self._at_once:
            return lambda worker, first, last: self._one_by_one(worker, first, last, states, images, depths)
        planes, lit = self._floors.at_each(states.xpos, states.xquat)
        views = *self._viewpoint.at_each(states.xpos, states.xquat, states.subtree_com), RADII
        grounds = planes, lit if self._view.shadow else np.full_like(lit, -1), blur_of(self._view.height)
        if depths is None:
            depths = np.zeros((0, 0, 0), np.float32)
        given = images, depths, (states.xpos, states.xquat), views, grounds
        return lambda worker, first, last: self._room(worker).draw(first, last, *given)

    def _room(self, worker: int) -> _Room:
        if worker not in self._rooms:
            self._rooms[worker] = _Room(self._subject, self._stock, self._view)
        return self._rooms[worker]

    def _one_by_one(self, worker, first, last, states, images, depths) -> None:
        if first < last and worker not in self._rasterisers:
            self._rasterisers[worker] = Rasteriser(self._model, self._view)
        for k in range(first, last):
            still = Still(states.qpos[k], states.mocap_pos[k], states.mocap_quat[k])
            out = None if depths is None else depths[k]
            images[k] = self._rasterisers[worker].draw(still, depths=out)


class _Room:
    """Buffers of a thread that draws."""

    def __init__(self, subject: Subject, stock: Stock, view: View):
        items, local, body = subject.shapes()
        translucent = see_through(items)
        width, height = view.width, view.height
        size, tiles = (height, width), (-(-height // TILE), -(-width // TILE))
        self._things = local, body, subject.opaque(items), subject.casting(items), translucent
        self._shapes = items.numbers, items.kinds, stock.table, stock.vertices, stock.normals, stock.faces
        self._lights = NO_LIGHT, np.zeros(7)
        keys = np.zeros((2, *size, 4), np.int64)
        marks = np.zeros((2, *tiles), np.uint8)
        self._target = keys[0], marks[0], keys[1], marks[1]
        self._looks, self._crossing = items.looks, np.zeros(len(items.looks), np.bool_)
        self._make_records(FIRST_RECORDS)
        behind, owner, inverse = np.zeros((*size, 3), np.uint8), np.zeros(size, np.uint8), np.zeros(size, np.float32)
        rows, corners = np.zeros((ROWS, width), np.float32), np.zeros((stock.largest + 4, 9))
        mask, blurred = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self._buffers = behind, owner, inverse, rows, corners, mask, blurred, translucent.copy()

    def _make_records(self, count: int) -> None:
        records, of = np.zeros((count, RECORD), np.float32), np.zeros((count, 2), np.int32)
        self._drawn = records, of, self._looks, self._crossing

    def draw(self, first: int, last: int, images, depths, poses, views, grounds) -> None:
        """Draw states from first up to last, with more room for triangles as soon as one needs it."""
        how = images, depths, poses, views, grounds, self._things, self._shapes, self._lights, self._target
        while (done := draw_pictures(first, last, *how, self._drawn, self._buffers)) < last:
            first = done
            self._make_records(2 * len(self._drawn[1]))
