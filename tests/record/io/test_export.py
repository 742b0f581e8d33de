"""Recordings as files for other programs. Law: what pandas, SciPy and NumPy read is what was recorded, bit for bit."""

import importlib.util

import numpy as np
import pandas
import pytest
from scipy.io import loadmat

import saltus
from saltus.errors import OptionError, RecordError


@pytest.fixture(scope="module")
def recorded():
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    return sim.run(0.1, sample=0.03, record=("xpos[pendulum]",))


def test_a_data_frame(recorded):
    frame = recorded.to_pandas()
    assert frame.index.name == "time" and frame.attrs["units"]["qpos[theta]"] == "rad"
    np.testing.assert_array_equal(frame.index, recorded.time)
    np.testing.assert_array_equal(frame["qvel[theta]"], recorded.qvel[:, 0])
    chosen = recorded.to_pandas(["theta", "xpos[pendulum]"])
    assert list(chosen) == ["qpos[theta]", *(f"xpos[pendulum][{k}]" for k in range(3))]
    with pytest.raises(OptionError, match="thetta"):
        recorded.to_pandas("thetta")


def test_csv(recorded, tmp_path):
    for name in ("a.csv", "b.CSV"):
        recorded.save(tmp_path / name)
        frame = pandas.read_csv(tmp_path / name, index_col="time")
        pandas.testing.assert_frame_equal(frame, recorded.to_pandas(), check_exact=True, check_dtype=False)
    recorded.to_csv(tmp_path / "c.csv", "theta")
    assert (tmp_path / "c.csv").read_text().splitlines()[0] == "time,qpos[theta]"


def test_npz_and_mat(recorded, tmp_path):
    recorded.save(tmp_path / "a.npz")
    recorded.save(tmp_path / "a.mat")
    with np.load(tmp_path / "a.npz") as npz:
        mat = loadmat(tmp_path / "a.mat", simplify_cells=True)
        for name in ("time", "qpos", "qvel", "energy", "signals"):
            np.testing.assert_array_equal(npz[name], getattr(recorded, name), err_msg=name)
            np.testing.assert_array_equal(mat[name], np.squeeze(getattr(recorded, name)), err_msg=name)
        assert list(npz["names_signal"]) == recorded.names["signal"] == list(mat["names"]["signal"])
        assert npz["units_qpos"][0] == "rad" == mat["units"]["qpos"]


def test_events_of_a_bouncing_ball(tmp_path):
    ball = saltus.record.Trajectory([0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 1)))
    log = saltus.record.table.events.EventLog()
    log.append(0.5, "impact", "ball", impulse=(1.0, 2.0, 3.0))
    ball.events = log.array()
    ball.save(tmp_path / "a.npz")
    ball.save(tmp_path / "a.mat")
    with np.load(tmp_path / "a.npz") as npz:
        assert npz["events"]["kind"][0] == "impact"
    events = loadmat(tmp_path / "a.mat", simplify_cells=True)["events"]
    assert events["kind"] == "impact" and list(np.ravel(events["impulse"])) == [1.0, 2.0, 3.0]


def test_parquet(recorded, tmp_path):
    if not importlib.util.find_spec("pyarrow") and not importlib.util.find_spec("fastparquet"):
        with pytest.raises(OptionError, match="pip install pandas pyarrow"):
            recorded.save(tmp_path / "a.parquet")
        return
    recorded.save(tmp_path / "a.parquet")
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / "a.parquet"), recorded.to_pandas())


def test_unknown_suffixes_and_reading(recorded, tmp_path):
    for name in ("a.xlsx", "a"):
        with pytest.raises(OptionError, match=r"\.nc.*\.zarr.*\.csv, \.parquet, \.mat, \.npz"):
            recorded.save(tmp_path / name)
    recorded.save(tmp_path / "a.csv")
    with pytest.raises(RecordError, match=r"other programs; .*\.nc and \.zarr"):
        saltus.Trajectory.load(tmp_path / "a.csv")
