"""Event functions of contacts and dry friction: where a growing force makes them slip, in every direction.

Reference: Coulomb's law, slip begins where the tangential force reaches μ m g, and by ROOM of it and of m g more.
"""

import numpy as np
import pytest

import saltus
from saltus.integrate.event.event_functions import ROOM

pytestmark = pytest.mark.usefixtures("one_hard_layout")

MU, RATE = 0.5, 10.0


@pytest.mark.parametrize("angle", [0.0, 0.5, np.pi / 2, 2.5, 4.0])
def test_slip_begins_at_the_cone_in_every_direction(angle):
    sled = saltus.load(
        f"""<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="9 9 1" friction="{MU} 0 0"/>
        <body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
        <joint type="slide" axis="0 0 1"/><geom size=".1" mass="2" friction="{MU} 0 0"/></body></worldbody>
        <actuator><motor joint="x" gear="{np.cos(angle)}"/><motor joint="y" gear="{np.sin(angle)}"/></actuator>
        </mujoco>"""
    )

    def ramp(m, d, z):
        d.ctrl[0] = RATE * d.time
        d.ctrl[1] = RATE * d.time

    events = saltus.Simulation(sled, contact="hard", control=saltus.controller(ramp)).run(1.2).events
    slips = events[events["kind"] == "slip"]
    assert len(slips) == 1 and slips["time"][0] == pytest.approx(
        2.0 * 9.81 * (MU * (1.0 + ROOM) + ROOM) / RATE, rel=1e-10
    )
