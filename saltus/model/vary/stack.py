"""MuJoCo's models of many simulations: fields with a leading axis of simulations."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from saltus.errors import OptionError
from saltus.model.vary.fields import CONSTANTS, value_of


class Stack:
    """A model some of whose fields have one row for each simulation: `arrays`, by name, [n, ...].

    Other fields are those of the model itself, `plain`.
    """

    def __init__(self, m: mujoco.MjModel, arrays: Mapping[str, np.ndarray]):
        self.plain, self._arrays = m, arrays
        self.opt = _Part(m.opt, arrays, "opt.")
        self.stat = _Part(m.stat, arrays, "stat.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._arrays[name] if name in self._arrays else getattr(self.plain, name)


class _Part:
    """The options or statistics of a stacked model."""

    def __init__(self, own: Any, arrays: Mapping[str, np.ndarray], prefix: str):
        self._own, self._arrays, self._prefix = own, arrays, prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        key = self._prefix + name
        return self._arrays[key] if key in self._arrays else getattr(self._own, name)


def put(m: mujoco.MjModel, arrays: Mapping[str, np.ndarray], i: int) -> None:
    """Write the values of simulation i into a model."""
    for name, values in arrays.items():
        if name.startswith(("opt.", "stat.")):
            part, field = name.split(".")
            value = getattr(getattr(m, part), field)
            if isinstance(value, np.ndarray):
                value[:] = values[i]
            else:
                setattr(getattr(m, part), field, float(values[i]))
        else:
            getattr(m, name)[:] = values[i]


def constants(m: mujoco.MjModel, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Constants that MuJoCo's mj_setConst derives from the values of each simulation [n, ...].

    `m`, a copy that may be written to, ends with the values of the last simulation.
    """
    n = len(next(iter(arrays.values())))
    data = mujoco.MjData(m)
    derived = [name for name in CONSTANTS if np.size(getattr(m, name))]
    out = {name: np.zeros((n, *getattr(m, name).shape), getattr(m, name).dtype) for name in derived}
    out["stat.meaninertia"] = np.zeros(n)
    # views of the model's memory, created once
    fields = [(value_of(m, name), values) for name, values in arrays.items() if not name.startswith("opt.")]
    results = [(out[name], getattr(m, name)) for name in derived]
    for i in range(n):
        for field, values in fields:
            field[:] = values[i]
        try:
            mujoco.mj_setConst(m, data)
        except mujoco.FatalError as error:
            raise OptionError(f"the values of simulation {i} of those changed: {error}") from None
        for values, field in results:
            values[i] = field
        out["stat.meaninertia"][i] = m.stat.meaninertia
    return out
