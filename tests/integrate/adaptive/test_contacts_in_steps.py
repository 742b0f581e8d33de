"""Contacts that begin inside long steps of dopri5, where laws of contact have forces: soft and the user's."""

import numpy as np
import pytest

import saltus
from saltus.number.functions import where

TABLE = """<mujoco><worldbody><geom type="box" size=".5 .5 .1" pos="0 0 -.1"/>
<body pos="0 0 {z}"><freejoint/><geom size=".05" mass="1"/></body></worldbody></mujoco>"""
STIFFNESS = 1e5


def elastic(m, d, gap, velocity):
    """A spring of STIFFNESS (N/m) that pushes where bodies overlap."""
    zero = 0.0 * gap
    return where(gap < 0.0, -100000.0 * gap, zero), zero, zero


@pytest.mark.parametrize("z", [0.3, 0.7, 1.9])
def test_a_ball_stays_on_a_soft_table(z):
    """At rest the ball is where steps of 0.1 ms of another method have it, whose contact cannot be missed."""
    sim = saltus.Simulation(TABLE.format(z=z), "dopri5")
    sim.run(3)
    other = saltus.Simulation(TABLE.format(z=z), "rk4", timestep=1e-4)
    other.run(3)
    assert sim.qpos[2] == pytest.approx(other.qpos[2], abs=1e-6)


@pytest.mark.parametrize("z", [0.3, 1.3])
def test_a_ball_bounces_on_an_elastic_table(z):
    """An elastic table gives back all energy: the ball is as high as it was, again and again.

    Flight and contact of a drop from the height h take 2 √(2 h / g) + 2 (π - arctan(v / √(m/k) / g)) √(m/k). The end of
    a contact is a kink within a step, whose error of the tolerance's order adds up over eight of them.
    """
    sim = saltus.Simulation(TABLE.format(z=z), "dopri5", contact=saltus.Compliant(elastic))
    before = sim.energy().sum()
    fall = np.sqrt(2 * (z - 0.05) / 9.81)
    unit = np.sqrt(1 / STIFFNESS)
    period = 2 * fall + 2 * (np.pi - np.arctan(9.81 * fall / (9.81 * unit))) * unit
    sim.run(4 * period)
    assert sim.qpos[2] == pytest.approx(z, abs=2e-4)
    kinetic_and_height = 0.5 * sim.qvel[2] ** 2 + 9.81 * sim.qpos[2]
    assert kinetic_and_height == pytest.approx(before, rel=2e-4)
