"""Modes of contacts and limits at an event. Reference: the definitions, for all combinations, written out in Python.

A contact that begins to touch is closed, provisionally. One that lifts off stays closed until its event is resolved,
unless the state was changed from outside; a slot without a contact is open.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain

from saltus.model.event_enums import OPEN, SLIP, STICK
from saltus.solve.event import event_resolution

TOLERANCE = 1e-6


@pytest.mark.parametrize("known", [True, False])
def test_contacts_within_the_tolerance_of_the_gap_are_closed(known, monkeypatch):
    for name in ("position_stage", "gaps", "remember_points"):
        monkeypatch.setattr(event_resolution, name, lambda *arguments: None)
    kinds = [*itertools.product((OPEN, STICK, SLIP), (-TOLERANCE, TOLERANCE, 1.01 * TOLERANCE), (-1, 4))]
    modes, gaps, contacts = (np.array(column) for column in zip(*kinds, strict=True))
    slots, limits = len(kinds), 2
    gap = np.concatenate([gaps, gaps[: 2 * limits]])
    before = np.concatenate([modes, modes[: 2 * limits], [SLIP]])  # two limits with two sides, and dry friction
    m = SimpleNamespace(nmode=len(before), nslot=slots, nlimit=limits, opt_gap_tolerance=TOLERANCE)
    d = SimpleNamespace(gap=gap, slot_contact=contacts, modes_known=np.array([float(known)]))
    d.mode, d.mode_before = before.astype(float), np.full(len(before), 7)
    plain(event_resolution.touch)(m, d)
    wanted = before.copy()
    for i in range(len(gap)):
        if gap[i] <= TOLERANCE:
            wanted[i] = STICK if before[i] == OPEN else before[i]
        elif not known:
            wanted[i] = OPEN
        if i < slots and contacts[i] < 0:
            wanted[i] = OPEN
    np.testing.assert_array_equal(d.mode, wanted)
    np.testing.assert_array_equal(d.mode_before, before)
