"""What touches now, how hard, and whether it sticks or slips."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.draw.still import OPEN
from saltus.record.contact_forces import contact_table
from saltus.simulate import loops

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

NEAR = 0.03  # of the model's extent: how near an open point is shown


def touching(sim: "Simulation") -> NDArray[Any]:
    """Contacts [n, 8] at the present state: position (m), force on the second geom (N, world axes), distance (m), mode.

    The mode is 0 for open, 1 for sticking and 2 for slipping where events are located in time, -1 otherwise. Open
    points are among them while they are near: nearer than 0.03 of the model's extent.
    """
    if not sim._model.nconmax:
        return np.zeros((0, 8))
    if not sim._located:
        sim.forward()
        return contact_table(sim._model, sim._struct)
    return _located(sim)


def _located(sim: "Simulation") -> NDArray[Any]:
    """The table where events are located in time; with modes that are found now, if they are not known.

    Looking changes nothing, so that such modes are forgotten again.
    """
    before = sim._state.copy()
    sim._note_forces()
    sim._settle()
    status = loops.forward(sim._model, sim._struct)
    table = contact_table(sim._model, sim._struct)
    closed = table[:0] if status else table[table[:, 7] != OPEN]
    loops.gaps(sim._model, sim._struct)
    table = contact_table(sim._model, sim._struct)
    near = table[(table[:, 7] == OPEN) & (table[:, 6] < NEAR * sim.model.stat.extent)]
    near[:, 3:6] = 0.0
    sim._state[:], sim._computed = before, None
    return np.concatenate([closed, near])
