"""Operational-space control: forces of the joints that give a point of the tree, and its body, wanted accelerations.

    tau = Jᵀ Λ (a - J q₀'' - J' q') + M q₀'' + bias - passive forces,   Λ = (J M⁻¹ Jᵀ)⁻¹

with the task's acceleration a and the accelerations q₀'' of a posture, which act where they do not disturb the task
(Khatib, A unified approach for motion and force control of robot manipulators: the operational space formulation
(1987), eq. 43 to 51). Tasks have six axes, three of the point's position and three of the body's orientation, along
those of the world; axes that are not controlled are left to the posture.
"""

from saltus.dynamics.controllers.model_based_control import chain_motion, computed_torque, require
from saltus.dynamics.tree.articulated_body import articulated_factor
from saltus.model.actuator_enums import (
    MBC_PARAMETERS,
    OSC_ACCELERATION,
    OSC_AXES,
    OSC_DAMPING,
    OSC_KD,
    OSC_KP,
    OSC_POSITION,
    OSC_QUATERNION,
    OSC_RATE,
)
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.spatial.articulated import symmetric_minus_outer, symmetric_times, symmetric_zero
from saltus.spatial.motions import acceleration_at, add_scaled6, dot6, scale6, unit_wrench, velocity_at
from saltus.spatial.quaternions import quat_conjugate, quat_log, quat_multiply
from saltus.spatial.vectors import add3, cross, sub3


@kernel
def operate(m, d, b, point, quat):
    """Controls [nu] for a task at a world point (m) of body b, whose frame there has the quaternion `quat`.

    Writes ctrl, and the articulated-body inertias, which solutions for accelerations compute anew.
    """
    zero = 0.0 * d.time
    computed_torque(m, d, 0)
    arm = sub3(point, d.subtree_com[m.body_rootid[b]])
    v, a = chain_motion(m, d, b, (zero, zero, zero, zero, zero, zero))
    asked = _asked(m, d, (point, quat), _at(v, arm))
    # what the posture and the velocities do not give already
    linear = acceleration_at(v, a, arm)
    missing = (
        *(asked[0] - linear[0], asked[1] - linear[1], asked[2] - linear[2]),
        *(asked[3] - a[0], asked[4] - a[1], asked[5] - a[2]),
    )
    articulated_factor(m, d, 0.0, d.qfrc_damper_slope)
    force = task_force(m, d, task_rows(m, d, body_mobility(m, d, b), arm), missing)
    torque = add3((force[3], force[4], force[5]), cross(arm, (force[0], force[1], force[2])))
    wrench = (torque[0], torque[1], torque[2], force[0], force[1], force[2])
    i = m.body_lastdof[b]
    while i >= 0:
        require(m, d, i, dot6(d.cdof[i], wrench))
        i = m.dof_parentid[i]


@kernel(inline=True)
def _at(v, arm):
    """Velocity of a point and angular velocity, in the order of a task's axes."""
    linear = velocity_at(v, arm)
    return linear[0], linear[1], linear[2], v[0], v[1], v[2]


@kernel(inline=True)
def _asked(m, d, pose, velocity):
    """Acceleration of the task's six axes: target's + kd (rate - velocity) + kp error; rotation vectors in between."""
    p = MBC_PARAMETERS * m.nactuator
    point, quat = pose
    q = p + OSC_QUATERNION
    target = (d.control_prm[q], d.control_prm[q + 1], d.control_prm[q + 2], d.control_prm[q + 3])
    turn = quat_log(quat_multiply(target, quat_conjugate(quat)))
    x = p + OSC_POSITION
    away = sub3((d.control_prm[x], d.control_prm[x + 1], d.control_prm[x + 2]), point)
    error = (away[0], away[1], away[2], turn[0], turn[1], turn[2])
    return (
        _axis(d, p, error[0], velocity[0]),
        _axis(d, p + 1, error[1], velocity[1]),
        _axis(d, p + 2, error[2], velocity[2]),
        _axis(d, p + 3, error[3], velocity[3]),
        _axis(d, p + 4, error[4], velocity[4]),
        _axis(d, p + 5, error[5], velocity[5]),
    )


@kernel(inline=True)
def _axis(d, p, error, velocity):
    """Acceleration of the axis of the task whose parameters begin at p."""
    rate = d.control_prm[p + OSC_RATE] - velocity
    feedback = d.control_prm[p + OSC_KP] * error + d.control_prm[p + OSC_KD] * rate
    return d.control_prm[p + OSC_ACCELERATION] + feedback


@kernel
def body_mobility(m, d, b):
    """Accelerations of body b by spatial forces on it, a symmetric 6x6 matrix (21 numbers); needs `articulated_factor`.

    From the base to the body, each joint with axis s, U = I s and D = sᵀ U of its articulated inertia I takes
    Ω to (1 - s Uᵀ/D) Ω (1 - U sᵀ/D) + s sᵀ/D (Lilly & Orin, Efficient O(N) recursive computation of the operational
    space inertia matrix (1993)); with y = Ω U/D and g = 1/D + Uᵀ y/D that is Ω - y yᵀ/g + g z zᵀ with z = s - y/g.
    """
    mobility = symmetric_zero(d.time)
    last = m.body_lastdof[b]
    if last >= 0:
        row = m.M_rowadr[last]
        for k in range(row, row + m.M_rownnz[last]):  # degrees of freedom from the base to the body
            i = m.M_colind[k]
            inverse = d.artic_invdiag[i]
            y = scale6(inverse, symmetric_times(mobility, d.artic_column[i]))
            gain = inverse + inverse * dot6(d.artic_column[i], y)
            z = add_scaled6(d.cdof[i], -1.0 / gain, y)
            mobility = symmetric_minus_outer(symmetric_minus_outer(mobility, y, 1.0 / gain), z, -gain)
    return mobility


@kernel
def task_rows(m, d, mobility, arm):
    """Rows of J M⁻¹ Jᵀ of the task's axes at `arm` (m) from the tree's centre of mass; zero where not controlled."""
    one = 1.0 + 0.0 * d.time
    zero = 0.0 * one
    x, y, z = (one, zero, zero), (zero, one, zero), (zero, zero, one)
    p = MBC_PARAMETERS * m.nactuator + OSC_AXES
    on = (
        *(d.control_prm[p], d.control_prm[p + 1], d.control_prm[p + 2]),
        *(d.control_prm[p + 3], d.control_prm[p + 4], d.control_prm[p + 5]),
    )
    return (
        _row(mobility, unit_wrench(arm, x), arm, on, on[0]),
        _row(mobility, unit_wrench(arm, y), arm, on, on[1]),
        _row(mobility, unit_wrench(arm, z), arm, on, on[2]),
        _row(mobility, (one, zero, zero, zero, zero, zero), arm, on, on[3]),
        _row(mobility, (zero, one, zero, zero, zero, zero), arm, on, on[4]),
        _row(mobility, (zero, zero, one, zero, zero, zero), arm, on, on[5]),
    )


@kernel(inline=True)
def _row(mobility, wrench, arm, on, own):
    """Accelerations of controlled axes by a force along one of them, which is controlled if `own` is 1."""
    r = _at(symmetric_times(mobility, wrench), arm)
    return (
        *(own * on[0] * r[0], own * on[1] * r[1], own * on[2] * r[2]),
        *(own * on[3] * r[3], own * on[4] * r[4], own * on[5] * r[5]),
    )


@kernel
def task_force(m, d, rows, missing):
    """Forces along the task's six axes (N, N m) that add the accelerations `missing`: Λ times these.

    The rows are eliminated one after the other, positions first. A pivot below the damping's share of the mean
    diagonal (a third of its sum over positions, and over rotations) is an axis that the joints hardly move: its force
    falls to zero with the pivot, so that it is given up towards a singular configuration. All others stay exact.
    """
    p = MBC_PARAMETERS * m.nactuator
    share = d.control_prm[p + OSC_DAMPING]
    a, b, c, e, f, g = rows
    x, y, z, u, v, w = missing
    places, turns = share * (a[0] + b[1] + c[2]) / 3.0, share * (e[3] + f[4] + g[5]) / 3.0
    # forward: subtract multiples of each row from those below
    i0 = damped_inverse(a[0], places, d.control_prm[p + OSC_AXES])
    b, y = _less(b, y, b[0] * i0, a, x)
    c, z = _less(c, z, c[0] * i0, a, x)
    e, u = _less(e, u, e[0] * i0, a, x)
    f, v = _less(f, v, f[0] * i0, a, x)
    g, w = _less(g, w, g[0] * i0, a, x)
    i1 = damped_inverse(b[1], places, d.control_prm[p + OSC_AXES + 1])
    c, z = _less(c, z, c[1] * i1, b, y)
    e, u = _less(e, u, e[1] * i1, b, y)
    f, v = _less(f, v, f[1] * i1, b, y)
    g, w = _less(g, w, g[1] * i1, b, y)
    i2 = damped_inverse(c[2], places, d.control_prm[p + OSC_AXES + 2])
    e, u = _less(e, u, e[2] * i2, c, z)
    f, v = _less(f, v, f[2] * i2, c, z)
    g, w = _less(g, w, g[2] * i2, c, z)
    i3 = damped_inverse(e[3], turns, d.control_prm[p + OSC_AXES + 3])
    f, v = _less(f, v, f[3] * i3, e, u)
    g, w = _less(g, w, g[3] * i3, e, u)
    i4 = damped_inverse(f[4], turns, d.control_prm[p + OSC_AXES + 4])
    g, w = _less(g, w, g[4] * i4, f, v)
    # backward
    w = w * damped_inverse(g[5], turns, d.control_prm[p + OSC_AXES + 5])
    v = (v - f[5] * w) * i4
    u = (u - e[4] * v - e[5] * w) * i3
    z = (z - c[3] * u - c[4] * v - c[5] * w) * i2
    y = (y - b[2] * z - b[3] * u - b[4] * v - b[5] * w) * i1
    x = (x - a[1] * y - a[2] * z - a[3] * u - a[4] * v - a[5] * w) * i0
    return x, y, z, u, v, w


@kernel(inline=True)
def _less(row, right, factor, pivot_row, pivot_right):
    """A row with its right-hand side, less a multiple of the pivot's."""
    return add_scaled6(row, -factor, pivot_row), right - factor * pivot_right


@kernel(inline=True)
def damped_inverse(pivot, least, on):
    """Inverse of a pivot; 0 for an axis that is not controlled, and falling to 0 with a pivot below `least`.

    Between 0 and `least`, (3 r - 2 r²) / least with r = pivot / least: equal in value and slope at the upper end.
    """
    tiny = 1e-300 + 0.0 * pivot
    floor = where(least > tiny, least, 1.0 + tiny)
    r = where(pivot > 0.0, pivot / floor, 0.0 * pivot)
    small = r < 1.0
    inverse = 1.0 / where(small, floor, pivot)
    return on * where(small, r * (3.0 - 2.0 * r) * inverse, inverse)
