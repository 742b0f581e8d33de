"""Units of sensor readings and of actuator forces, and sensor readings as columns of recordings.

Law: a sensor's unit is that of what it measures in MuJoCo. A recorded reading is that of MuJoCo at the
recorded state. Tolerance: 1e-11 relative for smooth quantities; forces of soft contacts 1e-8.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.simulate.running.labels import output_labels, sensor_labels

SENSORS = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 .1"/>
  <body name="ball" pos="0 0 .11"><freejoint name="free"/><geom size=".1" mass="1"/><site name="s" pos="0 0 .05"/>
  </body>
  <body name="arm" pos="1 0 2"><joint name="theta" axis="0 1 0"/><geom size=".05" pos=".3 0 0"/>
    <body pos=".3 0 0"><joint name="x" type="slide" axis="1 0 0" stiffness="50"/><geom size=".05"/></body></body>
  </worldbody>
  <actuator><motor name="motor" joint="theta"/><motor name="push" joint="x"/></actuator>
  <sensor><accelerometer name="a" site="s"/><jointpos name="angle" joint="theta"/><jointvel name="rate" joint="x"/>
    <framequat name="q" objtype="body" objname="ball"/><magnetometer name="m" site="s"/><clock name="t"/>
    <actuatorpos name="o" actuator="motor"/></sensor></mujoco>"""


def mujoco_readings(trajectory):
    """Readings of MuJoCo at the samples of a recording."""
    model = mujoco.MjModel.from_xml_string(SENSORS)
    data, found = mujoco.MjData(model), []
    model.opt.tolerance, model.opt.iterations = 1e-15, 200
    for k, time in enumerate(trajectory.time):
        data.time, data.qpos[:], data.qvel[:], data.ctrl[:] = (
            time,
            trajectory.qpos[k],
            trajectory.qvel[k],
            trajectory.ctrl[k],
        )
        mujoco.mj_forward(model, data)
        found.append(data.sensordata.copy())
    return np.array(found)


def test_units_and_names():
    names, units = sensor_labels(saltus.load(SENSORS))
    assert names[:6] == ["a[0]", "a[1]", "a[2]", "angle", "rate", "q[0]"] and names[-2:] == ["t", "o"]
    assert units == [*["m/s²"] * 3, "rad", "m/s", *[""] * 4, *["T"] * 3, "s", ""]
    assert output_labels(saltus.load(SENSORS)) == (["motor", "push"], ["N m", "N"])


@pytest.mark.parametrize("integrator", [None, "rk4", "dopri5"])
def test_every_recording_has_the_readings_of_its_states(integrator, tmp_path):
    """Samples lie inside steps, too; the motion is that without anything recorded; files keep names and units."""
    sim = saltus.Simulation(SENSORS, integrator)
    sim.ctrl = [0.3, -0.2]
    again = sim.snapshot()
    trajectory = sim.run(0.0513, sample=0.0071)
    end = sim.sensordata.copy()
    expected = mujoco_readings(trajectory)
    np.testing.assert_allclose(trajectory.sensordata, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(trajectory.end["sensordata"], end, rtol=1e-9, atol=1e-9)
    dataset = trajectory.to_xarray()
    assert dataset.sensordata.sel(sensor_name="angle").shape == (len(trajectory),)
    sim.restore(again)
    streamed = sim.run(0.0513, sample=0.0071, save=tmp_path / "streamed.zarr")
    trajectory.save(tmp_path / "run.nc")
    for found in (streamed, saltus.Trajectory.load(tmp_path / "run.nc")):
        np.testing.assert_array_equal(found.sensordata, trajectory.sensordata)
        assert found.names["sensor"] == trajectory.names["sensor"]
        assert found.units["sensor"] == trajectory.units["sensor"]


def test_stepped_contact_has_readings_too():
    """A ball at rest on its floor under Moreau's time stepping: the accelerometer reads g upwards.

    The rest is exact, and the step is stationary; tolerance: the cone problem's, 1e-9.
    """
    model = SENSORS.replace('pos="0 0 .11"', 'pos="0 0 .1"')
    trajectory = saltus.Simulation(model, "moreau_jean", "hard").run(0.02, sample=0.01)
    np.testing.assert_allclose(trajectory.sensordata[1:, 2], 9.81, rtol=1e-6)


def test_recordings_side_by_side_have_readings():
    """Runs of a sweep that move in one batch record what a single run records; tolerance: the lanes' rounding."""
    model = SENSORS.replace('<geom type="plane" size="5 5 .1"/>', "")
    rates = np.linspace(0.0, 1.0, 40)

    def last_angle(trajectory: saltus.Trajectory) -> float:
        return float(trajectory.sensordata[-1, 3])

    found = saltus.sweep(model, {"qvel[theta]": rates}, [last_angle], duration=0.1, sample=0.02, workers=1)
    sim = saltus.Simulation(model)
    sim.qvel[6] = rates[-1]
    single = sim.run(0.1, sample=0.02)
    np.testing.assert_allclose(found.values[-1], single.sensordata[-1, 3], rtol=1e-11)
