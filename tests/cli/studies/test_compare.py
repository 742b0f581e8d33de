"""The command that compares integrators. Reference: the orders of Euler (1) and RK4 (4), which rank them."""

import pytest
from helpers.command_line import error_lines


def test_compare_ranks_and_draws(saltus_command, tmp_path):
    figure = tmp_path / "c.png"
    code, out, _ = saltus_command(
        "compare", "pendulum", "--integrators", "euler, rk4", "--duration", 2, "--plot", figure
    )
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["rk4", "euler"]
    assert all(len(line.rstrip()) <= 80 for line in out.splitlines()[:4])  # fits the narrowest terminal
    assert "reference: dopri5" in out
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--integrators", "rk4,eulr"], "did you mean 'euler'?"),
        (["--integrators", " , "], "--integrators: no names"),
        (["--timestep", "-1"], "timestep must be positive"),
        (["--duration", "0"], "duration must be positive"),
        (["--plot", "nowhere/c.png"], "cannot write figure"),
    ],
)
def test_compare_with_bad_options(saltus_command, options, said):
    code, out, err = saltus_command("compare", "pendulum", *options)
    assert (code, out) == (1, "")
    (line,) = error_lines(err)
    assert said in line
