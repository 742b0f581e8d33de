"""How points and bodies move with the joints."""

from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, cross, sub3


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
        axis = (s[0], s[1], s[2])
        linear = add3((s[3], s[4], s[5]), cross(axis, r))
        for k in range(3):
            rotation[k, i] = s[k]
            translation[k, i] = linear[k]
        i = m.dof_parentid[i]
