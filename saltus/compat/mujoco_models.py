"""Fields of the model that differ between simulations, as mujoco.batch keeps them."""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.vary.fields import CONSTANTS, MAY_VARY, value_of

#: Fields that mj_setConst or the compiler of models derives from others, and that need no values of their own.
FOLLOWS = {*CONSTANTS, "geom_rbound", "geom_aabb", "bvh_aabb", "dof_M0", "dof_length", "actuator_length0"}
FOLLOWS |= {"efm0_L", "body_simple", "dof_simplenum", "light_pos0", "light_poscom0", "light_dir0", "D_diag"}
#: Beginnings of the names of fields that steps do not read.
LOOKS = ("key_", "mat_", "light_", "tex_", "skin_", "name", "cam_", "paths")


def expandable(m: mujoco.MjModel, name: str) -> NDArray[np.float64]:
    """Values of a field that may differ between simulations; OptionError for any other field."""
    if name not in MAY_VARY:
        if name in FOLLOWS:
            raise OptionError(f"{name} cannot be set here: it is derived from other fields")
        raise OptionError.unknown("field of the model that may differ between simulations", name, MAY_VARY)
    values = np.asarray(value_of(m, name), float)
    if not values.size:
        raise OptionError(f"the model has no {name}")
    return values


def differences(m: mujoco.MjModel, models: Sequence[mujoco.MjModel]) -> dict[str, NDArray[np.float64]]:
    """Fields [n, ...] in which any of `models` differs from `m`; OptionError where one may not differ."""
    found: dict[str, NDArray[np.float64]] = {}
    for name in [*_arrays(m), *_options(m)]:
        own = np.asarray(value_of(m, name))
        theirs = [np.asarray(value_of(other, name)) for other in models]
        sizes = next((i for i, values in enumerate(theirs) if values.shape != own.shape), None)
        if sizes is not None:
            raise OptionError(f"set_models: {name} of model {sizes} has shape {theirs[sizes].shape}, not {own.shape}")
        changed = [i for i, values in enumerate(theirs) if not np.array_equal(values, own)]
        if not changed or name in FOLLOWS or name.startswith(LOOKS) or name.endswith(("_rgba", "_user", "_group")):
            continue
        if name not in MAY_VARY:
            raise OptionError(f"set_models: {name} of model {changed[0]} is not the batch's, and it cannot vary")
        found[name] = np.array(theirs, float)
    return found


def put_into(m: mujoco.MjModel, values: Mapping[str, NDArray[np.float64]], sim: int) -> mujoco.MjModel:
    """Return the model with the values of one simulation, and those that mj_setConst derives from them."""
    for name, each in values.items():
        value_of(m, name)[...] = each[sim]
    mujoco.mj_setConst(m, mujoco.MjData(m))
    return m


def _arrays(m: mujoco.MjModel) -> list[str]:
    """Names of a model's fields that are arrays of numbers."""
    names = [name for name in dir(m) if not name.startswith("_")]
    return [name for name in names if isinstance(getattr(m, name), np.ndarray)]


def _options(m: mujoco.MjModel) -> list[str]:
    """Names of a model's options."""
    names = [name for name in dir(m.opt) if not name.startswith("_")]
    return [f"opt.{name}" for name in names if isinstance(getattr(m.opt, name), int | float | np.ndarray)]


def moving_dofs(m: mujoco.MjModel, body: int) -> NDArray[np.bool_]:
    """Mask of the degrees of freedom [nv] that move a body."""
    moves = np.zeros(m.nv, bool)
    while body > 0:
        first = m.body_dofadr[body]
        moves[first : first + m.body_dofnum[body]] = m.body_dofnum[body] > 0
        body = m.body_parentid[body]
    return moves
