"""The log of located events, with the names of contact points, limits and dry friction."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import warn
from saltus.model.event_enums import (
    AFTER,
    BEFORE,
    COUNT,
    DENSE,
    GAP,
    IMPACT,
    ITEM,
    KIND,
    KINDS,
    LEFTOVER,
    LOGGED,
    LOST,
    NORMAL,
    SINCE,
    SPEED,
    TANGENT2,
    TIME,
)
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.table.events import EVENT_DTYPE


def mode_names(model: Model, m: Struct) -> list[tuple[str, str]]:
    """Pairs (name, other) for everything with a mode: contact points, ends of limits, friction of each kind."""
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
    if len(names) < m.nmode:
        points = names[: m.nslot]
        names += [(name, f"{other} ({kind})") for kind in ("torsion", "rolling") for name, other in points]
    return names


class EventReader:
    """Reads events that kernels have logged."""

    def __init__(self, model: Model, m: Struct, d: Struct, user_events: Sequence[str]):
        self._d = d
        self._told = False  # whether leftovers have been warned of
        fields = EVENT_DTYPE.fields or {}
        names = [*mode_names(model, m), *((name, "") for name in user_events), ("", "")]
        self.names = np.array([n for n, _ in names])  # the last, "", for events without an object
        self.others = np.array([n for _, n in names])
        text = np.result_type(EVENT_DTYPE["name"], self.names, self.others)  # wide enough for all
        self.dtype = np.dtype([(f, text if f in ("name", "other") else kind) for f, (kind, *_) in fields.items()])
        self.kinds = np.array(KINDS, EVENT_DTYPE["kind"])

    def read(self, kept: int) -> NDArray[Any]:
        """Return the events since the last call in order of time; `kept`: number of events before them."""
        count = self._d.views["event_count"]
        rows = self._d.views["event_log"][: count[LOGGED]]
        out = self.table(rows)
        warn_of_lost(int(count[LOST]))
        if not self._told and has_leftovers(rows[:, KIND]):
            self._told = True
            warn_of_leftovers()
        count[LOGGED] = count[LOST] = 0
        return out

    def table(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        """Table of the events that rows of the log describe."""
        out = np.zeros(len(rows), self.dtype)
        item, kind = rows[:, ITEM].astype(int), rows[:, KIND].astype(int)
        out["time"], out["gap"], out["velocity"] = rows[:, TIME], rows[:, GAP], rows[:, SPEED]
        out["gap"][item < 0] = out["velocity"][item < 0] = np.nan
        dense = kind == DENSE
        out["since"] = np.where(dense, rows[:, SINCE], np.nan)
        out["impacts"] = np.where(dense, rows[:, COUNT], np.nan)
        out["kind"], out["name"], out["other"] = self.kinds[kind], self.names[item], self.others[item]
        impact = kind == IMPACT
        out["impulse"] = np.where(impact[:, None], rows[:, NORMAL : TANGENT2 + 1], np.nan)
        for field, place in (("energy_before", BEFORE), ("energy_after", AFTER)):
            out[field] = np.where(impact | dense, rows[:, place], np.nan)
        return out


def warn_of_unproved(d: Struct) -> int:
    """Warn of steps in which a contact may have been missed; returns their number, and resets the count."""
    unproved = d.views["unproved"]
    found = int(unproved[0]) if unproved.size else 0
    if found:
        warn(
            f"in {found} steps before t = {float(d.views['time']):g} s not all pairs of geoms were proved apart: "
            "a contact may have been missed; choose a smaller timestep or tolerance"
        )
        unproved[:] = 0
    return found


def warn_of_lost(events: int) -> None:
    """Warn that the log had no room for so many events."""
    if events:
        warn(f"{events} events did not fit into the log")


def has_leftovers(kinds: NDArray[np.float64]) -> bool:
    """Whether events of these kinds include impacts that ended differently than the law requires."""
    return bool((kinds == LEFTOVER).any())


def warn_of_leftovers() -> None:
    """Warn of series of impacts that were cut off."""
    warn(
        "an impact of several contacts did not end within the limit on impacts in a row; contacts that still "
        "approached were stopped without restitution, which takes energy (events of kind 'leftover' say when). "
        "saltus.Hard(treatment='moreau') resolves all contacts in one problem instead"
    )
