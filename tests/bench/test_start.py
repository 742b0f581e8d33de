"""The benchmark of starts: a cold one compiles, a warm one does not, and the phases are parts of the whole.

Reference: the order of times that compiling, which takes seconds, forces.
"""

import json

import pytest

from saltus.bench.start import command as start


@pytest.mark.slow
def test_a_cold_start_compiles_and_a_warm_one_does_not(tmp_path, capsys, monkeypatch):
    pendulum = start.Start("pendulum", "run", ("pendulum", "--duration", "0.1", "--no-certify"))
    monkeypatch.setattr(start, "starts", lambda quick: [pendulum])
    start.bench_start(quick=True, json_path=tmp_path / "start.json")
    (row,) = json.loads((tmp_path / "start.json").read_text())["rows"]
    assert len(row["cold"]) == len(row["warm"]) == 1 and 0 < row["warm"][0] < row["cold"][0]
    assert row["phases"]["typing"] + row["phases"]["lowering"] > row["phases"]["linking"] > 0
    assert row["phases"]["optimising"] > 0 < row["phases"]["machine code"] and row["phases"]["imports"] > 0
    assert sum(row["phases"].values()) < 5 * row["cold"][0]  # another start, on a machine that may be busy
    shown = capsys.readouterr().out
    assert "pendulum" in shown and f"{row['cold'][0]:.1f}" in shown


@pytest.mark.slow
def test_what_fails_is_said():
    with pytest.raises(RuntimeError, match="nothing: "):
        start.measure(start.Start("nothing", "run", ("no_such_model",)), repeats=1)
    assert "run pendulum" in {one.name for one in start.starts(quick=True)}
    assert len(start.starts(quick=False)) > len(start.starts(quick=True))
