"""Figures of chosen quantities. Law: each line is the named column over time; as many panels as names."""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError


@pytest.fixture(scope="module")
def recorded():
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    return [sim.run(0.1, sample=0.02, record="xpos[pendulum]"), sim.run(0.1, sample=0.02, record="xpos[pendulum]")]


def test_a_panel_for_each_name(recorded, tmp_path):
    run = recorded[0]
    figure = run.plot(tmp_path / "a.png", signals=("theta", "ctrl", "xpos[pendulum]", "energy"))
    assert [len(axes.lines) for axes in figure.axes] == [1, 1, 3, 2]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), run.qpos[:, 0])
    assert figure.axes[0].get_ylabel() == "theta (rad)" and figure.axes[2].get_ylabel() == "xpos[pendulum] (m)"
    assert figure.axes[1].lines[0].get_drawstyle() == "steps-post"
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_several_runs_in_one_figure(recorded):
    figure = recorded[0].plot(others=recorded[1:])
    assert len(figure.axes) == 2  # positions and controls
    for k, run in enumerate(recorded):
        np.testing.assert_array_equal(figure.axes[0].lines[k].get_ydata(), run.qpos[:, 0])
        np.testing.assert_array_equal(figure.axes[0].lines[k].get_xdata(), run.time)
    assert figure.axes[0].lines[0].get_linestyle() != figure.axes[0].lines[1].get_linestyle()


def test_unknown_names_and_others(recorded):
    with pytest.raises(OptionError, match="did you mean 'theta'"):
        recorded[0].plot(signals="thetta")
    with pytest.raises(OptionError, match="others must be recordings"):
        recorded[0].plot(others=[1])
    with pytest.raises(OptionError, match="others"):
        recorded[0].plot(signals="qpos", others=0)
    with pytest.raises(OptionError, match="1 to 24 names"):
        recorded[0].plot(signals=[])
