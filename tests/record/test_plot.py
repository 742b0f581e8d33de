"""The figure shows names, units and energies, and leaves Matplotlib's global state alone."""

import sys

import numpy as np
import pytest

from saltus.errors import OptionError, RecordError
from saltus.record import Trajectory
from saltus.record.plot import LABELLED

pytest.importorskip("matplotlib")


def recorded(nv=2, count=30, **changes):
    time = np.linspace(0.0, 1.0, count)
    table = np.sin(np.outer(time, 1 + np.arange(nv)))
    given = {
        "energy": np.stack([np.cos(time) ** 2, np.sin(time) ** 2], 1),
        "names": {"qpos": [f"joint{i}" for i in range(nv)], "qvel": [f"joint{i}" for i in range(nv)]},
        "units": {"qpos": ["rad"] * nv, "qvel": ["rad/s"] * nv},
        "attrs": {"model_name": "pendulum", "integrator": "rk4", "timestep": 0.01},
    }
    return Trajectory(time, table, table, **{**given, **changes})


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_panels_units_and_legends():
    positions, velocities, energies = recorded().plot().axes
    assert positions.get_ylabel() == "position (rad)"
    assert velocities.get_ylabel() == "velocity (rad/s)"
    assert energies.get_ylabel() == "energy (J)"
    assert energies.get_xlabel() == "time (s)"
    assert legend(positions) == ["joint0", "joint1"]
    assert legend(energies) == ["potential", "kinetic", "total"]
    assert recorded().plot().get_suptitle() == "pendulum, rk4, timestep 0.01 s"


def test_lines_are_the_data():
    t = recorded()
    positions, _, energies = t.plot().axes
    np.testing.assert_array_equal(positions.lines[1].get_ydata(), t.qpos[:, 1])
    np.testing.assert_array_equal(energies.lines[2].get_ydata(), t.total_energy)
    np.testing.assert_array_equal(energies.lines[2].get_xdata(), t.time)


def test_mixed_units_stand_in_the_legend():
    positions = recorded(nv=3, units={"qpos": ["m", "", "rad"]}).plot().axes[0]
    assert positions.get_ylabel() == "position (m, rad)"
    assert legend(positions) == ["joint0 (m)", "joint1", "joint2 (rad)"]


def test_many_joints_are_counted_not_listed():
    positions = recorded(nv=40).plot().axes[0]
    assert len(legend(positions)) == LABELLED + 1
    assert legend(positions)[-1] == f"+{40 - LABELLED} more"
    assert len(positions.lines) == 40
    styles = {(line.get_color(), line.get_linestyle()) for line in positions.lines[:LABELLED]}
    assert len(styles) == LABELLED


def test_as_many_joints_as_fit_are_all_listed():
    assert legend(recorded(nv=LABELLED).plot().axes[0])[-1] == f"joint{LABELLED - 1}"


def test_names_are_shown_as_they_are(tmp_path):
    t = recorded(names={"qpos": ["_hidden", "$\\frac$"]}, attrs={"model_name": "$x_"})
    figure = t.plot(tmp_path / "run.png")
    assert legend(figure.axes[0]) == [" _hidden", r"\$\frac\$"]


def test_events_are_marked_and_explained():
    events = np.array([(0.25, "impact"), (0.5, "liftoff")], dtype=[("time", "f8"), ("kind", "U16")])
    positions, _, energies = recorded(events=events).plot().axes
    assert [np.ravel(line.get_xdata())[0] for line in positions.lines[2:]] == [0.25, 0.5]
    assert legend(energies)[-1] == "event"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [0, 1, 2])
def test_short_runs_can_be_drawn(tmp_path, count):
    recorded(count=count).plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_a_diverged_run_can_be_drawn(tmp_path, value):
    t = recorded()
    t.qpos[-1] = t.qvel[-1] = t.energy[-1] = value
    t.plot(tmp_path / "run.png")


def test_energy_not_recorded_is_said():
    energies = recorded(energy=None).plot().axes[2]
    assert [text.get_text() for text in energies.texts] == ["not recorded"]
    assert energies.lines[:] == []


@pytest.mark.parametrize(
    ("suffix", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_the_suffix_chooses_the_format(tmp_path, suffix, head):
    path = tmp_path / f"run.{suffix}"
    recorded().plot(path)
    assert path.read_bytes().startswith(head)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["run.docx", "run", "run.png.gz"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(OptionError, match=r"\.png, \.svg, \.pdf"):
        recorded().plot(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_path_is_named(tmp_path):
    with pytest.raises(RecordError, match=r"cannot write figure '.*run\.png'"):
        recorded().plot(tmp_path / "nowhere" / "run.png")


def test_nothing_global_changes():
    import matplotlib

    before = dict(matplotlib.rcParams)
    loaded = "matplotlib.pyplot" in sys.modules
    recorded().plot()
    assert dict(matplotlib.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == loaded


def test_a_notebook_can_show_it():
    assert recorded().plot()._repr_png_().startswith(b"\x89PNG")  # pyright: ignore[reportAttributeAccessIssue]
