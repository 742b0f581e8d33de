"""Rows of contacts of deformable bodies (flexes) whose vertices are between nodes.

Law: a point of an element moves as its place at rest does, by shape functions of that place. Reference: MuJoCo 4.0 at
random deformations; tolerances in `helpers.constraints`.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import assert_same_rows, complete, matched, near, put, reference

import saltus

SOLID = """<flexcomp name="solid" type="grid" dim="3" count="{count}" spacing=".1 .1 .1" dof="{dof}" cellcount="{cells}"
  pos="0 0 {z}" radius=".01" mass="3"><contact condim="{condim}" solref="0.01 1" selfcollide="none" margin="0.02"/>
  <elasticity young="3e4" poisson="0.2" damping=".001"/>{pin}</flexcomp>"""
BALL = '<body name="ball" pos=".03 .02 {z}"><freejoint/><geom size=".1" mass="1" condim="{condim}"/></body>'
ROD = """<body name="rod" pos="-.1 .05 .36"><freejoint/>
  <geom type="capsule" size=".05" fromto="-.2 0 0 .2 .1 0" mass="1"/></body>"""
CRATE = """<body pos=".1 .05 .26" euler="10 20 30"><freejoint/><geom type="box" size=".06 .05 .05" mass="1"/></body>
<body pos="-.1 -.05 .26" euler="80 20 30"><freejoint/><geom type="cylinder" size=".05 .06" mass="1"/></body>"""
FLOOR = '<geom name="floor" type="plane" size="2 2 .1"/>'
HINGED = """<body name="arm"><joint axis="0 1 0"/>
  <geom size=".05" pos="1 0 0" mass="1" contype="0" conaffinity="0"/>{}</body>"""


def solid(dof="trilinear", cells="2 1 1", condim=3, pin="", z=0.1, count="5 4 3"):
    return SOLID.format(dof=dof, cells=cells, condim=condim, pin=pin, z=z, count=count)


def ball(condim=3, z=0.28):
    return BALL.format(z=z, condim=condim)


MODELS = {
    "one cell": solid(cells="1 1 1") + ball(),
    "cells that elements straddle": solid(cells="3 2 3") + ball() + ROD,
    "quadratic": solid("quadratic", pin='<pin id="0 2"/>') + ball(),
    "quadratic, straddled": solid("quadratic", "3 1 1", 4) + ball(4) + ROD,
    "pinned to a body that turns": HINGED.format(solid(pin='<pin id="0 1"/>')) + ball(),
    "on the floor": solid(z=0.11) + FLOOR + ball(),
    "pyramids of six": solid("quadratic", "1 1 1", 6) + ball(6) + FLOOR,
}


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
