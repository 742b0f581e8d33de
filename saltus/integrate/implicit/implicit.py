"""The Euler method implicit in velocities: MuJoCo's `implicit`.

    (M - h D) a = f(q, v),   v' = v + h a,   q' = q ⊕ h v',   D = df/dv

A step is one linear solve: the first Newton iteration of the implicit equation. D contains dampers, actuators, fluid
forces and the bias forces, within the sparsity pattern of M, and all damping of deformable bodies; it has the sign of
the force, so that damping makes it negative. MuJoCo 4.0 has no elastic bodies under this method.
"""

from saltus.dynamics.awake.walks import awake_dofs, awake_entries
from saltus.dynamics.equations import bias_force, joint_inertia, velocity_derivative
from saltus.dynamics.flex.tangent import flex_damping_tangent, has_flex_damping
from saltus.dynamics.fluid.force_derivative import fluid_derivative
from saltus.dynamics.force_derivative import actuation_derivative, add_tendon_damping, couples
from saltus.dynamics.tree.bias_derivative import clear_derivative
from saltus.dynamics.tree.guided.prescribed import put_prescribed, separate_prescribed
from saltus.dynamics.tree.tree_rows import keep_to_branches
from saltus.dynamics.tree.unsymmetric import unsymmetric_solve
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import advance
from saltus.number.conditions import has
from saltus.number.kernels import kernel
from saltus.solve.acceleration import forces
from saltus.solve.implicit.bicgstab import bicgstab
from saltus.solve.status import NOT_CONVERGED, OK


@kernel
def step(m, d, h):
    """One step of h seconds."""
    status = forces(m, d, 1)
    status = max(status, solve_with_derivative(m, d, h, 0))
    advance(m, d, h)
    return status


@kernel
def solve_with_derivative(m, d, h, fast):
    """qacc [nv] = (M - h D)⁻¹ f after `force_stage`; D of `implicitfast` if `fast`. Returns a status."""
    # A = M - h D in lower and upper
    joint_inertia(m, d)
    derivative(m, d, fast)
    for k in awake_entries(m, d):
        d.upper[k] = d.M[k] + h * d.upper[k]
        d.lower[k] = d.M[k] + h * d.lower[k]
    for i in awake_dofs(m, d):
        k = m.M_rowadr[i] + m.M_rownnz[i] - 1
        d.lower[k] = d.lower[k] + h * (d.qfrc_damper_slope[i] - d.qfrc_actuator_slope[i])
    # a = A⁻¹ (τ - bias)
    bias_force(m, d, d)
    for i in awake_dofs(m, d):
        d.qacc[i] = d.qfrc_tau[i] - d.qfrc_bias[i]
    if has(m, "flex") and has_flex_damping(m):  # A has entries outside lower and upper
        flex_damping_tangent(m, d, h)
        return NOT_CONVERGED if bicgstab(m, d, d.qacc) else OK
    separate_prescribed(m, d, d.qacc)
    unsymmetric_solve(m, d, d.qacc)
    put_prescribed(m, d, d.qacc)
    return OK


@kernel
def derivative(m, d, fast):
    """-D in lower and upper [nC], except for the diagonals qfrc_damper_slope and qfrc_actuator_slope [nv].

    If `fast`, the bias contributes only for free bodies without attached bodies, and the rest is made symmetric.
    """
    # Coriolis, centrifugal and gyroscopic forces
    if fast and not m.has_freebody:
        clear_derivative(m, d)
    else:
        velocity_derivative(m, d, fast)
        keep_to_branches(m, d)
    # actuators, tendons, medium
    actuation_derivative(m, d)
    add_tendon_damping(m, d)
    fluid_derivative(m, d, fast)
    if fast and couples(m):
        make_symmetric(m, d)


@kernel
def make_symmetric(m, d):
    """upper ← lower except for free bodies; as in MuJoCo, rows of M known to be diagonal keep only the diagonal."""
    for i in awake_dofs(m, d):
        if not m.dof_freebody[i]:
            for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
                if m.dof_simple[i]:
                    d.lower[k] = 0.0 * d.time
                d.upper[k] = d.lower[k]


IMPLICIT = Integrator(
    name="implicit",
    order=1,
    kind="implicit",
    reference="MuJoCo documentation, Computation: Numerical integration (implicit-in-velocity)",
    step=step,
    leaves="implicit",
    needs={"implicit": True, "pcg": "flex"},
)
