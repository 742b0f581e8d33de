"""Derivatives of a step by central differences of sixth order, on the manifold of positions."""

import mujoco
import numpy as np

from helpers import oracle


def moved(sim, m, direction):
    """Positions, and velocities with activations, after a step from a state and controls moved along a direction."""
    start, nv = sim.snapshot(), m.nv
    mujoco.mj_integratePos(m, sim.qpos, np.ascontiguousarray(direction[:nv]), 1.0)
    sim.qvel += direction[nv : 2 * nv]
    sim.act += direction[2 * nv : 2 * nv + m.na]
    sim.ctrl += direction[2 * nv + m.na :]
    sim.step()
    out = sim.qpos.copy(), np.concatenate([sim.qvel, sim.act])
    sim.restore(start)
    return out


def differences(sim, m, h):
    """[A B] by differences with distances of h, 2 h and 3 h; m: MuJoCo's model of the simulation."""
    size = 2 * m.nv + m.na + m.nu
    nominal, columns = moved(sim, m, np.zeros(size)), []
    for e in np.eye(size):
        total = np.zeros(2 * m.nv + m.na)
        for k, weight in ((1, 45), (2, -9), (3, 1)):
            for sign in (1, -1):
                qpos, rest = moved(sim, m, sign * k * h * e)
                change = np.concatenate([oracle.difference(m, nominal[0], qpos), rest - nominal[1]])
                total += sign * weight * change
        columns.append(total / (60 * h))
    return np.transpose(columns)
