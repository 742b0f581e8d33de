"""Forward-mode differentiation of a step: seeding of tangents and extraction of Jacobians, with dual numbers."""

from saltus.dynamics.tree.manifold import difference, displace
from saltus.number.components import seed, tangent_of
from saltus.number.kernels import kernel
from saltus.number.kinds import NTANGENT


@kernel
def seed_state(m, d, qpos, qvel, act, ctrl, column):
    """Set the state of a dual Data, with tangents along directions column, column + 1, ... of (dq, dv, dw, du).

    dw: tangents of the actuator states.
    """
    nv = m.nv
    for k in range(m.nq):
        d.qpos_saved[k] = seed(qpos[k], -1)
    for i in range(nv):
        d.qstep[i] = seed(0.0, i - column)
        d.qvel[i] = seed(qvel[i], nv + i - column)
    for k in range(m.nact):
        d.act[k] = seed(act[k], 2 * nv + k - column)
    for k in range(m.nu):
        d.ctrl[k] = seed(ctrl[k], 2 * nv + m.nact + k - column)
    # positions carry tangents through the manifold's ⊕
    if column < nv:
        displace(m, d.qpos_saved, 1.0, d.qstep, d.qpos)
    else:
        for k in range(m.nq):
            d.qpos[k] = d.qpos_saved[k]


@kernel
def read_tangents(m, d, A, B, column):
    """Columns of A [2 nv + nact, 2 nv + nact] and B [2 nv + nact, nu] from the tangents of the next state.

    Reads the values of the next positions from qpos_saved.
    """
    nv = m.nv
    states = 2 * nv + m.nact
    difference(m, d.qpos_saved, d.qpos, d.qstep)
    for i in range(nv):
        read_row(m, d.qstep[i], A, B, i, column, states)
        read_row(m, d.qvel[i], A, B, nv + i, column, states)
    for k in range(m.nact):
        read_row(m, d.act[k], A, B, 2 * nv + k, column, states)


@kernel(inline=True)
def read_row(m, value, A, B, row, column, states):
    """One row of A and B from the tangents of one component of the next state."""
    for c in range(column, min(column + NTANGENT, states)):
        A[row, c] = tangent_of(value, c - column)
    for c in range(max(column, states), min(column + NTANGENT, states + m.nu)):
        B[row, c - states] = tangent_of(value, c - column)


@kernel
def store_tangents(m, d, next_qpos, A, B, column):
    """`read_tangents` with next_qpos [nq] as the values of the next positions."""
    for k in range(m.nq):
        d.qpos_saved[k] = seed(next_qpos[k], -1)
    read_tangents(m, d, A, B, column)


@kernel
def store_parameter_tangents(m, d, next_qpos, P, column):
    """Columns column, column + 1, ... of P [2 nv + nact, parameters] from the tangents of the next state.

    next_qpos [nq]: the values of the next positions.
    """
    nv = m.nv
    for k in range(m.nq):
        d.qpos_saved[k] = seed(next_qpos[k], -1)
    difference(m, d.qpos_saved, d.qpos, d.qstep)
    for c in range(column, min(column + NTANGENT, P.shape[1])):
        for i in range(nv):
            P[i, c] = tangent_of(d.qstep[i], c - column)
            P[nv + i, c] = tangent_of(d.qvel[i], c - column)
        for k in range(m.nact):
            P[2 * nv + k, c] = tangent_of(d.act[k], c - column)
