"""The benchmark measures what it says: the same motion on both sides, from the same start, in turn."""

import json
import math

import numpy as np
import pytest

from saltus.bench import smooth
from saltus.bench.harness import found_models, machine, peers
from saltus.bench.harness.timing import Contender, Timing, in_turn
from saltus.errors import OptionError, SaltusError


def test_contenders_are_timed_in_turn():
    calls = []
    contenders = [
        Contender(name, lambda name=name: calls.append(f"begin {name}"), lambda name=name: calls.append(name), 10.0)
        for name in ("a", "b")
    ]
    found = in_turn(contenders, repeats=5, least=0.0)
    assert [len(t.seconds) for t in found.values()] == [5, 5]
    # warm-up and calibration, then five rounds in alternating order
    rounds = [c for c in calls if not c.startswith("begin")][4:]
    assert rounds == ["a", "b", "b", "a", "a", "b", "b", "a", "a", "b"]
    # every piece of work begins anew
    assert all(calls[2 * k] == f"begin {calls[2 * k + 1]}" for k in range(len(calls) // 2))


def test_the_ratio_is_the_median_of_ratios():
    slow, fast = Timing("slow", [2.0, 8.0, 3.0]), Timing("fast", [1.0, 2.0, 3.0])
    assert fast.ratio_to(slow) == 2.0
    assert (slow.median, fast.median) == (3.0, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["pendulum", "chain", "top", "arm"])
def test_peers_move_alike(model):
    setup = peers.Free(model)
    assert setup.difference() < 1e-9
    sim = setup.simulation()
    assert abs(sim.qvel).max() > 0.01  # it moves


@pytest.mark.slow
def test_constraints_and_sensors_are_off():
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
    <body pos="0 0 0.05"><freejoint/><geom size="0.1"/></body></worldbody><sensor><clock/></sensor></mujoco>"""
    setup = peers.Free(text)
    data = setup.data()
    peers.mujoco.mj_step(setup.mujoco, data, 3)
    assert data.ncon == 0 and data.sensordata[0] == 0.0
    assert setup.difference() < 1e-12


def test_divergence_and_rest_are_no_benchmark():
    x = np.zeros(3)
    with pytest.raises(SaltusError, match="diverged"):
        peers.require_motion("m", np.array([np.nan]), np.zeros(1), 1.0, 1.0)
    with pytest.raises(SaltusError, match="diverged"):
        peers.require_motion("m", x + 1, x, 0.3, 1.0)  # began anew on the way
    with pytest.raises(SaltusError, match="nothing moved"):
        peers.require_motion("m", x, x, 1.0, 1.0)
    peers.require_motion("m", x + 1, x, 1.0, 1.0)


def test_a_humanoid_is_found_or_it_is_said(monkeypatch):
    monkeypatch.setattr(found_models, "HUMANOIDS", (("nowhere", lambda: None),))
    path, note = found_models.find("humanoid", found_models.HUMANOIDS)
    assert path is None and "not measured" in note and "--model" in note
    cases, notes = smooth._cases(quick=False, extra=[])
    assert [c.name for c in cases] == ["pendulum", "10 links", "100 links"] and notes == [note]


def test_the_machine_is_described():
    about = machine.description(2)
    assert about["cpu"] and about["cores"] >= 1 and about["threads"] == 2
    assert about["simd_bits"] in (128, 256, 512)
    assert {"python", "saltus", "mujoco", "numba", "numpy"} <= set(about)


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "b.json"
    smooth.bench_smooth(quick=True, threads=1, json_path=path, extra=["arm"])
    out = capsys.readouterr().out
    assert "pendulum" in out and "linearize" in out and "1 thread;" in out
    content = json.loads(path.read_text())
    assert content["machine"]["threads"] == 1 and content["effort"]["repeats"] >= 5
    rows = {(r["model"], r["what"]): r for r in content["rows"]}
    whats = ["step", "batch float64", "batch float32"]
    expected = [("pendulum", w) for w in whats] + [(m, w) for m in ("3 links", "arm") for w in [*whats, "linearize"]]
    assert set(rows) == set(expected)
    for (_, what), r in rows.items():
        assert 0 < r["saltus"] < 1e-3 and 0 < r["peer"] < 1e-3
        if what == "step":
            assert r["difference"] < 1e-9
        elif what == "linearize":
            # forward differences of 1e-6
            assert r["difference"] < 1e-4
        else:
            assert r["difference"] is None
    # machines differ and share their cores; a tenth of the promise shows that the figures mean something
    assert np.median([r["ratio"] for r in rows.values()]) > 0.3
    assert math.isclose(
        rows["pendulum", "step"]["ratio"],
        rows["pendulum", "step"]["peer"] / rows["pendulum", "step"]["saltus"],
        rel_tol=0.5,
    )


def test_threads_must_make_sense():
    with pytest.raises(OptionError, match="threads must be at least 1"):
        smooth.bench_smooth(quick=True, threads=0, json_path=None, extra=[])
