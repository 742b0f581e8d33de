"""What a command writes: each for itself, and only where it can be written."""

import pytest
from helpers.command_line import error_lines

import saltus
from saltus.cli.shared.outputs import Outputs


def test_one_failed_output_does_not_lose_the_other(tmp_path, monkeypatch):
    trajectory = saltus.Simulation("pendulum").run(0.1)

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trajectory, "save", full)
    outputs = Outputs(plot=tmp_path / "p.png", save=tmp_path / "p.nc")
    written, errors = outputs.write(trajectory)
    assert written == [f"{tmp_path / 'p.png'} (figure)"] and (tmp_path / "p.png").exists()
    assert "p.nc" in str(errors[0]) and "No space left" in str(errors[0])


@pytest.mark.parametrize("option", ["--plot", "--save"])
@pytest.mark.parametrize("place", ["no/such/folder/p.png", ".", "/proc/p.png", "/dev/full.png/p.png"])
def test_unwritable_paths_are_found_before_the_run(saltus_command, monkeypatch, tmp_path, option, place):
    monkeypatch.chdir(tmp_path)

    def never(*arguments, **options):
        raise AssertionError("the run began")

    monkeypatch.setattr(saltus.Simulation, "run", never)
    code, out, err = saltus_command("run", "pendulum", option, place)
    assert (code, out) == (1, "")
    assert error_lines(err) == err.splitlines() and len(err.splitlines()) == 1
    assert place in err
    assert not list(tmp_path.iterdir())
