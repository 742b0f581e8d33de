"""What touches now, and how hard."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.record.contact_forces import contact_table

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation


def touching(sim: "Simulation") -> NDArray[Any]:
    """Contacts [n, 7] at the present state: position (m), force on the second geom (N, world axes), distance (m)."""
    if not sim._model.nconmax:
        return np.zeros((0, 7))
    sim.forward()
    return contact_table(sim._model, sim._struct)
