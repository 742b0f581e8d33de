"""Moves from a configuration to the next one within the joints' ranges."""

from saltus.dynamics.tree.manifold import displace
from saltus.inverse.kinematics.kinds import ADDRESS
from saltus.number.functions import absolute, clip, sincos
from saltus.number.kernels import kernel
from saltus.spatial.fields import load4, store4
from saltus.spatial.quaternions import quat_log, quat_normalize
from saltus.spatial.vectors import length3

LONGEST = 1.0  # rad or m: the largest entry of a step


@kernel
def keep_ranges(m, problem, qpos):
    """Clip coordinates of hinges and slides to their bounds, and turns of balls to their largest angle."""
    dofs, bounds, balls = problem[4], problem[5], problem[6]
    for i in range(m.nv):
        a = dofs[i, ADDRESS]
        if a >= 0:
            qpos[a] = clip(qpos[a], bounds[i, 0], bounds[i, 1])
    for k in range(len(balls)):
        a = int(balls[k, 0])
        quat = quat_normalize(load4(qpos, a))
        turn = quat_log(quat)
        angle = length3(turn)
        if angle > balls[k, 1]:
            s, c = sincos(0.5 * balls[k, 1])
            s = s / angle
            store4(qpos, a, (c, s * turn[0], s * turn[1], s * turn[2]))


@kernel
def measure_room(m, d, problem, room):
    """room [nv, 2]: the least and the largest entry of a step from d.qpos for each degree of freedom."""
    dofs, bounds = problem[4], problem[5]
    for i in range(m.nv):
        a = dofs[i, ADDRESS]
        room[i, 0], room[i, 1] = bounds[i, 0], bounds[i, 1]
        if a >= 0:
            room[i, 0], room[i, 1] = bounds[i, 0] - d.qpos[a], bounds[i, 1] - d.qpos[a]


@kernel
def largest_entry(x):
    """The largest magnitude in an array."""
    largest = 0.0
    for i in range(len(x)):
        largest = max(largest, absolute(x[i]))
    return largest


@kernel
def shorten(x):
    """Scale a step [nv] so that no entry is larger than `LONGEST`; returns the factor."""
    share = min(1.0, LONGEST / max(largest_entry(x), 1e-300))
    if share < 1.0:
        for i in range(len(x)):
            x[i] *= share
    return share


@kernel
def move(m, d, problem, origin, x):
    """d.qpos ← origin ⊕ x within the ranges."""
    displace(m, origin, 1.0, x, d.qpos)
    keep_ranges(m, problem, d.qpos)


@kernel
def copy_to(target, source, n):
    """target ← source, n numbers."""
    for k in range(n):
        target[k] = source[k]
