"""Quantities and contacts of simulations computed one at a time, with the bits of a single simulation."""

import numpy as np
from numba import types

from saltus.contact.counts import NCON
from saltus.model.model import Model
from saltus.number.kernels import Entry
from saltus.simulate.batches.contacts import REAL, WHOLE, BatchContacts, contacts_of, read_one
from saltus.simulate.batches.fields import BODIES, INVERSE, MOTION_SENSORS, SENSORS, STATES, Place
from saltus.simulate.batches.reading import Reader, Wanted, contacts_full, with_features
from saltus.simulate.engine import loops
from saltus.simulate.engine.batch.one_by_one import OneByOne
from saltus.simulate.engine.sensing import attach_sensing, bodies, sense
from saltus.solve.status import CONTACTS_FULL

#: Loops of stages that need more than `loops.forward`.
FURTHER: dict[int, Entry] = {SENSORS: sense, MOTION_SENSORS: sense, BODIES: bodies, INVERSE: loops.inverse}


class SingleReader(Reader):
    """Reads quantities of simulations that are computed one at a time."""

    def __init__(self, model: Model, turns: OneByOne):
        super().__init__(model, turns)
        self._turns = turns

    def place(self, name: str) -> Place:
        if name in STATES:  # an engine's arrays may be longer than the field
            span = self.lanes.span(name)
            return Place(np.arange(span.start, span.stop), self.lanes.shape(name))
        return super().place(name)

    def _compute(self, stage: int, wanted: list[Wanted], table: np.ndarray, rows: np.ndarray) -> None:
        turns, extra = self._turns, 0
        words = self.words(stage, {each.name for each in wanted})
        sensing = turns.m if words is None else with_features(turns.m, words)
        if stage in FURTHER:
            for workspace in turns.workspaces:
                attach_sensing(self.model, workspace)
            extra = FURTHER[stage].address(sensing, turns.workspaces[0], result=types.none)
        found, status = turns.look_each(rows, extra)
        if status == CONTACTS_FULL:
            raise contacts_full(turns.m)
        first = 0
        for each in wanted:
            last = first + len(each.place.rows)
            each.array[...] = found[:, first:last].reshape(each.array.shape)
            first = last


def contacts_singly(turns: OneByOne) -> BatchContacts:
    """All contacts of simulations that are computed one at a time, in the form of `contacts`."""
    m, d = turns.m, turns.workspaces[0]
    whole, real = [np.zeros((0, WHOLE), np.int64)], [np.zeros((0, REAL))]
    for i in range(turns.n if m.nconmax else 0):
        if turns.look_at(i) == CONTACTS_FULL:
            raise contacts_full(m)
        n = int(d.views["count"][NCON])
        whole.append(np.zeros((n, WHOLE), np.int64))
        real.append(np.zeros((n, REAL)))
        found = read_one(m, d, i, whole[-1], real[-1])
        whole[-1], real[-1] = whole[-1][:found], real[-1][:found]
    return contacts_of(turns, np.concatenate(whole), np.concatenate(real))
