"""Models of simulations that differ in fields of MjModel, as mujoco.batch keeps them."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.compat.mujoco_fields import MODEL_FIELDS, is_read, is_structure, no_model_field
from saltus.errors import OptionError
from saltus.model.vary.fields import MAY_VARY, value_of


class CallerModelsError(OptionError, mujoco.FatalError):
    """Fields of the batch, and models of the caller, cannot both be there; also a mujoco.FatalError."""


def expandable(m: mujoco.MjModel, name: str) -> NDArray[Any]:
    """Values of a field of which each simulation may have its own; OptionError for any other name."""
    if name not in MODEL_FIELDS:
        raise no_model_field(m, name)
    values = np.asarray(value_of(m, name))
    if name == "bvh_aabb":  # the hierarchies of bodies come before those of meshes
        return values[: max((m.body_bvhadr + m.body_bvhnum).max(initial=0), 0)]
    return values.astype(np.int32) if name.startswith("opt.") and values.dtype.kind == "i" else values


def put_into(m: mujoco.MjModel, values: Mapping[str, NDArray[Any]], sim: int) -> mujoco.MjModel:
    """Return the model with the values of one simulation, and those that mj_setConst derives from them."""
    for name, each in values.items():
        put(m, name, each[sim])
    mujoco.mj_setConst(m, mujoco.MjData(m))
    return m


def put(m: mujoco.MjModel, name: str, value: NDArray[Any]) -> None:
    """Write a field of a model or of its options."""
    if name.startswith("opt.") and not value.ndim:
        setattr(m.opt, name.removeprefix("opt."), value.item())
    else:
        value_of(m, name)[...] = value


def copy_into(m: mujoco.MjModel, other: mujoco.MjModel) -> mujoco.MjModel:
    """Return a model `m` of the caller with all values of another; OptionError where its sizes differ."""
    for name in (*arrays_of(m), *options_of(m)):
        own, theirs = np.asarray(value_of(m, name)), np.asarray(value_of(other, name))
        if own.shape != theirs.shape:
            raise OptionError(f"get_model: {name} of the given model has shape {own.shape}, not {theirs.shape}")
        if not np.array_equal(own, theirs):
            put(m, name, theirs)
    return m


def differences(m: mujoco.MjModel, models: Sequence[mujoco.MjModel]) -> dict[str, NDArray[Any]]:
    """Fields [n, ...] in which any of `models` differs from `m`; OptionError where sizes or structure differ."""
    found: dict[str, NDArray[Any]] = {}
    for name in (*arrays_of(m), *options_of(m)):
        own = np.asarray(value_of(m, name))
        each = [np.asarray(value_of(other, name)) for other in models]
        sizes = next((i for i, values in enumerate(each) if values.shape != own.shape), None)
        if sizes is not None:
            raise OptionError(f"set_models: {name} of model {sizes} has shape {each[sizes].shape}, not {own.shape}")
        if is_read(name) and any(not np.array_equal(values, own) for values in each):
            found[name] = np.array(each)
            check_structure(name, own, found[name])
    return found


def check_structure(name: str, own: NDArray[Any], each: NDArray[Any]) -> None:
    """OptionError where structure other than types, such as addresses, is another in some simulation."""
    if is_structure(name, own) and not name.endswith("type"):
        changed = np.flatnonzero((each != own).reshape(len(each), -1).any(1))
        if changed.size:
            raise OptionError(f"{name} is structural: in simulation {changed[0]} it cannot differ from the batch's")


def shared_values(expanded: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Fields [n, ...] of which simulations of one engine have the values in common."""
    return {name: values for name, values in expanded.items() if name not in MAY_VARY and is_read(name)}


def groups(
    m: mujoco.MjModel, shared: Mapping[str, NDArray[Any]], nsim: int
) -> list[tuple[mujoco.MjModel, NDArray[np.int64]]]:
    """Models with the numbers of the simulations that have all of its `shared` values [nsim, ...]."""
    if not shared:
        return [(m, np.arange(nsim))]
    rows = [values.reshape(nsim, -1).astype(float) for values in shared.values()]
    _, first, group = np.unique(np.concatenate(rows, axis=1), axis=0, return_index=True, return_inverse=True)
    found = []
    for k, sim in enumerate(first):
        own = copy.copy(m)
        for name, values in shared.items():
            put(own, name, values[sim])
        found.append((own, np.flatnonzero(group.ravel() == k)))
    return found


def arrays_of(m: mujoco.MjModel) -> list[str]:
    """Names of a model's fields that are arrays of numbers."""
    names = [name for name in dir(m) if not name.startswith("_")]
    return [name for name in names if isinstance(getattr(m, name), np.ndarray)]


def options_of(m: mujoco.MjModel) -> list[str]:
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
