"""All residuals of a problem at a configuration: poses, rows of the tasks, costs of the levels of priority.

A problem is a tuple of arrays: tasks [K, 6], frames [K, 7] (a point and a quaternion in the body's frame), movers
[K, nv] (for centres of mass), weights [K], dofs [nv, 2], bounds [nv, 2], balls [n, 2] (address in qpos, largest angle),
posture [nq], whole and real options, kept [pairs of geoms]; see `saltus.inverse.kinematics.kinds`. The
memory is a tuple of arrays, too; see `saltus.inverse.kinematics.search.memory`.
"""

from saltus.dynamics.tree.com_frame import centre_of_mass, com_dof, tree_centre_of_mass
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.manifold import difference
from saltus.inverse.kinematics.kinds import (
    ALIGNMENT,
    ANCHOR,
    ANGLE_TOLERANCE,
    BODY,
    CLEARANCE,
    COM,
    COUPLING,
    DIM,
    DIRECTION,
    DISTANCE,
    HAS_COM,
    HAS_POSTURE,
    KIND,
    LENGTH_TOLERANCE,
    LEVEL,
    LOOK,
    OBJECT,
    ORIENTATION,
    POSITION,
    POSTURE_WEIGHT,
    ROW,
)
from saltus.inverse.kinematics.rows.collisions import collision_rows
from saltus.inverse.kinematics.rows.loops import alignment_rows, anchor_rows, coupling_row
from saltus.inverse.kinematics.rows.targets import com_rows, direction_rows, look_rows, orientation_rows, position_rows
from saltus.number.kernels import kernel


@kernel
def evaluate(m, d, problem, goals, space):
    """Residuals, Jacobians and costs at d.qpos, for goals [K, 7]: a position, or a direction, and a quaternion."""
    tasks, whole = problem[0], problem[8]
    r, norms, costs = space[1], space[2], space[3]
    kinematics(m, d, 1)
    if whole[HAS_COM]:
        centre_of_mass(m, d)
    else:
        tree_centre_of_mass(m, d)
    com_dof(m, d)
    for level in range(len(costs)):
        costs[level] = 0.0
    for k in range(len(tasks)):
        norms[k] = task_rows(m, d, k, problem, goals, space)
        square = 0.0
        for row in range(tasks[k, ROW], tasks[k, ROW] + tasks[k, DIM]):
            square += r[row] * r[row]
        costs[tasks[k, LEVEL]] += 0.5 * square
    if whole[HAS_POSTURE]:
        costs[len(costs) - 1] = posture_cost(m, d, problem, space)


@kernel
def task_rows(m, d, k, problem, goals, space):
    """Rows of task k; returns the length of its residual (m or rad), 0 where its goal is not known (NaN)."""
    tasks, frames, movers, weights = problem[0], problem[1], problem[2], problem[3]
    J, r = space[0], space[1]
    kind, body, row, weight = tasks[k, KIND], tasks[k, BODY], tasks[k, ROW], weights[k]
    local = frames[k, 0], frames[k, 1], frames[k, 2]
    turn = frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6]
    goal = goals[k, 0], goals[k, 1], goals[k, 2]
    if goal[0] != goal[0]:
        goal, weight = (0.0, 0.0, 0.0), 0.0
    norm = 0.0
    if kind == POSITION:
        norm = position_rows(m, d, body, local, goal, weight, J, r, row)
    elif kind == ORIENTATION:
        quat = goals[k, 3], goals[k, 4], goals[k, 5], goals[k, 6]
        norm = orientation_rows(m, d, body, turn, quat, weight, J, r, row)
    elif kind == DIRECTION:
        norm = direction_rows(m, d, body, turn, goal, weight, J, r, row)
    elif kind == LOOK:
        norm = look_rows(m, d, body, local, turn, goal, weight, J, r, row)
    elif kind == COM:
        norm = com_rows(m, d, body, movers[k], goal, weight, J, r, row)
    elif kind == ANCHOR:
        norm = anchor_rows(m, d, tasks[k, OBJECT], weight, J, r, row)
    elif kind == ALIGNMENT:
        norm = alignment_rows(m, d, tasks[k, OBJECT], weight, J, r, row)
    elif kind == COUPLING:
        norm = coupling_row(m, d, tasks[k, OBJECT], weight, J, r, row)
    elif kind == CLEARANCE:
        norm = collision_rows(m, d, problem[10], problem[9][DISTANCE], weight, J, r, row, tasks[k, DIM])
    return norm if weight > 0.0 else 0.0


@kernel
def posture_cost(m, d, problem, space):
    """Half the weighted square of the distance from the posture; leaves posture ⊖ q in g [nv]."""
    posture, real = problem[7], problem[9]
    g = space[6]
    difference(m, d.qpos, posture, g)
    square = 0.0
    for i in range(m.nv):
        square += g[i] * g[i]
    return 0.5 * real[POSTURE_WEIGHT] * real[POSTURE_WEIGHT] * square


@kernel
def within(problem, norms):
    """Whether all residuals are within the tolerances."""
    tasks, real = problem[0], problem[9]
    for k in range(len(norms)):
        kind = tasks[k, KIND]
        angle = kind == ORIENTATION or kind == DIRECTION or kind == LOOK or kind == ALIGNMENT
        if not norms[k] <= real[ANGLE_TOLERANCE if angle else LENGTH_TOLERANCE]:
            return False
    return True
