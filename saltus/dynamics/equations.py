"""Inertia matrix and bias force of the equations of motion M dv/dt + bias = forces: of the bodies, or user-given.

User-given equations are two kernels. `inertia(m, d)` writes M [nC] from qpos: row i starts at M_rowadr[i] and holds the
entries of the degrees of freedom in M_colind, i's ancestors in ascending order and i itself last. `bias(m, d)` writes
qfrc_bias [nv] (N, N m) from qpos and qvel. They replace the inertia of bodies and armature, and the Coriolis,
centrifugal and gravitational forces; all other generalised forces are unaffected. A layout refers to them by a feature
key with the prefix `EQUATIONS` (see `saltus.dynamics.user_laws`).
"""

from numba.extending import overload

from saltus.dynamics.tree.bias_derivative import bias_derivative
from saltus.dynamics.tree.factor import multiply
from saltus.dynamics.tree.inertia import composite_inertia
from saltus.dynamics.tree.rnea import inverse, newton_euler_backward
from saltus.dynamics.user_laws import check_types, laws_of
from saltus.number.conditions import has
from saltus.number.features import looks_at
from saltus.number.kernels import CHOICE, interpret, kernel, only_with

EQUATIONS = "equations_"


@looks_at(EQUATIONS)
def _inertia(m, d):
    """M [nC] of user-given equations."""
    interpret(laws_of(m, EQUATIONS)[0])(m, d)


@looks_at(EQUATIONS)
def _bias(m, d):
    """qfrc_bias [nv] of user-given equations."""
    interpret(laws_of(m, EQUATIONS)[1])(m, d)


@overload(_inertia, strict=False, jit_options=CHOICE)
def _choose_inertia(m, d):
    inertia, _ = laws_of(m, EQUATIONS)
    check_types("Dynamics: inertia", inertia, (m, d))
    return lambda m, d: inertia(m, d)


@overload(_bias, strict=False, jit_options=CHOICE)
def _choose_bias(m, d):
    _, bias = laws_of(m, EQUATIONS)
    check_types("Dynamics: bias", bias, (m, d))
    return lambda m, d: bias(m, d)


@only_with(EQUATIONS)
@kernel
def given_inertia(m, d):
    """Replace M [nC] by that of user-given equations; without any, M does not change."""
    _inertia(m, d)


@kernel
def joint_inertia(m, d):
    """M [nC] at the present positions, of user-given equations or of the bodies (see `composite_inertia`)."""
    if has(m, EQUATIONS):
        _inertia(m, d)
    else:
        composite_inertia(m, d)


@kernel
def bias_force(m, p, d):
    """qfrc_bias [nv] (N, N m) at the present state, of user-given equations or of the bodies.

    Needs `newton_euler_forward`. p is d, or without user-given equations a Data of plain numbers at the same positions.
    """
    if has(m, EQUATIONS):
        _bias(m, d)
    else:
        newton_euler_backward(m, p, d, d.qfrc_bias)


@kernel
def inverse_dynamics(m, d):
    """qfrc_inverse [nv] (N, N m) = M qacc + bias of user-given equations; without any, see `inverse`."""
    if not has(m, EQUATIONS):
        inverse(m, d)
        return
    _inertia(m, d)
    _bias(m, d)
    multiply(m, d, d.qacc, d.qfrc_inverse)
    for i in range(m.nv):
        d.qfrc_inverse[i] = d.qfrc_inverse[i] + d.qfrc_bias[i]


@kernel
def velocity_derivative(m, d, free_only):
    """d(qfrc_bias)/d(qvel) of user-given equations on M's pattern; arguments and results as in `bias_derivative`.

    By central differences with a step of 1 rad/s or m/s, exact to rounding because the bias is quadratic in the
    velocities. Overwrites qacc and qfrc_bias [nv].
    """
    if not has(m, EQUATIONS):
        bias_derivative(m, d, free_only)
        return
    for k in range(m.nC):
        d.lower[k] = d.upper[k] = 0.0 * d.time
    for j in range(m.nv):
        if m.dof_freebody[j] or not free_only:
            # central difference in the velocity of degree of freedom j
            v = d.qvel[j]
            d.qvel[j] = v + 1.0
            _bias(m, d)
            for i in range(m.nv):
                d.qacc[i] = 0.5 * d.qfrc_bias[i]
            d.qvel[j] = v - 1.0
            _bias(m, d)
            for i in range(m.nv):
                d.qacc[i] = d.qacc[i] - 0.5 * d.qfrc_bias[i]
            d.qvel[j] = v
            _store_column(m, d, j)


@kernel
def _store_column(m, d, j):
    """Write the derivatives qacc [nv] in the velocity of degree of freedom j to lower and upper [nC]."""
    for k in range(m.M_rowadr[j], m.M_rowadr[j] + m.M_rownnz[j]):
        d.upper[k] = d.qacc[m.M_colind[k]]
    for i in range(j, m.nv):
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i]):
            if m.M_colind[k] == j:
                d.lower[k] = d.qacc[i]
