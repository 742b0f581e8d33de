"""Quantities of a recording by name. Law: what is found is the named column of the array, bit for bit."""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError

MODEL = """<mujoco><worldbody>
  <body name="ball"><freejoint name="free"/><geom size=".1" mass="1"/><site name="s"/></body>
  <body name="arm" pos="1 0 2"><joint name="theta" axis="0 1 0"/><geom size=".05" pos=".3 0 0" contype="0"/></body>
  </worldbody><actuator><motor name="motor" joint="theta"/></actuator>
  <sensor><gyro name="gyro" site="s"/><jointpos name="angle" joint="theta"/>%s</sensor></mujoco>"""


@pytest.fixture(scope="module")
def recorded():
    sim = saltus.Simulation(MODEL % "", "rk4", timestep=0.01)
    sim.qvel[:] = np.arange(7) / 10
    return sim.run(0.1, sample=0.02, record=("xpos[ball]", "qfrc_bias", "xpos[arm][2]"))


def test_names_give_columns(recorded):
    r = recorded
    for name, expected in {
        "theta": r.qpos[:, 7],
        "qpos[theta]": r.qpos[:, 7],
        "qvel[theta]": r.qvel[:, 6],
        "free": r.qpos[:, :7],
        "free.y": r.qpos[:, 1],
        "free.wz": r.qvel[:, 5],
        "qvel[free]": r.qvel[:, :6],
        "ctrl[motor]": r.ctrl[:, 0],
        "gyro": r.sensordata[:, :3],
        "sensor[gyro][1]": r.sensordata[:, 1],
        "sensordata[angle]": r.sensordata[:, 3],
        "gyro[2]": r.sensordata[:, 2],
        "angle": r.sensordata[:, 3],
        "xpos[ball]": r.signals[:, :3],
        "xpos[ball][1]": r.signals[:, 1],
        "qfrc_bias": r.signals[:, 3:10],
        "qfrc_bias[theta]": r.signals[:, 9],
        "xpos[arm][2]": r.signals[:, 10],
        "energy": r.energy,
        "energy[kinetic]": r.energy[:, 1],
        "time": r.time,
        "qpos": r.qpos,
    }.items():
        np.testing.assert_array_equal(r[name], expected, err_msg=name)
    np.testing.assert_array_equal(r["xpos[ball]"], r.qpos[:, :3])
    variable = r.to_xarray()["xpos[ball]"]
    assert variable.units == "m" and variable.shape == (len(r), 3)


def test_names_and_units_of_all_numbers(recorded):
    columns = recorded.columns
    assert columns["time"] == "s" and columns["qvel[free.wx]"] == "rad/s" and columns["xpos[ball][0]"] == "m"
    assert columns["sensor[gyro][2]"] == "rad/s" and columns["energy[potential]"] == "J"
    for name in columns:
        assert recorded[name].shape == recorded.time.shape


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("thetta", "did you mean 'theta'"),
        ("motor", r"write ctrl\[motor\]"),
        ("xpos[arm]x", "unknown column"),
        ("", "unknown column"),
        (3, "by its name"),
    ],
)
def test_unknown_names(recorded, name, message):
    with pytest.raises(OptionError, match=message):
        recorded[name]


def test_a_name_of_two_things_is_ambiguous():
    trajectory = saltus.Simulation(MODEL % '<jointvel name="theta" joint="theta"/>', "rk4").run(0.02, sample=0.01)
    with pytest.raises(OptionError, match=r"ambiguous.*qpos\[theta\], sensor\[theta\]"):
        trajectory["theta"]
    np.testing.assert_array_equal(trajectory["sensor[theta]"], trajectory.sensordata[:, 4])


def test_columns_are_not_found_by_number(recorded):
    with pytest.raises(OptionError, match="by its name"):
        recorded[0]


def test_recordings_on_disk_are_read_by_name(recorded, tmp_path):
    recorded.save(tmp_path / "a.zarr")
    found = saltus.record.trajectory.StreamedTrajectory(saltus.record.io.store.Store(tmp_path / "a.zarr"))
    np.testing.assert_array_equal(found["theta"], recorded["theta"])
    assert "energy" not in vars(found)  # only what is asked for is read
