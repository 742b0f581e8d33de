"""The shadow of the key light on a floor, with a soft edge."""

import numpy as np

from saltus.draw.raster.compiled import entry, part
from saltus.draw.raster.cover import TILE
from saltus.draw.raster.light import SHADOW


@entry
def darken(image, keys, tiles, owner, number, blur, mask, room):
    """Darken an image in the shadow drawn into `keys`, where the pixel's owner is `number`.

    blur: pixels; the covered fraction is averaged twice over 2 blur + 1 pixels in each direction. mask, room: float32
    workspaces, as large as the image.
    """
    inner = bounds(tiles, image, 2 * blur)
    # pixels further out contribute within 2 blur at most
    left, top, right, bottom = outer = bounds(tiles, image, 4 * blur)
    for j in range(top, bottom):
        for i in range(left, right):
            count = (keys[j, i, 0] != 0) + (keys[j, i, 1] != 0) + (keys[j, i, 2] != 0) + (keys[j, i, 3] != 0)
            mask[j, i] = np.float32(0.25) * count
    for _ in range(2):
        average_rows(mask, room, outer, blur)
        average_columns(room, mask, outer, blur)
    left, top, right, bottom = inner
    for j in range(top, bottom):
        for i in range(left, right):
            if mask[j, i] > 0 and owner[j, i] == number:
                keep = np.float32(1.0) - np.float32(SHADOW) * mask[j, i]
                for k in range(3):
                    image[j, i, k] = np.uint8(image[j, i, k] * keep + np.float32(0.5))


@part
def bounds(tiles, image, reach):
    """Left, top, right and bottom of the rectangle around all drawn tiles, extended by `reach` pixels."""
    height, width = image.shape[0], image.shape[1]
    left, top, right, bottom = width, height, 0, 0
    for tile_row in range(tiles.shape[0]):
        for tile_column in range(tiles.shape[1]):
            if tiles[tile_row, tile_column] != 0:
                left, right = min(left, tile_column * TILE), max(right, (tile_column + 1) * TILE)
                top, bottom = min(top, tile_row * TILE), max(bottom, (tile_row + 1) * TILE)
    return max(left - reach, 0), max(top - reach, 0), min(right + reach, width), min(bottom + reach, height)


@part
def average_rows(source, target, rectangle, blur):
    """Average along x over 2 blur + 1 pixels; pixels beyond the picture count as those on its edge."""
    left, top, right, bottom = rectangle
    width = source.shape[1]
    share = np.float32(1.0) / np.float32(2 * blur + 1)
    for j in range(top, bottom):
        for i in range(left, right):
            target[j, i] = share * source[j, i]
        for shift in range(1, blur + 1):
            for i in range(max(left, shift), right):
                target[j, i] += share * source[j, i - shift]
            for i in range(left, min(right, width - shift)):
                target[j, i] += share * source[j, i + shift]
            for i in range(left, min(shift, right)):
                target[j, i] += share * source[j, 0]
            for i in range(max(width - shift, left), right):
                target[j, i] += share * source[j, width - 1]


@part
def average_columns(source, target, rectangle, blur):
    """Average along y over 2 blur + 1 pixels; pixels beyond the picture count as those on its edge."""
    left, top, right, bottom = rectangle
    share = np.float32(1.0) / np.float32(2 * blur + 1)
    for j in range(top, bottom):
        for i in range(left, right):
            target[j, i] = share * source[j, i]
        for shift in range(1, blur + 1):
            above, below = max(j - shift, 0), min(j + shift, source.shape[0] - 1)
            for i in range(left, right):
                target[j, i] += share * (source[above, i] + source[below, i])
