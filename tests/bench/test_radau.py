"""The benchmark of stiff motions: all methods end in one state, to their tolerances, and in their numbers of steps.

Reference: SciPy's Radau on MuJoCo's accelerations, which the benchmark measures beside; the rates of quaternions by
MuJoCo's integration of positions.
"""

import json

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltus.bench import radau


def test_scenes_end_as_scipy_says():
    scene = radau.SCENES[0]
    end, steps = radau.scipy_run(scene, 1e-6)
    sim = radau.simulation(scene, "radau", 1e-6)
    sim.reset(0)
    sim.run(scene.duration, sample=scene.duration)
    assert_allclose(np.append(sim.qpos, sim.qvel), end, rtol=0, atol=1e-6)
    assert 10 < steps < 200


def test_rates_of_a_free_joint():
    m = mujoco.MjModel.from_xml_string(radau.SCENES[2].xml)
    qpos, qvel = np.array([0.1, 0.2, 0.3, 0.8, 0.36, -0.48, 0.0]), np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0])
    after, h = qpos.copy(), 1e-6
    mujoco.mj_integratePos(m, after, qvel, h)
    assert_allclose(radau.rates(m, qpos, qvel), (after - qpos) / h, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "figures.json"
    radau.bench_radau(quick=True, json_path=path)
    assert "SciPy's Radau" in capsys.readouterr().out
    figures = json.loads(path.read_text())["figures"]
    assert {f["method"] for f in figures} == {"radau", "dopri5", radau.BATCH, "SciPy's Radau"}
    assert all(f["error"] < 10 * f["tolerance"] and f["seconds"] > 0 for f in figures)
