"""Shapes of unit size as triangles, each at several levels of detail.

A point of a shape in its own frame is `unit · scale + (0, 0, shift · half)`: a sphere, an ellipsoid and a box are
scaled; the two halves of a capsule are moved apart as well. Polygons that stand for circles have the circle's area:
their vertices are slightly outside, the middles of their edges slightly inside.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Segments of a quarter of a circle, by level of detail.
QUARTERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
#: Largest deviation of a chord's middle from the circle through its ends (pixels).
DEVIATION = 0.2
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


class Tessellation(NamedTuple):
    """vertices [n, 4]: unit x, y, z and shift; normals [n, 3]; faces [m, 3], counter-clockwise seen from outside.

    pieces [m]: number of the smooth piece that a face belongs to.
    """

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    faces: NDArray[np.int64]
    pieces: NDArray[np.int64]


@functools.cache
def sphere(quarter: int) -> Tessellation:
    """A sphere of rings of 4 r points at polar angles of r/quarter · 90 degrees, with triangles of similar sizes."""
    return _round(quarter, seam=False)


@functools.cache
def capsule(quarter: int) -> Tessellation:
    """A capsule: a sphere whose halves can be moved apart, with a tube between them."""
    return _round(quarter, seam=True)


@functools.cache
def cylinder(quarter: int) -> Tessellation:
    """A cylinder with radius 1 from z = -1 to z = 1."""
    circle = _circle(4 * quarter) * _swell(4 * quarter)
    side = _tube(circle, circle)
    return _with_caps(side, circle, (1.0, -1.0))


@functools.cache
def cone(quarter: int) -> Tessellation:
    """A cone with a base of radius 1 at z = -1 and the tip at z = 1; normals as for a slope of 45 degrees."""
    circle = _circle(4 * quarter) * _swell(4 * quarter)
    side = _tube(circle, circle * 1e-6)
    normals = side.normals + [0.0, 0.0, 1.0]
    side = side._replace(normals=normals / np.linalg.norm(normals, axis=1, keepdims=True))
    return _with_caps(side, circle, (-1.0,))


@functools.cache
def box() -> Tessellation:
    """A cube from -1 to 1 along every axis."""
    parts = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            corners = np.zeros((4, 3))
            corners[:, axis] = sign
            corners[:, (axis + 1) % 3], corners[:, (axis + 2) % 3] = SQUARE.T[0] * sign, SQUARE.T[1]
            normal = np.zeros(3)
            normal[axis] = sign
            parts.append(_part(corners, np.tile(normal, (4, 1)), np.array([[0, 1, 2], [0, 2, 3]])))
    return _joined(parts)


@functools.cache
def square() -> Tessellation:
    """A square from -1 to 1 along x and y, facing +z."""
    corners = np.column_stack([SQUARE, np.zeros(4)])
    return _part(corners, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]]))


@functools.cache
def octants(quarter: int, even: bool) -> Tessellation:
    """Four octants of a sphere, no two of them adjacent; the even and the odd ones make up the whole."""
    whole = sphere(quarter)
    middles = whole.vertices[whole.faces, :3].mean(axis=1)
    chosen = ((middles > 0).sum(axis=1) % 2 == 0) == even
    return whole._replace(faces=whole.faces[chosen], pieces=whole.pieces[chosen])


def surface(vertices, normals, faces) -> Tessellation:
    """A surface from given vertices and normals; faces that share vertices belong to the same smooth piece."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    faces, count = np.asarray(faces, np.int64), len(vertices)
    start, end = faces[:, [0, 1]].ravel(), faces[:, [1, 2]].ravel()
    graph = coo_array((np.ones(len(start), bool), (start, end)), shape=(count, count))
    piece = connected_components(graph, directed=False)[1].astype(np.int64)
    points = np.column_stack([np.asarray(vertices, float), np.zeros(count)])
    return Tessellation(points, np.asarray(normals, float), faces, piece[faces[:, 0]])


def _round(quarter, seam):
    """A sphere; with a seam, the equator exists twice, shifted up and down."""
    upper, cap = _hemisphere(quarter)
    count = len(upper)
    lower = upper * [1.0, 1.0, -1.0]
    vertices = np.concatenate([upper, lower])
    faces = [cap, cap[:, ::-1] + count]
    equator = np.arange(count - 4 * quarter, count)
    if seam:
        following = np.roll(equator, -1)
        down, down_following = equator + count, following + count
        faces += [
            np.stack([equator, down, down_following], axis=1),
            np.stack([equator, down_following, following], axis=1),
        ]
        shift = np.repeat([1.0, -1.0], count)
    else:
        faces[1] = np.where(np.isin(faces[1], equator + count), faces[1] - count, faces[1])
        shift = np.zeros(2 * count)
    together = np.concatenate(faces)
    return Tessellation(
        np.column_stack([vertices * _swell(4 * quarter), shift]),
        vertices.copy(),
        together,
        np.zeros(len(together), np.int64),
    )


def _hemisphere(quarter):
    """Vertices of a half sphere, the pole first and the equator last, and faces."""
    rings, faces, start = [np.array([[0.0, 0.0, 1.0]])], [], 0
    for r in range(1, quarter + 1):
        polar = 0.5 * np.pi * r / quarter
        circle = _circle(4 * r)
        rings.append(np.column_stack([circle * np.sin(polar), np.full(4 * r, np.cos(polar))]))
        inner, outer = start, start + max(1, 4 * (r - 1))
        for side in range(4):
            for i in range(r):
                a = outer + side * r + i
                b = outer + (side * r + i + 1) % (4 * r)
                c = inner + (side * (r - 1) + i) % max(1, 4 * (r - 1))
                faces.append((a, b, c))
                if i < r - 1:
                    faces.append((b, inner + (side * (r - 1) + i + 1) % (4 * (r - 1)), c))
        start = outer
    vertices = np.concatenate(rings)
    vertices[-4 * quarter :, 2] = 0.0
    return vertices, np.array(faces)


def _swell(n):
    """Circumradius of the regular n-gon with the area of the unit circle."""
    angle = 2 * np.pi / n
    return np.sqrt(angle / np.sin(angle))


def _circle(n):
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _tube(bottom, top):
    """A surface from a circle at z = -1 to one at z = 1."""
    n = len(bottom)
    vertices = np.concatenate([np.column_stack([bottom, np.full(n, -1.0)]), np.column_stack([top, np.full(n, 1.0)])])
    circle = _circle(n)
    i, j = np.arange(n), np.roll(np.arange(n), -1)
    faces = np.concatenate([np.stack([i, j, j + n], axis=1), np.stack([i, j + n, i + n], axis=1)])
    return _part(vertices, np.tile(np.column_stack([circle, np.zeros(n)]), (2, 1)), faces)


def _with_caps(side, circle, heights):
    parts = [side]
    n = len(circle)
    for z in heights:
        i = np.arange(1, n - 1)
        faces = np.stack([np.zeros_like(i), i, i + 1], axis=1)
        disc = np.column_stack([circle, np.full(n, z)])
        parts.append(_part(disc, np.tile([0.0, 0.0, z], (n, 1)), faces if z > 0 else faces[:, ::-1]))
    return _joined(parts)


def _part(vertices, normals, faces):
    points = np.column_stack([vertices, np.zeros(len(vertices))])
    return Tessellation(points, normals, faces, np.zeros(len(faces), np.int64))


def _joined(parts):
    offsets = np.cumsum([0] + [len(p.vertices) for p in parts[:-1]])
    return Tessellation(
        np.concatenate([p.vertices for p in parts]),
        np.concatenate([p.normals for p in parts]),
        np.concatenate([p.faces + o for p, o in zip(parts, offsets, strict=True)]),
        np.repeat(np.arange(len(parts)), [len(p.faces) for p in parts]),
    )
