"""The examples run as they stand, and what they print is true. They are processes of their own, as for a user."""

import csv
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest
from helpers.lab import page
from helpers.walking import quadruped
from scipy.integrate import solve_ivp

pytest.importorskip("gymnasium")
import saltus.env

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def output(name, *arguments, folder):
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_example_is_tested():
    known = {"pendulum_energy.py", "batch_rollouts.py", "accuracy.py", "bouncing.py", "hill_muscle.py", "servo.py"}
    known |= {"film.py", "lagrange.py", "hard_contact.py", "sit_to_stand.py", "lab_extras.py", "plane.py"}
    known |= {"train_ppo.py", "joystick.py"}
    known |= {"urdf_arm.py"}
    assert {p.name for p in EXAMPLES.glob("*.py")} == known


@pytest.mark.slow
def test_pendulum_energy(tmp_path):
    out = output("pendulum_energy.py", "p.png", folder=tmp_path)
    found = {label.strip(): float(end) for label, end in re.findall(r"^(.*?) +E/E0 at the end +([\d.]+)", out, re.M)}
    known = {"explicit Euler": 13.386, "midpoint": 1.0349, "velocity Verlet": 0.99954, "Runge-Kutta 4": 0.99997}
    for label, ratio in known.items():
        assert found[label] == pytest.approx(ratio, abs=1e-3 if label == "explicit Euler" else 1e-5)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_shorter_pendulum(tmp_path):
    output("pendulum_energy.py", "--duration", "2", folder=tmp_path)
    assert (tmp_path / "pendulum.png").stat().st_size > 10_000


def test_batch_rollouts(tmp_path):
    out = output("batch_rollouts.py", "--n", "256", folder=tmp_path)
    kept = int(re.search(r"(\d+) keep the pole up", out).group(1))
    assert 1 <= kept < 100  # a random linear feedback rarely works, but sometimes
    assert "keeps it 10.00 s" in out


def test_accuracy(tmp_path):
    out = output("accuracy.py", folder=tmp_path)
    rows = re.findall(r"stated error (\S+) rad, true error (\S+) rad", out)
    assert len(rows) == 3
    for stated, true in rows:
        assert 0.5 < float(stated) / float(true) < 2
    assert "warning: the differences do not shrink" in out


@pytest.mark.slow
def test_bouncing(tmp_path):
    """The restitution that was asked for is of an impact at 1 m/s; the ball's is the law's at its own speed."""
    out = output("bouncing.py", folder=tmp_path)
    bounced = float(re.search(r"restitution (0\.\d+)$", out, re.M).group(1))
    asked, own = map(float, re.search(r"the law at 1 m/s: (\S+), at 3\.13 m/s: (\S+)", out).groups())
    assert asked == 0.6 and own == pytest.approx(0.616, abs=5e-4)
    assert bounced == pytest.approx(own, abs=0.004)  # what is left is the step's
    assert "penetration" in out and "touches at 0.320" in out


@pytest.mark.slow
def test_plane(tmp_path):
    """A step of h multiplies the radius by sqrt(1 + h²), by sqrt(1 + h⁴/4), and by one."""
    out = output("plane.py", "p.png", folder=tmp_path)
    found = {name: float(radius) for name, radius in re.findall(r"^(\w+): .* the end ([\d.]+)$", out, re.M)}
    assert found["explicit_euler"] == pytest.approx(1.04 ** (157 / 2), rel=0.02)  # the last step is a shorter one
    assert found["midpoint"] == pytest.approx(1.0004 ** (157 / 2), abs=1e-3)
    assert found["implicit_midpoint"] == 1.0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_hill_muscle(tmp_path):
    """An elastic tendon delays the arm and does not keep it from rising as high."""
    out = output("hill_muscle.py", folder=tmp_path)
    rows = re.findall(r"(\w+) tendon: .* (\d+) ms, .* ([\d.]+) deg", out)
    found = {kind: (float(start), float(top)) for kind, start, top in rows}
    assert found["elastic"][0] > found["rigid"][0] + 4
    assert found["elastic"][1] == pytest.approx(found["rigid"][1], rel=0.02)
    assert "fibres from 1.0" in out


README = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_readme_sample_runs(tmp_path):
    """Without a warning, in ten lines; the ball's first impact is at sqrt(2 h / g), and a film is written."""
    (sample,) = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len([line for line in sample.splitlines() if line]) == 10
    command = [sys.executable, "-W", "error", "-c", sample]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0 and "Warning" not in result.stderr, result.stderr
    assert "declared 4" in result.stdout and "Matrix([[" in result.stdout
    height = saltus.Simulation("bouncing_ball").qpos[0]
    assert f"{np.sqrt(2 * height / 9.81):.6f}"[:7] in result.stdout
    assert {p.name for p in tmp_path.iterdir()} == {"pendulum.mp4"}


def test_the_readme_is_one_screen_and_counts_right():
    """The number of integrators, and what it says of each in the table, are those of the registry."""
    assert len(README.splitlines()) <= 80 and len(README.split()) < 700
    assert (
        f"any of\n{len(saltus.integrators())} integrators" in README
        and f"| {len(saltus.integrators())}, explicit" in README
    )


def test_the_readme_names_files_that_exist():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert "docs/img/lab-ghosts.png" in links and len(links) >= 10
    for link in links:
        assert (EXAMPLES.parent / link).exists(), link


@pytest.mark.slow
def test_film(tmp_path):
    """Pushed gently it stands, head 1.47 m up, pushed hard it lies; three seconds at 30 frames a second."""
    out = output("film.py", "f.mp4", folder=tmp_path)
    gently, hard = map(float, re.findall(r"the head ends (\S+) m", out))
    assert gently == pytest.approx(1.466, abs=0.02) and 0 < hard < 0.4
    with av.open(str(tmp_path / "f.mp4")) as film:
        assert sum(1 for _ in film.decode(video=0)) == 90


@pytest.mark.slow
def test_servo(tmp_path):
    """It settles at -72 degrees with the torque of the weight there, and explicit Euler is found unstable."""
    out = output("servo.py", "s.png", folder=tmp_path)
    assert "angle -1.26 rad, control -37.32 N m" in out
    assert "the weight needs -37.32 N m" in out
    assert re.search(r"explicit_euler is unstable .* stable up to 0\.00\d+ s", out)
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_lagrange(tmp_path):
    """Both sets of angles move as the engine does; the accelerations at rest are those of M a = Q with M by hand."""
    out = output("lagrange.py", folder=tmp_path)
    apart = [float(x) for x in re.findall(r"differs by (\S+) rad", out)]
    assert len(apart) == 2 and max(apart) < 1e-11  # 1000 steps of rounding
    right, wrong = (
        [float(x) for x in re.search(rf"{which}, Q = .*: +\[(.*)\]", out).group(1).split()]
        for which in ("right", "wrong")
    )
    M = [[16.0, 8.0], [8.0, 8.0]]  # (m1 + m2) l², m2 l²
    assert right == pytest.approx(np.linalg.solve(M, [-5.0, 5.0])) and wrong == pytest.approx(
        np.linalg.solve(M, [0, 5])
    )
    assert "void double_pendulum(" in (tmp_path / "pendulum.c").read_text()


@pytest.mark.slow
def test_hard_contact(tmp_path):
    """Closed forms: times of impacts to 1e-12, the limit of all to 1e-9; one ball in, one out."""
    out = output("hard_contact.py", "ball.png", folder=tmp_path)
    assert float(re.search(r"off by (\S+) of their times", out)[1]) < 1e-12
    assert abs(float(re.search(r"s, (\S+) s from the closed form", out)[1])) < 1e-9
    assert "moreau: differs from simultaneous at ball0 ball1, ball3 ball4" in out
    after = [float(x) for x in re.search(r"velocities after: \[(.*)\] m/s", out)[1].split()]
    np.testing.assert_allclose(after, [0, 0, 0, 0, 1], atol=1e-10)
    assert (tmp_path / "ball.png").read_bytes().startswith(b"\x89PNG")


def test_lab_extras():
    """The slider's stiffness is the spring's: the torque that is plotted is -k θ of the angle that is plotted."""
    command = [sys.executable, str(EXAMPLES / "lab_extras.py"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            with page(SimpleNamespace(url=line.split()[1])) as client:
                client.until(lambda: client.samples is not None and len(client.samples["places"]) == 3, 120)
                client.send("slider", id="user[stiffness]", value=60.0)
                client.until(lambda: client.status["sliders"].get("user[stiffness]") == 60)
                client.send("reset", key=None)
                spring = "user[torque of the spring]"
                client.until(lambda: len(client.samples["times"]) > 20 and client.plotted(spring)[1] < -59.9)
                angle, torque = client.plotted("qpos[theta]"), client.plotted(spring)
                assert angle[0] == 1.0
                np.testing.assert_allclose(torque[1:20], -60 * angle[:19], rtol=1e-5)  # of the step's start
                assert client.boards["drawings"]["objects"][0]["kind"] == "arrow"
        finally:
            process.kill()


@pytest.mark.slow
def test_sit_to_stand(tmp_path):
    """Seat and floor carry the weight before, the floor alone after; he stands still; five seconds of film."""
    out = output("sit_to_stand.py", "s.mp4", folder=tmp_path)
    weight = float(re.search(r"weight ([\d.]+) N", out).group(1))
    assert weight == pytest.approx(75 * 9.81, abs=0.1)
    forces = {
        float(t): (float(s), float(f)) for t, s, f in re.findall(r"([\d.]+) s: seat +(\S+) N, floor +(\S+) N", out)
    }
    assert sum(forces[0.1]) == pytest.approx(weight, rel=0.01) and forces[0.1][0] > 0.8 * weight
    assert forces[5.0] == (0.0, pytest.approx(weight, rel=0.01))
    off = float(re.search(r"([\d.]+) s +liftoff +buttock seat\n.*off the seat", out).group(1))
    assert 0.7 < off < 1.5 and "standing" in out
    assert float(re.search(r"moves by at most ([\d.]+) mm", out).group(1)) < 5
    with av.open(str(tmp_path / "s.mp4")) as film:
        assert sum(1 for _ in film.decode(video=0)) == 150


def train(folder, out, *arguments):
    """Run the example of training on a small task, on one thread, so that sums have one order."""
    sizes = ["--n", "32", "--horizon", "64", "--hidden", "32", "32", "--every", "4", "--threads", "1"]
    return output("train_ppo.py", "CartPoleBalance", "--out", out, *sizes, *arguments, folder=folder)


def learning_curve(folder):
    with open(folder / "curve.csv", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


@pytest.mark.slow
def test_train_ppo(tmp_path):
    """A run that was stopped and resumed ends in the same bits, and the pole stays up for longer than at first.

    The policy's file gives the network's actions, up to the rounding of float32.
    """
    torch = pytest.importorskip("torch", reason="the example trains by PyTorch")
    each = 32 * 64  # steps of an update
    whole = train(tmp_path, "whole", "--steps", str(12 * each))
    assert "physics" in whole and "steps/s" in whole
    train(tmp_path, "parts", "--steps", str(8 * each), "--no-film")
    train(tmp_path, "parts", "--steps", str(12 * each), "--no-film", "--resume")
    one, two = tmp_path / "whole", tmp_path / "parts"
    with np.load(one / "policy.npz") as first, np.load(two / "policy.npz") as second:
        assert first.files == second.files and "weight_2" in first.files
        for name in first.files:
            np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    curve, other = learning_curve(one), learning_curve(two)
    for name in ("steps", "evaluated", "length", "training", "rate", "deviation"):
        np.testing.assert_array_equal([row[name] for row in curve], [row[name] for row in other], err_msg=name)
    assert [row["steps"] for row in curve] == [4 * each * k for k in (1, 2, 3)]
    assert curve[-1]["evaluated"] > 4.0 * curve[0]["training"], "it keeps the pole up for longer"

    spec = importlib.util.spec_from_file_location("train_ppo", EXAMPLES / "train_ppo.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    agent = example.Agent(5, 1, (32, 32), 1.0)
    agent.load_state_dict(torch.load(one / "checkpoint.pt")["agent"])
    seen = np.random.default_rng(0).normal(size=(100, 5))
    with torch.no_grad():
        wanted = agent.policy(agent.normalised(torch.as_tensor(seen).float())).clamp(-1.0, 1.0)
    policy = saltus.env.Policy.load(one / "policy.npz")
    np.testing.assert_allclose(policy(seen), wanted.numpy(), rtol=1e-5, atol=1e-5)
    assert policy.environment == "saltus/CartPoleBalance-v0"

    assert (one / "curve.png").read_bytes().startswith(b"\x89PNG")
    with av.open(str(one / "film.mp4")) as film:
        assert sum(1 for _ in film.decode(video=0)) > 100
    assert not (two / "film.mp4").exists()


@pytest.mark.slow
def test_joystick(tmp_path):
    """With actions of zero, the robot trots in place: it misses commands by what they are, on average by a half and a
    fifth of a metre a second, with standard deviations of the mean of 16 of 0.07 and 0.03 m/s."""
    policy = saltus.env.Policy([np.zeros((12, 50))], [np.zeros(12)], environment="saltus/QuadrupedJoystick-v0")
    policy.save(tmp_path / "policy.npz")
    (tmp_path / "robot.xml").write_text(quadruped())
    sizes = "--n", "16", "--seconds", "3", "--precision", "float64"
    out = output("joystick.py", "policy.npz", "--model", "robot.xml", *sizes, "--film", "walk.mp4", folder=tmp_path)
    assert out.startswith("0.0 % of 16 fell")
    errors = dict(re.findall(r"^(\w+) +mean error ([\d.]+)", out, re.M))
    assert float(errors["forward"]) == pytest.approx(0.5, abs=0.2)
    assert float(errors["lateral"]) == pytest.approx(0.2, abs=0.1)
    with av.open(str(tmp_path / "walk.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == 500


def test_urdf_arm(tmp_path):
    """The PD law knows no inertia: it lags by M a / kp; M < 0.6 kg m², a < 2 rad/s²: 3 mrad, at up to 0.7 m."""
    out = output("urdf_arm.py", "arm.png", folder=tmp_path)
    found = re.search(r"by at most ([\d.]+) mm", out)
    assert found is not None and 0 < float(found[1]) < 2.1
    assert (tmp_path / "arm.png").stat().st_size > 1000


# ---------------------------------------------------------------- the first programs


FIRST = {"pid_study.py", "urdf_path.py", "push.py", "thousand_starts.py", "balance.py"}


def first(name, folder):
    return output(f"first/{name}", folder=folder)


def test_first_programs_are_short_and_shown():
    """At most 20 lines each, and all of them in the page about them."""
    found = {path.name: path.read_text(encoding="utf-8") for path in (EXAMPLES / "first").iterdir() if path.is_file()}
    assert set(found) == FIRST
    assert all(len(text.splitlines()) <= 20 for text in found.values())
    page_text = (EXAMPLES.parent / "docs" / "start" / "five_programs.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^```\{literalinclude\} \.\./\.\./examples/first/(\S+)$", page_text, re.M)) == FIRST


@pytest.mark.slow
def test_pid_study(tmp_path):
    """Overshoots are those of m l² a = -m g l sin θ + u with m = l = 2, as SciPy integrates it."""
    out = first("pid_study.py", tmp_path)
    found = re.findall(r"kd = (\d+) .*overshoot ([\d.]+) %", out)
    assert [int(kd) for kd, _ in found] == [20, 60, 120]
    for kd, overshoot in found:

        def rates(t, y, kd=float(kd)):
            force = 400 * (1 - y[0]) + 200 * y[2] - kd * y[1]
            return [y[1], (force - 2 * 9.81 * 2 * np.sin(y[0])) / 8, 1 - y[0]]

        exact = solve_ivp(rates, (0, 10), [0, 0, 0], max_step=0.01, rtol=1e-8)
        assert float(overshoot) == pytest.approx(100 * (exact.y[0].max() - 1), abs=0.1)
    assert (tmp_path / "pid.png").stat().st_size > 10_000


@pytest.mark.slow
def test_urdf_path(tmp_path):
    """The hand begins off the circle, is pulled onto it, and stays there."""
    out = first("urdf_path.py", tmp_path)
    begin, end = map(float, re.findall(r"([\d.]+) mm", out))
    assert begin > 20 and end < 1


@pytest.mark.slow
def test_push(tmp_path):
    """He stays upright, with his head where it was (1.47 m up); three seconds of film."""
    out = first("push.py", tmp_path)
    assert float(re.search(r"ends ([\d.]+) m", out)[1]) == pytest.approx(1.466, abs=0.02)
    with av.open(str(tmp_path / "push.mp4")) as film:
        assert sum(1 for _ in film.decode(video=0)) == 90


@pytest.mark.slow
def test_thousand_starts(tmp_path):
    """The mean after two seconds is where an accurate method brings the middle of all starts; then they part."""
    out = first("thousand_starts.py", tmp_path)
    found = [tuple(map(float, row)) for row in re.findall(r"after (\d) s: (\S+) rad, give or take (\S+) rad", out)]
    sim = saltus.Simulation("double_pendulum", "dopri5", tolerance=(1e-11, 1e-12))
    sim.qpos = [2.0, 0.0]
    assert found[0][1] == pytest.approx(sim.run(2).qpos[-1, 0], abs=1e-3)
    assert [row[0] for row in found] == [2, 5, 8] and found[0][2] < 2e-3 < found[1][2] < 0.02 < found[2][2] < 1
    assert (tmp_path / "starts.png").stat().st_size > 5_000


@pytest.mark.slow
def test_balance(tmp_path):
    """The equations are the textbook's, with (4/3) m l² = 1/30, m l = 1/20, M + m = 11/10; the pole is upright."""
    out = first("balance.py", tmp_path)
    assert "ddtheta/30 + ddx*cos(theta)/20 - 981*sin(theta)/2000" in out
    x, theta, most = map(float, re.search(r"x = (\S+) m, theta = (\S+) rad; at most (\S+) N", out).groups())
    assert abs(x) < 1e-3 and abs(theta) < 1e-3 and 5 < most < 50
    assert (tmp_path / "balance.png").stat().st_size > 10_000
