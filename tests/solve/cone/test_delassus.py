"""Forces that are known before a problem of contact is solved. Reference: the law of dry friction, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain

from saltus.contact.counts import NBLOCK
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, UNILATERAL
from saltus.model.event_enums import SLIP, STICK
from saltus.solve.cone import delassus


@pytest.mark.parametrize("frictions", [0, 3])
def test_only_dry_friction_that_slips_is_known(frictions, monkeypatch):
    """Against its direction, at its bound; a sliding contact's friction follows its normal force, and is not."""
    monkeypatch.setattr(delassus, "add_transpose_rows", lambda m, d, x, y: y.__iadd__(J.T @ x))
    kinds, modes, dims = [CONE, FRICTION, FRICTION, FRICTION, UNILATERAL, EQUALITY], [SLIP, SLIP, STICK, SLIP], [3, 1]
    rows = [0, 3, 4, 5, 6, 7]
    J = np.random.default_rng(0).normal(size=(9, 4))
    m = SimpleNamespace(nfriction=frictions, nv=4)
    d = SimpleNamespace(time=0.0, count={NBLOCK: len(kinds)}, block_kind=kinds, block_row=rows)
    d.block_dim, d.block_item = [*dims, 1, 1, 1, 2], [*range(len(kinds))]
    d.mode = np.array([*modes, SLIP, STICK])
    d.slip, d.row_loss = (
        np.array([[1.0, 0, 0], [1.0, 0, 0], [-1.0, 0, 0], [-1.0, 0, 0], [1, 0, 0], [1, 0, 0]]),
        2.0 + J[:, 0],
    )
    d.row_force, d.qfrc_constraint = np.full(9, 7.0), np.full(4, 7.0)
    plain(delassus.begin_forces)(m, d)
    wanted = np.zeros(9)
    wanted[3], wanted[5] = -d.row_loss[3], d.row_loss[5]
    np.testing.assert_array_equal(d.row_force, wanted)
    np.testing.assert_allclose(d.qfrc_constraint, J.T @ wanted if frictions else np.zeros(4), rtol=1e-14)
