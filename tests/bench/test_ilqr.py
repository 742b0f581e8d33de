"""The benchmark of trajectories that cost least: both sides solve one problem, of which MuJoCo says what it costs.

The law: the cost is that of MuJoCo's own steps from the start under the plan's torques, to rounding. Crocoddyl's, where
it is installed, is the same within 1e-6, as both stop at a decrease of 1e-7.
"""

import json

import mujoco
import numpy as np
import pytest

import saltus
from saltus.bench import ilqr

ROUGH = ilqr.Reach("a rough reach", 100, 10.0)


def test_the_cost_is_that_of_mujocos_steps():
    sim, cost = ilqr.problem(ROUGH)
    plan = saltus.ilqr(sim, cost, ROUGH.steps, controls=np.zeros((100, 7)))
    assert plan.converged and not plan.singly
    m = sim.model.mj_model
    d, total, flange = mujoco.MjData(m), 0.0, m.body("flange").id
    d.qpos[:] = ilqr.START
    for u in plan.controls:
        d.ctrl[:] = u
        mujoco.mj_forward(m, d)
        away = d.xpos[flange] - ilqr.GOAL
        total += 0.5 * ROUGH.timestep * (away @ away + 1e-2 * d.qvel @ d.qvel + 1e-3 * u @ u)
        mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    away = d.xpos[flange] - ilqr.GOAL
    assert plan.cost == pytest.approx(total + 5.0 * away @ away + 0.5 * d.qvel @ d.qvel, rel=1e-9)
    assert np.linalg.norm(away) < 0.05 < np.linalg.norm(plan.qpos[0] - plan.qpos[-1])


def test_what_is_missing_or_of_another_version_is_named(monkeypatch):
    installed = {"crocoddyl": "3.1.0", "pin": "3.8.0"}

    def version(package):
        if package not in installed:
            raise ilqr.PackageNotFoundError(package)
        return installed[package]

    monkeypatch.setattr(ilqr, "version", version)
    assert not ilqr.why_not()
    installed["pin"] = "3.9.0"
    assert "pin 3.9.0 is installed, and 3.8 is needed; pip install crocoddyl==3.1.0" in ilqr.why_not()
    del installed["crocoddyl"]
    assert "not measured, crocoddyl is not installed" in ilqr.why_not()


def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "figures.json"
    ilqr.bench_ilqr(quick=True, json_path=path)
    out, figures = capsys.readouterr().out, json.loads(path.read_text())["figures"]
    assert "an arm of seven joints" in out and figures[0]["name"] == "saltus" and figures[0]["seconds"] > 0
    if missing := ilqr.why_not():
        assert missing in out and len(figures) == 1
    else:
        assert figures[0]["cost"] == pytest.approx(figures[1]["cost"], rel=1e-6)
