"""Prescribed motions: joints and mocap bodies whose positions are given functions of time.

    q_p = f(t),   v_p = f'(t),   a_p = f''(t)

Functions are compiled on jets, the time with its derivatives (`saltus.number.jets`), so that velocities and
accelerations are exact; kernels call them at their addresses, so that models with other functions share all code.
Positions and velocities are set wherever forces are evaluated, at every stage of a step, and at its end: no integration
error enters. For their effect on free joints see `saltus.dynamics.tree.guided.prescribed`.
"""

from saltus.number.jets.functions_of_time import call_body, call_joint
from saltus.number.kernels import kernel, only_with
from saltus.spatial.quaternions import quat_conjugate, quat_multiply, quat_normalize


@kernel
def prescribe(m, d):
    """Set the positions, velocities and accelerations of all prescribed motions at the present time.

    Joints: qpos, qvel, qacc_prescribed (rad, m, s). Mocap bodies: mocap_pos, mocap_quat and the fields of their motion,
    see `saltus.dynamics.tree.guided.movers`.
    """
    prescribe_joints(m, d)
    prescribe_carriers(m, d)


@only_with("prescribed")
@kernel
def prescribe_joints(m, d):
    """Set the positions, velocities and accelerations of prescribed joints at the present time."""
    for k in range(m.nmotion):
        i = m.motion_dofadr[k]
        q, v, a = call_joint(d.motion_address[k], (d.time,))
        d.qpos[m.motion_qposadr[k]] = q
        d.qvel[i], d.qacc_prescribed[i] = v, a


@only_with("prescribed")
@kernel
def prescribe_mean(m, d, start, h):
    """Velocities of prescribed joints at the start (s) of a step of h seconds, and their mean accelerations over it.

    Positions do not change.
    """
    for k in range(m.nmotion):
        i = m.motion_dofadr[k]
        address = d.motion_address[k]
        before, after = call_joint(address, (start,))[1], call_joint(address, (start + h,))[1]
        d.qvel[i], d.qacc_prescribed[i] = before, (after - before) / h


@only_with("carriers")
@kernel
def prescribe_carriers(m, d):
    """Set the poses and motions of prescribed mocap bodies at the present time.

    Bodies whose orientation is not given keep theirs.
    """
    for k in range(m.ncarrier):
        place_carrier(m, d, m.carrier_mocapid[k], call_body(d.carrier_address[k], (d.time,)))


@kernel
def place_carrier(m, d, c, n):
    """Place mocap body c by the 22 numbers n, see `saltus.number.jets.functions_of_time.pose_numbers`.

    Quaternions may have any length: with q' q⁻¹ = s + ω/2, the angular acceleration is the vector part of
    2 q'' q⁻¹ - 2 s ω.
    """
    q, rate, change = (n[4], n[5], n[6], n[7]), (n[11], n[12], n[13], n[14]), (n[18], n[19], n[20], n[21])
    twice = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    turn, twist = quat_multiply(rate, quat_conjugate(q)), quat_multiply(change, quat_conjugate(q))
    s, w = twice * turn[0], (twice * turn[1], twice * turn[2], twice * turn[3])
    u = (twice * twist[1] - s * w[0], twice * twist[2] - s * w[1], twice * twist[3] - s * w[2])
    if n[0] > 0.5:
        d.mocap_quat[c] = quat_normalize(q)
    d.mocap_pos[c] = d.mover_pos[c] = (n[1], n[2], n[3])
    d.mover_quat[c] = d.mocap_quat[c]
    d.mover_time[c], d.mover_given[c] = d.time, 1.0
    d.mocap_vel[c] = d.mover_vel[c] = (n[8], n[9], n[10], w[0], w[1], w[2])
    d.mover_acc[c] = (n[15], n[16], n[17], u[0], u[1], u[2])
