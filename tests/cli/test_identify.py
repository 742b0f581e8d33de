"""The command that identifies. Reference: the values by which the logs were made, and the same function in Python."""

import json

import numpy as np
import pytest

import saltus


def log(path, **change):
    """A rod of 1 kg at 0.5 m with a damper of 0.1 N m s, on two sines, as a log with forces."""
    t = np.linspace(0, 3, 301)
    q = 0.5 * np.sin(2 * t) + 0.3 * np.sin(5 * t)
    found = saltus.inverse_dynamics(saltus.load("pendulum"), {"time": t, "qpos": q})
    arrays = {"time": t, "qpos": q[:, None], "qfrc": found.forces + 0.1 * found.qvel} | change
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_a_log_with_forces(saltus_command, tmp_path):
    path, page, result = log(tmp_path / "log.npz"), tmp_path / "fit.html", tmp_path / "fit.json"
    arguments = ("--parameter", "dof_damping[theta]=0,1", "--data", "forces", "--report", page, "--json", result)
    code, out, err = saltus_command("identify", "pendulum", path, *arguments)
    assert code == 0, err
    found = json.loads(result.read_text())
    expected = 0.1 + saltus.load("pendulum").value("dof_damping[theta]")
    assert found["values"]["dof_damping[theta]"] == pytest.approx(expected, rel=1e-6)
    assert out.startswith("dof_damping[theta]: ") and "residual of force on theta" in out and f"wrote {page}" in out
    assert "<h1>Identification</h1>" in page.read_text()


@pytest.mark.slow  # compiles derivatives of a run
def test_a_recording_of_a_run(saltus_command, tmp_path):
    sim = saltus.Simulation(saltus.load("pendulum").changed({"dof_damping[theta]": 0.3}))
    sim.qpos[0] = 1.0
    sim.run(2.0, sample=0.02, progress=False).save(tmp_path / "run.nc")
    code, out, err = saltus_command(
        "identify", "pendulum", tmp_path / "run.nc", "--parameter", "dof_damping[theta]=0,1"
    )
    assert code == 0, err
    assert float(out.split()[1]) == pytest.approx(0.3, rel=1e-4)


def test_wrong_arguments_are_named(saltus_command, tmp_path):
    path = log(tmp_path / "log.npz")
    for arguments, words in (
        ((path, "--parameter", "dof_damping[theta]"), "expected PATH=LOW,HIGH"),
        ((path, "--parameter", "dof_damping[theta]=0,1", "--data", "x"), "unknown data 'x'"),
        ((path, "--parameter", "dof_damping[theta]=0,1", "--parameter", "dof_damping[theta]=0,1"), "given twice"),
        ((tmp_path / "no.npz", "--parameter", "dof_damping[theta]=0,1"), "cannot read recording"),
        ((log(tmp_path / "bare.npz", qpos=None), "--parameter", "dof_damping[theta]=0,1"), "no arrays time and qpos"),
    ):
        code, _, err = saltus_command("identify", "pendulum", *arguments)
        assert code == 1 and words in err, err
