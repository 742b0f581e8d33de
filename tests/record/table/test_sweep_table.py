"""The table of a sweep. Reference: the values that were swept."""

import numpy as np
import pytest

from saltus.study.sweep import sweep

SPRING = """<mujoco model="swing"><option timestep="0.01" integrator="RK4"/><worldbody><body name="b">
  <joint name="x" type="slide" axis="1 0 0" stiffness="4"/>
  <geom name="g" size="0.1" mass="1" contype="0" conaffinity="0"/>
  </body></worldbody><actuator><motor name="push" joint="x"/></actuator></mujoco>"""


def test_the_table_as_text_csv_and_figure(tmp_path):
    values = {"opt.gravity": [[0, 0, -9.81], [0, 0, -1.62]], "body_mass[b]": [1.0, 10.0, 100.0]}
    table = sweep(SPRING, values, ["qpos[x].max", "wall_time"], 0.5, workers=1)
    assert table.headers() == ["opt.gravity", "body_mass[b]", "qpos[x].max (m)", "wall_time (s)"]
    assert table.cells()[3][:3] == ["0 0 -1.62", "1", "0"]
    assert table.title == "swing, rk4, timestep 0.01 s, 0.5 s" and repr(table).startswith(table.title)
    table.to_csv(tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[0] == "opt.gravity,body_mass[b],qpos[x].max,wall_time,status,note" and len(lines) == 7
    assert lines[1].startswith("0 0 -9.81,1.0,0.0,") and lines[1].endswith(",done,")
    figure = table.plot(tmp_path / "t.png")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    assert axes.get_xscale() == "log" and len(axes.lines) == 2
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [1.0, 10.0, 100.0])
    with pytest.raises(KeyError, match=r"there are: qpos\[x\].max, wall_time"):
        table["energy"]
    assert "<table>" in table._repr_html_()
