"""What touches now, how hard, and whether it sticks or slips."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.draw.scene.snapshot import OPEN
from saltus.record.table.contact_forces import contact_axes, contact_table
from saltus.simulate import loops

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

NEAR = 0.03  # of the model's extent: how near an open point is shown


def touching(sim: "Simulation") -> NDArray[Any]:
    """Contacts [n, 8] at the present state: position (m), force on the second geom (N, world axes), distance (m), mode.

    The mode is 0 for open, 1 for sticking and 2 for slipping where events are located in time, -1 otherwise. Open
    points are among them while they are near: nearer than 0.03 of the model's extent.
    """
    return touching_with_axes(sim)[0]


def touching_with_axes(sim: "Simulation") -> tuple[NDArray[Any], NDArray[Any]]:
    """The same, and the axes [n, 6] of each: the normal towards the second geom and the first tangent, world axes."""
    if not sim._model.nconmax:
        return np.zeros((0, 8)), np.zeros((0, 6))
    if not sim._located:
        sim.forward()
        return _table(sim)
    return _located(sim)


def _table(sim: "Simulation") -> tuple[NDArray[Any], NDArray[Any]]:
    return contact_table(sim._model, sim._struct), contact_axes(sim._model, sim._struct)


def _located(sim: "Simulation") -> tuple[NDArray[Any], NDArray[Any]]:
    """The tables where events are located in time; with modes that are found now, if they are not known.

    Looking changes nothing, so that such modes are forgotten again.
    """
    before = sim._state.copy()
    sim._note_forces()
    sim._settle()
    status = loops.forward(sim._model, sim._struct)
    table, axes = _table(sim)
    closed = np.zeros(len(table), bool) if status else table[:, 7] != OPEN
    loops.gaps(sim._model, sim._struct)
    others, their_axes = _table(sim)
    near = (others[:, 7] == OPEN) & (others[:, 6] < NEAR * sim.model.stat.extent)
    others[:, 3:6] = 0.0
    sim._state[:], sim._computed = before, None
    return np.concatenate([table[closed], others[near]]), np.concatenate([axes[closed], their_axes[near]])
