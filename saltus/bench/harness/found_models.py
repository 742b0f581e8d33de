"""Models from other packages, and the places where they may lie on this machine; none is part of the project."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

Places = Sequence[tuple[str, Callable[[], Path | None]]]  # owner and place; in the order of preference


def beside(file: str) -> tuple[str, Callable[[], Path]]:
    """A file among the models that lie beside the project."""
    return "beside the project", lambda: ROOT.parent / "shared" / "models" / "mujoco" / file


def of_gymnasium(file: str) -> tuple[str, Callable[[], Path | None]]:
    """One of Gymnasium's models."""
    return "of gymnasium", lambda: packaged("gymnasium", f"envs/mujoco/assets/{file}")


def of_dm_control(file: str) -> tuple[str, Callable[[], Path | None]]:
    """One of dm_control's models."""
    return "of dm_control", lambda: packaged("dm_control", f"suite/{file}")


def packaged(package: str, inside: str) -> Path | None:
    """A file of a package, without importing it."""
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent / inside if found and found.origin else None


HUMANOIDS: Places = (beside("humanoid.xml"), of_gymnasium("humanoid.xml"), of_dm_control("humanoid.xml"))
SLIDER_CRANKS: Places = (beside("slider_crank.xml"),)
CHEETAHS: Places = (of_gymnasium("half_cheetah.xml"), of_dm_control("cheetah.xml"))
HOPPERS: Places = (of_gymnasium("hopper.xml"), of_dm_control("hopper.xml"))


def find(name: str, places: Places) -> tuple[Path | None, str]:
    """The first file that exists, and a note that names it."""
    for whose, place in places:
        path = place()
        if path is not None and path.is_file():
            return path, f"{name}: the one {whose}, {path.name}"
    return None, f"{name}: not measured, no file found; pip install gymnasium or name one with --model"
