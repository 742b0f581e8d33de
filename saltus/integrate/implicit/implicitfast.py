"""The Euler method implicit in damping and actuators, with a symmetric matrix: MuJoCo's `implicitfast`.

    (M - h D) a = f(q, v),   v' = v + h a,   q' = q ⊕ h v'

D omits the derivative of Coriolis and centrifugal forces, so that M - h D is symmetric and as sparse as M, except for
free bodies without attached bodies, which keep their gyroscopic term. Where forces couple joints, D has the pattern of
M, and is diagonal where MuJoCo knows M to be. Damping of deformable bodies is included in full.
"""

from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.flex.tangent import has_flex_damping
from saltus.dynamics.force_derivative import actuation_derivative, couples
from saltus.dynamics.smooth import solve_stage
from saltus.integrate.implicit.implicit import solve_with_derivative
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import advance
from saltus.number.kernels import kernel
from saltus.solve.acceleration import forces


@kernel
def step(m, d, h):
    """One step of h seconds."""
    status = forces(m, d, m.has_freebody)
    if m.has_freebody or couples(m) or has_flex_damping(m):
        status = max(status, solve_with_derivative(m, d, h, 1))
    else:
        actuation_derivative(m, d)
        for i in awake_dofs(m, d):
            d.slope[i] = d.qfrc_damper_slope[i] - d.qfrc_actuator_slope[i]
        solve_stage(m, d, h, d.slope)
    advance(m, d, h)
    return status


IMPLICITFAST = Integrator(
    name="implicitfast",
    order=1,
    kind="implicit",
    reference="MuJoCo documentation, Computation: Numerical integration (fast implicit-in-velocity)",
    step=step,
    leaves="implicit",
    needs={"implicit": True, "pcg": "flex"},
)
