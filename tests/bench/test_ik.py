"""The benchmark of inverse kinematics: both sides reach for the same targets, which can be reached.

The law: targets are places of bodies in configurations within the ranges, so that these configurations meet them; the
judge is MuJoCo's kinematics.
"""

import json

import numpy as np
import pytest

import saltus
from saltus.bench import ik


@pytest.fixture(scope="module")
def arm():
    return ik.cases(True, [])[0]


def test_targets_can_be_reached_and_are_judged_by_place_and_turn(arm):
    qpos = ik.configurations(arm.model, 50, 3)
    goals = ik.targets(arm, qpos)
    met, within = ik.judged(arm, goals, qpos)
    assert met.all() and within
    assert not ik.judged(arm, goals, qpos + 0.01)[0].any()
    turned = qpos + np.array([0, 0, 0, 0, 0, 0, 1e-3])  # about the flange's own axis: its place is the same
    assert not ik.judged(arm, goals, turned)[0].any()
    beyond = qpos.copy()
    beyond[7, 3] += 2 * np.pi
    assert not ik.judged(arm, goals, beyond)[1]


def test_hands_humanoids_and_models_of_users(tmp_path):
    arm, humanoid, hand = ik.cases(False, [])
    assert [case.model.nv for case in (arm, humanoid, hand)] == [7, 29, 22]
    free = ik.configurations(humanoid.model, 4, 0)
    assert np.allclose(np.linalg.norm(free[:, 3:7], axis=1), 1.0) and np.ptp(free[:, 0]) > 0.1
    path = tmp_path / "own.xml"
    path.write_text(ik.ARM.replace(' name="flange"', ""))
    with pytest.raises(saltus.OptionError, match="whose last bodies have names"):
        ik.of_user(str(path))
    path.write_text(ik.hand())
    assert ik.of_user(str(path)).bodies == dict.fromkeys([f"tip{k}" for k in range(5)], False)


def test_quick_benchmark_names_what_is_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ik, "has_mink", lambda: False)
    path = tmp_path / "figures.json"
    ik.bench_ik(quick=True, json_path=path, extra=[])
    out = capsys.readouterr().out
    assert "mink: not measured, it is not installed; pip install mink daqp" in out
    figures = json.loads(path.read_text())["figures"]
    assert [f["name"] for f in figures] == ["saltus, one start", "saltus, restarts", "saltus, restarts, a batch"]
    assert all(f["within"] and f["seconds"] > 0 for f in figures)
    assert figures[0]["solved"] > 0.8 and figures[1]["solved"] == figures[2]["solved"] == 1.0


def test_both_solve_what_they_are_asked(arm):
    if not ik.has_mink():
        pytest.skip("mink is not installed: pip install mink daqp")
    goals = ik.targets(arm, ik.configurations(arm.model, 5, 3))
    starts = ik.configurations(arm.model, ik.RESTARTS, 4)
    for side in (ik.by_saltus, lambda *given: ik.by_mink(*given, starts=starts)):
        found = ik.one_by_one(lambda goal, restarts, side=side: side(arm, goal, restarts), goals, 5, ik.RESTARTS)
        assert ik.judged(arm, goals, found)[0].all()
