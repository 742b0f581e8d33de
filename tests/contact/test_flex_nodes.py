"""Rows of contacts of deformable bodies (flexes) whose vertices are between nodes.

Law: a point of an element moves as its place at rest does, by shape functions of that place. Reference: MuJoCo 4.0 at
random deformations; tolerances in `helpers.constraints`.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import assert_same_rows, complete, matched, near, put, reference
from helpers.flex_nodes import CRATE, MODELS, solid

import saltus


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", MODELS)
def test_rows_are_mujocos(name, cone):
    xml = f'<mujoco><option cone="{cone}"/><worldbody>{MODELS[name]}</worldbody></mujoco>'
    # MuJoCo leaves out what forces on nodes do to joints below
    tolerance = 1.0 if "turns" in name else 1e-8
    _, contacts, *_ = assert_same_rows(xml, states=3, spread=0.01, tolerance=tolerance)
    assert contacts > 2


@pytest.mark.slow
def test_contacts_that_mujoco_finds():
    """With boxes and cylinders; GJK finds places to some 1e-8 m where nodes' differ by rounding."""
    soft = solid(pin='<pin id="0 2"/>')
    xml = f"<mujoco><worldbody>{soft}{CRATE}</worldbody></mujoco>"
    sim, rng = saltus.Simulation(saltus.load(complete(xml))), np.random.default_rng(0)
    m = reference(sim.model)
    d = mujoco.MjData(m)
    for _ in range(3):
        for name, value in near(m, rng, 0.01).items():
            getattr(d, name)[:] = value
        mujoco.mj_forward(m, d)
        put(sim, d)
        found = sim.data.contact
        place = matched(found, d.contact)
        np.testing.assert_allclose(found["dist"][place], d.contact.dist, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found["pos"][place], d.contact.pos, rtol=0, atol=1e-6)
        assert d.ncon > 5
