"""Bounding spheres and boxes of geoms and bodies, which follow from sizes and poses."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE

#: Fields from which bounds follow.
SOURCES = ("geom_size", "geom_pos", "geom_quat", "body_ipos", "body_iquat")
SIZES = {SPHERE: 1, CAPSULE: 2, CYLINDER: 2, ELLIPSOID: 3, BOX: 3}  # numbers of a shape; others are not made from sizes


def has_size(m: mujoco.MjModel) -> NDArray[np.bool_]:
    """Mask of the numbers of geom_size that are sizes of a shape [ngeom, 3]."""
    counts = np.array([SIZES.get(int(shape), 0) for shape in m.geom_type], int)
    return np.arange(3) < counts[:, None]


def bounding_radii(types: NDArray[np.int32], sizes: NDArray[Any], own: NDArray[np.float64]) -> NDArray[Any]:
    """Radii [..., ngeom] (m) of bounding spheres for sizes [..., ngeom, 3], and the model's `own` for other shapes."""
    x, y, z = np.moveaxis(sizes, -1, 0)
    radius = np.broadcast_to(own, x.shape).astype(x.dtype)
    of_shape = {
        SPHERE: x,
        CAPSULE: x + y,
        CYLINDER: np.sqrt(x * x + y * y),
        ELLIPSOID: np.maximum(np.maximum(x, y), z),
        BOX: np.sqrt(x * x + y * y + z * z),
    }
    for shape, values in of_shape.items():
        chosen = types == shape
        radius[..., chosen] = values[..., chosen]
    return radius


def set_bounds(m: mujoco.MjModel) -> None:
    """Derive geom_rbound, geom_aabb and the bodies' trees of boxes from sizes and poses, as MuJoCo's compiler does."""
    m.geom_rbound[:] = bounding_radii(m.geom_type, m.geom_size, m.geom_rbound)
    x, y, z = m.geom_size.T
    halves = {
        SPHERE: (x, x, x),
        CAPSULE: (x, x, x + y),
        CYLINDER: (x, x, y),
        ELLIPSOID: (x, y, z),
        BOX: (x, y, z),
    }
    for shape, values in halves.items():
        chosen = m.geom_type == shape
        m.geom_aabb[chosen, :3] = 0.0
        m.geom_aabb[chosen, 3:] = np.stack(values, axis=1)[chosen]
    for b in np.flatnonzero(m.body_bvhnum):
        _set_tree(m, int(b))


def _set_tree(m: mujoco.MjModel, b: int) -> None:
    """Boxes of a body's tree, in its inertial frame: those of geoms, and of nodes around their children's."""
    first, count = int(m.body_bvhadr[b]), int(m.body_bvhnum[b])
    for node in reversed(range(first, first + count)):  # children come after their parents
        g = int(m.bvh_nodeid[node])
        if g >= 0:
            m.bvh_aabb[node] = _box_of_geom(m, b, g)
            continue
        boxes = m.bvh_aabb[first + m.bvh_child[node]]
        low, high = (boxes[:, :3] - boxes[:, 3:]).min(axis=0), (boxes[:, :3] + boxes[:, 3:]).max(axis=0)
        m.bvh_aabb[node] = *(0.5 * (low + high)), *(0.5 * (high - low))


def _box_of_geom(m: mujoco.MjModel, b: int, g: int) -> NDArray[np.float64]:
    """Centre and half sizes [6] (m) of the box around a geom's own, along the axes of the body's inertial frame."""
    frame, own = _matrix(m.body_iquat[b]), _matrix(m.geom_quat[g])
    centre = frame.T @ (m.geom_pos[g] + own @ m.geom_aabb[g, :3] - m.body_ipos[b])
    return np.concatenate([centre, np.abs(frame.T @ own) @ m.geom_aabb[g, 3:]])


def _matrix(quat: NDArray[np.float64]) -> NDArray[np.float64]:
    mat = np.zeros(9)
    mujoco.mju_quat2Mat(mat, quat)
    return mat.reshape(3, 3)
