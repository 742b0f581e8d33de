"""`saltus env`: what it lists and says of environments, its films, and options that make no sense.

Reference: sizes of spaces as Gymnasium documents them for its MuJoCo environments, version 5.
"""

import sys

import pytest
from helpers.command_line import error_lines

pytest.importorskip("gymnasium")

import saltus.env

SIZES = {"HalfCheetah": (17, 6), "Ant": (105, 8), "Humanoid": (348, 17), "Hopper": (11, 3), "Reacher": (10, 2)}


@pytest.mark.slow
def test_the_list_has_all_environments_with_their_sizes(saltus_command):
    code, out, err = saltus_command("env")
    assert code == 0 and not error_lines(err)
    head, *lines = out.splitlines()
    assert head.split()[0] == "name"
    count = len(saltus.env.environments())
    assert [line.split()[0] for line in lines[:count]] == saltus.env.environments()
    assert all(line.split(":")[0].endswith("Joystick") and "give model=PATH" in line for line in lines[count:])
    for line in lines[:count]:
        name, identifier, observation, action, *about = line.split()
        assert identifier.startswith(f"saltus/{name}-v") and about
        assert (observation == "-") == any(line.startswith(f"{name}:") for line in lines[count:])
        if name in SIZES:
            assert (int(observation), int(action)) == SIZES[name]


def test_one_is_described(saltus_command):
    code, out, _ = saltus_command("env", "CartPoleSwingUp")
    assert code == 0
    facts = dict(line.split(maxsplit=1) for line in out.splitlines() if not line.startswith(" "))
    assert facts["CartPoleSwingUp"].startswith("Swing the pole of a cart up")
    assert "1 step of 0.02 s (euler): 0.02 s" in out and "at most 500 steps, 10 s" in out
    assert facts["terminated"] == "Whether the cart has left the rail."
    assert facts["action"] == "1 number from -1 to 1"
    assert facts["observation"] == "5 numbers: qpos[x], cart_angle, qvel"
    for line in ("height: Reward for the height of the pole: 0 hanging, 1 standing.", "largest_force: 15"):
        assert line in out


def test_what_has_no_end_and_what_has_options_says_so(saltus_command):
    assert "never" in saltus_command("env", "PendulumSwingUp")[1]
    out = saltus_command("env", "saltus/HalfCheetah-v5")[1]
    assert "exclude_current_positions_from_observation: True" in out
    assert "reward_forward: " in out and "5 steps of 0.01 s (euler): 0.05 s" in out


@pytest.mark.slow
def test_a_film_ends_with_its_steps(saltus_command, tmp_path):
    from PIL import Image

    path = tmp_path / "swing.gif"
    options = ["--film", path, "--steps", 7, "--seed", 3, "--size", "64x48"]
    code, out, err = saltus_command("env", "CartPoleSwingUp", *options)
    assert code == 0 and not error_lines(err)
    assert "7 steps with random actions" in out and f"wrote {path} (video)" in out
    with Image.open(path) as film:
        assert film.size == (64, 48) and film.n_frames > 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["CartPoleSwinUp"], "did you mean 'CartPoleSwingUp'?"),
        (["CartPoleSwingUp", "--film", "f.avi"], "the suffix of a video must be one of"),
        (["CartPoleSwingUp", "--film", "f.gif", "--actions", "best"], "unknown --actions 'best'"),
        (["CartPoleSwingUp", "--film", "f.gif", "--size", "64"], "--size must be like 640x480"),
        (["CartPoleSwingUp", "--film", "nowhere/f.gif"], "nowhere"),
    ],
)
def test_bad_options(saltus_command, options, said):
    code, _, err = saltus_command("env", *options)
    assert code == 1
    (line,) = error_lines(err)
    assert said in line


def test_a_film_of_nothing_is_wrong_usage(saltus_command):
    code, _, err = saltus_command("env", "--film", "f.gif")
    assert code == 2 and "needs the NAME" in err


def test_without_gymnasium_it_says_what_to_install(saltus_command, monkeypatch):
    for name in [module for module in sys.modules if module.startswith("saltus.env")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    code, _, err = saltus_command("env")
    assert code == 1 and "pip install 'saltus[env]'" in error_lines(err)[0]
