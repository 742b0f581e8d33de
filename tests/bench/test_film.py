"""The benchmark of pictures and films measures what it says, with MuJoCo's renderer or without."""

import json

import pytest

from saltus.bench import film

SMALL = "64x64 of a batch, with depth"
WHAT = ("picture", "film, MP4", SMALL, f"{SMALL}, no shadow")


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "b.json"
    film.bench_film(quick=True, json_path=path, extra=["spring"])
    out = capsys.readouterr().out
    assert "640x480" in out and "medians of 5 repeats" in out
    figures = json.loads(path.read_text())["figures"]
    assert [(f["model"], f["what"]) for f in figures] == [
        (model, what) for model in ("pendulum", "spring") for what in WHAT
    ]
    for figure in figures:
        assert 1e-5 < figure["saltus"] < 0.1
        assert (figure["mujoco"] is None) == (figure["ratio"] is None)
    if figures[0]["mujoco"] is None:
        assert "no OpenGL" in out
