"""Stiffness and balance of deformable bodies."""

import numpy as np

DIFFERENCE = 1e-6  # m


def stiffness(sim):
    """-d(qfrc_spring)/dq [nv, nv] (N/m) by central differences, where only slides are."""
    q = sim.qpos.copy()
    columns = []
    for i in range(len(q)):
        ends = []
        for side in (DIFFERENCE, -DIFFERENCE):
            sim.qpos[:] = q
            sim.qpos[i] += side
            ends.append(sim.data.qfrc_spring.copy())
        columns.append((ends[1] - ends[0]) / (2 * DIFFERENCE))
    sim.qpos[:] = q
    return np.transpose(columns)


def settle(sim, load):
    """Move a simulation to where its springs balance a load [nv] (N).

    A billionth on the diagonal of the stiffness keeps what nothing holds where it is.
    """
    for _ in range(20):
        left = sim.data.qfrc_spring + load
        if abs(left).max() < 1e-9 * abs(load).max():
            return
        K = stiffness(sim)
        sim.qpos[:] += np.linalg.solve(K + 1e-9 * abs(K).max() * np.eye(len(K)), left)
    raise AssertionError("no balance was found")
