"""Inertia of a time step that is implicit in dampers, servos and drag: M + θ h S, as sparse as M.

S = -df/dv is the symmetric part that `implicitfast` uses (see `saltus.integrate.implicit.implicitfast`): joint dampers,
velocity gains of actuators, damping of tendons and drag. It omits gyroscopic forces, and forces along the motion, which
do not affect stability.
"""

from saltus.dynamics.equations import joint_inertia
from saltus.dynamics.fluid.force_derivative import fluid_derivative
from saltus.dynamics.force_derivative import actuation_derivative, add_tendon_damping, couples
from saltus.dynamics.tree.bias_derivative import clear_derivative
from saltus.dynamics.tree.factor import factor
from saltus.number.conditions import has
from saltus.number.functions import any_lane, maximum, minimum, where
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
    """M ← M + weight S, and its factors; `weight`: s.

    If S couples joints, its entries outside the pattern of M are lost, which may make the sum indefinite. S is then
    used without the coupling.
    """
    joint_inertia(m, d)
    for k in range(m.nC):
        d.M[k] = d.M[k] + weight * d.lower[k]
    factor(m, d)
    if couples(m):
        least = least_pivot(m, d)
        if any_lane(least <= 0.0):
            positive = least > 0.0
            for i in range(m.nv):
                for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i] - 1):
                    d.M[k] = where(positive, d.M[k], d.M[k] - weight * d.lower[k])
                    d.lower[k] = where(positive, d.lower[k], 0.0 * d.lower[k])
            factor(m, d)


@kernel
def least_pivot(m, d):
    """The least inverse pivot, at most 1, of the matrix that is factored in qLD: above 0 if it is positive definite."""
    least = 1.0 + 0.0 * d.time
    for i in range(m.nv):
        if has(m, "prescribed") and m.dof_prescribed[i]:
            continue
        least = minimum(least, d.qLDiagInv[i])
    return least
