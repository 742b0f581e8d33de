"""Copies of a simulation's state that know what they are of.

A snapshot is an array: all numbers of the state, then a mark, a number that is made of the model and of what gives the
other numbers their meaning. So it can be kept in any file of arrays, and none is taken for another model's.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from saltus.errors import OptionError

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

WHOLE = 52  # bits of a whole number that a float64 holds exactly


def marked(sim: Simulation) -> np.ndarray:
    """A copy of the present state, with its mark."""
    return np.append(sim._state, mark(sim))


def unmarked(sim: Simulation, snapshot: np.ndarray) -> np.ndarray:
    """The state of a snapshot of this simulation or one of the same kind. OptionError: it is not one."""
    given, wanted = np.asarray(snapshot), sim._state.size + 1
    if given.shape != (wanted,):
        raise OptionError(f"the snapshot holds {given.size} numbers, one of this simulation {wanted}")
    if given[-1] != mark(sim):
        raise OptionError(
            "the snapshot is of another model, integrator or contact law than this simulation; assign time, qpos, "
            "qvel, act, ... to take over the state alone"
        )
    return given[:-1]


def mark(sim: Simulation) -> float:
    """The number that snapshots of this simulation end with."""
    if sim._mark is None:
        digest, struct = hashlib.sha256(), sim.model.struct()
        for buffer in (struct.real, struct.ints):
            digest.update(buffer.tobytes())
        for kind in ("joint", "actuator"):
            digest.update(repr(sim.model.names(kind)).encode())
        remembered = (
            sim.integrator.name if sim._remembers else "",
            sim.law.name if sim._located or sim._stepping else "",
        )
        digest.update(repr((sorted(struct.layout.features), remembered)).encode())
        sim._mark = float(int.from_bytes(digest.digest()[:8], "little") >> (64 - WHOLE))
    return sim._mark
