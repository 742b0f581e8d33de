"""Many pictures of rigid shapes in one compiled call, each from back to front as `Rasteriser` draws it, and depths."""

import numpy as np

from saltus.draw.raster.background import NORMAL, ORIGIN, background
from saltus.draw.raster.compiled import entry, part
from saltus.draw.raster.light import TO_KEY
from saltus.draw.raster.resolve import NUMBER, resolve, wipe
from saltus.draw.raster.shadow import darken
from saltus.draw.raster.triangles import EYE, FORWARD, FULL, POS, REACH, attach, rasterise


@entry
def draw_pictures(first, last, images, depths, poses, views, grounds, things, shapes, lights, target, drawn, room):
    """Draw pictures from first up to last; return the first that lacks room for its triangles' records, or last.

    images: uint8 [n, height, width, 3]; depths: float32 [n, height, width] (m, inf for the sky), or of length 0.
    poses: xpos [n, nbody, 3] (m), xquat [n, nbody, 4]. views: `Eye.numbers` [n, 17], haze [n] (m), RADII.
    grounds: planes [1 or n, p, PLANE_NUMBERS], number of the one with the shadow [1 or n] (-1: none), blur (pixels).
    things: local [k, 7], body [k] (see `attach`), indices of opaque items, of casting and of translucent ones.
    shapes: see `rasterise`; its items are placed here. lights: an empty array, and room for 7 numbers.
    target: opaque keys and tiles, keys and tiles. drawn: records, of, looks, and room for crossing (see `resolve`).
    room: a picture and its plane's number and inverse depth of each pixel, rows, corners, mask, blurred mask, order.
    """
    eyes, hazes, radii = views
    planes, floors, blur = grounds
    local, body, opaque, casting, translucent = things
    unlit, light = lights
    front, front_tiles, keys, tiles = target
    records, of, _, crossing = drawn
    behind, owner, inverse, rows, corners, mask, blurred, order = room
    items = shapes[0]
    for k in range(first, last):
        eye, image, ground = eyes[k], images[k], planes[min(k, len(planes) - 1)]
        if k == first or len(planes) > 1 or differ(eye, eyes[k - 1]):
            background(behind, owner, inverse, ground, eye, hazes[k], rows)
        copy(image.reshape(-1), behind.reshape(-1))
        attach(items, local, body, poses[0][k], poses[1][k])
        # shadow
        floor = floors[min(k, len(floors) - 1)]
        if floor >= 0 and faces(ground[floor], eye, light):
            rasterise(casting, shapes, (radii, eye), light, (keys, tiles), corners, (records, of))
            darken(image, keys, tiles, owner, floor + 1, blur, mask, blurred)
            wipe(keys, tiles)
        # opaque items
        full = rasterise(opaque, shapes, (radii, eye), unlit, (front, front_tiles), corners, (records, of)) == FULL
        if not full:
            cross(crossing, items, ground)
            resolve(image, front, front, False, front_tiles, drawn, eye, ground)
            if len(depths) > 0:
                measure(depths[k], front, inverse, of)
            # translucent items, a layer each
            farthest_first(order, translucent, items, eye)
            for j in range(len(translucent)):
                one = order[j : j + 1]
                full |= rasterise(one, shapes, (radii, eye), unlit, (keys, tiles), corners, (records, of)) == FULL
                resolve(image, keys, front, True, tiles, drawn, eye, ground)
                wipe(keys, tiles)
        wipe(front, front_tiles)
        if full:
            return k
    return last


@part
def copy(out, numbers):
    """Copy numbers [n]."""
    for k in range(len(out)):
        out[k] = numbers[k]


@part
def differ(a, b):
    """Whether two rows of numbers differ."""
    found = False
    for k in range(len(a)):
        found |= a[k] != b[k]
    return found


@part
def faces(plane, eye, light):
    """Whether the camera is above a plane; `light` then has its normal and height, and the direction to the light."""
    height, above = 0.0, 0.0
    for k in range(3):
        normal = plane[NORMAL + k]
        height += normal * plane[ORIGIN + k]
        above += normal * eye[EYE + k]
        light[k], light[4 + k] = normal, TO_KEY[k]
    light[3] = height
    return above > height


@part
def cross(crossing, items, planes):
    """Find whether items may be behind a plane: not all of their bounding sphere is above it."""
    for i in range(len(items)):
        crossing[i] = False
        for p in range(len(planes)):
            height = 0.0
            for k in range(3):
                height += (items[i, POS + k] - planes[p, ORIGIN + k]) * planes[p, NORMAL + k]
            crossing[i] |= not height > items[i, REACH]


@part
def farthest_first(order, chosen, items, eye):
    """Sort chosen items by their depth, the farthest first; those of one depth keep their order."""
    for j in range(len(chosen)):
        item = chosen[j]
        place, depth = j, depth_of(items[item], eye)
        while place > 0 and depth_of(items[order[place - 1]], eye) < depth:
            order[place] = order[place - 1]
            place -= 1
        order[place] = item


@part
def depth_of(item, eye):
    """Depth (m) of an item's origin from the camera."""
    return (
        (item[POS] - eye[EYE]) * eye[FORWARD]
        + (item[POS + 1] - eye[EYE + 1]) * eye[FORWARD + 1]
        + (item[POS + 2] - eye[EYE + 2]) * eye[FORWARD + 2]
    )


@entry
def measure(depths, keys, inverse, of):
    """Depths [height, width] (m) of pixels: of the nearest opaque item or plane, inf where there is neither.

    keys: of the opaque items; inverse: inverse depths of planes (1/m), 0 for the sky; of: see `rasterise`. Inverse
    depth is linear over the screen, and the mean position of a pixel's samples is its centre: where an item covers all
    four, their mean is the inverse depth there; on its edge, of those that it covers.
    """
    for j in range(depths.shape[0]):
        for i in range(depths.shape[1]):
            nearest, total, count = max(keys[j, i, 0], keys[j, i, 1], keys[j, i, 2], keys[j, i, 3]), 0.0, 0
            if nearest != 0:
                item = of[(nearest & NUMBER) - 1, 0]
                for s in range(4):
                    key = keys[j, i, s]
                    if key != 0 and of[(key & NUMBER) - 1, 0] == item:
                        total += np.int64(key & ~NUMBER).view(np.float64)
                        count += 1
                total /= count
            shown = max(total, np.float64(inverse[j, i]))
            depths[j, i] = np.float32(1.0 / shown) if shown > 0.0 else np.float32(np.inf)
