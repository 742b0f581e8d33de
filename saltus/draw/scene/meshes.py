"""Surfaces of triangles: a model's meshes, and its height fields as meshes."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

STRAY = 0.5  # cosine between a corner's normal and its face's that is too small for a smooth surface


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles that are counter-clockwise seen from outside.

    vertices (m), unit normals: float32 [n, 3]; a vertex on a crease is repeated for each normal.
    faces: int32 [m, 3].
    """

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    faces: NDArray[np.int32]


def mesh(m: mujoco.MjModel, i: int) -> Mesh:
    """Mesh i in the frame of its geoms, with MuJoCo's normals.

    Normals of coarse meshes can be wrong: a corner whose normal is far from its face's gets the face's.
    """
    corners = _slice(m.mesh_face, m.mesh_faceadr[i], m.mesh_facenum[i])
    normal_of = _slice(m.mesh_facenormal, m.mesh_faceadr[i], m.mesh_facenum[i])
    vertices = _slice(m.mesh_vert, m.mesh_vertadr[i], m.mesh_vertnum[i])
    normals = _slice(m.mesh_normal, m.mesh_normaladr[i], m.mesh_normalnum[i])
    own = _face_normals(vertices, corners)
    stray = np.einsum("fck,fk->fc", normals[normal_of], own) < STRAY
    normal_of = np.where(stray, len(normals) + np.arange(len(corners))[:, None], normal_of)
    normals = np.concatenate([normals, own])
    pairs = np.stack([corners.ravel(), normal_of.ravel()], axis=1)
    unique, inverse = np.unique(pairs, axis=0, return_inverse=True)
    return Mesh(
        vertices=np.asarray(vertices[unique[:, 0]], np.float32),
        normals=np.asarray(normals[unique[:, 1]], np.float32),
        faces=np.asarray(inverse.reshape(-1, 3), np.int32),
    )


def _face_normals(vertices, faces):
    a, b, c = (np.asarray(vertices[faces[:, k]], float) for k in range(3))
    normals = np.cross(b - a, c - a)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)


def height_field(m: mujoco.MjModel, i: int) -> Mesh:
    """Surface of height field i: its top, sides and bottom."""
    rows, columns = int(m.hfield_nrow[i]), int(m.hfield_ncol[i])
    rx, ry, rise, base = (float(s) for s in m.hfield_size[i])
    start = int(m.hfield_adr[i])
    z = np.asarray(m.hfield_data[start : start + rows * columns], float).reshape(rows, columns) * rise
    x, y = np.meshgrid(np.linspace(-rx, rx, columns), np.linspace(-ry, ry, rows))
    top = np.stack([x, y, z], axis=-1)
    # the slope of the surface gives its normal
    slope_y, slope_x = np.gradient(z, 2 * ry / (rows - 1), 2 * rx / (columns - 1))
    normals = np.stack([-slope_x, -slope_y, np.ones_like(z)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    parts = [(top.reshape(-1, 3), normals.reshape(-1, 3), _grid(rows, columns))]
    for edge, outward in (
        (top[0], (0, -1, 0)),
        (top[-1, ::-1], (0, 1, 0)),
        (top[::-1, 0], (-1, 0, 0)),
        (top[:, -1], (1, 0, 0)),
    ):
        parts.append(_wall(edge, -base, outward))
    corners = np.array([[-rx, -ry, -base], [-rx, ry, -base], [rx, ry, -base], [rx, -ry, -base]])
    parts.append((corners, np.tile([0.0, 0.0, -1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]])))
    return joined(parts)


def joined(parts) -> Mesh:
    """Join several (vertices, normals, faces) to one mesh."""
    offsets = np.cumsum([0] + [len(vertices) for vertices, _, _ in parts[:-1]])
    return Mesh(
        vertices=np.concatenate([v for v, _, _ in parts]).astype(np.float32),
        normals=np.concatenate([n for _, n, _ in parts]).astype(np.float32),
        faces=np.concatenate([f + o for (_, _, f), o in zip(parts, offsets, strict=True)]).astype(np.int32),
    )


def _grid(rows, columns):
    """Triangles between the points of a grid, whose rows go along y."""
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    b, c, d = a + 1, a + columns + 1, a + columns
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _wall(edge, bottom, outward):
    """A wall from the points of an edge, ordered to the right seen from outside, down to z = bottom."""
    n = len(edge)
    foot = edge.copy()
    foot[:, 2] = bottom
    i = np.arange(n - 1)
    faces = np.concatenate([np.stack([i, i + n, i + n + 1], axis=1), np.stack([i, i + n + 1, i + 1], axis=1)])
    return np.concatenate([edge, foot]), np.tile(np.array(outward, float), (2 * n, 1)), faces


def _slice(array, start, count):
    return np.asarray(array[int(start) : int(start) + int(count)])
