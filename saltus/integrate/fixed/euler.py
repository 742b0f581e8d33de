"""The semi-implicit Euler method with implicit joint damping: MuJoCo's default.

    (M + h B) a = f(q, v),   v' = v + h a,   q' = q ⊕ h v'

with B the slope of the dampers. Without damping this is the symplectic Euler method (Hairer, Lubich & Wanner, Geometric
Numerical Integration (2006), theorem VI.3.3).
"""

from saltus.dynamics.joint_space import inertia_solve
from saltus.dynamics.smooth import applied_forces, position_stage, solve_stage
from saltus.dynamics.tree.rnea import newton_euler_backward, newton_euler_forward
from saltus.dynamics.tree.tendon_inertia import add_fixed_tendon_forces
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import advance
from saltus.number.components import frozen
from saltus.number.kernels import kernel, only_with
from saltus.solve.acceleration import forces


@kernel
def step(m, d, h):
    """One step of h seconds."""
    status = forces(m, d, 0)
    solve_stage(m, d, h * m.implicit_damping, d.qfrc_damper_slope)
    advance(m, d, h)
    return status


@kernel
def tangent_step(m, p, d, h, level):
    """Tangents of the step, after `step` on p at the same values: cheaper than differentiating the solve.

    (M + h B) a = f implies da = (M + h B)⁻¹ d(f - (M + h B) a) with a held constant on the right, which is inverse
    dynamics. `level` says which inputs have tangents in d: 0 controls, 1 velocities too, 2 positions too.
    """
    # inverse dynamics M a + bias at the accelerations of p
    for i in range(m.nv):
        d.qacc[i] = p.qacc[i]
    if level > 1:
        position_stage(m, d, 0)
        newton_euler_forward(m, d, d, 1, m.keep_bodies)
        newton_euler_backward(m, d, d, d.qfrc_inverse)
    elif level > 0:
        newton_euler_forward(m, p, d, 1, m.keep_bodies)
        newton_euler_backward(m, p, d, d.qfrc_inverse)
    # residual f - (M + h B) a
    applied_forces(m, d)
    if level > 0:
        add_fixed_tendon_forces(m, p, d, d.qfrc_inverse)
        for i in range(m.nv):
            inertia = m.dof_armature[i] + h * m.implicit_damping * d.qfrc_damper_slope[i]
            d.qfrc_tau[i] = d.qfrc_tau[i] - d.qfrc_inverse[i] - inertia * d.qacc[i]
    # da = (M + h B)⁻¹ of its tangents, with the factor in p
    for i in range(m.nv):
        d.qfrc_tau[i] = d.qfrc_tau[i] - frozen(d.qfrc_tau[i])
    inertia_solve(m, p, d, d.qfrc_tau, 0, d.qstep)
    for i in range(m.nv):
        d.qacc[i] = d.qacc[i] + d.qstep[i]
    advance(m, d, h)


@kernel
def keep_for_tangents(m, p, d):
    """Copy to d the position fields read by forces on bodies; `tangent_step` computes them only at level 2."""
    for i in range(m.nv):
        for k in range(6):
            d.cdof[i, k] = p.cdof[i, k]
    for b in range(m.nbody):
        for k in range(3):
            d.xipos[b, k] = p.xipos[b, k]
            d.subtree_com[b, k] = p.subtree_com[b, k]
    keep_tendons(m, p, d)


@only_with("tendon")
@kernel
def keep_tendons(m, p, d):
    """Copy lengths and Jacobians of tendons from p to d."""
    for t in range(m.ntendon):
        d.ten_length[t] = p.ten_length[t]
    for k in range(m.ntenJ):
        d.ten_J[k] = p.ten_J[k]


EULER = Integrator(
    name="euler",
    order=1,
    kind="semi-implicit",
    reference="MuJoCo documentation, Computation: Numerical integration; Hairer, Lubich & Wanner (2006), VI.3",
    step=step,
    leaves="damped",
    tangent_step=(tangent_step, keep_for_tangents),
)
