"""Warnings for values written into a copy of a model without effect."""

from __future__ import annotations

import copy
import weakref
from typing import Any

import mujoco
import numpy as np

from saltus.errors import warn
from saltus.model.field_overrides import KINDS

LARGEST = 2**26  # largest size of a copy that is kept for comparison (bytes)
_FIELDS = sorted(name for name, value in vars(mujoco.MjModel).items() if isinstance(value, property) and name[0] != "_")
_used: weakref.WeakSet[mujoco.MjModel] = weakref.WeakSet()


class Copies:
    """Copies of MuJoCo's model that a Model has handed out: the last one, and changes found in earlier ones.

    A copy passed to `saltus.load` becomes a model of its own, so that writing into it is no longer a mistake.
    """

    def __init__(self, original: mujoco.MjModel):
        self._original, self._last, self._written = original, None, {}

    def __deepcopy__(self, memo: Any) -> Copies:
        return Copies(self._original)

    def made(self) -> mujoco.MjModel:
        """Make a new copy."""
        made = copy.copy(self._original)
        if mujoco.mj_sizeModel(made) <= LARGEST:
            self._last = made
        return made

    def look(self) -> None:
        """Record changes to the last copy, which is then released."""
        last, self._last = self._last, None
        if last is not None and last not in _used:
            self._written |= dict.fromkeys(different(self._original, last))

    def warn(self, model: Any) -> None:
        """Warn once of changes that had no effect."""
        fields, self._written = list(self._written), {}
        if fields:
            text = (
                f"model.mujoco is a copy: values written into its {', '.join(fields)} do not change the model "
                f"{model.name!r}. Write {_instead(fields[0])}m = model.mujoco, write into m, and saltus.load(m)"
            )
            warn(text)


def use(m: mujoco.MjModel) -> None:
    """Stop tracking a copy that has become a model of its own."""
    _used.add(m)


def different(m: mujoco.MjModel, other: mujoco.MjModel) -> list[str]:
    """Names of fields and options in which two models of the same structure differ."""
    found = [f"opt.{name}" for name in dir(m.opt) if name[0] != "_" and _differ(m.opt, other.opt, name)]
    return found + [name for name in _FIELDS if _differ(m, other, name)]


def _differ(one: Any, other: Any, name: str) -> bool:
    a, b = getattr(one, name), getattr(other, name)
    if isinstance(a, np.ndarray):
        return not np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return isinstance(a, int | float | bytes) and a != b and not (a != a and b != b)


def _instead(field: str) -> str:
    """Hint that tells the call of `changed` for a field, followed by "or "; "" for fields that it cannot change."""
    if field not in KINDS and not field.startswith("opt."):
        return ""
    key = f"{field}[name]" if field in KINDS else field
    return f'model = model.changed({{"{key}": value}}), or '
