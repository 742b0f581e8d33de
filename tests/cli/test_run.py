"""`saltus run`: videos, reports, streams and going on with them."""

import numpy as np
import pytest
from helpers.command_line import interrupt_after
from PIL import Image

import saltus
from saltus.record.io import stream
from saltus.terminal.screen import INTERRUPTED

av = pytest.importorskip("av")
SMALL = ["--size", "160x120"]
ARM = """<robot name="arm"><link name="base"/><link name="fore"><inertial><origin xyz="0 0 -.5"/><mass value="1"/>
  <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="fore"/><axis xyz="0 0 1"/></joint></robot>"""
CAMERA = """<mujoco model="eye"><worldbody><camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
  <body name="rod" pos="0 0 1"><joint name="hinge" axis="0 1 0"/><geom size="0.1"/></body></worldbody></mujoco>"""


def frames(path):
    with av.open(path) as container:
        return [f.to_ndarray(format="rgb24") for f in container.decode(video=0)]


@pytest.mark.slow
def test_all_outputs_at_once(saltus_command, tmp_path):
    names = {"--video": "v.mp4", "--report": "r.html", "--save": "s.nc", "--plot": "p.png"}
    paths = {option: tmp_path / name for option, name in names.items()}
    options = [word for pair in paths.items() for word in pair]
    code, out, err = saltus_command("run", "pendulum", "--duration", 1, "--fps", 30, *SMALL, *options)
    assert code == 0 and "error" not in err
    for path, what in zip(paths.values(), ("video", "report", "recording", "figure"), strict=True):
        assert f"wrote {path} ({what})" in out and path.exists()
    pictures = frames(str(paths["--video"]))
    assert len(pictures) == 30 and pictures[0].shape == (120, 160, 3)
    assert b"<video" in paths["--report"].read_bytes()


@pytest.mark.parametrize(("given", "said"), [("10ms", "0.01 s, 1 sample"), ("0.1", "0.1 s, 7 samples")])
def test_the_time_that_was_simulated(saltus_command, given, said):
    """Also where the run ends between samples, which lie 1/60 s apart."""
    code, out, _ = saltus_command("run", "pendulum", "--duration", given, "--no-certify")
    assert code == 0 and f"simulated {said}" in " ".join(out.split())


@pytest.mark.slow
def test_gif(saltus_command, tmp_path):
    options = ["--duration", 1, "--no-certify", *SMALL, "--video", tmp_path / "v.gif"]
    assert saltus_command("run", "pendulum", *options)[0] == 0
    assert Image.open(tmp_path / "v.gif").n_frames == 50


def test_cameras_and_contacts(saltus_command, tmp_path):
    model = tmp_path / "eye.xml"
    model.write_text(CAMERA)
    films = {}
    for name, options in {
        "default": [], "side": ["--camera", "side"], "number": ["--camera", "0"], "follow": ["--follow", "rod"],
    }.items():  # fmt: skip
        path = tmp_path / f"{name}.mp4"
        assert (
            saltus_command("run", model, "--duration", 0.1, "--no-certify", *SMALL, *options, "--video", path)[0] == 0
        )
        films[name] = frames(str(path))[0].astype(int)
    np.testing.assert_array_equal(films["side"], films["number"])
    assert np.abs(films["side"] - films["default"]).mean() > 1


def test_a_stream(saltus_command, tmp_path):
    path = tmp_path / "run.zarr"
    code, out, _ = saltus_command("run", "pendulum", "--duration", 2, "--save", path)
    assert code == 0 and f"wrote {path} (recording)" in out and "position error about" in out
    t = saltus.Trajectory.load(path)
    assert len(t) == 121 and t.certificate is not None
    code, out, err = saltus_command("run", "pendulum", "--duration", 2, "--save", path)
    assert code == 1 and "exists already" in err and out == ""


def test_resume(saltus_command, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "SECONDS", 0.0)
    path, film = tmp_path / "run.zarr", tmp_path / "v.mp4"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 30)
        code, out, err = saltus_command("run", "pendulum", "--duration", 2, "--save", path)
    assert code == INTERRUPTED and "interrupted at t =" in err and f"wrote {path}" in out
    code, out, _ = saltus_command("run", "--resume", path, "--video", film, *SMALL, "--fps", 10)
    assert code == 0 and "2 s, 121 samples" in out and "not checked: the run was resumed" in out
    whole = saltus.Simulation("pendulum").run(2.0)
    np.testing.assert_array_equal(saltus.Trajectory.load(path).qpos, whole.qpos)
    assert len(frames(str(film))) == 20


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--resume", "run.zarr", "--duration", "3"], "--resume takes it from the recording"),
        (["--resume", "run.zarr", "--integrator", "rk4"], "--resume takes it from the recording"),
        (["--resume", "run.zarr", "--save", "other.nc"], "--resume takes it from the recording"),
        ([], "missing MODEL: give a file or bundled name, or use --resume"),
    ],
)
def test_wrong_usage(saltus_command, arguments, said):
    code, out, err = saltus_command("run", *arguments)
    assert code == 2 and out == ""
    assert said in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize("option", ["--video", "--report"])
def test_paths_are_checked_before_the_run(saltus_command, tmp_path, monkeypatch, option):
    monkeypatch.setattr(saltus.Simulation, "run", lambda *a, **k: pytest.fail("it ran"))
    suffix = {"--video": "mp4", "--report": "html"}[option]
    code, out, err = saltus_command("run", "pendulum", option, tmp_path / "no" / f"f.{suffix}")
    assert code == 1 and out == "" and "does not exist" in err


def test_resume_of_what_is_not_there(saltus_command, tmp_path):
    code, _, err = saltus_command("run", "--resume", tmp_path / "no.zarr")
    assert code == 1 and err.startswith("error: cannot read recording")


def test_chosen_quantities_as_a_table(saltus_command, tmp_path):
    """What --record names is in the table that --save writes; what is not there is said with what is."""
    short = ["--duration", 0.1, "--no-certify"]
    options = [*short, "--record", "xpos[pendulum]", "--record", "qacc", "--save", tmp_path / "a.csv"]
    code, out, _ = saltus_command("run", "pendulum", *options)
    assert code == 0 and "a.csv (recording)" in out
    names = (tmp_path / "a.csv").read_text().splitlines()[0].split(",")
    assert names[0] == "time" and {"qpos[theta]", "xpos[pendulum][2]", "qacc[theta]"} <= set(names)
    code, _, err = saltus_command("run", "pendulum", *short, "--record", "xpso")
    assert code and "did you mean 'xpos'" in err
    code, _, err = saltus_command("run", "pendulum", *short, "--save", tmp_path / "a.xls")
    assert code and ".csv, .parquet, .mat, .npz" in err


def test_servos_of_a_urdf(saltus_command, tmp_path):
    """A joint about the vertical comes to the angle of its servo: of the way, exp(-10π) is left after 1 s."""
    path, file = tmp_path / "arm.urdf", tmp_path / "arm.nc"
    path.write_text(ARM)
    options = ["--actuators", "position", "--set", "ctrl[elbow]=0.5", "--duration", 1, "--no-certify", "--save", file]
    code, _, said = saltus_command("run", path, *options)
    assert code == 0 and "no actuators" not in said
    np.testing.assert_allclose(saltus.Trajectory.load(file).qpos[-1], 0.5, atol=1e-6)
    code, _, said = saltus_command("run", "pendulum", "--actuators", "torque")
    assert code == 1 and "is for URDF only" in said
