"""Environments by name, class and "module:Class", also from Gymnasium's registry and in other processes.

Reference: the environment made from its class.
"""

import functools
import os
import subprocess
import sys

import gymnasium
import pytest
from gymnasium.vector import AsyncVectorEnv
from helpers.swinging import Swinging
from numpy.testing import assert_array_equal

import saltus
import saltus.env
from saltus.env.bundled.swing_up import PendulumSwingUp
from saltus.env.making import kind_of
from saltus.errors import OptionError

ID = "saltus/PendulumSwingUp-v0"


def test_names_of_classes_are_imported():
    wanted = saltus.env.make_vec(Swinging, 3, threads=1, half_width=0.2)
    found = saltus.env.make_vec("helpers.swinging:Swinging", 3, threads=1, half_width=0.2)
    assert_array_equal(found.reset(seed=0)[0], wanted.reset(seed=0)[0])
    assert kind_of("saltus.env.bundled.swing_up:PendulumSwingUp") is PendulumSwingUp
    for name in ("PendulumSwingUp", "PendulumSwingUp-v0", ID, f"saltus.env:{ID}", PendulumSwingUp):
        assert kind_of(name) is PendulumSwingUp


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("os:path", "subclass of saltus.env.Environment"),
        ("nowhere:Class", "no environment nowhere:Class: No module named 'nowhere'"),
        ("helpers.swinging:Swing", "no environment helpers.swinging:Swing"),
        (":", "no environment :"),
        ("PendulumSwingup", "did you mean 'PendulumSwingUp'"),
        (3, "expected a name, 'module:Class' or a subclass"),
    ],
)
def test_what_is_no_environment_is_named(source, words):
    with pytest.raises(OptionError, match=words):
        saltus.env.make_vec(source, 2)


def test_own_classes_are_registered_by_name():
    one, several = "saltus.env.registration:single", "saltus.env.registration:vector"
    given = {"environment": "helpers.swinging:Swinging"}
    gymnasium.register("tests/Swinging-v0", entry_point=one, vector_entry_point=several, kwargs=given)
    try:
        assert isinstance(gymnasium.make("tests/Swinging-v0").unwrapped.environment, Swinging)
        assert gymnasium.make_vec("tests/Swinging-v0", 2).num_envs == 2
    finally:
        del gymnasium.registry["tests/Swinging-v0"]


@pytest.mark.slow
def test_ids_with_their_module_are_known_in_new_processes():
    """Gymnasium imports the module before the colon; processes that are spawned know nothing of this one."""
    make = functools.partial(gymnasium.make, f"saltus.env:{ID}")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(saltus.__file__))
    try:
        envs = AsyncVectorEnv([make, make], context="spawn", shared_memory=False)
        seen, _ = envs.reset(seed=3)
        envs.close()
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    assert_array_equal(seen, saltus.env.make_vec(ID, 2).reset(seed=3)[0])


GYMNASIUMS = {
    "raise RuntimeError('built for another NumPy')": "RuntimeError: built for another NumPy",
    "import nothing_of_this_name": "No module named 'nothing_of_this_name'",
    "__path__ = []": "No module named 'gymnasium.vector'",
    "": "'gymnasium' is not a package",
}


def test_why_gymnasium_cannot_be_imported_is_said(tmp_path):
    script = """
import sys
for place in sys.argv[1:]:
    sys.path.insert(0, place)
    for name in [one for one in sys.modules if one.partition(".")[0] == "gymnasium"]:
        del sys.modules[name]
    try:
        import saltus.env
    except ImportError as error:
        print(error)
"""
    places = [tmp_path / str(k) for k in range(len(GYMNASIUMS))]
    for place, text in zip(places, GYMNASIUMS, strict=True):
        place.mkdir()
        (place / "gymnasium.py").write_text(text)
    environ = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(saltus.__file__))}
    command = [sys.executable, "-c", script, *map(str, places)]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=True)
    for line, words in zip(done.stdout.splitlines(), GYMNASIUMS.values(), strict=True):
        assert line.startswith("saltus.env needs Gymnasium: pip install 'saltus[env]' (version 1.4 or later; ")
        assert words in line
