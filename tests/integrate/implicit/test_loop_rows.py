"""Rows of closed loops over a step: discrete derivatives of connects, welds and joint equalities, in plain Python.

Law: G h v_m = g(q') - g(q) for any displacement, q' = q ⊕ h v_m, however large, and G = ∂g/∂q where nothing moves; no
entries for joints that move both bodies alike.
Reference: the identity; violations and Jacobians of MuJoCo's rows, whose axes may be turned.

Tolerances: rounding of some ten rotations, 1e-14 of lengths of a metre.
"""

import mujoco
import numpy as np
import pytest
from helpers.plain_python import fields, plain, plain_python
from numpy.testing import assert_allclose

import saltus
from saltus.integrate.implicit.loop_rows import loop_rows

BOX = '<geom type="box" size=".1 .03 .02" pos=".1 .02 .01" contype="0" conaffinity="0"/>'
SITES = '<site name="{}" pos=".1 .02 0" euler="20 0 10"/>'
TREE = f"""<mujoco><option gravity="0 0 0"/><worldbody><site name="fixed" pos="0 .3 .2" euler="0 40 0"/>
  <body name="base" pos="0 0 1">{{base}}{BOX}
    <body name="a" pos=".2 0 0" euler="10 20 30"><joint name="j" axis="0 1 .3" pos=".02 0 .05"/>{BOX}
      <body name="b" pos=".2 .1 0"><joint type="ball" pos=".01 .02 0"/><joint type="slide" axis="1 .2 .4"/>{BOX}
        {SITES.format("p")}</body></body>
    <body name="c" pos="-.2 0 0"><joint name="k" type="slide" axis="1 0 1"/><joint name="l" axis="0 0 1"/>{BOX}
      {SITES.format("q")}</body></body></worldbody><equality>{{equalities}}</equality></mujoco>"""
EQUALITIES = {
    "connect": '<connect body1="b" body2="c" anchor=".1 .2 .3"/>',
    "connect to the world": '<connect site1="p" site2="fixed"/>',
    "connect to a carrier": '<connect body1="b" body2="base" anchor=".1 .2 .3"/>',
    "weld": '<weld body1="c" body2="b" anchor=".1 0 .1" torquescale="1"/>',
    "weld of sites": '<weld site1="q" site2="p"/>',
    "joints": '<joint joint1="k" joint2="j" polycoef=".1 1.5 .2 -.3 .4"/>',
    "one joint": '<joint joint1="l" polycoef=".2 0 0 0 0"/>',
}


def rows_of(sim, h):
    """g [n] at the end of the step, and G [n, nv]."""
    m, d = fields(sim.engine.step_m), fields(sim.engine.d)
    n, nv = plain(loop_rows)(m, d, h), sim.model.nv
    views = sim.engine.d.views
    return views["loop_gap"][:n].copy(), views["loop_J"][: n * nv].reshape(n, nv).copy()


def posed(sim, h, speed):
    """Put a step of h seconds with random mean velocities from a random position into the Data; returns v_m [nv]."""
    rng, m, views = np.random.default_rng(2), sim.model.mujoco, sim.engine.d.views
    q = sim.model.qpos0.copy()
    mujoco.mj_integratePos(m, q, 0.7 * rng.standard_normal(m.nv), 1.0)
    v = speed * rng.standard_normal(m.nv)
    views["qpos_saved"][:], views["qvel"][:] = q, v
    mujoco.mj_integratePos(m, q, v, h)
    views["qpos"][:] = q
    return v


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def simulation(name, base):
    xml = TREE.format(equalities=EQUALITIES[name], base=base)
    return saltus.Simulation(xml, "energy_momentum", contact="hard", timestep=0.1)


@pytest.mark.parametrize("base", ["<freejoint/>", '<joint type="ball"/>'])
@pytest.mark.parametrize("name", EQUALITIES)
def test_the_discrete_derivative_gives_the_change(name, base):
    """Turns of up to a radian and a half; and no entries for what moves both bodies."""
    sim, h = simulation(name, base), 0.1
    v = posed(sim, h, 5.0)
    after, G = rows_of(sim, h)
    sim.engine.d.views["qpos"][:] = sim.engine.d.views["qpos_saved"]
    sim.engine.d.views["qvel"][:] = 0.0
    before, _ = rows_of(sim, h)
    assert np.abs(after - before).max() > 0.01
    assert_allclose(h * G @ v, after - before, rtol=0, atol=1e-14)
    if name != "connect to the world":
        assert not G[:, : 6 if "free" in base else 3].any()


@pytest.mark.parametrize("name", EQUALITIES)
def test_at_rest_it_is_mujocos_jacobian(name):
    """The same motions are free, and violations have the same lengths: rows of points are turned, of axes scaled."""
    sim = simulation(name, "<freejoint/>")
    posed(sim, 0.1, 0.0)
    gap, G = rows_of(sim, 0.1)
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = sim.engine.d.views["qpos"]
    mujoco.mj_forward(m, d)
    J = d.efc_J.reshape(-1, m.nv)[: len(gap)]
    points = min(3, len(gap))
    assert_allclose(np.linalg.norm(gap[:points]), np.linalg.norm(d.efc_pos[:points]), rtol=0, atol=1e-14)
    # rotations of the common body change MuJoCo's rows of an open loop, in the axes of the world
    own = slice(6, None) if name != "connect to the world" else slice(0, None)
    assert_allclose(G[:points, own].T @ G[:points, own], J[:points, own].T @ J[:points, own], rtol=0, atol=1e-13)
