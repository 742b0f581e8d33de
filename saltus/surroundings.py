"""Checks of what surrounds the package, before something else fails in its place: files, settings, versions."""

import os
from pathlib import Path

from saltus.errors import OptionError, SaltusError, warn

#: Releases of MuJoCo whose semantics the tests compare with, to the digit.
MUJOCO_TESTED = "4.0"


def check_files() -> None:
    """Raise SaltusError where the package is not in files of its own, from which models and sources are read."""
    if not Path(__file__).is_file():
        raise SaltusError(
            f"Saltus cannot run from inside an archive ('{Path(__file__).parents[1]}'): it reads models and sources "
            "of compiled code as files; unpack the archive, or install the package with pip"
        )


def check_mujoco_gl() -> None:
    """Raise OptionError where the environment variable MUJOCO_GL keeps MuJoCo from being imported."""
    asked = os.environ.get("MUJOCO_GL", "")
    if not asked.strip():
        return
    try:
        import mujoco

        assert mujoco
    except Exception as error:  # of this variable, or of a graphics library that it chooses
        reason = " ".join(str(error).split()) or type(error).__name__
        raise OptionError(
            f"MuJoCo cannot be imported with MUJOCO_GL={asked!r} ({reason}); unset it, or name a graphics library that "
            "is installed (egl, glfw or osmesa on Linux), or disable for none"
        ) from error


def check_mujoco_version(version: str) -> None:
    """Warn where this release of MuJoCo is not one that semantics were tested against."""
    if version.split(".")[:2] != MUJOCO_TESTED.split("."):
        warn(
            f"MuJoCo {version} is installed; Saltus was tested against {MUJOCO_TESTED}, whose semantics it reproduces: "
            f"a model may mean something else in this one (pip install 'mujoco=={MUJOCO_TESTED}.*')"
        )
