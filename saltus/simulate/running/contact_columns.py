"""Contact columns of recordings, under every contact law: names, bodies, modes, forces and positions.

Forces belong to the accelerations of the state; under time stepping, they are means over the step that led to the
state. For modes under other laws see `saltus.sense.point_columns`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.compat.humans import WORLD
from saltus.contact.counts import NCON
from saltus.model.compile.constraints.broad import MOST_LISTED
from saltus.model.compile.constraints.hard import slot_counts
from saltus.model.enums import CONE_ELLIPTIC
from saltus.model.event_enums import LEFT
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.table.contact_forces import contact_table, local_forces
from saltus.record.table.events import contact_label
from saltus.sense.point_columns import WIDTH
from saltus.simulate import stepping
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking
from saltus.solve.stepping.modes import BOUNCED

MOST_POINTS = 1000  # most points with columns; beyond, and for deformable bodies, recordings have columns of pairs


def point_count(engine: Engine) -> int:
    """Number of contact points that a recording of this simulation has columns for; 0 if it has pairs only."""
    if engine.locates_events:
        return engine.m.nslot
    return _counted(engine)[0]


def _first(engine: Engine) -> NDArray[np.int64]:
    """The first point of each pair of geoms."""
    return _counted(engine)[1]


def _counted(engine: Engine) -> tuple[int, NDArray[np.int64]]:
    """Result of `_numbers` for a simulation, computed once."""
    if "points" not in engine.memo:
        engine.memo["points"] = _numbers(engine.m)
    return engine.memo["points"]


def _numbers(m: Struct) -> tuple[int, NDArray[np.int64]]:
    """Number of points with columns, and the first point of each pair."""
    if not m.nconmax or m.layout.features & {"flexcontact", "broad"}:
        return 0, np.zeros(0, np.int64)
    counts = slot_counts(m)
    total = int(counts.sum())
    return total if total <= MOST_POINTS else 0, (np.cumsum(counts) - counts).astype(np.int64)


def why_no_points(engine: Engine) -> str:
    """Reason why a model with contacts has no columns for their points; "" if it has them, or no contacts."""
    m = engine.m
    if point_count(engine) or not m.nconmax:
        return ""
    if m.layout.features & {"flexcontact"}:
        return "contacts of deformable bodies have no numbered points"
    if "sleep" in m.layout.features:
        return "where trees may fall asleep, pairs of geoms near each other are found at run time"
    if "broad" in m.layout.features:
        return f"of more than {MOST_LISTED} pairs of geoms that may touch, those near each other are found at run time"
    return f"{int(slot_counts(m).sum())} contact points exceed the limit of {MOST_POINTS}"


def point_names(model: Model, m: Struct) -> list[str]:
    """Labels of all contact points, such as "floor box.0", as in the event log, the other geom first."""
    geoms, names = model.names("geom"), []
    for c, count in enumerate(slot_counts(m)):
        first, second = (geoms[m.views[f"collision_geom{k}"][c]] for k in (1, 2))
        names += [contact_label(second if count == 1 else f"{second}.{k}", first) for k in range(count)]
    return names


def point_bodies(model: Model, m: Struct) -> list[list[str]]:
    """Names of the two bodies of each contact point; bodies that cannot move are "world"."""
    names = model.names("body")
    bodies = [WORLD if model.body_weldid[b] == 0 else names[b] for b in model.geom_bodyid]
    pairs = zip(m.collision_geom1, m.collision_geom2, slot_counts(m), strict=True)
    return [[bodies[first], bodies[second]] for first, second, count in pairs for _ in range(count)]


def energy_and_contacts(engine: Engine) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Energy [2] (J) and contact columns at the present state, for points, otherwise for pairs or geoms.

    contact_state, contact_mode [n], contact_force [n, 3] (N), contact_pos [n, 3] (m); an open point has force 0 and
    position nan. Pairs and geoms have contact_state only.
    """
    if engine.locates_events:
        return stepping.energy(engine), _stepped(engine) if engine.d.views["dense"][LEFT] > 0.0 else _located(engine)
    stepped = engine.steps_over_events and not engine.was_moved() and engine.d.views["past_known"] > 0.0
    if not point_count(engine):
        energy, closed = engine.energy_and_pairs()
        if engine.steps_over_events:
            closed[:] = False
            closed[_pairs_of_step(engine) if stepped else _pushing_pairs(engine)] = True
        return energy, {"contact_state": closed}
    return (stepping.energy(engine), _stepped(engine)) if stepped else _present(engine)


def _columns(mode: NDArray[Any], force: NDArray[Any], pos: NDArray[Any]) -> dict[str, Any]:
    return {"contact_state": mode > 0, "contact_mode": mode, "contact_force": force, "contact_pos": pos}


def _located(engine: Engine) -> dict[str, Any]:
    """Contact columns when events are located in time."""
    m, d = engine.m, engine.d
    mode = d.views["mode"][: m.nslot].astype(np.int8)
    closed = np.flatnonzero(mode)
    force, pos = np.zeros((m.nslot, 3)), np.full((m.nslot, 3), np.nan)
    if closed.size:
        _look(engine)
        table, contact = contact_table(m, d), d.views["slot_contact"][closed]
        there = contact >= 0
        pos[closed[there]] = table[contact[there], :3]
        force[closed[there]] = table[contact[there], 3:6]
    return _columns(mode, force, pos)


def _stepped(engine: Engine) -> dict[str, Any]:
    """Contact columns after a step of time stepping, from the forces of that step."""
    d, table = engine.d.views, _empty(engine)
    pair, on, mode = _of_step(engine)
    places = _first(engine)[pair[on]] + d["past_slot"][on].astype(int)
    table[places, 0], table[places, 1:4], table[places, 4:] = mode[on], d["past_push"][on], d["past_place"][on]
    return _of_table(table)


def _of_step(engine: Engine) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Pairs of geoms of the last step's blocks of rows, numbers of the blocks of closed contacts, and all modes."""
    m, d = engine.m, engine.d.views
    n = int(d["past_count"])
    pair = d["past_number"][:n].astype(int) - (2 * m.neq + m.nfriction + m.nlimit)
    mode = np.mod(d["past_mode"][:n], BOUNCED)
    return pair, np.flatnonzero((pair >= 0) & (mode > 0.0)), mode


def _pairs_of_step(engine: Engine) -> NDArray[Any]:
    """The pairs of geoms that are closed after the last step."""
    pairs, on, _ = _of_step(engine)
    return pairs[on]


def _pushing_pairs(engine: Engine) -> NDArray[Any]:
    """The pairs of geoms with a force at the present state, under the hard law of time stepping."""
    _look(engine)
    force = local_forces(engine.m, engine.d)
    return engine.d.views["contact_collision"][: len(force)][force.any(axis=1)]


def _present(engine: Engine) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Energy, and contact columns from the forces of the present state, computed if there are contacts."""
    m, d, table = engine.m, engine.d.views, _empty(engine)
    if not d["count"][NCON]:  # in the last computed state
        energy, _ = engine.energy_and_pairs()
        if not d["count"][NCON]:
            return energy, _of_table(table)
    _look(engine)
    loops.points(m, engine.d, _first(engine), bool(m.opt_cone == CONE_ELLIPTIC) or engine.steps_over_events, table)
    return d["energy"].copy(), _of_table(table)


def _empty(engine: Engine) -> NDArray[np.float64]:
    """Table for `saltus.sense.point_columns` to fill, with all points open."""
    table = np.zeros((point_count(engine), WIDTH))
    table[:, 4:] = np.nan
    return table


def _of_table(table: NDArray[np.float64]) -> dict[str, Any]:
    return _columns(table[:, 0].astype(np.int8), table[:, 1:4], table[:, 4:])


def _look(engine: Engine) -> None:
    """Compute the present state's forces without changing the engine or its count of unconverged steps."""
    with peeking(engine):
        engine.note_forces()
        loops.forward(engine.m, engine.d)
