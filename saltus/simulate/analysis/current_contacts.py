"""Present contacts: positions, forces, and modes (sticking or slipping)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.model.event_enums import LEFT, OPEN
from saltus.record.table.contact_forces import contact_axes, contact_table
from saltus.simulate import stepping
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking

NEAR = 0.03  # distance up to which open points are shown, relative to the model's extent


def touching(engine: Engine) -> NDArray[Any]:
    """Contacts [n, 8] at the present state: position (m), force on the second geom (N, world axes), distance (m), mode.

    If events are located in time, the mode is 0 for open, 1 for sticking and 2 for slipping; otherwise, and while dense
    events are stepped over, it is -1. Open points are included if they are nearer than 0.03 of the model's extent.
    """
    return touching_with_axes(engine)[0]


def touching_with_axes(engine: Engine) -> tuple[NDArray[Any], NDArray[Any]]:
    """Contacts as `touching`, and axes [n, 6]: normal towards the second geom and first tangent, world axes."""
    if not engine.m.nconmax:
        return np.zeros((0, 8)), np.zeros((0, 6))
    if not engine.locates_events:
        stepping.forward(engine)
        return _table(engine)
    return _located(engine)


def _table(engine: Engine) -> tuple[NDArray[Any], NDArray[Any]]:
    return contact_table(engine.m, engine.d), contact_axes(engine.m, engine.d)


def _located(engine: Engine) -> tuple[NDArray[Any], NDArray[Any]]:
    """Tables of contacts where events are located in time; modes that are not known are found.

    The state of the engine does not change: modes that were found for the tables are forgotten again.
    """
    with peeking(engine):
        engine.note_forces()
        engine.settle()
        status = loops.forward(engine.m, engine.d)
        table, axes = _table(engine)
        if engine.d.views["dense"][LEFT] > 0.0:  # there are no modes while steps go over dense events
            return table, axes
        closed = np.zeros(len(table), bool) if status else table[:, 7] != OPEN
        loops.gaps(engine.m, engine.d)
        others, their_axes = _table(engine)
    near = (others[:, 7] == OPEN) & (others[:, 6] < NEAR * engine.model.stat.extent)
    others[:, 3:6] = 0.0
    return np.concatenate([table[closed], others[near]]), np.concatenate([axes[closed], their_axes[near]])
