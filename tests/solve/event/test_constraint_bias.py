"""How the velocities of closed points change at constant qvel, against central differences of J v along the motion.

Differences over 2e-5 (m, rad) have errors of their square and of rounding over it, together below 1e-8 of the largest
acceleration. Distances, velocities and the planes' slope are anything, so that no term is zero by chance.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.bench.hybrid.systems import WALKER
from saltus.contact.counts import NROW
from saltus.model.event_enums import CLOSED, STICK
from saltus.number.kernels import Entry
from saltus.solve.event.constrained_acceleration import rows_there
from saltus.solve.event.constraint_bias import is_simple, simple_drifts

STEP = 2e-5
BOX_AND_BALL = """
<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1" euler="0 20 10" friction=".5"/>
  <body pos="0 0 2"><freejoint/>
    <geom type="box" pos=".01 .02 .03" euler="10 20 30" size=".1 .2 .1" mass="1" friction=".5"/>
    <body pos=".2 0 0"><joint type="ball"/><geom type="sphere" size=".1" pos=".1 0 .2" mass="1"/></body>
  </body></worldbody></mujoco>"""

rows = Entry("rows_there", "", "rows_there(m, d)", rows_there=rows_there)
drifts = Entry(
    "drifts",
    "",
    "rows_there(m, d)\nsimple_drifts(m, d)\nreturn is_simple(m, d)",
    rows_there=rows_there,
    simple_drifts=simple_drifts,
    is_simple=is_simple,
)


TURNING = BOX_AND_BALL.replace("<geom ", '<geom condim="6" ').replace('friction=".5"', 'friction=".5 .01 .01"')


@pytest.mark.parametrize(
    ("model", "dim"),
    [(WALKER, 3), (BOX_AND_BALL, 3), (TURNING, 6)],
    ids=["spheres", "corners and a sphere", "with torsional and rolling friction"],
)
def test_drifts_of_points_on_a_plane_are_those_of_differences(model, dim):
    rng = np.random.default_rng(3)
    sim = saltus.Simulation(saltus.load(model), contact=saltus.Hard())
    sim.qpos[1:3] += 1.0  # nothing touches
    sim.qpos[:] += 0.1 * rng.standard_normal(len(sim.qpos))
    sim.qvel[:] = rng.standard_normal(len(sim.qvel))
    sim.forward()
    m, d = sim.engine.m, sim.engine.d
    d.mode[: m.nslot] = STICK
    d.event_count[CLOSED] = m.nslot
    assert drifts(m, d)
    n = d.count[NROW]
    assert n == dim * m.nslot
    found, start = d.row_drift[:n].copy(), sim.qpos.copy()
    peer, ends = mujoco.MjModel.from_xml_string(model), []
    for sign in (1.0, -1.0):
        there = start.copy()
        mujoco.mj_integratePos(peer, there, sim.qvel, sign * STEP)
        d.qpos[:] = there
        rows(m, d)
        ends.append(d.row_velocity[:n].copy())
    expected = (ends[0] - ends[1]) / (2.0 * STEP)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())
