"""The inertia of a step of time that takes dampers, servos and drag implicitly: M + θ h S, as sparse as M.

S = -df/dv is what `implicitfast` takes (see `saltus.integrate.implicit.implicitfast`), symmetric: joint dampers, the
velocity gains of actuators, damping of tendons and drag. It leaves out gyroscopic forces, and forces that push along
with the motion, which are no matter of stability.
"""

from saltus.dynamics.equations import joint_inertia
from saltus.dynamics.fluid.force_derivative import fluid_derivative
from saltus.dynamics.force_derivative import actuation_derivative, add_tendon_damping, couples
from saltus.dynamics.tree.bias_derivative import clear_derivative
from saltus.dynamics.tree.factor import factor
from saltus.number.functions import maximum, minimum
from saltus.number.kernels import kernel


@kernel
def step_damping(m, d):
    """lower [nC] ← S (N s/m, N m s) at the present forces, after `force_stage`. Overwrites upper [nC]."""
    clear_derivative(m, d)
    actuation_derivative(m, d)
    if couples(m):
        add_tendon_damping(m, d)
        fluid_derivative(m, d, 1)
        for k in range(m.nC):
            d.lower[k] = 0.5 * (d.lower[k] + d.upper[k])
    for i in range(m.nv):
        k = m.M_rowadr[i] + m.M_rownnz[i] - 1
        slope = d.lower[k] + d.qfrc_damper_slope[i] - d.qfrc_actuator_slope[i]
        d.lower[k] = maximum(slope, 0.0 * slope)


@kernel
def step_inertia(m, d, weight):
    """M ← M + weight S with its factors; `weight`: s.

    Where S couples joints, what has no place in M may leave it indefinite. A sum that has lost its definiteness
    thereby goes without the coupling.
    """
    joint_inertia(m, d)
    for k in range(m.nC):
        d.M[k] = d.M[k] + weight * d.lower[k]
    factor(m, d)
    if couples(m) and not is_positive(m, d):
        for i in range(m.nv):
            for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
                d.M[k] = d.M[k] - weight * d.lower[k]
                d.lower[k] = 0.0
        factor(m, d)


@kernel
def is_positive(m, d):
    """Whether the matrix is positive definite whose factors are in the Data."""
    least = 1.0 + 0.0 * d.time
    for i in range(m.nv):
        least = minimum(least, d.qLDiagInv[i])
    return least > 0.0
