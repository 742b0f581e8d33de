"""Rows of dry friction in joints are MuJoCo's, sticking and slipping.

Law: a force against the motion of at most `frictionloss`, less where that suffices to stop it (MuJoCo documentation,
Computation: Constraint model: Friction loss). Reference: MuJoCo 4.0; tolerances in `helpers.constraints`.
"""

import numpy as np
import pytest
from helpers.constraints import assert_same_rows, complete

import saltus

GEOM = '<geom type="box" size=".1 .2 .15" pos=".1 0 .05" contype="0" conaffinity="0"/>'
JOINTS = {
    "hinge": '<joint axis="1 2 0" frictionloss=".3"/>',
    "slide": '<joint type="slide" axis="0 1 2" frictionloss="5"/>',
    "ball": '<joint type="ball" frictionloss=".2"/>',
    "free": '<joint type="free" frictionloss=".4"/>',
    "direct parameters": '<joint frictionloss=".5" solreffriction="-100 -30" solimpfriction=".3 .8 .1 .5 1"/>',
    "stiff parameters": '<joint frictionloss="50" solreffriction=".005 1" solimpfriction=".99 .999 .001"/>',
}


def mechanism(joint):
    inner = "" if 'type="free"' in joint else f'<body pos=".3 .1 0">{joint}{GEOM}</body>'
    return f'<mujoco><worldbody><body pos="0 0 1">{joint}{GEOM}{inner}</body></worldbody></mujoco>'


@pytest.mark.parametrize("speed", [1e-3, 1.0], ids=["sticking", "slipping"])
@pytest.mark.parametrize("name", JOINTS)
def test_rows(name, speed):
    rows, _, m = assert_same_rows(mechanism(JOINTS[name]), speed=speed)
    assert rows == np.count_nonzero(m.dof_frictionloss)


def test_a_weight_that_friction_holds_creeps_and_one_that_it_does_not_falls():
    """With R = (1 - d)/d / m: the holding force m g leaves the speed R m g / B, B = 2/(d T); beyond the bound it falls.

    Solved for the speed at which accelerations vanish; tolerance: rounding of a steady state.
    """
    d, T, g = 0.9, 0.02, 9.81
    slide = f'<joint type="slide" frictionloss="{{}}" solimpfriction="{d} {d} 1" solreffriction="{T} 1"/>'
    for loss, speed in ((20.0, (1 - d) / d * g * d * T / 2), (5.0, None)):
        body = f'<body>{slide.format(loss)}<geom size=".1" mass="1" contype="0" conaffinity="0"/></body>'
        m = complete(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
        sim = saltus.Simulation(saltus.load(m))
        sim.step(1000)
        if speed is None:
            np.testing.assert_allclose(sim.data.qacc[0], -(g - loss), rtol=1e-12)
        else:
            np.testing.assert_allclose(sim.qvel[0], -speed, rtol=1e-9)
