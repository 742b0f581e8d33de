"""Solution of M x = force - bias: by articulated bodies, or by the factored inertia matrix.

The articulated-body algorithm passes forces from body to body. Tendon armature couples joints across branches, and
user-given equations know only joints; with either, the inertia matrix is assembled and factored.
"""

from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.equations import EQUATIONS, bias_force, joint_inertia
from saltus.dynamics.tree.articulated_body import articulated_factor, articulated_solve
from saltus.dynamics.tree.factor import factor, solve
from saltus.dynamics.tree.guided.prescribed import put_prescribed, take_prescribed
from saltus.number.conditions import has
from saltus.number.kernels import kernel


@kernel
def inertia_factor(m, d, h, slope):
    """Factor M + h diag(slope) for `inertia_solve`, with a field slope [nv] (N m s), read if h is not zero."""
    if not has(m, "tendon_armature", EQUATIONS):
        articulated_factor(m, d, h, slope)
        return
    joint_inertia(m, d)
    if h != 0.0:
        for i in awake_dofs(m, d):
            k = m.M_rowadr[i] + m.M_rownnz[i] - 1
            d.M[k] = d.M[k] + h * slope[i]
    factor(m, d)


@kernel
def inertia_solve(m, p, d, force, moving, x):
    """x ← (M + h diag(slope))⁻¹ (force - bias) for fields force, x [nv], after `inertia_factor` on p.

    p is d, or a Data of plain numbers at the same positions. The bias is that of cfrc_body, cvel and cacc [nbody, 6] if
    `moving` is 1, else zero.
    """
    if not has(m, "tendon_armature", EQUATIONS):
        articulated_solve(m, p, d, force, moving, x)
        return
    for i in awake_dofs(m, d):
        x[i] = force[i]
    if moving:
        bias_force(m, p, d)
        for i in awake_dofs(m, d):
            x[i] = x[i] - d.qfrc_bias[i]
        take_prescribed(m, d, x, p.M)
    solve(m, p, x)
    if moving:
        put_prescribed(m, d, x)
