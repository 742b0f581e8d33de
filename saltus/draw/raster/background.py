"""The background: the sky, and planes with their checkers, which fade into the horizon.

Planes are not made of triangles but intersected with the rays through pixels, so that they may be infinite. The checker
is averaged over each pixel (by a box filter in each direction of the plane), so that its distant part does not flicker.
"""

import math

import numpy as np

from saltus.draw.raster.compiled import entry, part
from saltus.draw.raster.light import HORIZON, NADIR, ZENITH
from saltus.draw.raster.triangles import CX, CY, EYE, FORWARD, FX, FY, RIGHT, UP

# columns of a plane's numbers; axes and half sizes in m, 0 for infinite
ORIGIN, AXIS_U, AXIS_V, NORMAL, HALF_U, HALF_V, CELL, RGB1, RGB2 = 0, 3, 6, 9, 12, 13, 14, 15, 18
PLANE_NUMBERS = 21
# rows of numbers for a line of pixels: colour, number of the visible plane and its inverse depth; of the plane being
# drawn, the visible fraction, inverse depth, fraction of its first colour and fraction of haze; the pixels' x
# coordinates and the squared lengths of their rays
COLOUR, OWNER, NEAREST, SEEN, INVERSE, SHARE, FOG, PLACE, LENGTH = 0, 3, 4, 5, 6, 7, 8, 9, 10
ROWS = 11

# constants in single precision let compilers vectorise over pixels
ZERO, HALF, ONE, TWO, TINY = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2), np.float32(1e-12)
LEVEL = np.float32(-1e-9)  # descent of a ray parallel to a plane
BOUNDLESS, FARTHEST = np.float32(1e30), np.float32(1e9)
FULL = np.float32(255.0)


@entry
def background(image, owner, inverse, planes, eye, haze, rows):
    """Draw the sky and the planes [n, PLANE_NUMBERS] into an image [height, width, 3].

    eye: `Eye.numbers`; haze: distance (m) at which a plane's colour is half that of the horizon;
    owner: uint8 [height, width], receives the number, from 1, of the plane that a pixel shows, or 0 for the sky;
    inverse: float32 [height, width], receives the inverse depth (1/m) of the plane, or 0.
    rows: float32 [ROWS, width], workspace for one line of pixels.
    """
    height, width = image.shape[0], image.shape[1]
    for i in range(width):
        rows[PLACE, i] = np.float32(i + 0.5)
    for j in range(height):
        sky(rows, j, eye)
        for p in range(len(planes)):
            meet(rows, j, planes[p], eye, haze)
            paint(rows, planes[p], np.float32(p + 1))
        for i in range(width):
            owner[j, i] = np.uint8(rows[OWNER, i])
            inverse[j, i] = rows[NEAREST, i]
            for k in range(3):
                image[j, i, k] = np.uint8(rows[COLOUR + k, i] * FULL + HALF)


@part
def along_line(axis, j, eye):
    """Component along an axis of the rays through a line of pixels: at x = 0, its change with x and with y.

    Rays have depth 1.
    """
    forward = axis[0] * eye[FORWARD] + axis[1] * eye[FORWARD + 1] + axis[2] * eye[FORWARD + 2]
    right = (axis[0] * eye[RIGHT] + axis[1] * eye[RIGHT + 1] + axis[2] * eye[RIGHT + 2]) / eye[FX]
    down = -(axis[0] * eye[UP] + axis[1] * eye[UP + 1] + axis[2] * eye[UP + 2]) / eye[FY]
    start = forward - eye[CX] * right + (j + 0.5 - eye[CY]) * down
    return np.float32(start), np.float32(right), np.float32(down)


@part
def sky(rows, j, eye):
    """Fill a line of pixels with the sky, a gradient from the horizon, and compute the lengths of the rays."""
    z0, zx, _ = along_line((0.0, 0.0, 1.0), j, eye)
    place, length, owner, nearest = rows[PLACE], rows[LENGTH], rows[OWNER], rows[NEAREST]
    middle, across = np.float32(eye[CX]), np.float32(1.0 / eye[FX])
    upright = np.float32(1.0 + ((j + 0.5 - eye[CY]) / eye[FY]) ** 2)
    for i in range(len(place)):
        x = (place[i] - middle) * across
        length[i] = upright + x * x
        owner[i] = ZERO
        nearest[i] = ZERO
    for k in range(3):
        horizon, above, below = np.float32(HORIZON[k]), np.float32(ZENITH[k]), np.float32(NADIR[k])
        colour = rows[COLOUR + k]
        for i in range(len(place)):
            sine = (z0 + place[i] * zx) / math.sqrt(length[i])
            away = ONE - abs(sine)
            end = above if sine > ZERO else below
            colour[i] = end + (horizon - end) * (away * away * away)


@part
def meet(rows, j, plane, eye, haze):
    """Intersect the rays through a line of pixels with a plane and evaluate its visibility, pattern and haze."""
    offset = (eye[EYE] - plane[ORIGIN], eye[EYE + 1] - plane[ORIGIN + 1], eye[EYE + 2] - plane[ORIGIN + 2])
    height, eu, ev = (
        np.float32(dot(plane[NORMAL:], offset)),
        np.float32(dot(plane[AXIS_U:], offset)),
        np.float32(dot(plane[AXIS_V:], offset)),
    )
    n0, nx, ny = along_line(plane[NORMAL:], j, eye)
    u0, ux, uy = along_line(plane[AXIS_U:], j, eye)
    v0, vx, vy = along_line(plane[AXIS_V:], j, eye)
    half_u = np.float32(plane[HALF_U]) if plane[HALF_U] > 0.0 else BOUNDLESS
    half_v = np.float32(plane[HALF_V]) if plane[HALF_V] > 0.0 else BOUNDLESS
    scale, dense = np.float32(1.0 / plane[CELL]), np.float32(1.0 / (haze * haze))
    place, length = rows[PLACE], rows[LENGTH]
    seen, inverse, share, fog = rows[SEEN], rows[INVERSE], rows[SHARE], rows[FOG]
    for i in range(len(place)):
        down = n0 + place[i] * nx
        inside = ONE if down < LEVEL and height > ZERO else ZERO
        steep = ONE / min(down, LEVEL)
        depth = min(-height * steep, FARTHEST)
        ru, rv = u0 + place[i] * ux, v0 + place[i] * vx
        u, v = eu + depth * ru, ev + depth * rv
        # distance of the points of neighbouring pixels
        size_u = depth * (abs(ux - ru * nx * steep) + abs(uy - ru * ny * steep)) + TINY
        size_v = depth * (abs(vx - rv * nx * steep) + abs(vy - rv * ny * steep)) + TINY
        inside *= min(max((half_u - abs(u)) / size_u + HALF, ZERO), ONE)
        seen[i] = inside * min(max((half_v - abs(v)) / size_v + HALF, ZERO), ONE)
        inverse[i] = ONE / depth
        share[i] = HALF - HALF * wave(u * scale, size_u * scale) * wave(v * scale, size_v * scale)
        far = min(depth * depth * length[i] * dense, FARTHEST)
        fog[i] = far * far / (ONE + far * far)


@part
def paint(rows, plane, number):
    """Draw a plane over a line of pixels where nothing nearer was drawn."""
    seen, inverse, share, fog = rows[SEEN], rows[INVERSE], rows[SHARE], rows[FOG]
    owner, nearest = rows[OWNER], rows[NEAREST]
    for i in range(len(seen)):
        seen[i] = seen[i] if inverse[i] > nearest[i] else ZERO
    for i in range(len(seen)):
        nearest[i] = inverse[i] if seen[i] > HALF else nearest[i]
    for i in range(len(seen)):
        owner[i] = number if seen[i] > HALF else owner[i]
    for k in range(3):
        first, second = np.float32(plane[RGB1 + k]), np.float32(plane[RGB2 + k])
        horizon, colour = np.float32(HORIZON[k]), rows[COLOUR + k]
        for i in range(len(seen)):
            own = second + (first - second) * share[i]
            own += (horizon - own) * fog[i]
            colour[i] += (own - colour[i]) * seen[i]


@part
def dot(a, b):
    """Scalar product of the first three numbers."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@part
def wave(x, width):
    """Mean over a width around x of the square wave that is 1 from 0 to 1, -1 from 1 to 2, and so on."""
    a, b = HALF * (x - HALF * width), HALF * (x + HALF * width)
    return TWO * (abs(a - np.floor(a) - HALF) - abs(b - np.floor(b) - HALF)) / width
