"""Corners of a box on a plane have their numbers: bit 0, 1, 2 for the positive side of x, y, z.

Reference: a box with three different half widths, tilted so that each of its corners in turn is the lowest.
"""

import itertools

import numpy as np
import pytest

import saltus
from saltus.contact.rigid.plane_box_corner import corner
from saltus.number.kernels import entry

HALF = np.array([0.1, 0.2, 0.3])
corner_of = entry(corner)
model = saltus.load(
    '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/><geom type="box" size=".1 .2 .3"/></body>'
    "</worldbody></mujoco>"
)


def turned_to(down):
    """Quaternion of a rotation by which a direction of the body points down."""
    v = down / np.linalg.norm(down)
    quat = np.array([1.0 - v[2], *np.cross(v, (0.0, 0.0, -1.0))])
    return quat / np.linalg.norm(quat)


@pytest.mark.parametrize("number", range(8))
def test_the_lowest_corner_has_its_number(number):
    side = np.array([1.0 if number & bit else -1.0 for bit in (1, 2, 4)])
    sim = saltus.Simulation(model, "euler")
    quat = turned_to(side * HALF)
    sim.qpos[:] = 0.0, 0.0, np.linalg.norm(HALF) - 1e-3, *quat
    sim.forward()
    assert sim.engine.d.views["count"][0] == 1
    assert corner_of(sim.engine.m, sim.engine.d, 0, 0) == number


def test_a_box_that_lies_flat_has_four_corners():
    sim = saltus.Simulation(model, "euler")
    sim.qpos[2] = 0.3 - 1e-3
    sim.forward()
    found = [corner_of(sim.engine.m, sim.engine.d, k, 0) for k in range(4)]
    assert sorted(found) == [sum(bits) for bits in sorted(itertools.product((0, 1), (0, 2)), key=sum)]
