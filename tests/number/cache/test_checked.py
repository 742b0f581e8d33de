"""Checked builds: indices outside of fields, and scratch that is read before it is written.

Reference: the same steps with zeros in scratch, which must agree bit by bit, and faults that are planted.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OUTSIDE = "Data.qvel: an index is outside of the field"
PLANTED = {
    "index_past_the_end": OUTSIDE,
    "scratch_before_it_is_written": "nan",
    "index_from_scratch": OUTSIDE,
}
SCENES = ("soft", "hard", "flex", "trees", "stepping")


def run(*arguments, **environment):
    """What a Python gives that stands in the package's folder."""
    path = os.pathsep.join(map(str, (ROOT / "tests", ROOT)))
    env = {**os.environ, "PYTHONPATH": path, **environment}
    done = subprocess.run([sys.executable, *arguments], env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Runs a scene or a planted fault in a checked build with a cache of its own."""
    cache = tmp_path_factory.mktemp("checked")
    cache.chmod(0o700)

    def found(name):
        text = run("-m", "helpers.checked_scenes", name, SALTUS_CHECKED="1", SALTUS_CACHE_DIR=str(cache))
        return json.loads(text)[name]

    return found


def test_the_code_of_checked_builds_is_kept_apart():
    program = "from saltus.number.cache.fingerprint import base_key; print(base_key())"
    usual, checked, other = (run("-c", program, SALTUS_CHECKED=word) for word in ("0", "1", ""))
    assert usual == other != checked


@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_found(fault, checked):
    assert checked(fault) == PLANTED[fault]


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_scenes_are_without_such_faults(scene, checked):
    assert checked(scene) == {"same": True, "finite": True}
