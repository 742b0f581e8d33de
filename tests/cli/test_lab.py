"""`saltus lab` as a process: what it prints, whom it lets in, how it ends."""

import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.lab import page

import saltus
from saltus.cli import main
from saltus.env import Policy
from saltus.lab.scene.scenes import scenes

ARM = """<robot name="arm"><link name="base"/><link name="fore"><inertial><origin xyz="0 0 -.5"/><mass value="1"/>
  <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="fore"/><axis xyz="0 0 1"/></joint></robot>"""


@contextmanager
def started(*arguments):
    """The process and its first line. It hears Ctrl-C also where these tests run in the background and do not."""
    command = [sys.executable, "-m", "saltus", "lab", *arguments, "--no-browser"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_it_says_where_it_is_and_ends_with_ctrl_c():
    with started("pendulum", "--integrator", "rk4", "--port", "0") as (process, line):
        assert line.startswith("lab: http://127.0.0.1:") and "/?token=" in line
        with urllib.request.urlopen(line.split()[1], timeout=10) as response:
            assert response.status == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 0 and "Traceback" not in errors


@pytest.mark.slow
def test_the_port_that_is_asked_for():
    with started("--port", "0") as (_, first):
        port = first.split(":")[3].split("/")[0]
        with started("--port", port) as (process, line):
            assert line == "" and process.wait(30) == 1
            assert f"cannot listen on port {port}" in process.stderr.read()


@pytest.mark.slow
def test_fifty_bodies_are_shown(tmp_path):
    path = tmp_path / "chain.xml"
    path.write_text(saltus.n_link(50).xml)
    with started(str(path)) as (_, line), page(Address(line.split()[1])) as client:
        client.until(lambda: client.frame is not None and client.frame["time"] > 0.5, 300.0)
        assert len(client.scene["bodies"]) == 51
        frames = client.frames
        client.until(lambda: client.frames > frames + 100)


class Address:
    """A lab in another process."""

    def __init__(self, url):
        self.url = url


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_model"], "no such file (scenes: pendularm, "),
        (["pendularn"], "did you mean 'pendularm'?"),
        (["pendulum", "--integrator", "rk5"], "unknown integrator"),
        (["pendulum", "--parameter", "body_mass"], "expected KEY=LOW:HIGH"),
        (["pendulum", "--key", "realease"], "did you mean 'release'"),
        (["--speed", "1000"], "speed must be"),
        (["PendulumSwingUp", "--policy", "no_such.npz"], "cannot read policy 'no_such.npz': no such file"),
        (["PendulumSwingUp", "--policy", "p.npz", "--contact", "hard"], "environments have no --contact"),
    ],
)
def test_wrong_wishes(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["lab", "--no-browser", *arguments])
    assert exit.value.code == 1 and message in capsys.readouterr().err


def test_the_list_of_scenes(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["lab", "--scenes"])
    out = capsys.readouterr().out
    assert exit.value.code == 0
    for name, scene in scenes().items():
        assert name in out and scene.title.split()[0] in out


@pytest.mark.slow
def test_a_policy_of_an_environment_of_ones_own(tmp_path, monkeypatch):
    source = "from saltus.env.bundled.swing_up import PendulumSwingUp\n\n\nclass Mine(PendulumSwingUp):\n    pass\n"
    (tmp_path / "my_tasks.py").write_text(source)
    Policy([[[0.0, 0.0, 1.0]]], [[0.0]]).save(tmp_path / "mine.npz")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(saltus.__file__).parents[1]), *sys.path]))
    monkeypatch.chdir(tmp_path)
    with started("my_tasks:Mine", "--policy", "mine.npz") as (_, line), page(Address(line.split()[1])) as client:
        client.until(lambda: client.frame is not None and client.frame["time"] > 0.2, 300.0)
        assert client.scene["name"] == "Mine" and client.status["servo"] is True


@pytest.mark.slow
def test_friction_on_the_command_line_leaves_the_scenes_restitution():
    law = ["--contact", "hard", "--friction", "0.3"]
    with started("bouncing_ball", *law, "--paused") as (_, line), page(Address(line.split()[1])) as client:
        client.until(lambda: client.status.get("contact") == "hard")
        assert (client.status["friction"], client.status["restitution"]) == (0.3, 0.8)


@pytest.mark.slow
def test_restitution_on_the_command_line(saltus_command, tmp_path):
    """The recorded ball comes back to e² = 0.64 of the 0.5 m that it fell; soft contact has no such number."""
    file = tmp_path / "ball.nc"
    law = ["--contact", "hard", "--restitution", "0.8"]
    given = ["--integrator", "dopri5", "--key", "dropped", "--duration", "0.8", "--sample", "0.001", "--no-certify"]
    code, _, said = saltus_command("run", "bouncing_ball", *law, *given, "--save", file)
    assert code == 0, said
    heights = saltus.Trajectory.load(file).qpos[:, 0]
    assert max(heights[int(heights[:400].argmin()) :]) == pytest.approx(0.64 * 0.5, abs=9.81 * 0.001**2)
    for command in ("run", "lab"):
        code, _, said = saltus_command(command, "bouncing_ball", "--friction", "0.3")
        assert code == 2 and "friction requires --contact hard" in said


def test_actuators_of_a_urdf(tmp_path, monkeypatch, capsys):
    """The lab gets the model that `saltus.load` makes; scenes and MJCF have no such choice."""
    (tmp_path / "arm.urdf").write_text(ARM)
    opened = []

    def refuse(what, **options):
        opened.append(what)
        raise saltus.OptionError("not today")

    monkeypatch.setattr("saltus.lab.open", refuse)
    for arguments, message in (
        ([str(tmp_path / "arm.urdf"), "--actuators", "position"], "not today"),
        ([str(tmp_path / "arm.urdf"), "--actuators", "hydraulic"], "expected None, 'torque', 'position' or 'none'"),
        (["pendulum", "--actuators", "torque"], "is for URDF only"),
        (["PendulumSwingUp", "--policy", "p.npz", "--actuators", "torque"], "environments have no --actuators"),
    ):
        with pytest.raises(SystemExit) as exit:
            main(["lab", "--no-browser", *arguments])
        assert exit.value.code == 1 and message in capsys.readouterr().err
    (model,) = opened
    expected = saltus.load(ARM, actuators="position")
    assert model.names("actuator") == ["elbow"] and (model.actuator_gainprm == expected.actuator_gainprm).all()
