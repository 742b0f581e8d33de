"""Residuals of targets and their exact Jacobians: points, orientations, directions, centres of mass.

Each kernel writes three rows of the residual r and of the Jacobian J = dr/dv [rows, nv], both times the target's
weight, and returns the length of the residual without weight (m or rad). Entries of J for degrees of freedom that do
not move the target are never written: they are zero from the beginning. Needs poses and motion axes cdof.
"""

from saltus.number.functions import atan2
from saltus.number.kernels import kernel
from saltus.spatial.motions import velocity_at
from saltus.spatial.quaternions import dexp_inverse, quat_conjugate, quat_log, quat_multiply, quat_rotate
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, length3, matrix_times_vector, scale3, sub3


@kernel(inline=True)
def put_residual(r, row, weight, error):
    """Three rows of the residual."""
    r[row], r[row + 1], r[row + 2] = weight * error[0], weight * error[1], weight * error[2]


@kernel(inline=True)
def put_column(J, row, i, weight, rate):
    """Three rows of the Jacobian for degree of freedom i."""
    J[row, i], J[row + 1, i], J[row + 2, i] = weight * rate[0], weight * rate[1], weight * rate[2]


@kernel(inline=True)
def world_point(m, d, body, local):
    """World position (m) of a point of a body, and its arm from the reference point of cdof."""
    at = add3(d.xpos[body], matrix_times_vector(d.xmat[body], local))
    return at, sub3(at, d.subtree_com[m.body_rootid[body]])


@kernel
def position_rows(m, d, body, local, goal, weight, J, r, row):
    """x - x*: a point of a body, in its frame, and its goal (m, world axes)."""
    at, arm = world_point(m, d, body, local)
    error = sub3(at, goal)
    put_residual(r, row, weight, error)
    i = m.body_lastdof[body]
    while i >= 0:
        put_column(J, row, i, weight, velocity_at(d.cdof[i], arm))
        i = m.dof_parentid[i]
    return length3(error)


@kernel(inline=True)
def rotation_error(goal, quat):
    """The rotation vector e with quat = goal exp(e), and the columns of the matrix that maps ω (world axes) to de/dt.

    de/dt = dexp⁻¹(e) Rᵀ ω (see `dexp_inverse`), with the rotation R of quat.
    """
    error = quat_log(quat_multiply(quat_conjugate(goal), quat))
    back = quat_conjugate(quat)
    zero = 0.0 * error[0]
    one = 1.0 + zero
    x = dexp_inverse(error, quat_rotate(back, (one, zero, zero)))
    y = dexp_inverse(error, quat_rotate(back, (zero, one, zero)))
    z = dexp_inverse(error, quat_rotate(back, (zero, zero, one)))
    return error, x, y, z


@kernel(inline=True)
def combined(x, y, z, s):
    """x s₀ + y s₁ + z s₂."""
    return add_scaled3(add_scaled3(scale3(s[0], x), s[1], y), s[2], z)


@kernel
def orientation_rows(m, d, body, local, goal, weight, J, r, row):
    """log(goal* q): a frame of a body, given by its quaternion there, and its goal."""
    error, x, y, z = rotation_error(goal, quat_multiply(d.xquat[body], local))
    put_residual(r, row, weight, error)
    i = m.body_lastdof[body]
    while i >= 0:
        put_column(J, row, i, weight, combined(x, y, z, d.cdof[i]))
        i = m.dof_parentid[i]
    return length3(error)


@kernel(inline=True)
def angle_between(a, u):
    """Angle (rad) between two unit vectors, exact for small ones."""
    return atan2(length3(cross(a, u)), dot3(a, u))


@kernel(inline=True)
def frame_axis(d, body, local):
    """World direction of the z-axis of a frame of a body."""
    zero = 0.0 * d.time
    return quat_rotate(quat_multiply(d.xquat[body], local), (zero, zero, zero + 1.0))


@kernel
def direction_rows(m, d, body, local, goal, weight, J, r, row):
    """a - u: the z-axis of a frame of a body and a world direction, unit vectors; returns their angle."""
    axis = frame_axis(d, body, local)
    put_residual(r, row, weight, sub3(axis, goal))
    i = m.body_lastdof[body]
    while i >= 0:
        s = d.cdof[i]
        put_column(J, row, i, weight, cross((s[0], s[1], s[2]), axis))
        i = m.dof_parentid[i]
    return angle_between(axis, goal)


@kernel
def look_rows(m, d, body, local, turn, goal, weight, J, r, row):
    """a - u with u the direction from the frame's origin x to a world point: du/dt = -(1 - u uᵀ) dx/dt / distance."""
    at, arm = world_point(m, d, body, local)
    axis = frame_axis(d, body, turn)
    line = sub3(goal, at)
    near = 1.0 / (length3(line) + 1e-9)  # a point in the frame's origin has no direction
    towards = scale3(near, line)
    put_residual(r, row, weight, sub3(axis, towards))
    i = m.body_lastdof[body]
    while i >= 0:
        s = d.cdof[i]
        move = velocity_at(s, arm)
        across = add_scaled3(move, -dot3(towards, move), towards)
        put_column(J, row, i, weight, add_scaled3(cross((s[0], s[1], s[2]), axis), near, across))
        i = m.dof_parentid[i]
    return angle_between(axis, towards)


@kernel
def com_rows(m, d, body, movers, goal, weight, J, r, row):
    """c - c*: the centre of mass of a body's subtree; movers [nv]: the subtree that each dof moves of it, or -1."""
    error = sub3(d.subtree_com[body], goal)
    put_residual(r, row, weight, error)
    for i in range(m.nv):
        b = movers[i]
        if b >= 0:
            share = m.body_inv_subtreemass[body] / m.body_inv_subtreemass[b]
            arm = sub3(d.subtree_com[b], d.subtree_com[m.body_rootid[m.dof_bodyid[i]]])
            put_column(J, row, i, weight * share, velocity_at(d.cdof[i], arm))
    return length3(error)
