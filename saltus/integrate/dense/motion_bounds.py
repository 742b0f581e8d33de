"""Bounds on the motion of bodies over a step: speeds and accelerations that no point of a body exceeds.

Joint rates and accelerations are bounded on the dense output: for dopri5 by the Bernstein coefficients of its
polynomials, whose convex hull holds them (Farouki, The Bernstein polynomial basis: a centennial retrospective (2012)),
for other methods by samples. The bounds of bodies follow from those of joints from the root to the leaves, by the
triangle inequality in the equations of relative motion (Featherstone 2008, section 2.7).
"""

from saltus.dynamics.motions import prescribe_carriers
from saltus.integrate.dense.dormand_prince import DENSE, STAGES, WEIGHTS
from saltus.integrate.dense.substep import FIXED, PARTS
from saltus.model.enums import FREE, HINGE, SLIDE
from saltus.model.event_enums import LINEAR_ACCELERATION, LINEAR_SPEED, TURNING_ACCELERATION, TURNING_SPEED
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.vectors import add3, add_scaled3, cross, dot3, sub3

SAFETY = 2.0  # factor for the accelerations between samples of a method without dense output


@kernel
def bound_motion(m, d, h):
    """rate_bound, rate_change [nv] and body_bound [nbody, 4] over a step of h seconds whose stages are known."""
    if not has(m, FIXED):
        bound_dense_rates(m, d, h)
    bound_bodies(m, d, h)


@kernel
def bound_dense_rates(m, d, h):
    """Bounds of joint rates and accelerations over a step of dopri5 (1/s and 1/s² times rad or m).

    The dense output is p(θ) = θ (w + (1-θ) (f + θ (l + (1-θ) b))), whose slope has Bernstein coefficients of degree
    three, and whose curvature of degree two.
    """
    for i in range(m.nv):
        # w, f, l, b as in `dense_output`
        w = b = 0.0 * d.time
        for s in range(STAGES):
            w = w + WEIGHTS[s] * d.stage_qvel[s * m.nv + i]
            b = b + DENSE[s] * d.stage_qvel[s * m.nv + i]
        f = d.stage_qvel[i] - w
        z = w - d.stage_qvel[(STAGES - 1) * m.nv + i] - f
        # p' = c0 + c1 θ + c2 θ² + c3 θ³
        c0, c1, c2, c3 = w + f, 2.0 * (z + b - f), -3.0 * z - 6.0 * b, 4.0 * b
        rate = maximum(absolute(c0), absolute(c0 + c1 / 3.0))
        rate = maximum(rate, maximum(absolute(c0 + (2.0 * c1 + c2) / 3.0), absolute(c0 + c1 + c2 + c3)))
        change = maximum(absolute(c1), maximum(absolute(c1 + c2), absolute(c1 + 2.0 * c2 + 3.0 * c3)))
        d.rate_bound[i] = rate
        d.rate_change[i] = change / h


@kernel
def first_rates(m, d):
    """Begin the bounds of joint rates of a method with fixed steps, at the start of a step."""
    for i in range(m.nv):
        d.rate_bound[i] = absolute(d.qvel_start[i])
        d.rate_seen[i] = d.qvel_start[i]
        d.rate_change[i] = 0.0 * d.time


@kernel
def sample_rates(m, d, h):
    """Include the velocities at the end of another part of a step of h seconds in the bounds of joint rates."""
    for i in range(m.nv):
        change = absolute(d.qvel[i] - d.rate_seen[i])
        d.rate_bound[i] = maximum(d.rate_bound[i], absolute(d.qvel[i]) + change)
        d.rate_change[i] = maximum(d.rate_change[i], SAFETY * PARTS * change / h)
        d.rate_seen[i] = d.qvel[i]


@only_with("carriers")
@kernel
def bound_carriers(m, d, h, start):
    """mover_bound [nmover, 4]: bounds of the motions of mocap bodies in a step of h seconds from `start` (s).

    Prescribed motions are sampled at the ends of parts of the step. The time does not change.
    """
    now, zero = d.time, 0.0 * d.time
    for k in range(m.nmover):
        d.mover_bound[k] = (zero, zero, zero, zero)
    for part in range(PARTS + 1):
        d.time = start + part / PARTS * h
        prescribe_carriers(m, d)
        for k in range(m.nmover):
            v, a, w, u = d.mover_bound[k]
            motion, change = d.mover_vel[k], d.mover_acc[k]
            v = maximum(v, sqrt(dot3((motion[0], motion[1], motion[2]), (motion[0], motion[1], motion[2]))))
            w = maximum(w, sqrt(dot3((motion[3], motion[4], motion[5]), (motion[3], motion[4], motion[5]))))
            a = maximum(a, sqrt(dot3((change[0], change[1], change[2]), (change[0], change[1], change[2]))))
            u = maximum(u, sqrt(dot3((change[3], change[4], change[5]), (change[3], change[4], change[5]))))
            d.mover_bound[k] = (v, a, w, u)
    for k in range(m.nmover):
        v, a, w, u = d.mover_bound[k]
        # between the samples
        a, u = SAFETY * a, SAFETY * u
        d.mover_bound[k] = (v + a * h / PARTS, a, w + u * h / PARTS, u)
    d.time = now
    prescribe_carriers(m, d)


@kernel(inline=True)
def norm3(d, field, i):
    """Length of three successive entries of a field."""
    return sqrt(field[i] * field[i] + field[i + 1] * field[i + 1] + field[i + 2] * field[i + 2])


@kernel
def bound_bodies(m, d, h):
    """body_bound [nbody, 4]: bounds of each body's motion in a step of h seconds, from those of joint rates."""
    zero = 0.0 * d.time
    d.body_bound[0] = (zero, zero, zero, zero)
    for b in range(1, m.nbody):
        known = d.body_bound[m.body_parentid[b]]
        v, a, w, u = known[LINEAR_SPEED], known[LINEAR_ACCELERATION], known[TURNING_SPEED], known[TURNING_ACCELERATION]
        if m.body_mocapid[b] >= 0:
            if has(m, "carriers"):
                d.body_bound[b] = d.mover_bound[m.body_mocapid[b]]
                continue
            v, w = mover_speeds(m, d, m.body_mocapid[b])
            d.body_bound[b] = (v, zero, w, zero)
            continue
        # the body's origin in its parent, at joint positions of zero
        offset = m.body_pos[b]
        arm = sqrt(dot3(offset, offset))
        v, a = v + w * arm, a + (u + w * w) * arm
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            v, a, w, u = bound_joint(m, d, j, h, v, a, w, u)
        d.body_bound[b] = (v, a, w, u)


@kernel
def bound_joint(m, d, j, h, v, a, w, u):
    """Bounds of a body's speed, acceleration, angular speed and angular acceleration after its joint j."""
    i, kind = m.jnt_dofadr[j], m.jnt_type[j]
    if kind == FREE:
        turn = norm3(d, d.rate_bound, i + 3)
        return (
            norm3(d, d.rate_bound, i),
            norm3(d, d.rate_change, i),
            turn,
            norm3(d, d.rate_change, i + 3) + turn * turn,
        )
    if kind == SLIDE:
        # distance along the axis: at the step's start, and the joint's largest
        rate, change, at = d.rate_bound[i], d.rate_change[i], m.jnt_qposadr[j]
        arm = absolute(d.qpos[at] - m.qpos0[at]) + h * rate
        return v + w * arm + rate, a + (u + w * w) * arm + 2.0 * w * rate + change, w, u
    if kind == HINGE:
        rate, change = d.rate_bound[i], d.rate_change[i]
    else:
        rate = norm3(d, d.rate_bound, i)
        change = norm3(d, d.rate_change, i) + rate * rate
    # the origin rotates about the joint's anchor
    offset = m.jnt_pos[j]
    arm = sqrt(dot3(offset, offset))
    before, turn, twist = w * w, w + rate, u + change + w * rate
    return v + (w + turn) * arm, a + (u + before + twist + turn * turn) * arm, turn, twist


@kernel
def body_velocities(m, d):
    """body_motion [nbody, 6]: angular velocity (rad/s) and velocity of the origin (m/s) of each body, in world axes.

    Reads qvel and the poses of `kinematics`.
    """
    zero = 0.0 * d.time
    d.body_motion[0] = (zero, zero, zero, zero, zero, zero)
    for b in range(1, m.nbody):
        parent, place = m.body_parentid[b], d.xpos[b]
        if m.body_mocapid[b] >= 0:
            mover_motion(m, d, b)
            continue
        known = d.body_motion[parent]
        turn, speed = (known[0], known[1], known[2]), (known[3], known[4], known[5])
        speed = add3(speed, cross(turn, sub3(place, d.xpos[parent])))
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            turn, speed = add_joint(m, d, j, b, turn, speed)
        d.body_motion[b] = (turn[0], turn[1], turn[2], speed[0], speed[1], speed[2])


@only_with("movers", otherwise="(0.0 * d.time, 0.0 * d.time)")
@kernel
def mover_speeds(m, d, k):
    """Speed (m/s) and angular speed (rad/s) of mocap body k, constant over a step."""
    v = d.mover_vel[k]
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])


@kernel
def mover_motion(m, d, b):
    """body_motion of mocap body b."""
    zero = 0.0 * d.time
    d.body_motion[b] = (zero, zero, zero, zero, zero, zero)
    if has(m, "movers"):
        v = d.mover_vel[m.body_mocapid[b]]
        d.body_motion[b] = (v[3], v[4], v[5], v[0], v[1], v[2])


@kernel
def add_joint(m, d, j, b, turn, speed):
    """A body's angular velocity and the velocity of its origin, with the motion of its joint j added."""
    i, kind = m.jnt_dofadr[j], m.jnt_type[j]
    if kind == SLIDE:
        return turn, add_scaled3(speed, d.qvel[i], d.xaxis[j])
    if kind == HINGE:
        axis, rate = d.xaxis[j], d.qvel[i]
        own = (rate * axis[0], rate * axis[1], rate * axis[2])
    else:
        if kind == FREE:
            speed = add3(speed, (d.qvel[i], d.qvel[i + 1], d.qvel[i + 2]))
            i += 3
        mat = d.xmat[b]
        own = (
            mat[0] * d.qvel[i] + mat[1] * d.qvel[i + 1] + mat[2] * d.qvel[i + 2],
            mat[3] * d.qvel[i] + mat[4] * d.qvel[i + 1] + mat[5] * d.qvel[i + 2],
            mat[6] * d.qvel[i] + mat[7] * d.qvel[i + 1] + mat[8] * d.qvel[i + 2],
        )
    if kind != FREE:
        speed = add3(speed, cross(own, sub3(d.xpos[b], d.xanchor[j])))
    return add3(turn, own), speed


@kernel(inline=True)
def velocity_of(d, b, point):
    """Velocity (m/s) of the point of body b at a place (m) in world axes; needs `body_velocities`."""
    known = d.body_motion[b]
    return add3((known[3], known[4], known[5]), cross((known[0], known[1], known[2]), sub3(point, d.xpos[b])))
