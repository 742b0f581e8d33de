"""`saltus bench page`: rows, sizes, the refusal of what cannot be a page, and motions that end early.

Reference: the page's own file, and a double pendulum, which diverges under explicit Euler with steps of 0.2 s.
"""

import json
from dataclasses import replace

import pytest

from saltus.bench.page import _native, _steps, bench_page, measure
from saltus.errors import DivergenceError
from saltus.lab.scene.choose import find_scene


@pytest.mark.slow
def test_a_row_has_the_pages_size_and_both_times(tmp_path, capsys):
    bench_page(quick=True, json_path=tmp_path / "page.json", chosen=["spring"], browser=False)
    (row,) = json.loads((tmp_path / "page.json").read_text())["rows"]
    assert row["scene"] == "spring" and 5e5 < row["bytes"] < 1.5e6
    assert row["ratio"] == pytest.approx(row["page"] / row["native"], rel=0.5)
    assert "spring" in capsys.readouterr().out


@pytest.mark.slow
def test_what_cannot_be_a_page_is_named():
    assert "trampoline cannot run in a browser" in measure("trampoline", repeats=1)


def test_a_motion_that_diverges_is_timed_before():
    scene, options = find_scene("double_pendulum", {}, []), {"timestep": 0.2, "integrator": "explicit_euler"}
    sim = _native(replace(scene, open=lambda downloads, _: scene.open(downloads, options)))
    steps = _steps(sim)
    sim.step(steps)
    assert 0 < steps and sim.time > 0
    with pytest.raises(DivergenceError):
        sim.step(4 * steps)
