"""Modes of contacts and limits at an event. Reference: the definitions, for all combinations, written out in Python.

A contact that begins to touch is closed, provisionally. One that lifts off stays closed until its event is resolved,
unless the state was changed from outside; a slot without a contact is open.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain

from saltus.contact.rows.blocks import CONE, FRICTION, UNILATERAL
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


@pytest.mark.parametrize("dim", [3, 4, 6])
def test_normal_force_brings_friction_with_any_part_that_slips(dim):
    # two contact points, a limit with two sides and dry friction; then the spin and the rolling of the points
    m = SimpleNamespace(nslot=2, nlimit=1, nfriction=1)
    parts = [1, 6, 8][: {3: 1, 4: 2, 6: 3}[dim]]  # items of sliding, spin and rolling of the second point
    for slipping in itertools.product((False, True), repeat=3):
        mode = np.full(9, float(STICK))
        mode[[1, 6, 8]] = np.where(slipping, SLIP, STICK)
        d = SimpleNamespace(block_item=[1], block_dim=[dim], block_kind=[CONE], mode=mode)
        wanted = any(slips for item, slips in zip((1, 6, 8), slipping, strict=True) if item in parts)
        assert bool(plain(event_resolution.brings_friction)(m, d, 0)) == wanted


@pytest.mark.parametrize(("kind", "item", "wanted"), [(FRICTION, 4, True), (UNILATERAL, 2, False)])
def test_only_parts_of_a_contact_turn(kind, item, wanted):
    m = SimpleNamespace(nslot=2, nlimit=1, nfriction=1)
    mode = np.full(9, float(SLIP))
    mode[2] = STICK
    d = SimpleNamespace(block_item=[item], block_dim=[6], block_kind=[kind], mode=mode)
    assert bool(plain(event_resolution.brings_friction)(m, d, 0)) == wanted
