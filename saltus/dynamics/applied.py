"""Generalised forces of Cartesian forces and torques on bodies."""

from saltus.dynamics.awake.walks import all_awake_bodies
from saltus.number.kernels import kernel
from saltus.spatial.motions import dot6
from saltus.spatial.vectors import add3, cross, dot3, sub3


@kernel
def add_body_force(m, d, qfrc, b, force, torque):
    """Add to the field qfrc [nv] the generalised forces Jᵀ f of a force and torque at body b's centre of mass.

    force (N) and torque (N m) in world axes.
    """
    r = sub3(d.xipos[b], d.subtree_com[m.body_rootid[b]])
    moment = add3(torque, cross(r, force))
    wrench = (moment[0], moment[1], moment[2], force[0], force[1], force[2])
    i = m.body_lastdof[b]
    while i >= 0:
        qfrc[i] = qfrc[i] + dot6(d.cdof[i], wrench)
        i = m.dof_parentid[i]


@kernel
def add_power(m, d, row, dofs, span, b, force, moment, stop):
    """Add to a sparse row the generalised forces of a force and moment on body b: row += s · (moment, force).

    Only degrees of freedom s that move the body and come after `stop` on the path from the root are used. A `span`
    (first entry, count) of the fields `row` and `dofs` is used, with degrees of freedom in ascending order; those
    without an entry are skipped. The force (N) and moment (N m) are about the tree's centre of mass, in world axes.
    """
    first, count = span
    i = m.body_lastdof[b]
    k = first + count - 1
    while i > stop:
        while k >= first and dofs[k] > i:
            k -= 1
        if k >= first and dofs[k] == i:
            s = d.cdof[i]
            row[k] = row[k] + dot3((s[0], s[1], s[2]), moment) + dot3((s[3], s[4], s[5]), force)
        i = m.dof_parentid[i]


@kernel
def add_cartesian_forces(m, d, qfrc):
    """Add the generalised forces of xfrc_applied [nbody, 6] (N, N m) to the field qfrc [nv]."""
    for b in all_awake_bodies(m, d):
        f = d.xfrc_applied[b]
        add_body_force(m, d, qfrc, b, (f[0], f[1], f[2]), (f[3], f[4], f[5]))
