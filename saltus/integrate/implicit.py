"""Euler's method implicit in all velocities: MuJoCo's `implicit`.

    (M - h D) a = f(q, v),   v' = v + h a,   q' = q ⊕ h v',   D = df/dv

One linear solve: the first Newton step of the implicit equation. D holds dampers, actuators and the bias; its sign
is that of the force, so that damping makes it negative.
"""

from saltus.dynamics.bias import joint_forces
from saltus.dynamics.derivative import actuation_derivative, bias_derivative
from saltus.dynamics.inertia import composite_inertia
from saltus.dynamics.unsymmetric import unsymmetric_solve
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import advance
from saltus.number.kernels import kernel
from saltus.solve.acceleration import forces


@kernel
def step(m, d, h):
    """One step of h seconds."""
    status = forces(m, d, 1)
    solve_with_derivative(m, d, h, 0)
    advance(m, d, h)
    return status


@kernel
def solve_with_derivative(m, d, h, free_only):
    """qacc [nv] = (M - h D)⁻¹ f after `force_stage`; the bias's part of D for free bodies only if `free_only`."""
    composite_inertia(m, d)
    bias_derivative(m, d, free_only)
    actuation_derivative(m, d)
    for k in range(m.nC):
        d.upper[k] = d.M[k] + h * d.upper[k]
        d.lower[k] = d.M[k] + h * d.lower[k]
    for i in range(m.nv):
        k = m.M_rowadr[i] + m.M_rownnz[i] - 1
        d.lower[k] = d.lower[k] + h * (d.qfrc_damper_slope[i] - d.qfrc_actuator_slope[i])
    joint_forces(m, d, d, d.qfrc_bias)
    for i in range(m.nv):
        d.qacc[i] = d.qfrc_given[i] - d.qfrc_bias[i]
    unsymmetric_solve(m, d, d.qacc)


IMPLICIT = Integrator(
    name="implicit",
    order=1,
    kind="implicit",
    reference="MuJoCo documentation, Computation: Numerical integration (implicit-in-velocity)",
    step=step,
    needs={"implicit": True},
)
