"""Contact points as a recording holds them, under every law of contact: names, bodies, modes, forces and places.

Forces are those that the state's accelerations come with; where steps of time go over events, means over the step that
led to the state. A soft contact is closed where it carries force, and slips where friction is at its bound; one that
follows a law of the user's, where its surfaces move along each other.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NCON, NUNSOLVED
from saltus.model.hard import PLANE_BOX, slot_counts
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.columns import SLIPPING, STICKING
from saltus.record.contact_forces import contact_table, local_forces
from saltus.record.events import contact_label
from saltus.record.humans import WORLD
from saltus.simulate import loops
from saltus.solve.step_modes import BOUNCED

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

MOST_POINTS = 1000  # of a recording with columns for each; beyond, and for deformable bodies, it has pairs alone
EDGE = 1.0 - 1e-6  # of the bound of friction: what is at it, for the tolerance of the soft law's solver
SLOW = 1e-6  # m/s: slower than this surfaces do not move along each other


def point_count(sim: "Simulation") -> int:
    """How many contact points a recording of this simulation has columns for; 0 where it has pairs alone."""
    m = sim._model
    if sim._located:
        return m.nslot
    if not m.nconmax or m.layout.features & {"flexcontact"}:
        return 0
    count = int(slot_counts(m).sum())
    return count if count <= MOST_POINTS else 0


def why_no_points(sim: "Simulation") -> str:
    """Why a model with contacts has no columns for their points; "" where it has them, or there is no contact."""
    m = sim._model
    if point_count(sim) or not m.nconmax:
        return ""
    if m.layout.features & {"flexcontact"}:
        return "contacts of deformable bodies have no numbered points"
    return f"{int(slot_counts(m).sum())} contact points are more than {MOST_POINTS}"


def point_names(model: Model, m: Struct) -> list[str]:
    """Labels of all contact points, "floor box.0": what their events call them, the other geom first."""
    geoms, names = model.names("geom"), []
    for c, count in enumerate(slot_counts(m)):
        first, second = (geoms[m.views[f"collision_geom{k}"][c]] for k in (1, 2))
        names += [contact_label(second if count == 1 else f"{second}.{k}", first) for k in range(count)]
    return names


def point_bodies(model: Model, m: Struct) -> list[list[str]]:
    """Between which two bodies each contact point is, by name; what cannot move is "world"."""
    names = model.names("body")
    bodies = [WORLD if model.body_weldid[b] == 0 else names[b] for b in model.geom_bodyid]
    pairs = zip(m.collision_geom1, m.collision_geom2, slot_counts(m), strict=True)
    return [[bodies[first], bodies[second]] for first, second, count in pairs for _ in range(count)]


def contact_columns(sim: "Simulation", closed: NDArray[np.bool_]) -> dict[str, Any]:
    """contact_state, contact_mode [n], contact_force [n, 3] (N) and contact_pos [n, 3] (m) at the present state.

    `closed`: which pairs of geoms touch, for recordings of pairs alone, as `Simulation._sample` finds it; not read
    where events are located in time. An open point has force 0, and nan for a place.
    """
    if sim._located:
        return _located(sim)
    stepped = sim._stepping and not sim._was_moved() and sim._struct.views["past_known"] > 0.0
    if point_count(sim):
        return _stepped(sim) if stepped else _present(sim)
    if stepped:
        pairs, on, _ = _of_step(sim)
        closed = np.zeros(len(closed), bool)
        closed[pairs[on]] = True
    return {"contact_state": closed}


def _columns(places: Any, mode: Any, force: Any, pos: Any, count: int) -> dict[str, Any]:
    """The columns with what is known of some points."""
    modes, forces, poses = np.zeros(count, np.int8), np.zeros((count, 3)), np.full((count, 3), np.nan)
    modes[places], forces[places], poses[places] = mode, force, pos
    return {"contact_state": modes > 0, "contact_mode": modes, "contact_force": forces, "contact_pos": poses}


def _located(sim: "Simulation") -> dict[str, Any]:
    """Where events are located in time."""
    m, d = sim._model, sim._struct
    mode = d.views["mode"][: m.nslot].astype(np.int8)
    closed = np.flatnonzero(mode)
    if not closed.size:
        return _columns(closed, 0, 0.0, np.nan, m.nslot)
    _look(sim)
    table, contact = contact_table(m, d), d.views["slot_contact"][closed]
    there = contact >= 0
    columns = _columns(closed[there], 0, table[contact[there], 3:6], table[contact[there], :3], m.nslot)
    return columns | {"contact_state": mode > 0, "contact_mode": mode}


def _stepped(sim: "Simulation") -> dict[str, Any]:
    """Where steps go over events, after one: what it has left."""
    d, counts = sim._struct.views, slot_counts(sim._model)
    pair, on, mode = _of_step(sim)
    places = (np.cumsum(counts) - counts)[pair[on]] + d["past_slot"][on].astype(int)
    return _columns(places, mode[on], d["past_push"][on], d["past_place"][on], int(counts.sum()))


def _of_step(sim: "Simulation") -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Of the blocks of rows that the last step has left: pairs of geoms, which are of closed contacts, and modes."""
    m, d = sim._model, sim._struct.views
    n = int(d["past_count"])
    pair = d["past_number"][:n].astype(int) - (2 * m.neq + m.nfriction + m.nlimit)
    mode = np.mod(d["past_mode"][:n], BOUNCED)
    return pair, np.flatnonzero((pair >= 0) & (mode > 0.0)), mode


def _present(sim: "Simulation") -> dict[str, Any]:
    """From the forces that the present state comes with; after a look at its contacts."""
    m, d, counts = sim._model, sim._struct, slot_counts(sim._model)
    if sim._stepping:
        _look(sim)
        return _of_forces(sim, counts)
    pairs = d.views["contact_collision"][: d.views["count"][NCON]]
    margin = m.views["law_margin"][m.views["collision_law"][pairs]]
    if not (d.views["contact_dist"][: len(pairs)] < margin).any():
        return _columns([], 0, 0.0, np.nan, int(counts.sum()))
    _look(sim)
    return _of_forces(sim, counts)


def _of_forces(sim: "Simulation", counts: NDArray[Any]) -> dict[str, Any]:
    """The columns from the contacts in the Data and their forces; `counts`: points of each pair."""
    m, d = sim._model, sim._struct
    force, table = local_forces(m, d), contact_table(m, d)
    on = np.flatnonzero(force.any(axis=1))
    mode = np.where(_slides(sim, force)[on], SLIPPING, STICKING)
    return _columns(_points(m, d, counts)[on], mode, table[on, 3:6], table[on, :3], int(counts.sum()))


def _look(sim: "Simulation") -> None:
    """Compute the present state's forces; that changes nothing, and is no step that may be unconverged."""
    before, unsolved = sim._state.copy(), int(sim._struct.views["count"][NUNSOLVED])
    sim._note_forces()
    loops.forward(sim._model, sim._struct)
    sim._state[:] = before
    sim._struct.views["count"][NUNSOLVED] = unsolved
    sim._computed = None


def _points(m: Struct, d: Struct, counts: NDArray[Any]) -> NDArray[Any]:
    """Columns of all contacts in the Data: corners of a box on a plane are known, others counted as they come."""
    pairs = d.views["contact_collision"][: d.views["count"][NCON]]
    number = np.zeros(len(pairs), int)
    for k in range(1, len(pairs)):
        number[k] = np.count_nonzero(pairs[:k] == pairs[k])
    for k in np.flatnonzero(m.views["collision_kind"][pairs] == PLANE_BOX):
        geom = m.views["collision_geom2"][pairs[k]]
        offset = d.views["contact_pos"][k] + 0.5 * d.views["contact_dist"][k] * d.views["contact_frame"][k, :3]
        side = (offset - d.views["geom_xpos"][geom]) @ d.views["geom_xmat"][geom].reshape(3, 3)
        number[k] = (side > 0.0) @ [1, 2, 4]
    return (np.cumsum(counts) - counts)[pairs] + number


def _slides(sim: "Simulation", force: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of the contacts in the Data slip, with their forces [n, 3] along normal and tangents."""
    m, d = sim._model, sim._struct
    if m.ntouch:
        return _speeds(sim) > SLOW
    law = m.views["collision_law"][d.views["contact_collision"][: len(force)]]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.abs(force[:, 1:]) / m.views["law_friction"][law, :2]
    parts = np.where(force[:, 1:] == 0.0, 0.0, parts)
    # MuJoCo's pyramids bound the sum of both parts
    used = parts.sum(axis=1) if not (m.opt_cone or sim._stepping) else np.hypot(parts[:, 0], parts[:, 1])
    return (m.views["law_dim"][law] >= 3) & (used >= EDGE * force[:, 0]) & (used > 0.0)


def _speeds(sim: "Simulation") -> NDArray[np.float64]:
    """How fast the surfaces move along each other at the contacts in the Data (m/s)."""
    m, d = sim._model, sim._struct.views
    n = d["count"][NCON]
    pairs, place = d["contact_collision"][:n], d["contact_pos"][:n]
    along = np.zeros((n, 3))
    for sign, side in ((-1.0, "collision_geom1"), (1.0, "collision_geom2")):
        body = m.views["geom_bodyid"][m.views[side][pairs]]
        arm = place - d["subtree_com"][m.views["body_rootid"][body]]
        velocity = d["cvel"][body]
        along += sign * (velocity[:, 3:] + np.cross(velocity[:, :3], arm))
    return np.linalg.norm(np.cross(d["contact_frame"][:n, :3], along), axis=1)
