"""The benchmark of rollouts: both sides take the same steps, from the same state under the same controls.

The law: five steps of an arm by MuJoCo and by Saltus agree to 1e-10, as all smooth motion of MuJoCo's integrators does.
"""

import json

import pytest

from saltus.bench import rollout


def test_cases_are_the_arms_and_models_of_users():
    assert [(c.name, c.steps) for c in rollout._cases(True, ["some/go1.xml"])[0]] == [("arm", 100), ("go1", 50)]
    assert [c.name for c in rollout._cases(False, [])[0]] == ["arm", "humanoid"]


def test_both_take_the_same_steps():
    both = rollout.Rollouts("arm", 3, 10, 1)
    assert both.difference() < 1e-10
    (theirs, _), ours = both.mujoco().work(), both.saltus("states", "float64").work()
    assert theirs.shape[:2] == ours.qpos.shape[:2] == (3, 10)


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "figures.json"
    rollout.bench_rollout(quick=True, threads=1, json_path=path, extra=[])
    assert "plan float32" in capsys.readouterr().out
    rows = json.loads(path.read_text())["rows"]
    assert [row["what"] for row in rows] == ["states float64", "plan float64", "states float32", "plan float32"]
    assert all(row["peer"] > 0 and row["saltus"] > 0 for row in rows)
