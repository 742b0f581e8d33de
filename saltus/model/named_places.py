"""Places of one object's numbers in the fields of MuJoCo's structs, by the attributes of MuJoCo's named access.

`data.body("hand").xpos` is a part of `data.xpos`, whose memory it shares: so its place is found.
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np

#: Beginnings of the names of fields in which the parts of a kind of object lie, besides the kind's own.
BEGINNINGS = {"joint": ("jnt_", "dof_", "qpos_"), "tendon": ("ten_", "tendon_"), "sensor": ("sensor_", "sensor")}
BEGINNINGS |= {"camera": ("cam_",), "equality": ("eq_",), "keyframe": ("key_",), "material": ("mat_",)}


class Place(NamedTuple):
    """An object's part of a field: its numbers from `first` on, in a shape; of the model's field or the data's."""

    field: str
    first: int
    shape: tuple[int, ...]
    whole: tuple[int, ...]  # the field's shape
    of_model: bool


class Places:
    """The places of a model's objects. `data`: any data of the model; `structs` are both."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData):
        self.structs = data, model
        self._found: dict[tuple[str, int, str], Place | None] = {}

    def of(self, kind: str, number: int, name: str) -> Place | None:
        """The place of an object's attribute; None if it has none."""
        key = kind, number, name
        if key not in self._found:
            self._found[key] = next(filter(None, (self._in(struct, *key) for struct in self.structs)), None)
        return self._found[key]

    def names(self, kind: str, number: int) -> list[str]:
        """The attributes of an object that have a place."""
        views = [getattr(struct, kind)(number) for struct in self.structs if hasattr(struct, kind)]
        names = {name for view in views for name in dir(view) if name[0] != "_"}
        return sorted(name for name in names if self.of(kind, number, name))

    def _in(self, struct: Any, kind: str, number: int, name: str) -> Place | None:
        view = getattr(struct, kind, None)  # MjData has none of those that only models have
        part = None if view is None or name.startswith("_") else getattr(view(number), name, None)
        if not isinstance(part, np.ndarray) or not part.size:
            return None
        for field in (name, *(f"{begin}{name}" for begin in BEGINNINGS.get(kind, (f"{kind}_",)))):
            whole = getattr(struct, field, None)
            if isinstance(whole, np.ndarray) and np.may_share_memory(part, whole):
                first = (part.ctypes.data - whole.ctypes.data) // whole.itemsize
                return Place(field, first, part.shape, whole.shape, struct is self.structs[1])
        return None


def part_of(whole: np.ndarray, place: Place) -> np.ndarray:
    """A place's numbers as a view of its field [...], or of the field in many simulations [n, ...]."""
    size = int(np.prod(place.shape))
    many = whole.shape[: whole.ndim - len(place.whole)]
    return whole.reshape(*many, -1)[..., place.first : place.first + size].reshape(*many, *place.shape)
