"""What is wrong around the package is named, in a process of its own, as a user would meet it."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import saltus
from saltus import surroundings
from saltus.errors import SaltusWarning

PACKAGE = Path(saltus.__file__).parent


def said(program, path=PACKAGE.parent, folder=None, **changes):
    """The last lines of what a Python process says to a program that fails."""
    environment = os.environ | {"PYTHONPATH": str(path)} | changes
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 1, done
    return done.stderr.splitlines()[-1]


def test_a_run_from_a_zip_says_so(tmp_path):
    """In place of a directory that is none, four files deep in the cache."""
    shutil.copytree(PACKAGE, tmp_path / "all/saltus", ignore=shutil.ignore_patterns("__pycache__", "page", "*.html"))
    archive = shutil.make_archive(str(tmp_path / "saltus"), "zip", tmp_path / "all")
    error = said("import saltus; saltus.load('pendulum')", archive, tmp_path)
    assert "SaltusError" in error and f"cannot run from inside an archive ('{archive}')" in error
    assert "unpack the archive, or install the package with pip" in error


@pytest.mark.skipif(sys.platform != "linux", reason="names of graphics libraries")
@pytest.mark.parametrize("program", ["saltus.load('pendulum')", "from saltus.simulate.batch import Batch"])
def test_a_wrong_mujoco_gl_is_named(program):
    error = said(f"import saltus; {program}", MUJOCO_GL="vulkan")
    assert "OptionError: MuJoCo cannot be imported with MUJOCO_GL='vulkan'" in error and "unset it" in error


def test_numba_without_its_compiler_is_named():
    """In place of an intrinsic that is "not usable in pure-python"."""
    error = said("import saltus; saltus.Simulation('pendulum').step()", NUMBA_DISABLE_JIT="1")
    assert "OptionError: Numba's compiler is switched off" in error and "unset NUMBA_DISABLE_JIT" in error


def test_mujoco_gl_that_mujoco_takes_is_no_matter(monkeypatch):
    for value in ("", " ", "disable"):
        monkeypatch.setenv("MUJOCO_GL", value)
        surroundings.check_mujoco_gl()


@pytest.mark.parametrize("version", ["4.1.0", "3.3.7", "5.0.0", "40.0.1"])
def test_a_release_of_mujoco_that_was_not_tested_is_named(version):
    with pytest.warns(SaltusWarning, match=rf"MuJoCo {version} is installed; Saltus was tested against 4\.0"):
        surroundings.check_mujoco_version(version)


@pytest.mark.parametrize("version", ["4.0.0", "4.0.3"])
def test_a_release_of_mujoco_that_was_tested_is_no_matter(version):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        surroundings.check_mujoco_version(version)


def test_the_loader_looks_at_the_release():
    """Once, when it is imported, whoever imports it."""
    program = "import mujoco; mujoco.__version__ = '4.7.0'; import saltus; saltus.load; saltus.load; 1 / 0"
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stderr.count("SaltusWarning: MuJoCo 4.7.0 is installed") == 1
