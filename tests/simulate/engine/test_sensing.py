"""Sensors and delays as users meet them: through Simulation and Batch.

Law: MuJoCo 4.0's sensordata after mj_forward at the present state, and its steps with delayed controls and sensors.
Tolerance: 1e-9 of readings of order one to ten through constraints that both solve to the end; what each sensor reads
is tested in tests/sense.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete, put

import saltus
from saltus.errors import OptionError

ARM = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="3 3 .1" pos="0 0 -.45"/>
  <body name="upper"><joint name="a" axis="0 1 0" damping=".1"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
    <body name="lower" pos=".3 0 0"><joint name="b" axis="0 1 0" damping=".1"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><site name="tip" pos=".3 0 0" size=".05"/>
    </body></body></worldbody>
  <actuator><motor name="m" joint="a" gear="2" delay=".02" nsample="6" interp="linear"/><motor joint="b"/></actuator>
  <sensor><accelerometer name="feel" site="tip"/><touch name="touch" site="tip"/><jointpos name="angle" joint="b"/>
    {late}<subtreelinvel name="all" body="upper"/></sensor></mujoco>"""
LATE = '<jointpos name="late" joint="b" delay=".015" nsample="5"/>'


def compiled(late=""):
    return complete(ARM.format(late=late))


def control(k):
    return [0.5 * np.sin(0.1 * k), 0.2]


@pytest.mark.slow
def test_readings_by_name_and_in_batches():
    """At states on the way, with contacts."""
    m = compiled()
    d, sim, batch = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), saltus.Batch(saltus.load(m), 3)
    touched = False
    for k in range(60):
        d.ctrl[:2] = control(k)
        mujoco.mj_step(m, d, 5)
        if k % 10 < 2:
            wanted = fresh(m, d)
            sim.qpos, sim.qvel = d.qpos, d.qvel
            batch.qpos, batch.qvel = d.qpos, d.qvel
            scale = max(1.0, abs(wanted).max())
            np.testing.assert_allclose(sim.sensordata, wanted, rtol=0, atol=1e-9 * scale)
            np.testing.assert_allclose(batch.sensordata, np.tile(wanted, (3, 1)), rtol=0, atol=1e-9 * scale)
            np.testing.assert_array_equal(sim.sensor("angle"), sim.qpos[1:2])
            assert sim.sensor("feel").shape == (3,)
            touched |= wanted[3] > 0
    assert touched


def fresh(m, d):
    """MuJoCo's readings at the positions and velocities of d, with nothing remembered."""
    other = mujoco.MjData(m)
    other.qpos[:], other.qvel[:] = d.qpos, d.qvel
    mujoco.mj_forward(m, other)
    return other.sensordata.copy()


@pytest.mark.slow
def test_delays_in_steps():
    """Controls and a sensor that are late: MuJoCo's motion and readings, in single runs and batches."""
    m = compiled(LATE)
    d, sim, batch = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), saltus.Batch(saltus.load(m), 3)
    for k in range(60):
        for each in (d, sim):
            each.ctrl[:2] = control(k)
        ctrl = np.zeros(m.nu)
        ctrl[:2] = control(k)
        batch.ctrl = ctrl
        mujoco.mj_step(m, d)
        sim.step()
        batch.step()
        np.testing.assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-9)
    np.testing.assert_allclose(batch.qpos, np.tile(d.qpos, (3, 1)), rtol=0, atol=1e-9)
    mujoco.mj_forward(m, d)
    np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=1e-8 * abs(d.sensordata).max())
    assert abs(sim.sensor("late") - sim.sensor("angle"))[0] > 1e-3


def test_sampling_needs_steps():
    with pytest.raises(OptionError, match="fixed-step"):
        saltus.Simulation(saltus.load(compiled(LATE)), "dopri5")


def test_unknown_sensors():
    sim = saltus.Simulation(saltus.load(compiled()))
    with pytest.raises(KeyError, match="angle"):
        sim.sensor("angel")


def test_bodies_without_sensors():
    """Accelerations, forces and momenta of bodies are there in models without sensors too."""
    m = complete(ARM.format(late="").replace("<sensor>", "<!--").replace("</sensor>", "-->"))
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    d.qpos[:2], d.qvel[:2] = [1.2, 0.3], [1.0, -2.0]
    mujoco.mj_forward(m, d)
    mujoco.mj_rnePostConstraint(m, d)
    mujoco.mj_subtreeVel(m, d)
    put(sim, d)
    for name in ("cacc", "cfrc_ext", "cfrc_int", "subtree_linvel", "subtree_angmom"):
        wanted = getattr(d, name)
        np.testing.assert_allclose(getattr(sim.data, name), wanted, rtol=0, atol=1e-9 * max(1, abs(wanted).max()))
