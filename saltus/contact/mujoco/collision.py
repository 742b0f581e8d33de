"""Contacts from MuJoCo's own collision functions: some meshes, height fields and distance fields.

The functions are those of MuJoCo's table mjCOLLISIONFUNC. Compiled kernels call them for one simulation at a time: a
lane's poses of the two geoms are copied to a scratch mjData, and the contacts of all lanes are then collected side by
side. The addresses of the functions and of their data are valid in one process only; they are therefore integers in a
Data, written by `attach`, and no part of compiled code.

Of the mjData a function reads the two poses only: geom_xpos and geom_xmat, and with signed distance fields geom_xquat
(and the state of plugins). The convex functions work in a buffer of the calling thread if MuJoCo's driver has set one,
which it does during mj_collision only, otherwise on the stack of the mjData, which they free again. Here it is the
stack, so that two threads need nothing more than two Datas.

Errors. MuJoCo's Python interface turns an error in C into an exception by a handler that it sets for the thread during
each call. Kernels have no handler: MuJoCo then writes the error to stderr and to MUJOCO_LOG.TXT and ends the process.
The one error that a model can cause here is a stack that is too small, which `attach` refuses; the others are marked in
MuJoCo as never to occur. Warnings go to the function set by mujoco.set_mju_user_warning, or else to stderr and
MUJOCO_LOG.TXT.
"""

import ctypes
import functools
import os
from pathlib import Path

import mujoco
import numpy as np

from saltus.contact.bounding_spheres import may_touch
from saltus.contact.contact_list import add_contact
from saltus.contact.contact_tangents import carried
from saltus.contact.convex.bounding_boxes import boxes_near
from saltus.contact.counts import NLOST
from saltus.contact.mujoco.flex_collision import FlexForeign
from saltus.contact.pairs import pair_geom1, pair_geom2, pair_kind_of
from saltus.errors import ModelError
from saltus.model.contact.pair_table import MOST_OF_PAIR
from saltus.model.enums import HFIELD, NGEOMTYPE, SDF, pair_kind
from saltus.model.layout import DATA
from saltus.number.components import lane_count, lane_get, lane_set, value_of
from saltus.number.functions import any_lane
from saltus.number.intrinsics.calls import c_function
from saltus.number.intrinsics.memory import get, get_int, put
from saltus.number.kernels import kernel
from saltus.number.kinds import lane32
from saltus.spatial.quaternions import quat_multiply

ROOM = MOST_OF_PAIR + 14  # capacity of a lane's part of the buffer (contacts)
NUMBERS = 10  # number of reals of a contact: distance, position, normal, tangent (mjPreContact)

# mjfCollision: model, data, output, two geoms, margin (m); returns the number of contacts
_collide = c_function("int", "pointer", "pointer", "pointer", "int", "int", "double")


# ---------------------------------------------------------------- in Python: set-up for a Data


class Foreign:
    """Resources of MuJoCo's collision functions for one Data: scratch mjData and contact buffer. Made by `attach`."""

    def __init__(self, mj_model: mujoco.MjModel):
        self.model = mj_model
        self.data = mujoco.MjData(mj_model)
        self.contacts = np.zeros((lane32.width, ROOM, NUMBERS))
        self.functions = _functions()

    def addresses(self) -> dict[str, int]:
        """All addresses, by the names of Data's fields."""
        return {
            "foreign_functions": self.functions.ctypes.data,
            "foreign_model": address_of(self.model),
            "foreign_data": address_of(self.data),
            "foreign_geom_xpos": self.data.geom_xpos.ctypes.data,
            "foreign_geom_xmat": self.data.geom_xmat.ctypes.data,
            "foreign_geom_xquat": self.data.geom_xquat.ctypes.data,
            "foreign_contacts": self.contacts.ctypes.data,
        }


def attach(model, struct) -> Foreign | None:
    """Set up MuJoCo's functions for `struct`, a Data of a `saltus.model.model.Model`.

    Call it once for each Data, before kernels run on it; returns None if the model has no pairs for MuJoCo. The result
    is kept as `struct.foreign`: it must live as long as kernels run on the struct's buffers, and belongs only to this
    struct. Raises ModelError if MuJoCo cannot collide this model without an error. The counterpart for deformable
    bodies is kept as `struct.flex_foreign`.
    """
    struct.foreign = struct.flex_foreign = None
    if "flexforeign" in model.struct().layout.features:
        struct.flex_foreign = FlexForeign(model.mj_model, model.struct(), struct)
        struct.ints[DATA.slot["flexforeign_call"]] = struct.flex_foreign.address
    if "foreign" in model.struct().layout.features:
        check_stack(model.mj_model)
        struct.foreign = Foreign(model.mj_model)
        for name, address in struct.foreign.addresses().items():
            struct.ints[DATA.slot[name]] = address
    return struct.foreign


def address_of(own: mujoco.MjModel | mujoco.MjData) -> int:
    """Address of the C struct behind an object of MuJoCo's Python interface."""
    return own._address  # noqa: SLF001 (MuJoCo has no public door to it)


@functools.cache
def library() -> ctypes.CDLL:
    """MuJoCo's shared library, as loaded by its Python interface."""
    if os.name == "nt":
        return ctypes.CDLL(str(Path(mujoco.__file__).parent / "mujoco.dll"))
    # symbols are also searched for in its dependencies
    return ctypes.CDLL(mujoco._structs.__file__)  # noqa: SLF001 (MuJoCo has no public extension module)


@functools.cache
def _functions() -> np.ndarray:
    """Addresses of the functions by kind of pair [81], 0 for none."""
    table = (ctypes.c_void_p * NGEOMTYPE**2).in_dll(library(), "mjCOLLISIONFUNC")
    functions = np.array([f or 0 for f in table], np.int64)
    functions[pair_kind.py_func(HFIELD, SDF)] = 0  # this function only warns
    return functions


def check_stack(m: mujoco.MjModel) -> None:
    """Raise ModelError if a function could end the process."""
    size = getattr(library(), "mjc_ccdSize", None)
    if size is not None:
        size.restype = ctypes.c_size_t
        need = 4096 + size(int(m.npolygonmax), int(m.nmeshdegmax), int(m.opt.ccd_iterations))
        if m.narena < need:
            raise ModelError(
                f'{m.narena} bytes are too few for collision detection; set <size memory="{need}"/> or more'
            )


# ---------------------------------------------------------------- in kernels


@kernel
def foreign(m, d, n, c, reach):
    """Contacts of pair c from MuJoCo's function for its two types of geom; returns the new number of contacts.

    The pair's k-th slot holds each lane's k-th contact. In duals dist (m) and pos (m) have the tangents of two points,
    one fixed to each geom; the normal has none. For the nearest (or deepest) points the tangents of dist are exact:
    sliding of the points along the surfaces changes dist to second order only. The effects of sliding on pos and of the
    normal's rotation, which depend on the surfaces' curvature, are neglected; for corners on a plane they vanish.
    Further contacts of a pair, where faces meet, are not nearest points, so that sliding changes dist as well.

    Reads geom_xpos, geom_xmat. A Data without `attach` counts the pair as lost.
    """
    if d.foreign_model == 0:
        d.count[NLOST] = d.count[NLOST] + 1
        return n
    g1, g2 = pair_geom1(m, d, c), pair_geom2(m, d, c)
    # one call per lane: poses into the scratch mjData, contacts into the part of the buffer for the lane
    most = 0
    close = may_touch(m, d, g1, g2, reach)
    if any_lane(close > 0.5):
        close = close * boxes_near(m, d, g1, g2, reach)
    for i in range(lane_count(d.time)):
        count = 0
        if lane_get(value_of(close), i) > 0.5:
            copy_pose(d, g1, i)
            copy_pose(d, g2, i)
            if m.geom_type[g2] == SDF:
                copy_quat(m, d, g1, i)
                copy_quat(m, d, g2, i)
            function = get_int(d.foreign_functions, pair_kind_of(m, d, c))
            buffer = d.foreign_contacts + 8 * NUMBERS * ROOM * i
            own = lane_get(value_of(reach), i)
            if function != 0:
                count = _collide(function, (d.foreign_model, d.foreign_data, buffer, g1, g2, own))
        d.foreign_count[i] = count
        most = max(most, count)
    # contact k of the list holds the k-th contact of each lane
    for k in range(most):
        dist, pos, normal, tangent = contact_of_lanes(d, k, reach)
        dist, pos, normal = carried(m, d, g1, g2, dist, pos, normal)
        n = add_contact(m, d, n, c, reach, dist, pos, normal, tangent)
    return n


@kernel
def copy_pose(d, g, i):
    """Copy lane i's pose of geom g to the scratch mjData."""
    for k in range(3):
        put(d.foreign_geom_xpos, 3 * g + k, lane_get(value_of(d.geom_xpos[g, k]), i))
    for k in range(9):
        put(d.foreign_geom_xmat, 9 * g + k, lane_get(value_of(d.geom_xmat[g, k]), i))


@kernel
def copy_quat(m, d, g, i):
    """Copy lane i's orientation of geom g as a quaternion, which signed distance fields read."""
    quat = quat_multiply(d.xquat[m.geom_bodyid[g]], m.geom_quat[g])
    put(d.foreign_geom_xquat, 4 * g, lane_get(value_of(quat[0]), i))
    put(d.foreign_geom_xquat, 4 * g + 1, lane_get(value_of(quat[1]), i))
    put(d.foreign_geom_xquat, 4 * g + 2, lane_get(value_of(quat[2]), i))
    put(d.foreign_geom_xquat, 4 * g + 3, lane_get(value_of(quat[3]), i))


@kernel
def contact_of_lanes(d, k, reach):
    """Contact k of every lane: dist, pos, normal, tangent; out of reach in lanes with fewer contacts."""
    zero = 0.0 * d.time
    one = zero + 1.0
    # lanes with fewer contacts: out of reach, normal x
    dist = zero + (reach + 1.0)
    x = y = z = nx = ny = nz = tx = ty = tz = zero
    nx = one
    # gather mjPreContact: distance, position, normal, tangent
    for i in range(lane_count(d.time)):
        if k < d.foreign_count[i]:
            a = d.foreign_contacts
            p = NUMBERS * (ROOM * i + k)
            dist = lane_set(dist, i, get(a, p))
            x = lane_set(x, i, get(a, p + 1))
            y = lane_set(y, i, get(a, p + 2))
            z = lane_set(z, i, get(a, p + 3))
            nx = lane_set(nx, i, get(a, p + 4))
            ny = lane_set(ny, i, get(a, p + 5))
            nz = lane_set(nz, i, get(a, p + 6))
            tx = lane_set(tx, i, get(a, p + 7))
            ty = lane_set(ty, i, get(a, p + 8))
            tz = lane_set(tz, i, get(a, p + 9))
    return dist, (x, y, z), (nx, ny, nz), (tx, ty, tz)
