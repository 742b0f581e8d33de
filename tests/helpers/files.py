"""Model files that are not part of the project: the shared folder beside it, and those of installed packages."""

import importlib.util
from pathlib import Path

import pytest

from saltus.model.features import IGNORABLE

EVERYTHING = list(IGNORABLE)  # all that `load` can be told to leave out
SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
SHARED_NAMES = [
    *(f"benchmarks/nlink_{n}" for n in (1, 2, 3, 4)),
    "benchmarks/A01_pendulum",
    "benchmarks/A02_fourbar_N2",
    "benchmarks/A03_andrews",
    "benchmarks/free2_uniformrods",
    "mujoco/humanoid",
    "mujoco/newton_cradle",
    "mujoco/slider_crank",
    "mujoco/flag",
    "mujoco/trampoline",
]


def shared(name):
    """Path of a model in the shared folder; skips the test where the folder is absent."""
    path = SHARED / f"{name}.xml"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def packaged(package):
    """All XML files of an installed package, found without importing it, by path inside it; empty where absent."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return {}
    root = Path(spec.origin).parent
    return {str(p.relative_to(root)): p for p in sorted(root.rglob("*.xml"))}
