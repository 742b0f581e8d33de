"""The semi-implicit Euler method with implicit joint damping: MuJoCo's default.

    (M + h B) a = f(q, v),   v' = v + h a,   q' = q ⊕ h v'

with B the slope of the dampers. Without damping this is the symplectic Euler method (Hairer, Lubich & Wanner, Geometric
Numerical Integration (2006), theorem VI.3.3).
"""

from saltus.dynamics.smooth import solve_stage
from saltus.integrate.fixed.euler_adjoint.parameters import adjoint_of_parameters
from saltus.integrate.fixed.euler_adjoint.state import adjoint_of_state
from saltus.integrate.fixed.euler_jacobian import jacobian
from saltus.integrate.fixed.euler_tangents import keep_for_tangents, tangent_step
from saltus.integrate.integrator import Integrator
from saltus.integrate.manifold import advance
from saltus.number.kernels import kernel
from saltus.solve.acceleration import forces


@kernel
def step(m, d, h):
    """One step of h seconds."""
    status = forces(m, d, 0)
    solve_stage(m, d, h * m.implicit_damping, d.qfrc_damper_slope)
    advance(m, d, h)
    return status


EULER = Integrator(
    name="euler",
    order=1,
    kind="semi-implicit",
    reference="MuJoCo documentation, Computation: Numerical integration; Hairer, Lubich & Wanner (2006), VI.3",
    step=step,
    leaves="damped",
    tangent_step=(tangent_step, keep_for_tangents),
    jacobian=jacobian,
    adjoints=(adjoint_of_parameters, adjoint_of_state),
)
