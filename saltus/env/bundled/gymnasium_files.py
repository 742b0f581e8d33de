"""The model files of Gymnasium's MuJoCo environments, read from the installed package."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import mujoco

from saltus.errors import OptionError
from saltus.model.load import load
from saltus.model.model import Model


def gymnasium_model(name: str, newton: bool = False) -> Model:
    """A model that comes with Gymnasium.

    `newton`: constraints are solved by Newton's method where the file asks for projected Gauss-Seidel. Both look for
    the minimum of one convex cost; Newton's method comes nearer to it, in less time.
    """
    spec = find_spec("gymnasium")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise OptionError(f"{name} comes with Gymnasium, which is not installed: pip install 'saltus[env]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on attributes of files that users do not write
        model = load(Path(folders[0]) / "envs" / "mujoco" / "assets" / name)
    if not newton:
        return model
    changed = model.mujoco
    changed.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON.value
    return load(changed)
