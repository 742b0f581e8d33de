"""Forces from outside: Cartesian forces on bodies as joint forces."""

from saltus.number.kernels import kernel
from saltus.spatial.motions import dot6
from saltus.spatial.vectors import add3, cross, sub3


@kernel
def add_body_force(m, d, qfrc, b, force, torque):
    """Add to the field qfrc [nv] the joint forces Jᵀ f of a force and torque at body b's centre of mass.

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
def add_cartesian_forces(m, d, qfrc):
    """Add the joint forces of xfrc_applied [nbody, 6] (N, N m) to the field qfrc [nv]."""
    for b in range(1, m.nbody):
        f = d.xfrc_applied[b]
        add_body_force(m, d, qfrc, b, (f[0], f[1], f[2]), (f[3], f[4], f[5]))
