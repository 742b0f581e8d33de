"""Functions of time as machine code that gives positions with their first and second derivatives."""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

import math

from numba import types
from numba.extending import intrinsic, overload

from saltus.number.internals import cgutils
from saltus.number.intrinsics.calls import called_at
from saltus.number.jets import functions, operators  # noqa: F401  (what jets can do)
from saltus.number.jets.jet import FLOAT, jet, parts_of
from saltus.number.kernels import PLAIN, kernel
from saltus.number.kinds import is_real

JOINT, POSE = 3, 22  # numbers of a joint's motion, and of a body's


def joint_numbers(q):
    """Value, velocity and acceleration of a joint's position, for a jet or a number."""


@overload(joint_numbers)
def _joint_numbers(q):
    if q == jet or is_real(q):
        return lambda q: parts_of(q)


def pose_numbers(pose):
    """22 numbers of a body's pose, given as a position of jets or as a pair of this and a quaternion.

    1 if the orientation is given, else 0; then x, y, z and the quaternion, their velocities, their accelerations.
    """


@overload(pose_numbers)
def _pose_numbers(pose):
    if _is_vector(pose, 3):
        return lambda pose: _numbers_of(0.0, pose, (1.0, 0.0, 0.0, 0.0))
    if isinstance(pose, types.BaseTuple) and len(pose) == 2 and _is_vector(pose[0], 3) and _is_vector(pose[1], 4):
        return lambda pose: _numbers_of(1.0, pose[0], pose[1])


def _is_vector(given, count):
    return isinstance(given, types.BaseTuple) and len(given) == count and all(x == jet or is_real(x) for x in given)


@kernel(inline=True)
def _numbers_of(given, pos, quat):
    x, y, z = parts_of(pos[0]), parts_of(pos[1]), parts_of(pos[2])
    a, b, c, d = parts_of(quat[0]), parts_of(quat[1]), parts_of(quat[2]), parts_of(quat[3])
    return (
        *(given, x[0], y[0], z[0], a[0], b[0], c[0], d[0]),
        *(x[1], y[1], z[1], a[1], b[1], c[1], d[1]),
        *(x[2], y[2], z[2], a[2], b[2], c[2], d[2]),
    )


def motion_caller(count):
    """call(address, (time,)): so many numbers of the motion at an address (see `Entry.address`); NaN if it raises."""
    result = types.UniTuple(FLOAT, count)

    @intrinsic
    def call(typingctx, address, arguments):
        def codegen(context, builder, sig, args):
            status, found = called_at(context, builder, result, sig, args)
            nan = context.get_constant(FLOAT, math.nan)
            numbers = [builder.select(status.is_error, nan, x) for x in cgutils.unpack_tuple(builder, found, count)]
            return context.make_tuple(builder, result, numbers)

        return result(types.int64, arguments), codegen

    return call


call_joint, call_body = motion_caller(JOINT), motion_caller(POSE)


def _only_compiled(address, arguments):
    raise NotImplementedError("prescribed motions are machine code, which kernels call where they are compiled alone")


PLAIN.update({call_joint: _only_compiled, call_body: _only_compiled})
