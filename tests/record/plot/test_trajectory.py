"""The figure shows names, units and energies, and leaves Matplotlib's global state alone."""

import itertools
import sys

import numpy as np
import pytest
from helpers.colours import BLIND, cielab
from helpers.plotted import bouncing, hybrid, legend, many_events, recorded

import saltus
from saltus.errors import OptionError, RecordError
from saltus.record.plot.trajectory import DISTINCT, curves

pytest.importorskip("matplotlib")


def test_panels_units_and_legends():
    positions, velocities, energies = recorded().plot().axes
    assert positions.get_ylabel() == "position (rad)"
    assert velocities.get_ylabel() == "velocity (rad/s)"
    assert energies.get_ylabel() == "energy minus initial energy (J)"
    assert energies.get_xlabel() == "time (s)"
    assert legend(positions) == ["joint0", "joint1"]
    assert legend(energies) == ["potential, from 1 J", "kinetic, from 0 J", "total, from 1 J"]
    assert recorded().plot().get_suptitle() == "pendulum, rk4, timestep 0.01 s"


def test_lines_are_the_data():
    t = recorded()
    positions, _, energies = t.plot().axes
    np.testing.assert_array_equal(positions.lines[1].get_ydata(), t.qpos[:, 1])
    np.testing.assert_array_equal(energies.lines[2].get_ydata(), t.total_energy - t.total_energy[0])
    np.testing.assert_array_equal(energies.lines[2].get_xdata(), t.time)


def test_an_offset_does_not_hide_the_changes():
    t = recorded(energy=np.stack([1e6 + np.cos(np.linspace(0, 1, 30)), np.zeros(30)], 1))
    energies = t.plot().axes[2]
    low, high = energies.get_ylim()
    assert high - low < 1.0 and low <= np.cos(1.0) - 1.0 and 0.0 <= high
    assert legend(energies)[0] == "potential, from 1e+06 J"


def test_rounding_is_no_energy_to_start_from():
    swing = np.linspace(0, 30, 30)
    energies = (
        recorded(energy=np.stack([-8.7e-15 - 40 * np.sin(swing) ** 2, 40 * np.sin(swing) ** 2], 1)).plot().axes[2]
    )
    assert legend(energies) == ["potential, from 0 J", "kinetic, from 0 J", "total, from 0 J"]


@pytest.mark.parametrize("nv", [12, 13, 40, 84, 85, 300])
def test_every_column_is_drawn(nv):
    """Each once, in the panels of positions, as the data have it; up to 84 each has its name and a look of its own."""
    t = recorded(nv=nv)
    panels = [axes for axes in t.plot().axes if axes.get_ylabel() == "position (rad)"]
    drawn = [line.get_ydata() for axes in panels for line in axes.lines if len(line.get_xdata())]
    np.testing.assert_array_equal(np.stack(drawn, 1), t.qpos)
    if nv <= 84:
        assert [name for axes in panels for name in legend(axes)] == t.names["qpos"]
        for axes in panels:
            looks = {(line.get_color(), line.get_linestyle()) for line in axes.lines}
            assert len(looks) == len(axes.lines) <= 12
    else:
        assert legend(panels[0])[-1] == f"joint{nv - 1} ({nv} of {nv})"


def test_nameless_joints_have_readable_names():
    positions = recorded(nv=3, names={"qpos": ["#0.x", "#0.y", "#12"]}).plot().axes[0]
    assert legend(positions) == ["joint 0.x", "joint 0.y", "joint 12"]


def test_as_many_colours_as_integrators_can_be_told_apart():
    """2.3 is what a trained eye just tells apart; lines on a screen need some ten times that."""
    places = [cielab(colour) for colour in DISTINCT]
    assert len(places) >= len(saltus.integrators())
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(places, 2)) > 23


@pytest.mark.parametrize("kind", BLIND)
def test_colour_blind_readers_tell_all_methods_apart(kind):
    """Two of 14 lines with one dash pattern differ by at least seven times what a trained eye just tells apart."""
    from matplotlib.figure import Figure

    count = len(saltus.integrators())
    axes = Figure().subplots()
    curves(axes, np.arange(3.0), np.zeros((3, count)), [f"method {i}" for i in range(count)])
    seen = [(line.get_linestyle(), cielab(line.get_color(), np.array(BLIND[kind]))) for line in axes.lines]
    assert len(seen) == count >= 13
    for (dash, a), (other, b) in itertools.combinations(seen, 2):
        assert dash != other or np.linalg.norm(a - b) > 16


def test_velocities_jump_at_impacts():
    hit, t = bouncing()
    time, speed = t.plot().axes[1].lines[0].get_data()
    (gap,) = np.flatnonzero(np.isnan(speed))
    np.testing.assert_allclose([time[gap - 1], time[gap + 1]], hit)
    np.testing.assert_allclose([speed[gap - 1], speed[gap + 1]], [-10 * hit, 10 * hit])
    kept = ~np.isnan(speed) & ~np.isclose(time, hit)
    np.testing.assert_array_equal(speed[kept], t.qvel[:, 0])
    assert not np.isnan(t.plot().axes[0].lines[0].get_ydata()).any()  # positions do not jump


def test_names_are_shown_as_they_are(tmp_path):
    t = recorded(names={"qpos": ["_hidden", "$\\frac$"]}, attrs={"model_name": "$x_"})
    figure = t.plot(tmp_path / "run.png")
    assert legend(figure.axes[0]) == [" _hidden", r"\$\frac\$"]


def test_the_picture_of_many_events_is_not_black():
    """Above its foot the panel is as it is without events: compared pixel by pixel."""
    import io

    from PIL import Image

    def pixels(**changes):
        buffer = io.BytesIO()
        figure = recorded(**changes).plot()
        positions = figure.axes[0]
        legend_of_energy = figure.axes[2].get_legend()
        assert legend_of_energy is not None
        legend_of_energy.remove()
        figure.savefig(buffer, format="png")
        box = positions.get_window_extent()
        image = np.asarray(Image.open(buffer).convert("L"), float)
        top, bottom = image.shape[0] - int(box.y1), image.shape[0] - int(box.y0)
        return image[top:bottom, int(box.x0) : int(box.x1)]

    quiet, busy = pixels(), pixels(events=many_events(5000))
    rows = int(0.93 * min(len(quiet), len(busy)))
    columns = min(quiet.shape[1], busy.shape[1])
    np.testing.assert_array_equal(busy[:rows, 2:columns], quiet[:rows, 2:columns])
    assert (busy[-5:] < 200).mean() > 0.5 > (quiet[-5:] < 200).mean()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [0, 1, 2])
def test_short_runs_with_contact_can_be_drawn(tmp_path, count):
    hybrid(count=count).plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


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
