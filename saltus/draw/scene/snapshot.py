"""A state of a motion with the data that a picture of it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.event_enums import NO_MODE

# row lengths; None for one-dimensional arrays
SHAPES = (("qpos", None), ("mocap_pos", 3), ("mocap_quat", 4), ("contacts", 8), ("tree_asleep", None), ("cop", None))


@dataclass(frozen=True, eq=False)
class Still:
    """A state to draw.

    qpos: [nq], m and rad.
    mocap_pos: [nmocap, 3], m, mocap_quat: [nmocap, 4]; None: the model's own values.
    contacts: [n, 8], for each contact its position (m), the force on the second geom in world axes (N), the distance
        (m) and the mode; without modes [n, 7]. None: no contacts.
    tree_asleep: [ntree], not negative for sleeping kinematic trees; None or empty: all are awake.
    cop: [3], the centre of pressure (m); None or nan: none.
    """

    qpos: NDArray[Any]
    mocap_pos: NDArray[Any] | None = None
    mocap_quat: NDArray[Any] | None = None
    contacts: NDArray[Any] | None = None
    tree_asleep: NDArray[Any] | None = None
    cop: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.contacts is not None:
            object.__setattr__(self, "contacts", _with_modes(self.contacts))
        for name, width in SHAPES:
            value = getattr(self, name)
            if value is not None or name == "qpos":
                object.__setattr__(self, name, _table(name, value, width))


def _with_modes(contacts) -> NDArray[Any]:
    """Add a column of unknown modes to contacts [n, 7]; return any other value unchanged."""
    if np.ndim(contacts) == 2 and np.shape(contacts)[1] == 7:
        return np.insert(np.asarray(contacts), 7, NO_MODE, axis=1)
    return contacts


def _table(name: str, value, width: int | None) -> NDArray[np.float64]:
    """Convert a value to an array of floats [.] or [., width]; OptionError for another shape."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{name} of a still must be numbers, not {value!r}") from None
    if width is not None and array.size == 0:
        array = array.reshape(0, width)
    if array.ndim != (1 if width is None else 2) or (width is not None and array.shape[1] != width):
        expected = "[nq]" if width is None else f"[n, {width}]"
        raise OptionError(f"{name} of a still must have shape {expected}, not {list(array.shape)}")
    return array
