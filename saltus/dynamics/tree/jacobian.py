"""Jacobians of points and bodies."""

from saltus.number.kernels import kernel
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import sub3


@kernel
def point_jacobian(m, d, point, b, translation, rotation):
    """Jacobians of the velocity of a world point fixed to body b, and of b's angular velocity.

    `point` (m, world axes) is a tuple. Writes the arrays translation and rotation [3, nv]; needs `com_dof`.
    """
    for i in range(m.nv):
        for k in range(3):
            translation[k, i] = 0.0
            rotation[k, i] = 0.0
    r = sub3(point, d.subtree_com[m.body_rootid[b]])
    i = m.body_lastdof[b]
    while i >= 0:
        s = d.cdof[i]
        linear = velocity_at(s, r)
        for k in range(3):
            rotation[k, i] = s[k]
            translation[k, i] = linear[k]
        i = m.dof_parentid[i]
