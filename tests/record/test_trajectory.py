"""A recording is shaped as promised, shows itself, and survives the way through a file bit for bit."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from helpers.recordings import certificate, contact_points, recorded

from saltus.errors import OptionError, SaltusWarning
from saltus.record import EVENT_DTYPE, Trajectory
from saltus.record.table.columns import DIMENSIONS

FIELDS = tuple(DIMENSIONS)


def assert_same(a, b):
    for name in FIELDS:
        x, y = getattr(a, name), getattr(b, name)
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes()), name
    assert a.events.dtype == b.events.dtype
    assert a.events.tobytes() == b.events.tobytes()
    assert (a.names, a.units, a.attrs) == (b.names, b.units, b.attrs)
    assert [type(value) for value in a.attrs.values()] == [type(value) for value in b.attrs.values()]


def test_what_is_left_out_is_empty_and_labelled():
    t = Trajectory([0.0, 1.0], [[1], [2]], [[3], [4]])
    assert t.act.shape == t.ctrl.shape == t.contact_state.shape == (2, 0)
    assert t.contact_state.dtype == np.bool_
    assert t.qpos.dtype == np.float64
    assert np.isnan(t.energy).all()
    assert len(t.events) == 0
    assert t.events.dtype == EVENT_DTYPE
    assert t.contact_mode.shape == t.actuation_state.shape == (2, 0)
    assert t.contact_force.shape == t.contact_pos.shape == (2, 0, 3)
    assert t.names["qpos"] == ["qpos[0]"]
    assert t.units["qpos"] == [""]
    assert t.certificate is None


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"time": np.zeros((50, 1))}, "time"),
        ({"qpos": np.zeros(50)}, "qpos"),
        ({"qvel": np.zeros((49, 6))}, "qvel"),
        ({"act": np.zeros((50, 1, 1))}, "act"),
        ({"ctrl": "text"}, "ctrl"),
        ({"energy": np.zeros((50, 3))}, "energy"),
        ({"contact_state": np.zeros((51, 3))}, "contact_state"),
        ({"events": np.zeros(3)}, "events"),
        ({"events": np.zeros(1, [("time", "f8")])}, "events"),
        ({"events": np.zeros(1, [("time", "f8"), ("kind", "U4"), ("x", "c16")])}, "events: field 'x'"),
        ({"events": np.zeros(1, [("time", "f8"), ("kind", "U4"), ("impulse", "f8")])}, r"'impulse' .* \[E, 3\]"),
        ({"events": np.zeros(1, [("time", "f8"), ("kind", "U4"), ("name", "f8")])}, "'name' must hold text"),
        ({"contact_mode": np.zeros((50, 3))}, "contact_force is missing"),
        ({**contact_points(), "contact_pos": np.zeros((50, 2, 3))}, r"contact_pos must have shape \[50, 3, 3\]"),
        ({"actuation_state": np.zeros((49, 1))}, "actuation_state"),
        ({"names": {"qpos": ["x"]}}, "names.*qpos.*7"),
        ({"names": {"position": ["x"]}}, "names: unknown group 'position'"),
        ({"units": {"qvel": ["m"] * 7}}, "units.*qvel.*6"),
        ({"attrs": {"options": {"f": len}}}, "attrs.*options.*f"),
        ({"attrs": {"trajectory_format": 2}}, "attrs.*trajectory_format"),
        ({"certificate": certificate(49)}, "certificate"),
    ],
)
def test_bad_fields_are_named(changes, name):
    with pytest.raises(OptionError, match=name):
        recorded(**changes)


def test_attributes_become_plain_python_values():
    attrs = {"h": np.float64(0.1), "n": np.int32(3), "g": np.array([0.0, -9.81]), "pair": ("a", "b"), "on": np.True_}
    plain = recorded(attrs=attrs).attrs
    assert plain == {"h": 0.1, "n": 3, "g": [0.0, -9.81], "pair": ["a", "b"], "on": True}
    assert [type(value) for value in plain.values()] == [float, int, list, list, bool]


def test_length_duration_and_total_energy():
    t = recorded(energy=np.stack([np.linspace(2, 1, 50), np.linspace(0, 1.01, 50)], 1))
    assert len(t) == 50
    assert t.duration == t.simulated_time == 2.0
    np.testing.assert_array_equal(t.total_energy, t.energy[:, 0] + t.energy[:, 1])
    assert t.energy_drift == pytest.approx(0.01)


def test_repr_is_one_line():
    text = repr(recorded(energy=np.stack([np.linspace(2, 1, 50), np.linspace(0, 1.01, 50)], 1)))
    assert text == "<Trajectory: 2 s, 50 samples, rk4, 2 events, energy change +0.01 J>"  # the motors are on
    assert repr(Trajectory([], np.empty((0, 1)), np.empty((0, 1)))) == "<Trajectory: 0 s, 0 samples>"


def test_round_trip_is_exact(tmp_path):
    t = recorded()
    # the bits of zeros, infinities and nans count as well
    t.qpos[0, :5] = [-0.0, np.inf, -np.inf, 5e-324, np.nan]
    t.qpos[1, 0] = np.array([0x7FF8000000ABCDEF], np.uint64).view(np.float64)[0]
    t.save(tmp_path / "run.nc")
    back = Trajectory.load(tmp_path / "run.nc")
    assert_same(t, back)
    assert back.certificate is None
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_round_trip_of_the_certificate(tmp_path):
    t = recorded(certificate=certificate(50))
    t.save(tmp_path / "run.nc")
    back = Trajectory.load(tmp_path / "run.nc")
    assert_same(t, back)
    given, got = vars(t.certificate).copy(), vars(back.certificate).copy()
    for name in ("error", "bound"):
        np.testing.assert_array_equal(given.pop(name), got.pop(name))
    np.testing.assert_equal(given, got)
    assert str(back.certificate) == str(t.certificate)


@pytest.mark.parametrize("count", [0, 1])
def test_round_trip_of_a_run_that_ended_at_once(tmp_path, count):
    t = Trajectory(np.zeros(count), np.zeros((count, 1)), np.zeros((count, 0)))
    t.save(tmp_path / "run.nc")
    assert_same(t, Trajectory.load(tmp_path / "run.nc"))


def test_round_trip_of_a_large_model_text(tmp_path):
    # beyond 64 kB, where HDF5 attributes have an edge
    t = recorded(attrs={"model_xml": "<é/>" * 50_000})
    t.save(tmp_path / "run.nc")
    assert Trajectory.load(tmp_path / "run.nc").attrs == t.attrs


def test_anybody_can_open_the_file(tmp_path):
    xarray = pytest.importorskip("xarray")
    t = recorded()
    t.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as ds:
        np.testing.assert_array_equal(ds.qpos.sel(qpos_name="root.z"), t.qpos[:, 2])
        assert ds.time.dtype == np.float64
        assert ds.contact_state.dtype == np.bool_
        assert ds.attrs["model_xml"] == "<mujoco>é</mujoco>"


def test_pickle():
    t = recorded(**contact_points())
    assert_same(t, pickle.loads(pickle.dumps(t)))


def test_a_recording_without_its_model_cannot_be_drawn(tmp_path):
    t = recorded(attrs={})
    assert t.model is None
    for draw in (lambda: t.video(tmp_path / "run.mp4"), lambda: t.picture(), lambda: t.show()):
        with pytest.raises(OptionError, match="does not contain its model"):
            draw()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_poses_and_the_end_go_through_a_file(tmp_path, suffix):
    rng = np.random.default_rng(2)
    poses = {"mocap_pos": rng.normal(size=(50, 2, 3)), "mocap_quat": rng.normal(size=(50, 2, 4))}
    end = {"time": 2.01, "qpos": rng.normal(size=7), "qvel": np.zeros(6), "act": [1.0], "ctrl": [2.0, 3.0]}
    end |= {"energy": [4.0, 5.0], "mocap_pos": rng.normal(size=(2, 3)), "mocap_quat": rng.normal(size=(2, 4))}
    t = recorded(**poses, end=end, certificate=certificate(50))
    t.save(tmp_path / f"run{suffix}")
    again = Trajectory.load(tmp_path / f"run{suffix}")
    assert_same(t, again)
    assert t.end is not None and again.end is not None and t.end.keys() == again.end.keys()
    for name in ("mocap_pos", "mocap_quat"):
        np.testing.assert_array_equal(getattr(again, name), poses[name])
    for name, value in end.items():
        np.testing.assert_array_equal(again.end[name], value)


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_contact_points_and_events_go_through_a_file(tmp_path, suffix):
    points = contact_points()
    end = {"time": 2.01, **{name: values[7] for name, values in points.items()}}
    events = np.zeros(3, EVENT_DTYPE)
    events["time"], events["kind"], events["name"] = [0.1, 0.2, 0.2], ["impact", "painleve", ""], ["Fuß", "", "x" * 64]
    events["impulse"], events["energy_after"] = np.arange(9.0).reshape(3, 3), [1.0, np.nan, -0.0]
    t = recorded(**points, end=end, events=events, names={"actuation": ["left", "right"]})
    t.save(tmp_path / f"run{suffix}")
    again = Trajectory.load(tmp_path / f"run{suffix}")
    assert_same(t, again)
    assert again.contact_mode.dtype == np.int8
    for name, values in points.items():
        np.testing.assert_array_equal(getattr(again, name), values)
        np.testing.assert_array_equal(again.end[name], values[7])


def test_a_file_with_two_fields_of_events_and_no_contact_points_loads(tmp_path):
    """As they were written before there were more."""
    xarray = pytest.importorskip("xarray")
    path = tmp_path / "run.nc"
    recorded(events=np.array([(0.5, "impact")], [("time", "f8"), ("kind", "U16")])).save(path)
    with xarray.load_dataset(path, engine="h5netcdf") as ds:
        added = [f"event_{field}" for field in EVENT_DTYPE.names[2:]]
        old = ds.drop_vars(added).assign_attrs(trajectory_events='[["time", "<f8", []], ["kind", "<U16", []]]')
        del old.time.attrs["checksum"]
        old.to_netcdf(path, engine="h5netcdf")
    with pytest.warns(SaltusWarning, match="before recordings had checksums"):
        t = Trajectory.load(path)
    assert t.events.dtype == EVENT_DTYPE and t.events[["time", "kind", "name"]].tolist() == [(0.5, "impact", "")]
    assert np.isnan(t.events["impulse"]).all() and t.contact_mode.shape == (50, 0)


def test_the_end_of_a_run_with_contact_points_has_modes():
    with pytest.raises(OptionError, match=r"end\['contact_mode'\] is missing"):
        recorded(**contact_points(), end={"time": 2.01})


def test_poses_of_the_wrong_shape_are_named():
    with pytest.raises(OptionError, match="mocap_pos and mocap_quat go together"):
        recorded(mocap_pos=np.zeros((50, 1, 3)))
    with pytest.raises(OptionError, match=r"mocap_pos and mocap_quat must have shapes"):
        recorded(mocap_pos=np.zeros((50, 1, 3)), mocap_quat=np.zeros((50, 2, 4)))
    with pytest.raises(OptionError, match=r"end\['qpos'\] must have shape \[7\]"):
        recorded(end={"time": 1.0, "qpos": [1.0]})


def test_importing_the_recording_imports_nothing_heavy():
    heavy = {"xarray", "matplotlib", "h5netcdf", "h5py", "pandas"}
    code = "import sys, saltus.record.trajectory, saltus.record.plot.trajectory, saltus.record.io.file"
    code += f"; new = set(sys.modules) & {heavy}; sys.exit(str(new) if new else 0)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
