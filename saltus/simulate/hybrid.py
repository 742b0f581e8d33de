"""Event-driven runs as users see them: names of what has a mode, the log of events, why an event cannot be handled."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NBLOCK
from saltus.contact.event import modes
from saltus.contact.event.modes import KINDS, LOGGED, LOST, PAUSED
from saltus.errors import EventError, OptionError, SaltusWarning
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.table.events import EVENT_DTYPE, contact_label
from saltus.simulate import loops
from saltus.simulate.contact import Hard
from saltus.simulate.snapshot import marked
from saltus.solve.status import AT_IMPACT, CHATTER, CROWDED, JAMMED, TOO_DENSE, UNRESOLVED

if TYPE_CHECKING:
    from saltus.simulate.impact_report import ImpactReport
    from saltus.simulate.simulation import Simulation

DEEP = 1e-3  # m, rad: bodies that lie deeper in each other than this, or loops that gape wider, are refused
STEP_OVER = "; saltus.Hard(dense='step') steps over them"
WHY = {
    JAMMED: "no accelerations satisfy the laws of contact and friction (Painlevé's paradox); "
    "less friction, or time stepping (integrator='moreau_jean'), which lets velocities jump, may go on",
    UNRESOLVED: "the impact could not be resolved to its tolerance",
    CHATTER: "modes change again and again without time passing",
    CROWDED: "more contact points are closed at once than events can be located for",
    TOO_DENSE: "events of a contact come more densely than dense_events within dense_time",
}
EVENT_STATUSES = tuple(WHY)


def mode_names(model: Model, m: Struct) -> list[tuple[str, str]]:
    """(name, other) of all that has a mode: contact points, ends of limits, dry friction."""
    geoms, joints = model.names("geom"), model.names("joint")
    names = []
    for c in range(m.ncollision):
        first, second = geoms[m.collision_geom1[c]], geoms[m.collision_geom2[c]]
        count = int(m.slot_num[c])
        names += [(second if count == 1 else f"{second}.{k}", first) for k in range(count)]
    tendons = model.names("tendon")
    for k in range(m.nlimit):
        name = joints[m.limit_obj[k]] if k < m.njntlimit else tendons[m.limit_obj[k]]
        names += [(name, "lower limit"), (name, "upper limit")]
    dofs = model.dof_names()
    for k in range(m.nfriction):
        name = dofs[m.friction_obj[k]] if k < m.ndoffriction else tendons[m.friction_obj[k]]
        names.append((name, "dry friction"))
    return names


class EventReader:
    """Reads what kernels have logged."""

    def __init__(self, sim: "Simulation"):
        self._sim = sim
        fields = EVENT_DTYPE.fields or {}
        names = [*mode_names(sim.model, sim._model), *((name, "") for name in sim.user_events.names), ("", "")]
        self.names = np.array([n for n, _ in names])  # the last, "", of what has none
        self.others = np.array([n for _, n in names])
        text = np.result_type(EVENT_DTYPE["name"], self.names, self.others)  # wide enough for all
        self.dtype = np.dtype([(f, text if f in ("name", "other") else kind) for f, (kind, *_) in fields.items()])
        self.kinds = np.array(KINDS, EVENT_DTYPE["kind"])

    def read(self) -> NDArray[Any]:
        """The events since the last call, in the order of time."""
        struct = self._sim._struct
        count = struct.views["event_count"]
        rows = struct.views["event_log"][: count[LOGGED]]
        if count[LOST]:
            warnings.warn(f"{count[LOST]} events were too many for the log at once", SaltusWarning, stacklevel=6)
        out = np.zeros(len(rows), self.dtype)
        item, kind = rows[:, modes.ITEM].astype(int), rows[:, modes.KIND].astype(int)
        out["time"], out["gap"], out["velocity"] = rows[:, modes.TIME], rows[:, modes.GAP], rows[:, modes.SPEED]
        out["gap"][item < 0] = out["velocity"][item < 0] = np.nan
        dense = kind == modes.DENSE
        out["since"] = np.where(dense, rows[:, modes.SINCE], np.nan)
        out["impacts"] = np.where(dense, rows[:, modes.COUNT], np.nan)
        out["kind"], out["name"], out["other"] = self.kinds[kind], self.names[item], self.others[item]
        impact = kind == modes.IMPACT
        out["impulse"] = np.where(impact[:, None], rows[:, modes.NORMAL : modes.TANGENT2 + 1], np.nan)
        for field, place in (("energy_before", modes.BEFORE), ("energy_after", modes.AFTER)):
            out[field] = np.where(impact | dense, rows[:, place], np.nan)
        count[LOGGED] = count[LOST] = 0
        return out


def event_error(sim: "Simulation", status: int) -> EventError:
    """The error for an event that could not be handled; the state is that of the event."""
    # what dense="step" would have got over
    more = STEP_OVER if isinstance(sim.law, Hard) and sim.law.dense != "step" and status != JAMMED else ""
    return EventError(WHY[status] + more, time=sim.time, snapshot=marked(sim))


def check_start(sim: "Simulation") -> None:
    """Before modes are found: EventError where bodies lie deep in each other or loops gape, a warning for a little."""
    loops.gaps(sim._model, sim._struct)
    m, gap = sim._model, sim._struct.views["gap"]
    gap = gap[: m.nslot + 2 * m.nlimit]
    worst = int(np.argmin(gap)) if gap.size else -1
    if worst >= 0 and gap[worst] < -float(m.opt_gap_tolerance):
        name, other = mode_names(sim.model, m)[worst]
        overlap = worst < m.nslot
        what = f"{name} and {other} overlap by {-gap[worst]:.3g} m" if overlap else f"{name} is beyond its {other}"
        _check(
            sim, -gap[worst], f"{what} at t = {sim.time:g} s", "they are moved apart" if overlap else "it is moved back"
        )
    if m.neq:
        error, name = _worst_equality(sim)
        _check(
            sim, error, f"equality {name} is violated by {error:.3g} at t = {sim.time:g} s", "positions are moved to it"
        )


def _worst_equality(sim: "Simulation") -> tuple[float, str]:
    """The largest violation of an equality (m, rad), and its name."""
    loops.closed_rows(sim._model, sim._struct)
    d = sim._struct.views
    blocks = [b for b in range(d["count"][NBLOCK]) if d["block_item"][b] < 0]
    errors = [np.abs(d["row_pos"][d["block_row"][b] :][: d["block_dim"][b]]).max() for b in blocks]
    if not errors:
        return 0.0, ""
    worst = int(np.argmax(errors))
    k = sim._model.eq_id[d["block_id"][blocks[worst]]]
    return float(errors[worst]), sim.model.names("equality")[k]


def _check(sim: "Simulation", error: float, what: str, remedy: str) -> None:
    """Refuse a state with a large error (m, rad), warn of a small one."""
    if error > DEEP:
        raise EventError(f"{what}, which hard contact cannot start from", time=sim.time)
    if error > float(sim._model.opt_gap_tolerance):
        warnings.warn(f"{what}; {remedy}", SaltusWarning, stacklevel=6)


def report_of_next_impact(sim: "Simulation", duration: float) -> "ImpactReport":
    """What all laws and treatments make of the next impact; the simulation stays where it is."""
    from saltus.simulate.impact_report import impact_report

    if not sim._located:
        raise OptionError("impact_report: impacts are located in event-driven runs alone (contact='hard', dopri5)")
    before, left, events = sim._state.copy(), sim._left, sim.events
    count = sim._struct.views["event_count"]
    count[PAUSED] = 1
    try:
        sim._prepare()
        _, status = sim._advance(1, duration)
        if status != AT_IMPACT:
            raise OptionError(f"impact_report: there is no impact within {duration:g} s")
        return impact_report(**_posed(sim))
    finally:
        count[PAUSED] = 0
        sim._state[:], sim._left, sim.events, sim._computed = before, left, events, None


def _posed(sim: "Simulation") -> dict[str, Any]:
    """The impact that is posed in Data, for `impact_report`."""
    d = sim._struct.views
    blocks, rows = (int(n) for n in d["hard_count"])
    items = d["block_item"][d["hard_block"][d["hard_row"][:blocks]]]
    names = mode_names(sim.model, sim._model)
    return {
        "W": d["hard_W"][: rows * rows].reshape(rows, rows).copy(),
        "before": d["hard_q"][:rows].copy(),
        "restitution": d["hard_restitution"][:blocks].copy(),
        "friction": d["hard_mu"][:blocks].copy(),
        "names": [contact_label(*names[i]) if i >= 0 else "equality" for i in items],
        "kinds": d["hard_kind"][:blocks].tolist(),
    }
