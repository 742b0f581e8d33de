"""Seeding a step with tangents and reading its derivatives, for duals."""

from saltus.integrate.manifold import difference, displace
from saltus.number.functions import seed, tangent_of
from saltus.number.kernels import kernel
from saltus.number.kinds import NTANGENT


@kernel
def seed_state(m, d, qpos, qvel, ctrl, column):
    """Put the state into a dual Data with tangents along directions column, column + 1, ... of (dq, dv, du)."""
    nv = m.nv
    for k in range(m.nq):
        d.qpos_saved[k] = seed(qpos[k], -1)
    for i in range(nv):
        d.qstep[i] = seed(0.0, i - column)
        d.qvel[i] = seed(qvel[i], nv + i - column)
    for k in range(m.nu):
        d.ctrl[k] = seed(ctrl[k], 2 * nv + k - column)
    if column < nv:
        displace(m, d.qpos_saved, 1.0, d.qstep, d.qpos)
    else:
        for k in range(m.nq):
            d.qpos[k] = d.qpos_saved[k]


@kernel
def read_tangents(m, d, A, B, column):
    """Columns of A [2 nv, 2 nv] and B [2 nv, nu] from the tangents of the next state; its values are in qpos_saved."""
    nv = m.nv
    difference(m, d.qpos_saved, d.qpos, d.qstep)
    to_state = min(column + NTANGENT, 2 * nv)
    to_ctrl = min(column + NTANGENT, 2 * nv + m.nu)
    for i in range(nv):
        dq, dv = d.qstep[i], d.qvel[i]
        for c in range(column, to_state):
            A[i, c] = tangent_of(dq, c - column)
            A[nv + i, c] = tangent_of(dv, c - column)
        for c in range(max(column, 2 * nv), to_ctrl):
            B[i, c - 2 * nv] = tangent_of(dq, c - column)
            B[nv + i, c - 2 * nv] = tangent_of(dv, c - column)


@kernel
def store_tangents(m, d, next_qpos, A, B, column):
    """`read_tangents` about the values next_qpos [nq] of the next positions."""
    for k in range(m.nq):
        d.qpos_saved[k] = seed(next_qpos[k], -1)
    read_tangents(m, d, A, B, column)
