"""The buffers of a picture, and the order in which compiled code processes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.draw.raster.background import NORMAL, ORIGIN, ROWS, background
from saltus.draw.raster.cover import TILE
from saltus.draw.raster.items import Items
from saltus.draw.raster.light import TO_KEY
from saltus.draw.raster.mesh_buffers import RADII, Stock
from saltus.draw.raster.pictures import measure
from saltus.draw.raster.resolve import resolve, wipe
from saltus.draw.raster.shadow import darken
from saltus.draw.raster.triangles import FULL, POS, REACH, RECORD, rasterise
from saltus.draw.scene.camera import Eye

BLUR = 0.004  # half width of the average over a shadow's edge as a fraction of the picture's height
FIRST_RECORDS = 20_000
NO_LIGHT = np.zeros(0)


class Canvas:
    """A picture in progress; call start, shadow, opaque, depths, layer for each layer, then finish."""

    def __init__(self, width: int, height: int, stock: Stock):
        self._stock = stock
        tiles = -(-height // TILE), -(-width // TILE)
        self._opaque_keys, self._keys = (np.zeros((height, width, 4), np.int64) for _ in range(2))
        self._opaque_tiles, self._tiles = (np.zeros(tiles, np.uint8) for _ in range(2))
        self._mask, self._room = (np.zeros((height, width), np.float32) for _ in range(2))
        self._rows = np.zeros((ROWS, width), np.float32)
        self._image = np.zeros((height, width, 3), np.uint8)
        self._behind = self._image.copy()
        self._owner = np.zeros((height, width), np.uint8)
        self._inverse = np.zeros((height, width), np.float32)
        self._behind_key = b""
        self._corners = np.zeros((stock.largest + 4, 9))
        self._blur = blur_of(height)
        self._make_records(FIRST_RECORDS)

    def _make_records(self, count: int) -> None:
        self._records, self._of = np.zeros((count, RECORD), np.float32), np.zeros((count, 2), np.int32)

    def start(self, eye: Eye, planes: NDArray[np.float64], haze: float) -> None:
        """Draw the background, which is cached while it does not change; `haze` in m."""
        self._eye, self._planes = eye.numbers(), planes
        key = self._eye.tobytes() + planes.tobytes() + np.float64(haze).tobytes()
        if key != self._behind_key:
            background(self._behind, self._owner, self._inverse, planes, self._eye, haze, self._rows)
            self._behind_key = key
        self._image = self._behind.copy()

    def shadow(self, items: Items, order: NDArray[np.int64], number: int) -> None:
        """Darken the background in the shadow of items on one of the planes."""
        plane = self._planes[number]
        normal = plane[NORMAL : NORMAL + 3]
        height = float(normal @ plane[ORIGIN : ORIGIN + 3])
        if normal @ self._eye[:3] <= height:
            return  # seen from below
        light = np.array([*normal, height, *TO_KEY])
        self._rasterise(items, order, light, self._keys, self._tiles)
        drawn = self._keys, self._tiles, self._owner, number + 1
        darken(self._image, *drawn, self._blur, self._mask, self._room)
        wipe(self._keys, self._tiles)

    def opaque(self, items: Items, order: NDArray[np.int64]) -> None:
        """Draw opaque items."""
        self._rasterise(items, order, NO_LIGHT, self._opaque_keys, self._opaque_tiles)
        self._blend(items, self._opaque_keys, self._opaque_tiles, in_front=False)

    def depths(self, out: NDArray[np.float32]) -> None:
        """Write depths [height, width] (m) of the planes and of the opaque items drawn last; see `measure`."""
        measure(out, self._opaque_keys, self._inverse, self._of)

    def layer(self, items: Items, order: NDArray[np.int64] | None = None) -> None:
        """Draw translucent items that hide each other."""
        order = np.arange(len(items.numbers)) if order is None else order
        self._rasterise(items, order, NO_LIGHT, self._keys, self._tiles)
        self._blend(items, self._keys, self._tiles, in_front=True)
        wipe(self._keys, self._tiles)

    def finish(self) -> NDArray[np.uint8]:
        """Return the finished picture [height, width, 3]."""
        wipe(self._opaque_keys, self._opaque_tiles)
        return self._image

    def _rasterise(self, items, order, light, keys, tiles) -> None:
        stock = self._stock
        shapes = (items.numbers, items.kinds, stock.table, stock.vertices, stock.normals, stock.faces)
        place = (RADII, self._eye), light, (keys, tiles), self._corners
        while rasterise(order, shapes, *place, (self._records, self._of)) == FULL:
            wipe(keys, tiles)
            self._make_records(2 * len(self._of))

    def _blend(self, items, keys, tiles, *, in_front) -> None:
        planes = self._planes
        above = items.numbers[:, None, POS : POS + 3] - planes[:, ORIGIN : ORIGIN + 3]
        height = (above * planes[:, NORMAL : NORMAL + 3]).sum(axis=2)
        crossing = ~(height > items.numbers[:, REACH, None]).all(axis=1)
        drawn = self._records, self._of, items.looks, crossing
        resolve(self._image, keys, self._opaque_keys, in_front, tiles, drawn, self._eye, planes)


def blur_of(height: int) -> int:
    """Half width (pixels) of the average over a shadow's edge in a picture of a height in pixels."""
    return max(1, round(BLUR * height))
