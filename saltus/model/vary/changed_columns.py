"""A model with other values of single numbers, those by which derivatives are taken."""

import copy
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.body_inertia import COUNT, SCALE_MASS, STORED_IN, distribution, set_distribution
from saltus.model.vary.columns import Column
from saltus.model.vary.fields import check_values, needs_constants, value_of
from saltus.model.vary.stack import put


def with_numbers(model: Any, columns: Sequence[Column], values: NDArray[np.float64]) -> Any:
    """A copy of a Model with these values at the places of columns, and the constants that MuJoCo derives from them.

    Raises:
        OptionError: a value is not allowed.
        ModelError: the inertia matrix is singular with these values.
    """
    m = copy.copy(model.mj_model)
    fields: dict[str, NDArray[np.float64]] = {}
    _set_distributions(m, columns, values)
    for column, value in zip(columns, values, strict=True):
        if column.field in STORED_IN:
            continue
        if column.field not in fields:
            fields[column.field] = np.array(value_of(m, column.field), float)[None]
        fields[column.field].reshape(-1)[column.place] = value
    for name, whole in fields.items():
        check_values(m, name, whole, np.zeros(1, int))
    put(m, fields, 0)
    if needs_constants([column.field for column in columns]):
        mujoco.mj_setConst(m, mujoco.MjData(m))
    changes = {column.name: float(value) for column, value in zip(columns, values, strict=True)}
    return model.with_values_of(m, changes)


def _set_distributions(m: mujoco.MjModel, columns: Sequence[Column], values: NDArray[np.float64]) -> None:
    """Set the numbers of mass distributions, all of a body at once.

    OptionError: two of them mean the same, or no body has such a distribution.
    """
    found: dict[int, tuple[str, str, NDArray[np.float64]]] = {}
    for column, value in zip(columns, values, strict=True):
        if column.field in STORED_IN:
            body, k = (column.place, ()) if column.field == SCALE_MASS else divmod(column.place, COUNT)
            if body not in found:
                found[body] = column.field, column.name, distribution(m, body, column.field, column.name)
            field, name, numbers = found[body]
            if field != column.field:
                raise OptionError(f"{column.name} and {name} are numbers of one mass distribution; give one")
            numbers[k] = value
    for body, (field, name, numbers) in found.items():
        for column in columns:
            if column.field in STORED_IN[field] and column.place // getattr(m, column.field)[0].size == body:
                raise OptionError(f"{column.name} and {name} are numbers of one mass distribution; give one")
        set_distribution(m, body, field, numbers, name)
