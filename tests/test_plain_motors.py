"""DC motors and adhesion actuators in plain Python, each alone in its model, so that places begin at zero.

Reference: MuJoCo 4.0 at the same states, to rounding of some hundred products (1e-11 of the largest), and its steps.
"""

import mujoco
import numpy as np
import pytest
from helpers import actuators
from helpers.constraints import complete, put
from helpers.plain_python import plain_python

import saltus

MOTORS = [name for name, law in actuators.LAWS.items() if law.startswith("<dcmotor")]
HINGE = """<mujoco><option timestep=".002" gravity="0 0 -9.81"/><worldbody><body><joint name="h" axis="0 1 .2"
damping=".1"/><geom type="capsule" size=".05" fromto="0 0 0 .3 0 0" mass="1" contype="0"/></body></worldbody>
<actuator>{}</actuator></mujoco>"""


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


@pytest.mark.parametrize("name", MOTORS)
def test_a_motor_alone(name):
    m = mujoco.MjModel.from_xml_string(HINGE.format(actuators.LAWS[name].format(t='joint="h"')))
    d, sim, rng = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), np.random.default_rng(1)
    for _ in range(3):
        d.qpos[:], d.qvel[:] = rng.normal(size=(2, 1))
        d.act[:], d.ctrl[:] = rng.uniform(0.1, 1.0, m.na), rng.uniform(-2.0, 2.0, m.nu)
        mujoco.mj_forward(m, d)
        put(sim, d)
        for field in ("act_dot", "actuator_force", "qacc"):
            wanted = getattr(d, field)
            scale = 1e-11 * max(1.0, np.abs(wanted).max(initial=0.0))
            np.testing.assert_allclose(getattr(sim.data, field), wanted, rtol=0, atol=scale)
        mujoco.mj_step(m, d, 2)
        sim.step(2)
        np.testing.assert_allclose(
            [*sim.qvel, *sim.act], [*d.qvel, *d.act], rtol=0, atol=1e-11 * (1 + abs(d.act).max(initial=0))
        )


STICKY = """<mujoco><option cone="elliptic"/><worldbody><geom type="box" size=".5 .5 .1"/>
<body name="ball" pos="0 0 .195" euler="3 4 0"><freejoint/><geom size=".1" mass="1"/></body></worldbody>
<actuator><adhesion body="ball" ctrlrange="0 1" gain="30"/></actuator></mujoco>"""


def test_adhesion_to_the_first_geom():
    """Which is the second one of a pair with a sphere."""
    m = complete(STICKY)
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    d.ctrl[:] = 0.7
    mujoco.mj_forward(m, d)
    put(sim, d)
    moment = np.zeros((m.nout, m.nv))
    mujoco.mju_sparse2dense(moment, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    assert np.abs(moment).max() == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_allclose(sim.data.actuator_moment, moment, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sim.data.qacc, d.qacc, rtol=0, atol=1e-8 * np.abs(d.qacc).max())
