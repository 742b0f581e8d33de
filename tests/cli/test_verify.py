"""The command that verifies: exit codes, table and files. The benchmarks themselves have tests of their own."""

import json

import pytest
from helpers.command_line import error_lines

from saltus.verify.families import oscillator


def test_verify_runs_and_writes(saltus_command, tmp_path):
    files = tmp_path / "r.json", tmp_path / "r.html", tmp_path / "figures"
    code, out, err = saltus_command(
        "verify", "oscillator-euler", "--json", files[0], "--html", files[1], "--plot", files[2]
    )
    assert code == 0 and (err == "" or "compiling" in err)
    assert "x after 1000 steps (m)" in out and "1 benchmark, 1 passed, 0 failed" in out
    assert json.loads(files[0].read_text(encoding="utf-8"))[0]["verdict"] == "passed"
    assert files[1].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (files[2] / "oscillator-euler.png").exists()


def test_a_failure_is_the_exit_code(saltus_command, monkeypatch):
    monkeypatch.setattr(oscillator, "ends", lambda states, x, v: [oscillator.Check("x", 1.0, x, 1e-12)])
    code, out, _ = saltus_command("verify", "oscillator-euler")
    assert code == 1 and "failed" in out


def test_list(saltus_command):
    code, out, _ = saltus_command("verify", "--list", "--family", "servo")
    assert code == 0
    assert out.splitlines()[0] == "servo" and "servo-pid" in out and "order-rk4" not in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["zenoo"], "did you mean 'zeno'?"),
        (["--family", "smoth"], "did you mean 'smooth'?"),
        (["zeno", "--html", "page.txt"], "must be .html"),
        (["zeno", "--json", "nowhere/r.json"], "cannot write results"),
        (["zeno", "--data", "nowhere"], "no such folder: nowhere"),
    ],
)
def test_bad_options(saltus_command, options, said):
    code, out, err = saltus_command("verify", *options)
    assert (code, out) == (1, "")
    (line,) = error_lines(err)
    assert said in line
