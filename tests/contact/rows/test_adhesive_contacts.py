"""Contacts of geoms that stick.

Law: the force of a contact lies in its friction cone moved down the normal by the adhesion; across the gap it acts
along the normal alone (MuJoCo documentation, Computation, "Adhesion"). References: MuJoCo 4.0; a ball that hangs from a
ceiling by its adhesion; the energy balance. Tolerances: rows 1e-10 and forces 1e-8 as in `helpers.constraints`;
what follows from positions alone, 1e-12; steps by MuJoCo's own integrators, where its solver is tight, 1e-9.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import assert_same_rows, complete, matched, put

import saltus

CONES = "pyramidal", "elliptic"
DIMS = 1, 3, 4, 6
# on the floor, within a tree, between trees
WORLD = """<mujoco><option {option}/><default>
  <geom condim="{dim}" friction=".8 .05 .02" margin=".02" gap=".04" adhesion="2"/></default><worldbody>
  <geom name="floor" type="plane" size="9 9 .1" euler="5 3 0" adhesion=".7"/>
  <body pos="0 0 .17"><freejoint/><geom name="trunk" type="capsule" size=".1 .2" euler="0 90 0" adhesion="0"/>
    <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".06" fromto="0 0 0 .2 0 -.05"/>
      <body pos=".2 0 -.05"><joint type="ball"/><geom size=".1" pos="-.1 .05 .1"/></body></body>
    <body pos="-.2 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".09" pos="-.1 0 -.05"/>
      <body pos="0 .1 0"><joint axis="1 0 0"/><geom size=".1" pos=".15 .1 .05" adhesion="0"/></body></body></body>
  <body pos=".2 .1 .34"><freejoint/><geom size=".1" adhesion="5"/></body>
  <body pos="-.1 -.15 .27"><joint type="slide" axis="0 1 1"/><joint axis="1 0 0"/>
    <geom type="box" size=".1 .1 .1" adhesion="4" priority="1"/></body>
  <body pos="1 1 .09"><freejoint/><geom name="alone" size=".1"/></body>
</worldbody>{rest}</mujoco>"""


def sticky(dim, cone, option="", rest=""):
    return WORLD.format(dim=dim, option=f'cone="{cone}" {option}', rest=rest)


# ------------------------------------------------------------ rows and forces


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("dim", DIMS)
def test_rows_and_accelerations(dim, cone):
    """Of contacts that touch, and of those in the gap, which have one row."""
    rows, contacts, m = assert_same_rows(sticky(dim, cone), 12, spread=0.03)
    assert contacts >= 6 and m.flg_adhesion


@pytest.mark.parametrize("solver", ["CG", "PGS"])
def test_other_solvers(solver):
    for cone in CONES:
        rows, contacts, _ = assert_same_rows(sticky(3, cone, f'solver="{solver}"'), 6, spread=0.03)
        assert contacts >= 4
