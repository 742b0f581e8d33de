"""Derivatives of constraint forces in closed form, through steps in which contacts of all sorts of two bodies act.

Bodies of two trees and of one, both or one of which moves, limits of joints and tendons, dry friction. Reference:
differences of sixth order of steps (see `tests/integrate/fixed/test_euler_tangents.py`, whose bounds are used here:
distances of 2e-5 within which no contact comes or goes). Tangents of a contact frame that were taken to turn with the
bodies would show at 1e-2 in pyramids and rolling friction; pyramids of all dimensions are compared with duals in
`tests/integrate/fixed/test_euler_jacobian.py`.
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.jacobian_scenes import pushed, world
from helpers.step_differences import differences

from saltus.contact.counts import NBLOCK, NCON
from saltus.simulate.derivatives.closed_form import has_closed_form

CLOSE, STEP = 1e-9, 2e-5
STEPS = 43  # after which no constraint is near a kink


TOUCHING = (("world", "trunk"), ("world", "hand"), ("trunk", "rider"), ("tail", "pole"), ("tail", "flap"))
PAIRS = {frozenset(pair) for pair in TOUCHING}


def pairs_in_contact(sim):
    """Names of the two bodies of each contact that has rows."""
    m, views = sim.model.mj_model, sim.engine.d.views
    pairs = views["contact_collision"][: views["count"][NCON]][views["contact_block"][: views["count"][NCON]] >= 0]
    geoms = zip(*(sim.engine.m.views[f"collision_geom{k}"][pairs] for k in (1, 2)), strict=True)
    return {frozenset(m.body(m.geom_bodyid[g]).name for g in both) for both in geoms}


@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 3), ("elliptic", 1), ("elliptic", 4), ("elliptic", 6)])
def test_against_differences_of_steps(cone, condim):
    sim = pushed(world(cone, condim), STEPS)
    assert has_closed_form(sim.engine.m, sim.model)
    wanted = differences(sim, oracle.reference(sim.model), STEP)
    found = np.hstack(sim.linearize())
    count = sim.engine.d.views["count"]
    assert count[NCON] >= 6 and count[NBLOCK] >= count[NCON] + 4
    assert PAIRS <= pairs_in_contact(sim)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE * np.max(np.abs(wanted)))
