"""Smooth normals of a surface whose vertices have moved."""

import math

from saltus.draw.raster.compiled import entry


@entry
def smooth_normals(vertices, faces, normals):
    """Compute unit normals [n, 3] at vertices [n, 4] (x, y, z, .) from adjoining faces [m, 4], weighted by area."""
    normals[:, :] = 0.0
    for f in range(len(faces)):
        a, b, c = vertices[faces[f, 0]], vertices[faces[f, 1]], vertices[faces[f, 2]]
        ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        for corner in range(3):
            k = faces[f, corner]
            normals[k, 0] += uy * vz - uz * vy
            normals[k, 1] += uz * vx - ux * vz
            normals[k, 2] += ux * vy - uy * vx
    for k in range(len(normals)):
        x, y, z = normals[k, 0], normals[k, 1], normals[k, 2]
        size = math.sqrt(x * x + y * y + z * z)
        if size > 0.0:
            normals[k, 0], normals[k, 1], normals[k, 2] = x / size, y / size, z / size
