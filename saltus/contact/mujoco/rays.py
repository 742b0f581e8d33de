"""Distances of geoms, and rays on meshes, height fields and signed distance fields, from MuJoCo's own functions.

MuJoCo processes one simulation at a time, as in collisions (see `saltus.contact.mujoco.collision`): a lane's poses are
copied to a scratch mjData, which mj_ray or mj_geomDistance reads, and the result is written to the lane.
mj_ray tests all visible geoms; in the scratch mjModel, a copy, those that have kernels here (see `saltus.sense.ray`)
are invisible.

Errors in C would end the process: a stack that is too small, which `attach_sense` refuses, and a ray of zero length,
which is not cast.
"""

import copy
import ctypes

import mujoco
import numpy as np

from saltus.contact.mujoco.collision import address_of, check_stack, library
from saltus.model.compile.cameras_rays import RAY_KINDS, sight
from saltus.model.enums import BOX, HFIELD, SDF
from saltus.model.layout import DATA
from saltus.number.components import lane_count, lane_get, lane_set, value_of
from saltus.number.intrinsics.calls import c_function
from saltus.number.intrinsics.memory import get, put
from saltus.number.kernels import kernel, only_with
from saltus.spatial.quaternions import quat_multiply

MODEL, SCRATCH, XPOS, XMAT, XQUAT, BUFFER, RAY, DISTANCE = range(8)  # places in foreign_sense
POINT, DIRECTION, NORMAL, SEGMENT, GEOM, NUMBERS = 0, 3, 6, 9, 15, 16  # places in the buffer
DOUBLE = 8  # bytes
EVERY_GROUP, STATIC_TOO = 0, 1

# mj_ray: model, data, point, direction, groups, static too, body left out, geom met, its normal; the distance (m)
_mj_ray = c_function("double", *["pointer"] * 5, "byte", "int", "pointer", "pointer")
# mj_geomDistance: model, data, two geoms, largest distance (m), ends of the segment; the distance (m)
_mj_geom_distance = c_function("double", "pointer", "pointer", "int", "int", "double", "pointer")


# ---------------------------------------------------------------- in Python: set-up for a Data


class ForeignSense:
    """Resources of MuJoCo's functions for one Data: mjModel, a scratch mjData, a buffer. Made by `attach_sense`."""

    def __init__(self, mj_model: mujoco.MjModel):
        self.model = copy.copy(mj_model)
        ours = np.isin(mj_model.geom_type, RAY_KINDS)
        self.model.geom_matid[ours] = -1
        self.model.geom_rgba[ours, 3] = 0.0
        self.data = mujoco.MjData(self.model)
        self.buffer = np.zeros(NUMBERS)

    def addresses(self) -> list[int]:
        """All addresses, in the order of Data's field foreign_sense."""
        functions = [ctypes.cast(getattr(library(), f), ctypes.c_void_p).value for f in ("mj_ray", "mj_geomDistance")]
        d = self.data
        poses = [x.ctypes.data for x in (d.geom_xpos, d.geom_xmat, d.geom_xquat)]
        return [address_of(self.model), address_of(d), *poses, self.buffer.ctypes.data, *functions]


def attach_sense(model, struct) -> ForeignSense | None:
    """Set up MuJoCo's rays and distances for `struct`, a Data of a `saltus.model.model.Model`.

    Call it once for each Data, before kernels run on it; returns None if no sensor needs them. The result is kept as
    `struct.foreign_sense_owner`: it must live as long as kernels run on the struct's buffers, and belongs only to this
    struct. Raises ModelError if MuJoCo cannot do it without an error.
    """
    struct.foreign_sense_owner = None
    needed = sight(model.mj_model).features & {"foreign_ray", "distance"}
    if "distance" in needed:
        check_stack(model.mj_model)
    if needed:
        struct.foreign_sense_owner = ForeignSense(model.mj_model)
        at = struct.ints[DATA.slot["foreign_sense"]]
        struct.ints[at : at + 8] = struct.foreign_sense_owner.addresses()
    return struct.foreign_sense_owner


# ---------------------------------------------------------------- in kernels


@only_with("foreign_ray", otherwise="(0.0 * d.time - 1.0, (0.0 * d.time, 0.0 * d.time, 0.0 * d.time))")
@kernel
def foreign_ray(m, d, point, direction, body):
    """Distance (m) along a ray to the nearest geom that only MuJoCo can intersect, -1 for none, and its normal.

    Geoms of `body` are excluded. Reads geom_xpos, geom_xmat. A Data without `attach_sense` finds none.
    """
    zero = 0.0 * d.time
    # no hit
    x = zero - 1.0
    nx = ny = nz = zero
    if d.foreign_sense[RAY] == 0:
        return x, (nx, ny, nz)
    buffer = d.foreign_sense[BUFFER]
    for i in range(lane_count(d.time)):
        for k in range(3):
            put(buffer, NORMAL + k, 0.0)
        # the ray and the poses of the geoms that it can hit
        finite = copy_ray(d, i, point, direction)
        for g in range(m.ngeom):
            kind = m.geom_type[g]
            if m.geom_visible[g] and m.geom_bodyid[g] != body and (kind == HFIELD or kind > BOX):
                finite = copy_frame(d, g, i) and finite
        # cast the ray, unless a number is not finite
        if finite:
            model, data = d.foreign_sense[MODEL], d.foreign_sense[SCRATCH]
            ray = buffer + DOUBLE * POINT, buffer + DOUBLE * DIRECTION, EVERY_GROUP, STATIC_TOO, body
            met = buffer + DOUBLE * GEOM, buffer + DOUBLE * NORMAL
            found = _mj_ray(d.foreign_sense[RAY], (model, data, *ray, *met))
            x = lane_set(x, i, found)
            nx = lane_set(nx, i, get(buffer, NORMAL))
            ny = lane_set(ny, i, get(buffer, NORMAL + 1))
            nz = lane_set(nz, i, get(buffer, NORMAL + 2))
    return x, (nx, ny, nz)


@kernel
def foreign_distance(m, d, g1, g2, most):
    """Distance (m) of two geoms, negative for overlap, at most `most`; ends of the segment (m), zero beyond `most`.

    Reads geom_xpos, geom_xmat, xquat. A Data without `attach_sense` reports `most`.
    """
    zero = 0.0 * d.time
    x = zero + most
    ax = ay = az = bx = by = bz = zero
    if d.foreign_sense[DISTANCE] == 0:
        return x, (ax, ay, az), (bx, by, bz)
    buffer = d.foreign_sense[BUFFER]
    for i in range(lane_count(d.time)):
        # clear the segment; poses of both geoms
        for k in range(6):
            put(buffer, SEGMENT + k, 0.0)
        finite = copy_frame(d, g1, i)
        finite = copy_frame(d, g2, i) and finite
        if finite:
            # signed distance fields also read quaternions
            if m.geom_type[g1] == SDF or m.geom_type[g2] == SDF:
                copy_turn(m, d, g1, i)
                copy_turn(m, d, g2, i)
            model, data = d.foreign_sense[MODEL], d.foreign_sense[SCRATCH]
            segment = buffer + DOUBLE * SEGMENT
            found = _mj_geom_distance(d.foreign_sense[DISTANCE], (model, data, g1, g2, most, segment))
            # distance and ends of the segment
            x = lane_set(x, i, found)
            ax = lane_set(ax, i, get(buffer, SEGMENT))
            ay = lane_set(ay, i, get(buffer, SEGMENT + 1))
            az = lane_set(az, i, get(buffer, SEGMENT + 2))
            bx = lane_set(bx, i, get(buffer, SEGMENT + 3))
            by = lane_set(by, i, get(buffer, SEGMENT + 4))
            bz = lane_set(bz, i, get(buffer, SEGMENT + 5))
    return x, (ax, ay, az), (bx, by, bz)


@kernel
def copy_ray(d, i, point, direction):
    """Copy lane i's point and direction to the buffer; returns whether they are finite, and the direction not short."""
    buffer = d.foreign_sense[BUFFER]
    p0, p1, p2 = lane_get(value_of(point[0]), i), lane_get(value_of(point[1]), i), lane_get(value_of(point[2]), i)
    v0, v1 = lane_get(value_of(direction[0]), i), lane_get(value_of(direction[1]), i)
    v2 = lane_get(value_of(direction[2]), i)
    put(buffer, POINT, p0)
    put(buffer, POINT + 1, p1)
    put(buffer, POINT + 2, p2)
    put(buffer, DIRECTION, v0)
    put(buffer, DIRECTION + 1, v1)
    put(buffer, DIRECTION + 2, v2)
    return 0.0 * (p0 + p1 + p2) == 0.0 and v0 * v0 + v1 * v1 + v2 * v2 > 0.5


@kernel
def copy_frame(d, g, i):
    """Copy lane i's pose of geom g to the scratch mjData; whether it is finite."""
    total = 0.0
    for k in range(3):
        number = lane_get(value_of(d.geom_xpos[g, k]), i)
        put(d.foreign_sense[XPOS], 3 * g + k, number)
        total = total + number
    for k in range(9):
        number = lane_get(value_of(d.geom_xmat[g, k]), i)
        put(d.foreign_sense[XMAT], 9 * g + k, number)
        total = total + number
    return 0.0 * total == 0.0


@kernel
def copy_turn(m, d, g, i):
    """Copy lane i's orientation of geom g as a quaternion, which signed distance fields read."""
    quat = quat_multiply(d.xquat[m.geom_bodyid[g]], m.geom_quat[g])
    put(d.foreign_sense[XQUAT], 4 * g, lane_get(value_of(quat[0]), i))
    put(d.foreign_sense[XQUAT], 4 * g + 1, lane_get(value_of(quat[1]), i))
    put(d.foreign_sense[XQUAT], 4 * g + 2, lane_get(value_of(quat[2]), i))
    put(d.foreign_sense[XQUAT], 4 * g + 3, lane_get(value_of(quat[3]), i))
