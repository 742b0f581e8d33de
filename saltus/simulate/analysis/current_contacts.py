"""Present contacts: positions, forces, and modes (sticking or slipping)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.model.event_enums import LEFT, OPEN
from saltus.record.table.contact_forces import centre_of_pressure, contact_axes, contact_table
from saltus.simulate import stepping
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking

NEAR = 0.03  # distance up to which open points are shown, relative to the model's extent


class Present(NamedTuple):
    """Contacts at the present state.

    contacts [n, 8]: position (m), force on the second geom (N, world axes), distance (m), mode of each; axes [n, 6]:
    normal towards the second geom and first tangent, world axes; pressure [3]: the centre of pressure of contacts with
    bodies that cannot move (m), nan without force.
    """

    contacts: NDArray[Any]
    axes: NDArray[Any]
    pressure: NDArray[Any]


#: Nothing touches, or there is nothing that could.
NONE = Present(np.zeros((0, 8)), np.zeros((0, 6)), np.full(3, np.nan))


def present_contacts(engine: Engine) -> Present:
    """Contacts at the present state, with their axes and their centre of pressure.

    If events are located in time, the mode is 0 for open, 1 for sticking and 2 for slipping; otherwise, and while dense
    events are stepped over, it is -1. Open points are included if they are nearer than 0.03 of the model's extent.
    """
    if not engine.m.nconmax:
        return NONE
    if not engine.locates_events:
        stepping.forward(engine)
        return _found(engine)
    return _located(engine)


def touching(engine: Engine) -> NDArray[Any]:
    """The table of `present_contacts` [n, 8]."""
    return present_contacts(engine).contacts


def _found(engine: Engine) -> Present:
    m, d = engine.m, engine.d
    return Present(contact_table(m, d), contact_axes(m, d), centre_of_pressure(engine.model, m, d))


def _located(engine: Engine) -> Present:
    """Contacts where events are located in time; modes that are not known are found.

    The state of the engine does not change: modes that were found for the tables are forgotten again.
    """
    with peeking(engine):
        engine.note_forces()
        engine.settle()
        status = loops.forward(engine.m, engine.d)
        table, axes, pressure = _found(engine)
        if engine.d.views["dense"][LEFT] > 0.0:  # there are no modes while steps go over dense events
            return Present(table, axes, pressure)
        closed = np.zeros(len(table), bool) if status else table[:, 7] != OPEN
        loops.gaps(engine.m, engine.d)
        others, their_axes, _ = _found(engine)
    near = (others[:, 7] == OPEN) & (others[:, 6] < NEAR * engine.model.stat.extent)
    others[:, 3:6] = 0.0
    together = np.concatenate([table[closed], others[near]]), np.concatenate([axes[closed], their_axes[near]])
    return Present(*together, NONE.pressure if status else pressure)
