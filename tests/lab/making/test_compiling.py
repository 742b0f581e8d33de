"""What is compiled for the lab, where, and for how long: the newest choice waits for nothing that was chosen before.

References: the files in a cache of the test's own, which is empty at first; scenes of the test's own that open when it
says so.
"""

import json
import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from saltus.lab.messages.protocol import Command
from saltus.lab.serve.stage import Stage
from saltus.number.compile import progress

CHOOSES_ANOTHER = """
import sys
from helpers.lab import page
from saltus import lab
with lab.open("pendularm", browser=False) as it, page(it) as client:
    client.until(lambda: client.status.get("compiling"))
    client.send("scene", name="spring")
    client.until(lambda: client.scene["name"] == "spring" and client.frame and client.frame["time"] > 0.05, 400.0)
"""
OPENS = """
from saltus.lab.making.compiling import Making
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.scenes import scenes
session = scenes()["spring"].open(Downloads(), {})
assert Making(session.setup, session.builder.wanted)._missing() is None
"""


def python(code, cache):
    helpers = os.path.dirname(os.path.dirname(__file__))
    path = os.pathsep.join([helpers, *filter(None, sys.path)])
    env = {**os.environ, "SALTUS_CACHE_DIR": str(cache), "PYTHONPATH": path}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=500)


@pytest.fixture
def cold(tmp_path):
    """An empty cache."""
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache"


@pytest.mark.slow
def test_a_compilation_that_is_not_wanted_any_more_ends(cold):
    """The spring moves, and of the integrator that was compiled before for the pendulum there is nothing."""
    done = python(CHOOSES_ANOTHER, cold)
    assert done.returncode == 0, done.stderr
    (files,) = (list(path.iterdir()) for path in cold.iterdir() if path.is_dir())
    assert any("runge_kutta" in path.name for path in files)
    assert not any("advance_velocity_verlet" in path.name for path in files)
    known = json.loads((cold / progress.NAME).read_text())
    assert any(1 < seconds < 500 for name, seconds in known.items() if name.endswith("rk4 soft"))


@pytest.mark.slow
def test_a_scene_that_was_compiled_ahead_lacks_nothing(cold):
    code = "from saltus.cli import main; main(['warm', '--lab', 'spring'])"
    done = python(code, cold)
    assert done.returncode == 0, done.stderr
    assert "ready: spring in the lab" in done.stdout
    done = python(OPENS, cold)
    assert done.returncode == 0, done.stderr


def test_scenes_to_compile_are_checked(saltus_command):
    code, _, said = saltus_command("warm", "--lab", "sprin")
    assert code != 0 and "did you mean 'spring'" in said
    code, _, said = saltus_command("warm", "--lab", "spring", "--integrators", "rk4")
    assert code != 0 and "not apply to scenes of the lab" in said


class Shown:
    """A session that stands still."""

    def __init__(self, name):
        self.name, self.notices, self.idle, self.closed = name, [], True, False
        self.signals = SimpleNamespace(history=None, track=None)

    def scene(self):
        return {"type": "scene", "name": self.name}

    def status(self):
        return {"type": "status", "sliders": {}}

    def handle(self, command):
        pass

    tick = handle

    def frame(self):
        return None

    def boards(self):
        return []

    def close(self):
        self.closed = True


def test_the_scene_that_was_chosen_last_is_shown():
    """The first chosen opens last, and is closed unseen."""
    gates = {name: threading.Event() for name in "abc"}
    made = {}

    def open_scene(name, downloads):
        gates[name].wait(30)
        made[name] = Shown(name)
        return made[name]

    def until(condition):
        end = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.01)

    stage = Stage(open_scene, [{"name": name, "title": name, "group": ""} for name in "abc"])
    gates["a"].set()
    stage.start("a")
    try:
        stage.command(Command("scene", {"name": "b"}))
        stage.command(Command("scene", {"name": "c"}))
        until(lambda: stage._opening is not None and stage._opening[0] == "c")
        gates["c"].set()
        until(lambda: stage.session.name == "c")
        assert made["a"].closed and not stage.take_news().notices
        gates["b"].set()
        until(lambda: "b" in made and made["b"].closed)
        assert stage.session.name == "c" and not made["c"].closed
    finally:
        stage.close()
