"""Residuals of closed loops and their exact Jacobians: connect, weld and joint constraints, as tasks of a problem.

The kernels write as those of `saltus.inverse.kinematics.rows.targets`.
"""

from saltus.contact.rows.coupling import coupling
from saltus.contact.rows.equality import anchors, orientations
from saltus.inverse.kinematics.rows.targets import combined, put_residual, rotation_error
from saltus.model.enums import CONNECT
from saltus.number.functions import absolute
from saltus.number.kernels import kernel
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import length3, sub3


@kernel(inline=True)
def joined_bodies(m, k):
    """The two bodies of a connect or weld constraint."""
    chain = m.eq_chain[k]
    return m.chain_body2[chain], m.chain_body1[chain]


@kernel
def clear_paths(m, first, second, J, row):
    """Zeros in three rows of the Jacobian for what moves either body."""
    for body in (first, second):
        i = m.body_lastdof[body]
        while i >= 0:
            J[row, i] = J[row + 1, i] = J[row + 2, i] = 0.0
            i = m.dof_parentid[i]


@kernel(inline=True)
def add_column(J, row, i, weight, rate):
    """Add to three rows of the Jacobian for degree of freedom i."""
    J[row, i] += weight * rate[0]
    J[row + 1, i] += weight * rate[1]
    J[row + 2, i] += weight * rate[2]


@kernel
def anchor_rows(m, d, k, weight, J, r, row):
    """p₁ - p₂ of connect or weld constraint k (m)."""
    first, second = joined_bodies(m, k)
    point1, point2 = anchors(m, d, k, 3 if m.eq_type[k] == CONNECT else 6, first, second)
    error = sub3(point1, point2)
    put_residual(r, row, weight, error)
    clear_paths(m, first, second, J, row)
    arm1 = sub3(point1, d.subtree_com[m.body_rootid[first]])
    arm2 = sub3(point2, d.subtree_com[m.body_rootid[second]])
    i = m.body_lastdof[first]
    while i >= 0:
        add_column(J, row, i, weight, velocity_at(d.cdof[i], arm1))
        i = m.dof_parentid[i]
    i = m.body_lastdof[second]
    while i >= 0:
        add_column(J, row, i, -weight, velocity_at(d.cdof[i], arm2))
        i = m.dof_parentid[i]
    return length3(error)


@kernel
def alignment_rows(m, d, k, weight, J, r, row):
    """log(q₂* q₁) of weld constraint k (rad)."""
    first, second = joined_bodies(m, k)
    quat1, quat2 = orientations(m, d, k, first, second)
    error, x, y, z = rotation_error(quat2, quat1)
    put_residual(r, row, weight, error)
    clear_paths(m, first, second, J, row)
    i = m.body_lastdof[first]
    while i >= 0:
        add_column(J, row, i, weight, combined(x, y, z, d.cdof[i]))
        i = m.dof_parentid[i]
    i = m.body_lastdof[second]
    while i >= 0:
        add_column(J, row, i, -weight, combined(x, y, z, d.cdof[i]))
        i = m.dof_parentid[i]
    return length3(error)


@kernel
def coupling_row(m, d, k, weight, J, r, row):
    """q₁ - q₁⁰ less its coupling to q₂ - q₂⁰, or a constant, of joint constraint k (rad, m)."""
    one, two = m.eq_obj1[k], m.eq_obj2[k]
    error = d.qpos[m.jnt_qposadr[one]] - m.qpos0[m.jnt_qposadr[one]] - m.eq_data[k, 0]
    J[row, m.jnt_dofadr[one]] = weight
    if two >= 0:
        rise, slope = coupling(m, k, d.qpos[m.jnt_qposadr[two]] - m.qpos0[m.jnt_qposadr[two]])
        error = error - rise
        J[row, m.jnt_dofadr[two]] = -weight * slope
    r[row] = weight * error
    return absolute(error)
