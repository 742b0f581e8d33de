"""`saltus sweep`: the table, the files, exit codes.

Charter. The numbers are those of `saltus.sweep`, which has tests of its own; here the command must give it what was
written, and say and write what it returns.
"""

import json

import saltus


def test_a_sweep_prints_and_writes(saltus_command, tmp_path):
    files = {name: tmp_path / name for name in ("s.json", "s.csv", "s.png")}
    command = [
        "sweep",
        "pendulum",
        "--set",
        "body_mass[pendulum]=1,2",
        "--set",
        "integrator=rk4,euler",
        "--duration",
        1,
    ]
    command += ["--measure", "qpos[theta].final", "--measure", "energy_drift", "--workers", 1]
    command += ["--save", files["s.json"], "--csv", files["s.csv"], "--plot", files["s.png"]]
    code, out, err = saltus_command(*command)
    assert code == 0 and "error" not in err
    expected = saltus.sweep(
        "pendulum",
        {"body_mass[pendulum]": [1, 2], "integrator": ["rk4", "euler"]},
        ["qpos[theta].final", "energy_drift"],
        1.0,
        workers=1,
    )
    for cells in expected.cells():
        assert any(line.split() == cells for line in out.splitlines()), cells
    assert all(f"wrote {path}" in out for path in files.values())
    assert len(json.loads(files["s.json"].read_text())["rows"]) == 4
    assert saltus_command(*command[:-6], "--save", files["s.json"])[0] == 0


def test_errors_name_what_is_wrong(saltus_command, tmp_path):
    code, _, err = saltus_command("sweep", "pendulum", "--set", "body_mass[bob]=1,2")
    assert code == 1 and "unknown body in body_mass[bob]: 'bob'" in err
    code, _, err = saltus_command("sweep", "pendulum", "--set", "opt.timestep=0.1", "--csv", tmp_path / "no" / "t.csv")
    assert code == 1 and "directory" in err
    code, _, err = saltus_command("sweep", "pendulum", "--set", "opt.timestep=0.1", "--measure", "apex")
    assert code == 1 and "unknown measure 'apex'" in err


def test_a_run_that_diverges_is_no_error(saltus_command):
    code, out, _ = saltus_command("sweep", "spring", "--integrator", "euler", "--set", "opt.timestep=0.01,0.3")
    assert code == 0 and "diverged" in out and "exceeds the stability limit" in out
