"""Thicknesses and speeds of geoms, for detecting geoms that pass each other between two steps."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, PLANE, SPHERE
from saltus.number.structs import Struct


def thicknesses(m: mujoco.MjModel) -> NDArray[np.float64]:
    """The least extent (m) of each geom; infinite for planes and height fields, whose inside has no lower end."""
    size, least = m.geom_size, m.geom_aabb[:, 3:].min(axis=1, initial=np.inf)
    kind = m.geom_type - mujoco.mjtGeom.mjGEOM_PLANE + PLANE
    least = np.where((kind == SPHERE) | (kind == CAPSULE), size[:, 0], least)
    least = np.where(kind == CYLINDER, np.minimum(size[:, 0], size[:, 1]), least)
    least = np.where((kind == BOX) | (kind == ELLIPSOID), size.min(axis=1, initial=np.inf), least)
    return np.where((kind == PLANE) | (kind == HFIELD), np.inf, 2.0 * least)


def geom_motion(m: mujoco.MjModel, d: mujoco.MjData) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres (m) and velocities of centres (m/s) [ngeom, 3] of all geoms in a state."""
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_comVel(m, d)
    turning, moving = d.cvel[m.geom_bodyid, :3], d.cvel[m.geom_bodyid, 3:]
    places = d.geom_xpos.copy()
    return places, moving + np.cross(turning, places - d.subtree_com[m.body_rootid[m.geom_bodyid]])


def geom_pairs(m: mujoco.MjModel, struct: Struct) -> NDArray[np.intp]:
    """Geoms that may touch [n, 2], for the kernels' Model; all pairs of different bodies if pairs are not listed."""
    views = struct.views
    if "broad" in struct.layout.features:
        geoms = np.asarray(views["collider"], np.intp)
        one, other = np.triu_indices(len(geoms), 1)
        pairs = np.stack([geoms[one], geoms[other]], axis=1)
        return pairs[m.geom_bodyid[pairs[:, 0]] != m.geom_bodyid[pairs[:, 1]]]
    pairs = np.stack([views["collision_geom1"], views["collision_geom2"]], axis=1).astype(np.intp)
    return pairs[(pairs >= 0).all(axis=1)]
