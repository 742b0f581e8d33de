"""From shapes in space to triangles on the screen: placement, level of detail, clipping, records for shading."""

import math

import numpy as np

from saltus.draw.raster.compiled import entry, part
from saltus.draw.raster.cover import cover, mark_tiles, snap
from saltus.number.intrinsics.samples import NUMBERS

# columns of an item's numbers
POS, ROTATION, SCALE, HALF, REACH, ROUND = 0, 3, 12, 15, 16, 17
ITEM_NUMBERS = 18
# columns of an item's integers
TESSELLATION, LEVELS, TWO_SIDED = 0, 1, 2
# columns of a camera's numbers
EYE, RIGHT, UP, FORWARD, FX, FY, CX, CY, NEAR = 0, 3, 6, 9, 12, 13, 14, 15, 16
RECORD = 12  # numbers of a triangle: x, y of a corner; normal over depth there and its change with x and y; spare
FULL = -1  # returned if there is no room for a triangle's record


@entry
def attach(items, local, body, xpos, xquat):
    """Place items [n, ITEM_NUMBERS] on their bodies.

    local [n, 7]: position (m) and quaternion in the body's frame; body [n]; xpos [nbody, 3], xquat [nbody, 4].
    """
    for k in range(len(body)):
        b = body[k]
        w, x, y, z = xquat[b, 0], xquat[b, 1], xquat[b, 2], xquat[b, 3]
        px, py, pz = local[k, 0], local[k, 1], local[k, 2]
        # p + 2 v × (v × p + w p)
        tx = y * pz - z * py + w * px
        ty = z * px - x * pz + w * py
        tz = x * py - y * px + w * pz
        items[k, 0] = xpos[b, 0] + px + 2.0 * (y * tz - z * ty)
        items[k, 1] = xpos[b, 1] + py + 2.0 * (z * tx - x * tz)
        items[k, 2] = xpos[b, 2] + pz + 2.0 * (x * ty - y * tx)
        a, e, f, g = local[k, 3], local[k, 4], local[k, 5], local[k, 6]
        rotation(
            items[k, ROTATION : ROTATION + 9],
            w * a - x * e - y * f - z * g,
            w * e + x * a + y * g - z * f,
            w * f - x * g + y * a + z * e,
            w * g + x * f - y * e + z * a,
        )


@part
def rotation(out, w, x, y, z):
    """Rotation matrix [9] of a quaternion of any nonzero length."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    out[0] = 1.0 - s * (y * y + z * z)
    out[1] = s * (x * y - w * z)
    out[2] = s * (x * z + w * y)
    out[3] = s * (x * y + w * z)
    out[4] = 1.0 - s * (x * x + z * z)
    out[5] = s * (y * z - w * x)
    out[6] = s * (x * z - w * y)
    out[7] = s * (y * z + w * x)
    out[8] = 1.0 - s * (x * x + y * y)


@entry
def rasterise(order, shapes, view, light, target, corners, drawn):
    """Draw the items `order` into keys and tiles, the `target`; return the number of recorded triangles, or FULL.

    shapes: items [n, ITEM_NUMBERS], kinds [n, 3]; table [k, 4]: first vertex, number of vertices, first face, number of
    faces of a tessellation; vertices [., 4], normals [., 3], faces [., 4] (with the smooth piece).
    view: largest radius (pixels) for each level of detail; `Eye.numbers`.
    light: empty, or normal and height of a plane and the direction to a light (7 numbers) to draw the items' shadows on
    the plane instead, without records.
    corners [., 9]: workspace for the vertices of one tessellation and 4 more.
    drawn: records [., RECORD], of [., 2] (item, smooth piece), which receive data of the visible triangles for shading.
    """
    items, kinds, table, vertices, normals, faces = shapes
    radii, eye = view
    keys, tiles = target
    records, of = drawn
    shadow = len(light) > 0
    count = 0
    for item in order:
        detail = choose(items[item], kinds[item], radii, eye, keys.shape[1], keys.shape[0], shadow)
        if detail < 0:
            continue
        first, amount = table[detail, 0], table[detail, 1]
        place(items[item], vertices[first : first + amount], normals[first : first + amount], eye, light, corners)
        two_sided = kinds[item, TWO_SIDED] != 0 or (shadow and not closed_above(items[item], light))
        for f in range(table[detail, 2], table[detail, 2] + table[detail, 3]):
            if count + 2 > min(len(of), NUMBERS - 1) and not shadow:
                return FULL
            a, b, c = corners[faces[f, 0]], corners[faces[f, 1]], corners[faces[f, 2]]
            sides = 3
            if min(a[2], b[2], c[2]) < eye[NEAR]:
                room = corners[len(corners) - 4 :]
                sides = clip(a, b, c, eye[NEAR], room)
                a, b, c = room[0], room[1], room[2]
            for k in range(2, sides):
                if k == 3:
                    b, c = c, corners[len(corners) - 1]
                if triangle(a, b, c, two_sided, keys, tiles, 1 if shadow else count + 1) and not shadow:
                    record(records[count], a, b, c)
                    of[count, 0], of[count, 1] = item, faces[f, 3]
                    count += 1
    return count


@part
def closed_above(item, light):
    """Whether an item is a round body that is wholly above the light's plane: its lit side alone casts its shadow."""
    height = light[0] * item[POS] + light[1] * item[POS + 1] + light[2] * item[POS + 2] - light[3]
    return item[ROUND] > 0.0 and height > item[REACH]


@part
def choose(item, kind, radii, eye, width, height, shadow):
    """Index of the tessellation for an item at its distance; -1 if the item is outside the picture."""
    x, y, z = item[0] - eye[0], item[1] - eye[1], item[2] - eye[2]
    depth = x * eye[9] + y * eye[10] + z * eye[11]
    reach = item[REACH]
    if not shadow:
        if depth < eye[NEAR] - reach:
            return -1
        right, up = x * eye[3] + y * eye[4] + z * eye[5], x * eye[6] + y * eye[7] + z * eye[8]
        fx, fy, cx, cy = eye[FX], eye[FY], eye[CX], eye[CY]
        if right * fx - (width - cx) * depth > reach * math.sqrt(fx * fx + (width - cx) ** 2):
            return -1
        if -right * fx - cx * depth > reach * math.sqrt(fx * fx + cx * cx):
            return -1
        if up * fy - cy * depth > reach * math.sqrt(fy * fy + cy * cy):
            return -1
        if -up * fy - (height - cy) * depth > reach * math.sqrt(fy * fy + (height - cy) ** 2):
            return -1
    level = 0
    radius = item[ROUND] * max(eye[FX], eye[FY]) / max(depth - reach, eye[NEAR]) * (0.25 if shadow else 1.0)
    while level < kind[LEVELS] - 1 and radius > radii[level]:
        level += 1
    return kind[TESSELLATION] + level


@part
def place(item, vertices, normals, eye, light, corners):
    """Transform vertices [n, 4] to x·w, y·w, w (depth, m), `project` them, and turn their normals to world axes.

    With a light, they are moved along it to its plane, unless they are below, and have no normals.
    """
    # axes of the item, and columns for its scales and for the half length of a capsule
    r0, r1, r2 = item[ROTATION], item[ROTATION + 1], item[ROTATION + 2]
    r3, r4, r5 = item[ROTATION + 3], item[ROTATION + 4], item[ROTATION + 5]
    r6, r7, r8 = item[ROTATION + 6], item[ROTATION + 7], item[ROTATION + 8]
    sx, sy, sz, half = item[SCALE], item[SCALE + 1], item[SCALE + 2], item[HALF]
    ox, oy, oz = item[POS], item[POS + 1], item[POS + 2]
    shadow, round_ = len(light) > 0, sx == sy and sy == sz
    fall = light[0] * light[4] + light[1] * light[5] + light[2] * light[6] if shadow else 1.0
    for v in range(len(vertices)):
        out = corners[v]
        lx, ly, lz = vertices[v, 0] * sx, vertices[v, 1] * sy, vertices[v, 2] * sz + vertices[v, 3] * half
        x, y, z = ox + r0 * lx + r1 * ly + r2 * lz, oy + r3 * lx + r4 * ly + r5 * lz, oz + r6 * lx + r7 * ly + r8 * lz
        if shadow:
            along = max(light[0] * x + light[1] * y + light[2] * z - light[3], 0.0) / fall
            x, y, z = x - along * light[4], y - along * light[5], z - along * light[6]
        else:
            nx, ny, nz = normals[v, 0], normals[v, 1], normals[v, 2]
            if not round_:
                nx, ny, nz = nx / sx, ny / sy, nz / sz
                size = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + 1e-300)
                nx, ny, nz = nx * size, ny * size, nz * size
            out[3] = r0 * nx + r1 * ny + r2 * nz
            out[4] = r3 * nx + r4 * ny + r5 * nz
            out[5] = r6 * nx + r7 * ny + r8 * nz
        x, y, z = x - eye[EYE], y - eye[EYE + 1], z - eye[EYE + 2]
        depth = x * eye[FORWARD] + y * eye[FORWARD + 1] + z * eye[FORWARD + 2]
        out[0] = eye[CX] * depth + eye[FX] * (x * eye[RIGHT] + y * eye[RIGHT + 1] + z * eye[RIGHT + 2])
        out[1] = eye[CY] * depth - eye[FY] * (x * eye[UP] + y * eye[UP + 1] + z * eye[UP + 2])
        out[2] = depth
        if depth >= eye[NEAR]:
            project(out)


@part
def project(corner):
    """Compute the screen position of a corner beyond the near plane: x, y (pixels, on the grid), 1/depth (1/m)."""
    inverse = 1.0 / corner[2]
    corner[6], corner[7], corner[8] = snap(corner[0] * inverse), snap(corner[1] * inverse), inverse


@part
def triangle(a, b, c, two_sided, keys, tiles, number):
    """Draw a triangle beyond the near plane unless it is seen from behind; return whether any of it is visible."""
    x0, y0, x1, y1, x2, y2 = a[6], a[7], b[6], b[7], c[6], c[7]
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0.0 or (area > 0.0 and not two_sided):
        return False
    left, right, top, bottom = min(x0, x1, x2), max(x0, x1, x2), min(y0, y1, y2), max(y0, y1, y2)
    if right < 0.0 or bottom < 0.0 or left > keys.shape[1] or top > keys.shape[0]:
        return False
    if between_samples(left, right) or between_samples(top, bottom):
        return False
    if not cover(keys, (x0, y0, a[8]), (x1, y1, b[8]), (x2, y2, c[8]), area, number):
        return False
    mark_tiles(tiles, left, top, right, bottom)
    return True


@part
def between_samples(least, most):
    """Whether no column of samples, or row, is between two coordinates (pixels): they are 1/4 apart, from 1/8 on."""
    return np.floor(4.0 * most - 0.5) < np.ceil(4.0 * least - 0.5)


@part
def record(out, a, b, c):
    """Record how the normal over depth changes over the screen; the normal of a face seen from behind is reversed."""
    out[0], out[1] = a[6], a[7]
    x1, y1, x2, y2 = b[6] - a[6], b[7] - a[7], c[6] - a[6], c[7] - a[7]
    area = x1 * y2 - x2 * y1
    sign = 1.0 if area < 0 else -1.0
    scale = sign / area
    for k in range(3):
        n0 = a[8] * a[3 + k]
        n1, n2 = b[8] * b[3 + k] - n0, c[8] * c[3 + k] - n0
        out[2 + k] = sign * n0
        out[5 + k] = (n1 * y2 - n2 * y1) * scale
        out[8 + k] = (x1 * n2 - x2 * n1) * scale


@part
def clip(a, b, c, near, out):
    """Store the corners of the part of a triangle beyond the near plane in `out`; return their number, 3 or 4."""
    count = 0
    for k in range(3):
        here, there = (a, b) if k == 0 else (b, c) if k == 1 else (c, a)
        if here[2] >= near:
            for e in range(9):
                out[count, e] = here[e]
            count += 1
        if (here[2] >= near) != (there[2] >= near):
            share = (near - here[2]) / (there[2] - here[2])
            for e in range(6):
                out[count, e] = here[e] + share * (there[e] - here[e])
            out[count, 2] = near
            project(out[count])
            count += 1
    return count
