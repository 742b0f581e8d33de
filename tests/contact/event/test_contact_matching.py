"""Points of contact that come, go and change their order keep their identity: hard contact on the top of a box.

A box on a large box must move as it does on a plane, whose eight points per box are numbered once and for all; the
block that slides to rest stops after v²/(2 μ g). Tolerance: 1e-8, errors of steps handed on through the impacts of a
tumbling box.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus

G = 9.81
FLOORS = {"plane": '<geom type="plane" size="4 4 .5"/>', "box": '<geom type="box" size="4 4 .5" pos="0 0 -.5"/>'}


def box_on(floor):
    """A box just on a floor of a kind."""
    return saltus.Simulation(
        f"""<mujoco><default><geom friction="0.3 0 0" condim="3"/></default><worldbody>{FLOORS[floor]}
        <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.15 0.1" mass="2"/></body></worldbody></mujoco>""",
        contact=saltus.Hard(),
    )


@pytest.mark.slow
def test_a_box_slides_to_rest_on_a_box():
    sim = box_on("box")
    sim.qvel[0] = 1.0
    events = sim.run(1.0, sample=1.0).events
    assert_allclose(events["time"], 1 / (0.3 * G), rtol=1e-10)
    assert set(events["kind"]) == {"stick"}
    assert_allclose(sim.qpos, [1 / (2 * 0.3 * G), 0, 0.1, 1, 0, 0, 0], atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("turn", [[0.98, 0.1, 0.15, 0.05], [0.9, -0.2, 0.3, 0.1]])
def test_a_box_falls_on_a_box_as_on_a_plane(turn):
    ends, impacts = [], []
    for floor in FLOORS:
        sim = box_on(floor)
        sim.qpos[:] = [0, 0, 0.5, *turn]
        events = sim.run(0.4, sample=0.4).events
        ends.append(np.concatenate([sim.qpos, sim.qvel]))
        # one at the speed v is located within twice the gap tolerance over v
        impacts.append(events["time"][(events["kind"] == "impact") & (events["velocity"] < -0.1)])
    assert len(impacts[0]) > 2
    assert_allclose(impacts[1], impacts[0], rtol=1e-8)
    assert_allclose(ends[1], ends[0], atol=1e-8)
