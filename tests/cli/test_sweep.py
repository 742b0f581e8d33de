"""`saltus sweep`: values from text, the table, the files, exit codes.

Charter. The numbers are those of `saltus.sweep`, which has tests of its own; here the command must give it what was
written, and say and write what it returns.
"""

import json

import numpy as np
import pytest

import saltus
from saltus.cli.sweep import parse_sets, parse_values
from saltus.errors import OptionError


def test_values_from_text():
    assert parse_values("body_mass[b]", "1, 2.5,4") == [1, 2.5, 4]
    assert parse_values("opt.gravity", "0 0 -9.81,0 0 -1.62") == [[0, 0, -9.81], [0, 0, -1.62]]
    assert parse_values("qpos[x]", "linspace(0, 1, 5)") == np.linspace(0, 1, 5).tolist()
    assert parse_values("qpos[x]", "geomspace(1e3,1e6,4)") == [1e3, 1e4, 1e5, 1e6]
    assert parse_values("flexcomp[s]/pin/id", "0 15,0 3 12") == ["0 15", "0 3 12"]
    assert parse_values("flexcomp[s]/elasticity/elastic2d", "both,") == ["both", None]
    assert parse_values("integrator", "euler,rk4") == ["euler", "rk4"]
    assert parse_sets(["a[b]=1", "geom[c]/type=box"]) == {"a[b]": [1], "geom[c]/type": ["box"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("body_mass[b]", "expected PATH=A,B"),
        ("body_mass[b]=1,x", "'x' is not a number"),
        ("body_mass[b]=1,", "'' is not a number"),
        ("qpos[x]=linspace(0,1,0)", r"expected linspace\(FIRST,LAST,COUNT\)"),
        ("qpos[x]=geomspace(0,1,3)", r"expected geomspace"),
    ],
)
def test_text_that_is_no_values(text, message):
    with pytest.raises(OptionError, match=message):
        parse_sets([text])
    with pytest.raises(OptionError, match="given twice"):
        parse_sets(["qpos[x]=1", "qpos[x]=2"])


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
    code, out, _ = saltus_command("sweep", "spring", "--set", "opt.timestep=0.01,0.3", "--workers", 1)
    assert code == 0 and "diverged" in out and "exceeds the stability limit" in out
