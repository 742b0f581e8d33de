"""The log of events of time stepping."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import warn
from saltus.model.compile.constraints.hard import slot_counts
from saltus.model.event_enums import (
    GAP,
    IMPACT,
    ITEM,
    KIND,
    KINDS,
    LIFTOFF,
    LOGGED,
    LOST,
    NORMAL,
    SPEED,
    TANGENT2,
    TIME,
)
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.table.events import EVENT_DTYPE
from saltus.solve.stepping.modes import LIMIT, POINTS

MOST_EVENTS = 100_000  # number of events that a simulation keeps


class StepEventReader:
    """Reads events that steps have logged, up to `MOST_EVENTS` in all; further ones are counted, with one warning."""

    def __init__(self, model: Model, m: Struct, d: Struct):
        self._model, self._m, self._d = model, m, d
        self._counts = slot_counts(m)
        self._geoms = model.names("geom")
        self.left_out = 0

    def read(self, kept: int) -> NDArray[Any]:
        """Return the events since the last call in order of time; `kept`: number of events before them."""
        count = self._d.views["event_count"]
        rows = self._d.views["event_log"][: count[LOGGED]]
        room = MOST_EVENTS - kept
        missed = int(count[LOST]) + max(len(rows) - room, 0)
        if missed and not self.left_out:
            time = float(self._d.views["time"])
            warn(f"more than {MOST_EVENTS} events by t = {time:g} s; later ones are only counted")
        self.left_out += missed
        out = self.table(rows[: max(room, 0)])
        count[LOGGED] = count[LOST] = 0
        return out

    def table(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        """Table of the events that rows of the log describe."""
        if not len(rows):
            return np.empty(0, EVENT_DTYPE)
        names = {item: self._names(item) for item in np.unique(rows[:, ITEM]).astype(int).tolist()}
        widest = max(len(name) for pair in names.values() for name in pair)
        text = np.result_type(EVENT_DTYPE["name"], np.dtype(f"U{widest}"))
        fields = EVENT_DTYPE.fields or {}
        out = np.zeros(
            len(rows), np.dtype([(f, text if f in ("name", "other") else kind) for f, (kind, *_) in fields.items()])
        )
        kind = rows[:, KIND].astype(int)
        out["time"], out["gap"], out["velocity"] = rows[:, TIME], rows[:, GAP], rows[:, SPEED]
        out["kind"] = np.array(KINDS)[kind]
        labels = [names[int(item)] for item in rows[:, ITEM]]
        out["name"], out["other"] = [name for name, _ in labels], [other for _, other in labels]
        hits = kind == IMPACT
        out["impulse"] = np.where(hits[:, None], rows[:, NORMAL : TANGENT2 + 1], np.nan)
        out["energy_before"] = out["energy_after"] = np.nan
        gone = (kind == LIFTOFF) & (out["gap"] == 0.0) & (out["velocity"] == 0.0)
        out["gap"][gone] = out["velocity"][gone] = np.nan  # no longer computed
        return out

    def _names(self, item: int) -> tuple[str, str]:
        """(name, other) of an event's object, as `saltus.simulate.engine.events.located.mode_names` gives them."""
        m = self._m
        if item > LIMIT:
            c, number = divmod(item, POINTS)
            first, second = (self._geoms[m.views[f"collision_geom{k}"][c]] for k in (1, 2))
            return (second if self._counts[c] == 1 else f"{second}.{number}"), first
        k, end = divmod(LIMIT - item, 2)
        names = self._model.names("joint" if k < m.njntlimit else "tendon")
        return names[m.limit_obj[k]], ("lower limit", "upper limit")[end]
