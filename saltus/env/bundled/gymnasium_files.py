"""The model files of Gymnasium's MuJoCo environments, read from the installed package."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import mujoco

from saltus.errors import OptionError
from saltus.model.load import load
from saltus.model.model import Model


def gymnasium_model(name: str, newton: bool = False) -> Model:
    """Load a model of the installed Gymnasium; OptionError if it is not installed.

    `newton`: whether to replace the file's projected Gauss-Seidel solver by Newton's method. Both minimise the same
    convex cost; Newton's method is more accurate and faster.
    """
    spec = find_spec("gymnasium")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise OptionError(f"{name} comes with Gymnasium, which is not installed: pip install 'saltus[env]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about files that users did not write
        model = load(Path(folders[0]) / "envs" / "mujoco" / "assets" / name)
    if not newton:
        return model
    changed = model.mujoco
    changed.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON.value
    return load(changed)
