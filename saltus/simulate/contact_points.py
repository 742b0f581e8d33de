"""Contact points of a hybrid run as a recording holds them: names, bodies, modes, forces and places."""

from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.contact_forces import contact_table
from saltus.record.events import contact_label
from saltus.record.humans import WORLD
from saltus.simulate import loops
from saltus.simulate.hybrid import mode_names

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation


def point_names(model: Model, m: Struct) -> list[str]:
    """Labels of all contact points, "floor box.0": what their events call them, the other geom first."""
    return [contact_label(name, other) for name, other in mode_names(model, m)[: m.nslot]]


def point_bodies(model: Model, m: Struct) -> list[list[str]]:
    """Between which two bodies each contact point is, by name; what cannot move is "world"."""
    names = model.names("body")
    bodies = [WORLD if model.body_weldid[b] == 0 else names[b] for b in model.geom_bodyid]
    pairs = zip(m.collision_geom1, m.collision_geom2, strict=True)
    return [
        [bodies[first], bodies[second]] for c, (first, second) in enumerate(pairs) for _ in range(int(m.slot_num[c]))
    ]


def point_columns(sim: "Simulation") -> dict[str, Any]:
    """contact_state, contact_mode [n], contact_force [n, 3] (N) and contact_pos [n, 3] (m) at the present state.

    Forces are those that the accelerations come with. An open point has force 0, and nan for a place.
    """
    m, d = sim._model, sim._struct
    mode = d.views["mode"][: m.nslot].astype(np.int8)
    closed = np.flatnonzero(mode)
    force, pos = np.zeros((m.nslot, 3)), np.full((m.nslot, 3), np.nan)
    if closed.size:
        before = sim._state.copy()
        loops.forward(m, d)
        # looking changes nothing
        sim._state[:] = before
        sim._computed = None
        table, contact = contact_table(m, d), d.views["slot_contact"][closed]
        there = contact >= 0
        pos[closed[there]] = table[contact[there], :3]
        force[closed[there]] = table[contact[there], 3:6]
    return {"contact_state": mode > 0, "contact_mode": mode, "contact_force": force, "contact_pos": pos}
