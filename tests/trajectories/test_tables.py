"""Reference motions from files, data frames and mappings (`tables`). Reference: the spline through the same points."""

import numpy as np
import pytest

import saltus
from saltus.trajectories.tables import read_motion

MODEL = """
<mujoco><worldbody><body><joint type="ball" name="hip"/><geom size=".1"/><body pos="0 0 .3"><joint name="knee"/>
  <geom size=".1"/></body></body></worldbody></mujoco>"""


def recording():
    """A run of 0.5 s with 11 samples."""
    sim = saltus.Simulation(MODEL)
    sim.qvel[:] = [1.0, 2.0, -1.0, 3.0]
    return sim.run(0.5, sample=0.05, progress=False)


def test_files_and_frames_of_a_recording_are_splines_through_its_samples(tmp_path):
    recorded = recording()
    recorded.to_csv(tmp_path / "run.csv")
    expected = saltus.spline(MODEL, recorded.qpos, recorded.time, at_rest=False)
    tables = [tmp_path / "run.csv"]
    if pytest.importorskip("pandas"):
        tables.append(recorded.to_pandas())
    for table in tables:
        motion = read_motion(MODEL, table)
        assert motion.joints == ("hip", "knee")
        for t in (0.0, 0.13, 0.42):
            assert np.allclose(motion.qpos(t), expected.qpos(t), rtol=0, atol=1e-14)


def test_columns_by_names_of_joints_move_these_alone(tmp_path):
    (tmp_path / "knee.csv").write_text("time,knee,remark\n0,0.1,a\n1,0.5,b\n2,-0.3,c\n")
    motion = read_motion(MODEL, tmp_path / "knee.csv", at_rest=True)
    same = read_motion(MODEL, {"time": [0, 1, 2], "knee": [0.1, 0.5, -0.3]}, at_rest=True)
    assert np.array_equal(motion.qpos(0.4), same.qpos(0.4)) and motion.joints == ("knee",)
    assert np.allclose(motion.qpos([0, 1, 2]), [[1, 0, 0, 0, q] for q in (0.1, 0.5, -0.3)], atol=1e-14)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("nowhere.csv", "nowhere.csv cannot be read"),
        ({"knee": [0, 1]}, "no column 'time'"),
        ({"time": [0, 1], "elbow": [0, 1]}, "no column has the name of a joint; joints are: hip, knee"),
        ({"time": [0, 1], "hip.qw": [1, 1]}, "joint 'hip' has no column 'hip.qx'"),
        ({"time": [0, 1], "knee": [0, 1, 2]}, "as long as each other"),
        (3.0, "a path, a data frame or a mapping"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(table, said):
    with pytest.raises(saltus.OptionError, match=said):
        read_motion(MODEL, table)


def test_rows_of_another_length_are_refused_by_number(tmp_path):
    (tmp_path / "bad.csv").write_text("time,knee\n0,0\n1\n")
    with pytest.raises(saltus.OptionError, match=r"row 3 of .*bad.csv has 1 columns, not 2"):
        read_motion(MODEL, tmp_path / "bad.csv")
