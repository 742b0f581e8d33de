"""Derivatives of the forces of soft contacts with bodies at rest, such as the floor, by sums over subtrees.

With the matrices G, K and B of a pair of bodies (see `saltus.solve.soft.force_derivative`), of which only body i moves,
the force on it changes with a displacement s by

    G' s + K (a_j × s) + B (v_j × s),   G' = ±G - K a_i× - B v_i×,

of which G', K, B and the wrench are summed over subtrees (see `saltus.dynamics.tree.inverse_derivative`), so that the
number of such contacts counts once for each body and not for each pair of degrees of freedom.

Arrays: pair [5, 6, 6] of `saltus.solve.soft.force_derivative`; grounds [4, nbody, 6, 6], of each body G', K, B and, in
the last, the wrench in the first row, and in the next the number of pairs.
"""

from saltus.dynamics.tree.inverse_derivative import (
    CHI_SLIDING,
    PSI,
    SLIDING,
    VELOCITY,
    first_of_joint,
    six,
    times,
    transposed_times,
)
from saltus.number.kernels import kernel
from saltus.spatial.motions import add6, add_scaled6, cross_force, dot6, sub6

BY_FIRST, BY_SECOND, BY_SLIDING, BY_VELOCITY, WRENCH = 0, 1, 2, 3, 4  # matrices of a pair
GROUND_POSE, GROUND_SLIDING, GROUND_VELOCITY, GROUND_WRENCH = 0, 1, 2, 3  # matrices of a body


@kernel
def begin_grounds(m, grounds):
    """No contacts yet."""
    for b in range(m.nbody):
        grounds[GROUND_WRENCH, b, 1, 0] = 0.0


@kernel
def add_to_ground(motions, pair, grounds, b, side):
    """Add the matrices of a pair, of which only body b on this side moves, to those of the body."""
    if grounds[GROUND_WRENCH, b, 1, 0] == 0.0:
        clear_ground(grounds, b)
    sign = 1.0 if side == 1 else -1.0
    a, v = six(motions, SLIDING, b), six(motions, VELOCITY, b)
    for x in range(6):
        by_sliding, by_velocity = six(pair, BY_SLIDING, x), six(pair, BY_VELOCITY, x)
        # a row of -K a×, since k · (a × s) = -(a ×* k) · s
        by_pose = add6(cross_force(a, by_sliding), cross_force(v, by_velocity))
        by_pose = add_scaled6(by_pose, sign, six(pair, BY_FIRST + side, x))
        for y in range(6):
            grounds[GROUND_POSE, b, x, y] += by_pose[y]
            grounds[GROUND_SLIDING, b, x, y] += by_sliding[y]
            grounds[GROUND_VELOCITY, b, x, y] += by_velocity[y]
        grounds[GROUND_WRENCH, b, 0, x] += sign * pair[WRENCH, 0, x]
    grounds[GROUND_WRENCH, b, 1, 0] += 1.0


@kernel
def clear_ground(grounds, b):
    """Set the matrices of body b to zero."""
    for k in range(4):
        for x in range(6):
            for y in range(6):
                grounds[k, b, x, y] = 0.0


@kernel
def add_grounds(m, p, axes, grounds, columns):
    """Derivatives of the generalised forces of all contacts with bodies at rest; sums over subtrees, first."""
    for b in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[b]
        if parent == 0 or grounds[GROUND_WRENCH, b, 1, 0] == 0.0:
            continue
        if grounds[GROUND_WRENCH, parent, 1, 0] == 0.0:
            clear_ground(grounds, parent)
        for k in range(4):
            for x in range(6):
                for y in range(6):
                    grounds[k, parent, x, y] += grounds[k, b, x, y]
    for i in range(m.nv):
        b = m.dof_bodyid[i]
        if grounds[GROUND_WRENCH, b, 1, 0] == 0.0:
            continue
        add_grounds_of_dof(m, p, i, axes, grounds, columns)


@kernel
def add_grounds_of_dof(m, p, i, axes, grounds, columns):
    """Derivatives of the force of degree of freedom i by itself and those before, and of their forces by i."""
    b, s = m.dof_bodyid[i], p.cdof[i]
    pose, sliding, velocity = grounds[GROUND_POSE], grounds[GROUND_SLIDING], grounds[GROUND_VELOCITY]
    turned = cross_force(s, six(grounds[GROUND_WRENCH], b, 0))
    # axes of joints beyond j turn: s_i · w by -(s_i · s_j ×* w) = s_j · s_i ×* w
    by_pose = add6(transposed_times(pose, b, s), turned)
    by_sliding, by_velocity = transposed_times(sliding, b, s), transposed_times(velocity, b, s)
    j = i
    while j >= 0:
        axis, psi = p.cdof[j], six(axes, PSI, j)
        change = dot6(by_pose, axis) + dot6(by_sliding, six(axes, CHI_SLIDING, j))
        columns[i, j] += change + dot6(by_velocity, psi)
        columns[i, m.nv + j] += dot6(by_velocity, axis)
        j = m.dof_parentid[j]
    moved = add6(times(pose, b, s), times(sliding, b, six(axes, CHI_SLIDING, i)))
    moved = add6(moved, times(velocity, b, six(axes, PSI, i)))
    fixed = sub6(moved, turned)
    by_speed = times(velocity, b, s)
    first = first_of_joint(m, i)
    j = m.dof_parentid[i]
    while j >= 0:
        axis = p.cdof[j]
        columns[j, i] += dot6(axis, fixed if j >= first else moved)
        columns[j, m.nv + i] += dot6(axis, by_speed)
        j = m.dof_parentid[j]
