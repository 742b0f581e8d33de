"""One object's parts of the fields of a batch, by MuJoCo's attributes: `batch.joint("hinge").qpos`."""

from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError, UnknownName


class HasFields(Protocol):
    """A batch whose fields are bound by name."""

    model: mujoco.MjModel
    _data: mujoco.MjData

    @property
    def nsim(self) -> int: ...

    def bind(self, name: str) -> NDArray[np.float64]: ...


class NamedView:
    """The parts [nsim, ...] of fields that belong to one object, as MjData's and MjModel's named views give them.

    Those of the state can be assigned. Those of the model are the same in all simulations, and read-only.
    """

    id: int
    name: str
    _batch: HasFields
    _kind: str

    def __init__(self, batch: HasFields, kind: str, key: int | str):
        try:
            found = getattr(batch.model, kind)(key)
        except (KeyError, IndexError) as error:
            raise UnknownName(str(error.args[0])) from None
        for name, value in dict(_batch=batch, _kind=kind, id=found.id, name=found.name).items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        part = self._part(name)
        if part is not None:
            return part
        own = getattr(getattr(self._batch.model, self._kind)(self.id), name, None)
        if name.startswith("_") or not isinstance(own, np.ndarray):
            raise AttributeError(f"a {self._kind} has no field {name!r} here")
        return np.broadcast_to(own, (self._batch.nsim, *own.shape))

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        part = self._part(name)
        if part is None:
            raise OptionError(f"{name} of a {self._kind} cannot be set: the model is the same in all simulations")
        if not part.flags.writeable:
            raise OptionError(f"{name} of a {self._kind} is computed and cannot be set")
        part[...] = value

    def _part(self, name: str) -> NDArray[np.float64] | None:
        """A view of the field of MjData in which the object's attribute lies; None for no such field."""
        data = self._batch._data  # noqa: SLF001 (a friend)
        own = None if name.startswith("_") else getattr(getattr(data, self._kind)(self.id), name, None)
        if not isinstance(own, np.ndarray):
            return None
        for field in _candidates(self._kind, name):
            whole = getattr(data, field, None)
            if isinstance(whole, np.ndarray) and own.size and np.may_share_memory(own, whole):
                first = (own.ctypes.data - whole.ctypes.data) // whole.itemsize
                rows = self._batch.bind(field).reshape(self._batch.nsim, -1)
                return rows[:, first : first + own.size].reshape(self._batch.nsim, *own.shape)
        return None


def _candidates(kind: str, name: str) -> list[str]:
    """Fields of MjData in which an attribute may lie."""
    prefix = {"tendon": "ten"}.get(kind, kind)
    return [name, f"{prefix}_{name}", "sensordata" if (kind, name) == ("sensor", "data") else name]
