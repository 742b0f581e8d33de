"""Coverage of a picture's samples by triangles, with a depth test.

Each pixel has four samples at positions that differ in x and in y, so that edges of any direction are smoothed. Corners
are rounded to 1/1024 pixel, which makes the edge functions exact (Pineda 1988, "A parallel algorithm for polygon
rasterization"): an edge shared by two triangles has neither gaps nor overlaps. Inverse depth is linear over the screen.
"""

import numpy as np

from saltus.draw.raster.compiled import part
from saltus.number.intrinsics.samples import put

SAMPLES_X = (0.375, 0.875, 0.125, 0.625)  # rotated square: no two samples share a row or a column
SAMPLES_Y = (0.125, 0.375, 0.625, 0.875)
GRID = 1024.0
TIE = 0.5 / (GRID * GRID)  # less than the smallest nonzero value of an edge function
WIDE = 6  # pixels: rows of wider triangles are narrowed to the triangle
TILE = 16  # pixels: side of the squares that are processed only if something was drawn in them


@part(strict=True)
def snap(x):
    """Round a number to the grid."""
    return np.floor(x * GRID + 0.5) / GRID


@part(strict=True)
def cover(keys, first_corner, second_corner, third_corner, area, number):
    """Draw a triangle into `keys` [height, width, 4]; return whether it is in front at any sample.

    Corners: (x, y, inverse depth), in pixels on the grid, and in any unit; area: twice the triangle's area, positive if
    the corners turn from x to y. A sample on an edge belongs to the triangle on its right, or below.
    """
    x0, y0, q0 = first_corner
    x1, y1, q1 = second_corner
    x2, y2, q2 = third_corner
    height, width = keys.shape[0], keys.shape[1]
    left, right = int(max(min(x0, x1, x2), 0.0)), int(min(max(x0, x1, x2), width - 1.0))
    top, bottom = int(max(min(y0, y1, y2), 0.0)), int(min(max(y0, y1, y2), height - 1.0))
    sign = 1.0 if area > 0.0 else -1.0
    # change with x and y of the edge functions, which are not negative inside
    ax, ay = sign * (y1 - y2), sign * (x2 - x1)
    bx, by = sign * (y2 - y0), sign * (x0 - x2)
    cx, cy = sign * (y0 - y1), sign * (x1 - x0)
    qx = ((q1 - q0) * (y2 - y0) - (q2 - q0) * (y1 - y0)) / area
    qy = ((x1 - x0) * (q2 - q0) - (x2 - x0) * (q1 - q0)) / area
    steps = offsets(ax, ay) + offsets(bx, by) + offsets(cx, cy) + offsets(qx, qy)
    ta, tb, tc = tie(ax, ay), tie(bx, by), tie(cx, cy)
    flat = keys.reshape(-1)
    wide = right - left > WIDE
    hit = False
    for j in range(top, bottom + 1):
        first, last = left, right
        if wide:
            first, last = narrowed(first, last, ax, ay, x1, y1 - j)
            first, last = narrowed(first, last, bx, by, x2, y2 - j)
            first, last = narrowed(first, last, cx, cy, x0, y0 - j)
        a = ax * (first - x1) + ay * (j - y1) - ta
        b = bx * (first - x2) + by * (j - y2) - tb
        c = cx * (first - x0) + cy * (j - y0) - tc
        q = q0 + qx * (first - x0) + qy * (j - y0)
        place = 4 * (j * width + first)
        for _ in range(last - first + 1):
            hit |= put(flat, place, (a, b, c, q), steps, number)
            a, b, c, q = a + ax, b + bx, c + cx, q + qx
            place += 4
    return hit


@part(strict=True)
def offsets(x, y):
    """Values of a linear function with slopes x and y at the samples of a pixel, relative to its corner."""
    return (
        x * SAMPLES_X[0] + y * SAMPLES_Y[0],
        x * SAMPLES_X[1] + y * SAMPLES_Y[1],
        x * SAMPLES_X[2] + y * SAMPLES_Y[2],
        x * SAMPLES_X[3] + y * SAMPLES_Y[3],
    )


@part(strict=True)
def tie(x, y):
    """Amount subtracted from an edge function so that samples on the edge are outside; 0 for left and upper edges."""
    return 0.0 if x > 0.0 or (x == 0.0 and y > 0.0) else TIE


@part(strict=True)
def narrowed(first, last, ex, ey, x, y):
    """Narrow a row of pixels to where an edge function, zero at (x, y) from the row's top, can be positive."""
    if ex == 0.0:
        return first, last
    edge = x + (ey * y - max(ey, 0.0)) / ex  # zero of the edge function at the better end of the row
    if ex > 0.0:
        return max(first, int(min(max(edge, 0.0), 1e9))), last
    return first, min(last, int(min(max(edge, -1.0), 1e9)))


@part
def mark_tiles(tiles, left, top, right, bottom):
    """Mark the tiles in which a rectangle (pixels) that overlaps the picture may have been drawn."""
    rows, columns = tiles.shape
    for j in range(int(max(top, 0.0)) // TILE, min(int(max(bottom, 0.0)) // TILE, rows - 1) + 1):
        for i in range(int(max(left, 0.0)) // TILE, min(int(max(right, 0.0)) // TILE, columns - 1) + 1):
            tiles[j, i] = 1
