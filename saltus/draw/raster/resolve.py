"""From samples to pixels: shading of visible triangles, and blending with the picture behind them."""

import math

import numpy as np

from saltus.draw.raster.background import AXIS_U, AXIS_V, HALF_U, HALF_V, NORMAL, ORIGIN
from saltus.draw.raster.compiled import entry, part
from saltus.draw.raster.cover import SAMPLES_X, SAMPLES_Y, TILE
from saltus.draw.raster.light import brightness
from saltus.draw.raster.triangles import CX, CY, EYE, FORWARD, FX, FY, RIGHT, UP
from saltus.number.intrinsics.samples import NUMBERS

# columns of a look: linear colour, opacity, its fraction behind other objects, highlight
ALPHA, HIDDEN, SHINE = 3, 4, 5
LOOK_NUMBERS = 6
NUMBER = NUMBERS - 1  # bits of a key with a triangle's number; the others are its inverse depth
SAME_SURFACE = 0.004  # relative difference in depth up to which neighbours on a smooth piece are shaded as one


@entry
def resolve(image, keys, front, in_front, tiles, drawn, eye, planes):
    """Blend the triangles drawn into `keys` [height, width, 4] over an image [height, width, 3].

    front: keys of objects that may be in front, used if `in_front`; tiles: where to look; drawn: records and `of` of
    the triangles from `rasterise`, looks [n, LOOK_NUMBERS] of the items, and whether these may be behind a plane [n].
    """
    height, width = image.shape[0], image.shape[1]
    for tile_row in range(tiles.shape[0]):
        for tile_column in range(tiles.shape[1]):
            if tiles[tile_row, tile_column] == 0:
                continue
            for j in range(tile_row * TILE, min((tile_row + 1) * TILE, height)):
                for i in range(tile_column * TILE, min((tile_column + 1) * TILE, width)):
                    k0, k1, k2, k3 = keys[j, i, 0], keys[j, i, 1], keys[j, i, 2], keys[j, i, 3]
                    if k0 | k1 | k2 | k3 != 0:
                        samples = k0, k1, k2, k3
                        pixel(image[j, i], samples, i, j, front[j, i], in_front, drawn, eye, planes)


@part
def pixel(out, keys, i, j, front, in_front, drawn, eye, planes):
    """Blend one pixel from its four samples, a quarter each."""
    records, of, looks, crossing = drawn
    red, green, blue, opacity = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    r, g, b = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    one = keys[0] & NUMBER
    whole = one != 0 and keys[1] & NUMBER == one and keys[2] & NUMBER == one and keys[3] & NUMBER == one
    last, last_depth = -1, 0.0
    for s in range(4):
        number = (keys[s] & NUMBER) - 1
        if number < 0:
            continue
        depth = np.int64(keys[s] & ~NUMBER).view(np.float64)
        x = i + (0.5 if whole else SAMPLES_X[s])
        y = j + (0.5 if whole else SAMPLES_Y[s])
        item = of[number, 0]
        alpha = looks[item, ALPHA]
        hidden = in_front and keys[s] & ~NUMBER <= front[s] & ~NUMBER
        if not hidden and crossing[item]:
            hidden = behind_plane(depth, i + SAMPLES_X[s], j + SAMPLES_Y[s], eye, planes)
        if hidden:
            alpha *= looks[item, HIDDEN]
        if alpha <= 0.0:
            continue
        same = last >= 0 and of[last, 0] == item and of[last, 1] == of[number, 1]
        if not same or (number != last and abs(depth - last_depth) > SAME_SURFACE * depth):
            r, g, b = shade(records[number], x, y, looks[item], eye)
            last, last_depth = number, depth
        alpha *= np.float32(0.25)
        red, green, blue, opacity = red + alpha * r, green + alpha * g, blue + alpha * b, opacity + alpha
    keep = np.float32(1.0) - opacity
    out[0] = np.uint8(out[0] * keep + red + np.float32(0.5))
    out[1] = np.uint8(out[1] * keep + green + np.float32(0.5))
    out[2] = np.uint8(out[2] * keep + blue + np.float32(0.5))


@part
def shade(record, x, y, look, eye):
    """Colour, from 0 to 255, of a triangle at a point of the screen."""
    dx, dy = np.float32(x - record[0]), np.float32(y - record[1])
    nx = record[2] + dx * record[5] + dy * record[8]
    ny = record[3] + dx * record[6] + dy * record[9]
    nz = record[4] + dx * record[7] + dy * record[10]
    size = np.float32(1.0) / math.sqrt(nx * nx + ny * ny + nz * nz + np.float32(1e-30))
    right, up = np.float32((x - eye[CX]) / eye[FX]), np.float32((eye[CY] - y) / eye[FY])
    back = np.float32(-1.0) / math.sqrt(np.float32(1.0) + right * right + up * up)
    vx = back * np.float32(eye[FORWARD] + right * eye[RIGHT] + up * eye[UP])
    vy = back * np.float32(eye[FORWARD + 1] + right * eye[RIGHT + 1] + up * eye[UP + 1])
    vz = back * np.float32(eye[FORWARD + 2] + right * eye[RIGHT + 2] + up * eye[UP + 2])
    diffuse, shine = brightness(nx * size, ny * size, nz * size, vx, vy, vz)
    shine *= look[SHINE]
    return display(look[0] * diffuse + shine), display(look[1] * diffuse + shine), display(look[2] * diffuse + shine)


@part
def display(linear):
    """Convert linear light to a screen value from 0 to 255."""
    return np.float32(255.0) * math.sqrt(min(np.float32(linear), np.float32(1.0)))


@part
def behind_plane(inverse, x, y, eye, planes):
    """Whether a point with an inverse depth (1/m) at a point of the screen is behind one of the planes."""
    right, down = (x - eye[CX]) / eye[FX], (y - eye[CY]) / eye[FY]
    for p in range(len(planes)):
        plane = planes[p]
        height, falling = 0.0, 0.0
        for k in range(3):
            height += plane[NORMAL + k] * (eye[EYE + k] - plane[ORIGIN + k])
            falling -= plane[NORMAL + k] * (eye[FORWARD + k] + right * eye[RIGHT + k] - down * eye[UP + k])
        # inverse depth of the plane is falling/height
        if height > 0.0 and falling > inverse * height:
            if plane[HALF_U] <= 0.0 and plane[HALF_V] <= 0.0:
                return True
            u, v = 0.0, 0.0
            for k in range(3):
                point = eye[EYE + k] - plane[ORIGIN + k]
                point += height / falling * (eye[FORWARD + k] + right * eye[RIGHT + k] - down * eye[UP + k])
                u += point * plane[AXIS_U + k]
                v += point * plane[AXIS_V + k]
            if (plane[HALF_U] <= 0.0 or abs(u) <= plane[HALF_U]) and (plane[HALF_V] <= 0.0 or abs(v) <= plane[HALF_V]):
                return True
    return False


@entry
def wipe(keys, tiles):
    """Clear the keys of all tiles in which something was drawn."""
    for tile_row in range(tiles.shape[0]):
        for tile_column in range(tiles.shape[1]):
            if tiles[tile_row, tile_column] != 0:
                tiles[tile_row, tile_column] = 0
                keys[tile_row * TILE : (tile_row + 1) * TILE, tile_column * TILE : (tile_column + 1) * TILE] = 0
