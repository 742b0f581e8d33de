"""Moving mocap bodies: under hard contact they go from pose to pose with a velocity, instead of jumping.

Mover k is at mover_pos (m), mover_quat at the time mover_time (s), and has the constant velocity mover_vel (m/s of its
frame's origin, rad/s; world axes) before and after that time:

    p(t) = mover_pos + (t - mover_time) v,    q(t) = exp((t - mover_time) ω) mover_quat

A mover carries all bodies below it. Their `cvel` does not contain its velocity, and they feel no force: it enters only
the rows of contacts and equalities.
"""

from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel, only_with
from saltus.spatial.quaternions import quat_exp, quat_multiply, quat_normalize
from saltus.spatial.vectors import add3, add_scaled3, cross, scale3, sub3


@kernel
def mover_pose(m, d, k):
    """Position (m) and orientation of mocap body k at the present time."""
    age, v = d.time - d.mover_time[k], d.mover_vel[k]
    turn = quat_exp(scale3(age, (v[3], v[4], v[5])))
    return add_scaled3(d.mover_pos[k], age, (v[0], v[1], v[2])), quat_multiply(turn, quat_normalize(d.mover_quat[k]))


@kernel
def carried_motion(m, d, motion, body, point):
    """Linear and angular velocity, or acceleration, of a body at a point, due to the mocap body that carries it.

    `motion`: a field [nmover, 6] of these at the origins of mocap bodies: mover_vel (m/s, rad/s), or mover_acc (m/s²,
    rad/s²), whose centripetal part at the point is left out.
    """
    root = m.body_rootid[body]
    k = m.body_mocapid[root]
    zero = 0.0 * d.time
    linear = angular = (zero, zero, zero)
    if k >= 0:
        v = motion[k]
        angular = (v[3], v[4], v[5])
        linear = add3((v[0], v[1], v[2]), cross(angular, sub3(point, d.xpos[root])))
    return linear, angular


@only_with("movers", otherwise="0.0 * d.time")
@kernel
def fastest_mover(m, d):
    """The largest component of the velocities of mocap bodies (m/s, rad/s)."""
    speed = 0.0 * d.time
    for k in range(m.nmover):
        v = d.mover_vel[k]
        for i in range(6):
            speed = maximum(speed, absolute(v[i]))
    return speed
