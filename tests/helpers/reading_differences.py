"""Derivatives of readings at one state by central differences of sixth order, on the manifold of positions."""

from collections.abc import Callable

import mujoco
import numpy as np

SIXTH_ORDER = ((1, 45.0), (2, -9.0), (3, 1.0))


def differences(sim, h, read: Callable | None = None, changes=None):
    """[C D] of `read(sim)`, by default all readings, by (dq, dv, dw, du), with distances of h, 2 h and 3 h.

    `changes` [size, n]: the directions; None: all, one after the other.
    """
    model = sim.model
    size = 2 * model.nv + len(sim.act) + model.nu
    read = read or (lambda sim: sim.sensordata.copy())
    columns = []
    for direction in np.eye(size) if changes is None else changes:
        total = 0.0
        for k, weight in SIXTH_ORDER:
            for sign in (1, -1):
                total = total + sign * weight * _moved(sim, sign * k * h * direction, read)
        columns.append(total / (60.0 * h))
    return np.transpose(columns)


def _moved(sim, change, read):
    """The reading at a state and controls moved by a change, after which the simulation goes back."""
    nv, na = sim.model.nv, len(sim.act)
    kept = [x.copy() for x in (sim.qpos, sim.qvel, sim.act, sim.ctrl)]
    mujoco.mj_integratePos(sim.model.mujoco, sim.qpos, np.ascontiguousarray(change[:nv]), 1.0)
    sim.qvel += change[nv : 2 * nv]
    sim.act += change[2 * nv : 2 * nv + na]
    sim.ctrl += change[2 * nv + na :]
    found = read(sim)
    sim.qpos[:], sim.qvel[:], sim.act[:], sim.ctrl[:] = kept
    return found
