"""Event functions of contacts and dry friction: where a growing force makes them slip, in every direction.

Reference: Coulomb's law, slip begins where the tangential force reaches μ m g, and by ROOM of it and of m g more.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain

import saltus
from saltus.integrate.event import event_functions
from saltus.integrate.event.event_functions import ROOM
from saltus.model.event_enums import OPEN, SLIP, STICK

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


def test_values_without_forces():
    """Gaps of open points and limits; 1 of closed ones and of dry friction; -1 of points that no longer exist."""
    read, gaps = plain(event_functions.read_values), np.array([0.3, -0.2, 0.7, 0.1, 0.2])
    m = SimpleNamespace(nslot=3, nlimit=1, nmode=6)  # and an item of dry friction
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(read.__globals__, "open_gap", lambda m, d, i: gaps[i])
        patch.setitem(read.__globals__, "user_values", lambda m, d: None)
        for modes in itertools.product((OPEN, STICK, SLIP), repeat=6):
            d = SimpleNamespace(time=0.5, mode=modes, slot_contact=[4, -1, -1], event_value=np.full(12, np.nan))
            d.event_count = np.zeros(50, int)
            read(m, d)
            wanted = np.ones(12)
            for i, mode in enumerate(modes):
                if mode == OPEN and i < 5:
                    wanted[i] = gaps[i]
                elif mode != OPEN and i in (1, 2):
                    wanted[i] = -1.0
            np.testing.assert_array_equal(d.event_value, wanted)
