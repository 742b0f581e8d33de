"""The command line: what it prints, writes and returns. An error is one line on stderr and the exit code 1."""

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from helpers.command_line import CONTACT, OSCILLATOR, REFUSED, error_lines, interrupt_after

import saltus
from saltus.model.source import bundled_names
from saltus.simulate.engine.engine import Engine
from saltus.terminal.screen import INTERRUPTED


def process(*arguments, **options):
    """Run `python -m saltus` as a process of its own."""
    command = [sys.executable, "-m", "saltus", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


# ------------------------------------------------------------ help


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        *([command] for command in ("run", "replay", "compare", "sweep", "study", "check", "lab", "warm", "bench")),
        *(["bench", what] for what in ("smooth", "contact", "film", "hybrid", "orientations", "worlds", "zoo")),
    ],
)
def test_every_command_has_help(saltus_command, arguments):
    code, out, _ = saltus_command(*arguments, "--help")
    assert code == 0
    assert "Usage: saltus" in out


def test_help_imports_nothing_heavy():
    heavy = "{'numba', 'mujoco', 'numpy', 'scipy', 'matplotlib', 'xarray'}"
    code = f"import sys, saltus.cli; print(*{heavy} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_version(saltus_command):
    assert saltus_command("--version")[:2] == (0, f"saltus {saltus.__version__}\n")


# ------------------------------------------------------------ run


def test_run_reports_and_writes(saltus_command, tmp_path):
    figure, recording = tmp_path / "p.png", tmp_path / "p.nc"
    code, out, err = saltus_command("run", "pendulum", "--duration", 2, "--plot", figure, "--save", recording)
    assert code == 0 and not error_lines(err)
    assert "rk4 (order 4, explicit)" in out
    assert "timestep    0.05 s" in out
    assert "position error about" in out and "observed order" in out
    assert f"{figure} (figure)" in out and f"{recording} (recording)" in out
    assert figure.read_bytes().startswith(b"\x89PNG")
    trajectory = saltus.Trajectory.load(recording)
    assert len(trajectory) == 121
    assert trajectory.certificate is not None and trajectory.certificate.ok


def test_run_takes_its_options(saltus_command, tmp_path):
    recording = tmp_path / "s.nc"
    options = ["--integrator", "rk4", "--timestep", 0.02, "--duration", 1, "--sample", 0.1, "--key", "struck"]
    code, out, _ = saltus_command("run", "spring", *options, "--no-certify", "--save", recording)
    assert code == 0 and "not checked" in out
    trajectory = saltus.Trajectory.load(recording)
    model = saltus.load("spring")
    assert trajectory.attrs["integrator"] == "rk4" and trajectory.attrs["timestep"] == 0.02
    np.testing.assert_allclose(trajectory.time, np.arange(11) * 0.1)
    np.testing.assert_array_equal(trajectory.qvel[0], model.key_qvel[1])
    assert trajectory.certificate is None


def test_a_keyframe_by_number(saltus_command, tmp_path):
    recording = tmp_path / "s.nc"
    assert saltus_command("run", "spring", "--key", 1, "--duration", 0.1, "--no-certify", "--save", recording)[0] == 0
    np.testing.assert_array_equal(saltus.Trajectory.load(recording).qvel[0], saltus.load("spring").key_qvel[1])


def test_run_says_what_it_ignored(saltus_command, tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text(CONTACT)
    code, out, _ = saltus_command("run", model, "--ignore", "contact", "--ignore", "limit", "--duration", 0.1)
    assert code == 0
    assert "ignored" in out and "contact: geom ball" in out and "limit: joint fall" in out


def test_adaptive_runs_have_controlled_steps(saltus_command):
    code, out, _ = saltus_command("run", "pendulum", "--integrator", "dopri5", "--duration", 1)
    assert code == 0 and "controlled" in out and "hundredth of the tolerance" in out


def test_divergence_keeps_the_run_so_far(saltus_command, tmp_path):
    model, recording, figure = tmp_path / "o.xml", tmp_path / "o.nc", tmp_path / "o.svg"
    model.write_text(OSCILLATOR.format(step=0.1, integrator="Euler", stiffness=1e4, damping=0))
    code, out, err = saltus_command("run", model, "--save", recording, "--plot", figure)
    assert code == 1
    (error,) = error_lines(err)
    assert "diverged at t =" in error and "'x'" in error and "exceeds the stability limit" in error
    assert "not checked: the run did not finish" in out
    assert 0 < len(saltus.Trajectory.load(recording)) < 601
    assert figure.exists()


def test_ctrl_c_keeps_the_run_so_far(saltus_command, tmp_path, monkeypatch):
    recording, figure = tmp_path / "i.nc", tmp_path / "i.png"
    counter = interrupt_after(monkeypatch, 20)
    code, out, err = saltus_command("run", "pendulum", "--save", recording, "--plot", figure)
    assert code == INTERRUPTED
    assert "warning: interrupted at t =" in err and "not checked: the run did not finish" in out
    trajectory = saltus.Trajectory.load(recording)
    assert 0 < len(trajectory) < 601 and trajectory.certificate is None
    assert figure.exists()
    assert len(counter) == 20  # and no run for the certificate


def test_ctrl_c_in_the_check_keeps_the_whole_run(saltus_command, tmp_path, monkeypatch):
    recording = tmp_path / "i.nc"
    whole = interrupt_after(monkeypatch, -1)
    assert saltus_command("run", "pendulum", "--no-certify")[0] == 0
    calls = len(whole)
    monkeypatch.undo()
    interrupt_after(monkeypatch, calls + 20)
    code, out, _ = saltus_command("run", "pendulum", "--save", recording)
    assert code == INTERRUPTED and "not checked: interrupted" in out
    assert len(saltus.Trajectory.load(recording)) == 601


def test_ctrl_c_before_the_first_sample(saltus_command, tmp_path, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "energy_and_pairs", interrupted)
    code, out, err = saltus_command("run", "pendulum", "--save", tmp_path / "i.nc")
    assert code == INTERRUPTED and out == "" and "0 samples" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_python_m_saltus(tmp_path):
    result = process("run", "pendulum", "--duration", 1, "--save", "p.nc", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "pendulum: 1 body" in result.stdout
    assert len(saltus.Trajectory.load(tmp_path / "p.nc")) == 61


def test_a_terminal_of_ascii_only():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = process("check", "spring", env=environment)
    assert result.returncode == 0 and "Traceback" not in result.stderr


# ------------------------------------------------------------ completion


def completed(typed, folder):
    """What Bash is offered for the last word of a command line."""
    words = typed.split(" ")
    asked = {"_SALTUS_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    return process(env={**os.environ, **asked}, cwd=folder).stdout.split()


@pytest.mark.parametrize("command", ["run", "compare", "check", "derive", "sweep", "warm"])
def test_shells_complete_models(tmp_path, command):
    for name in ("heavy.xml", "hinge.urdf", "hinge.txt"):
        (tmp_path / name).touch()
    offered = completed(f"saltus {command} h", tmp_path)
    assert offered == [*(name for name in saltus.models() if name.startswith("h")), "heavy.xml", "hinge.urdf"]


@pytest.mark.parametrize("command", ["lab", "warm --lab"])
def test_shells_complete_scenes_of_the_lab(tmp_path, command):
    """Its own first, then the other bundled models, each once."""
    own = ["pendularm", "pendularm2", "pendulum_ghosts"]
    others = [name for name in saltus.models() if name.startswith("pen")]
    assert completed(f"saltus {command} pen", tmp_path) == own + others
    (tmp_path / "humanoid_mine.xml").touch()
    offered = completed(f"saltus {command} humanoid", tmp_path)
    assert sorted(offered) == sorted({*offered, "humanoid", "humanoid_mine.xml"})


def test_shells_complete_files_in_folders(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "arm.urdf").touch()
    assert completed("saltus run inner/a", tmp_path) == ["inner/arm.urdf"]


# ------------------------------------------------------------ bad input

BROKEN = "<mujoco>\n  <worldbody>\n    <body><joint></body>\n  </worldbody>\n</mujoco>"
MISSING_MESH = """<robot name="r"><link name="l"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="nowhere.stl"/></geometry></visual>
<collision><geometry><mesh filename="nowhere.stl"/></geometry></collision></link></robot>"""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("missing.xml", None, ["missing.xml", "no such file"]),
        ("pendulumm", None, ["no such file", "did you mean 'pendulum'?", "bundled models"]),
        ("broken.xml", BROKEN, ["broken.xml", "line 3"]),
        ("mesh.urdf", MISSING_MESH, ["mesh.urdf", "nowhere.stl"]),
        (
            "ball.xml",
            REFUSED,
            ["ball.xml", "actuator 'drive'", "not simulated yet", "--ignore actuator --ignore plasticity"],
        ),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare"])
def test_bad_models(saltus_command, tmp_path, command, name, text, said):
    path = tmp_path / name if "." in name else name
    if text is not None:
        path.write_text(text)
    code, _, err = saltus_command(command, path)
    assert code == 1
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    for part in said:
        assert part in line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--integrator", "rk5"], ["unknown integrator 'rk5'", "did you mean 'rk4'?", "velocity_verlet"]),
        (["--timestep", "-0.1"], ["timestep must be positive", "-0.1 s"]),
        (["--timestep", "nan"], ["timestep must be positive and finite"]),
        (["--duration", "-3"], ["duration must be positive", "-3 s"]),
        (["--sample", "0"], ["sample must be positive"]),
        (["--contact", "sotf"], ["unknown contact law 'sotf'", "did you mean 'soft'?"]),
        (["--key", "releas"], ["unknown keyframe 'releas'", "did you mean 'release'?"]),
        (["--key", "7"], ["no keyframe 7"]),
        (["--ignore", "contract"], ["unknown feature", "'contract'", "did you mean 'contact'"]),
        (["--video", "v.mov"], [".mp4, .webm, .gif", "v.mov"]),
        (["--video", "v.mp4", "--camera", "sied"], ["no camera 'sied'"]),
        (["--video", "v.mp4", "--follow", "bob"], ["unknown body 'bob'"]),
        (["--video", "v.mp4", "--size", "641x480"], ["even", "641 x 480"]),
        (["--video", "v.mp4", "--fps", "0"], ["fps must be above 0"]),
        (["--video", "v.mp4", "--renderer", "opengl"], ["unknown renderer 'opengl'"]),
        (["--report", "r.pdf"], [".html", "r.pdf"]),
        (["--plot", "p.txt"], [".png, .svg, .pdf", "p.txt"]),
        (["--plot", "p.png", "--save", "p.png"], ["same file"]),
        (["--save", "a.txt"], ["a.txt", ".nc", ".h5", "netCDF4", ".zarr"]),
    ],
)
def test_bad_options(saltus_command, monkeypatch, tmp_path, options, said):
    monkeypatch.chdir(tmp_path)
    code, out, err = saltus_command("run", "pendulum", *options)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    for part in said:
        assert part in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments", [["run"], ["run", "pendulum", "--duration", "long"], ["fly"], ["run", "pendulum", "--fly"]]
)
def test_wrong_usage_is_2(saltus_command, arguments):
    code, _, err = saltus_command(*arguments)
    assert code == 2
    if arguments == ["run"]:
        assert err.startswith("error: Invalid value for MODEL: missing MODEL")
    said, hint = err.splitlines()
    assert said.startswith("error: ") and re.fullmatch(r"try: saltus( run)? --help", hint)


def test_warnings_of_others_have_no_file_and_line(saltus_command, monkeypatch):
    """In the style of errors, whose first word has a colour in a terminal, unless NO_COLOR is set."""

    def names():
        warnings.warn("a thing\nof somebody else", RuntimeWarning, stacklevel=1)
        return []

    monkeypatch.setattr(bundled_names, "models", names)
    assert saltus_command("models")[2] == "warning: a thing of somebody else\n"
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert saltus_command("models")[2] == "\033[33mwarning:\033[0m a thing of somebody else\n"
    assert saltus_command("fly")[2].startswith("\033[31merror:\033[0m No such command")
    monkeypatch.setenv("NO_COLOR", "1")
    assert saltus_command("fly")[2].startswith("error: No such command")


def test_no_traceback_in_a_process_of_its_own(tmp_path):
    result = process("run", "nothing.xml", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "error: nothing.xml: no such file\n"


def test_bench_finds_a_bad_path_first(saltus_command, tmp_path):
    """The path is checked first; what is there before stays."""
    folder = tmp_path / "b.json"
    folder.mkdir()
    code, _, err = saltus_command("bench", "smooth", "--quick", "--json", folder)
    assert code == 1 and "is a directory" in err
