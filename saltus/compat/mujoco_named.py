"""An object's parts of the fields of a batch, by MuJoCo's attributes: `batch.joint("hinge").qpos`."""

from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.compat.mujoco_fields import MODEL_FIELDS
from saltus.errors import OptionError, UnknownName
from saltus.model.vary.fields import PREFIXES


class HasFields(Protocol):
    """A batch whose fields are bound by name."""

    model: mujoco.MjModel
    _data: mujoco.MjData

    @property
    def nsim(self) -> int: ...

    def bind(self, name: str) -> NDArray[np.float64]: ...

    def expand(self, name: str) -> NDArray[np.float64]: ...

    def expanded(self, name: str) -> NDArray[np.float64] | None: ...


class NamedView:
    """Parts [nsim, ...] of fields that belong to one object, as MjData's and MjModel's named views give them.

    State fields can be assigned, and so can model fields that may differ between simulations, which expands them.
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
        own = None if name.startswith("_") else getattr(self._in_model(), name, None)
        if not isinstance(own, np.ndarray):
            raise AttributeError(f"a {self._kind} has no field {name!r} here")
        field = self._model_field(name)
        values = None if field is None else self._batch.expanded(field)
        if field is None or values is None:
            return np.broadcast_to(own, (self._batch.nsim, *own.shape))
        return self._slice(values, own, getattr(self._batch.model, field))

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        part = self._part(name)
        if part is None:
            field = self._model_field(name)
            if field is None:
                raise OptionError(f"{name} of a {self._kind} cannot differ between simulations")
            own, whole = getattr(self._in_model(), name), getattr(self._batch.model, field)
            part = self._slice(self._batch.expand(field), own, whole)
        if not part.flags.writeable:
            raise OptionError(f"{name} of a {self._kind} is computed and cannot be set")
        part[...] = value

    def _in_model(self) -> Any:
        return getattr(self._batch.model, self._kind)(self.id)

    def _model_field(self, name: str) -> str | None:
        """The field of MjModel that contains the object's attribute and may differ between simulations."""
        for prefix in PREFIXES.get(self._kind, ()):
            if f"{prefix}_{name}" in MODEL_FIELDS:
                own, whole = getattr(self._in_model(), name, None), getattr(self._batch.model, f"{prefix}_{name}")
                if isinstance(own, np.ndarray) and own.size and np.may_share_memory(own, whole):
                    return f"{prefix}_{name}"
        return None

    def _slice(self, rows: NDArray[np.float64], own: np.ndarray, whole: np.ndarray) -> NDArray[np.float64]:
        """Columns of an object's part in the rows [nsim, ...] of a field."""
        first = (own.ctypes.data - whole.ctypes.data) // whole.itemsize
        flat = rows.reshape(self._batch.nsim, -1)
        return flat[:, first : first + own.size].reshape(self._batch.nsim, *own.shape)

    def _part(self, name: str) -> NDArray[np.float64] | None:
        """View of the field of MjData that contains the object's attribute; None where no field does."""
        data = self._batch._data  # noqa: SLF001 (a friend)
        own = None if name.startswith("_") else getattr(getattr(data, self._kind)(self.id), name, None)
        if not isinstance(own, np.ndarray):
            return None
        for field in _candidates(self._kind, name):
            whole = getattr(data, field, None)
            if isinstance(whole, np.ndarray) and own.size and np.may_share_memory(own, whole):
                return self._slice(self._batch.bind(field), own, whole)
        return None


def _candidates(kind: str, name: str) -> list[str]:
    """Fields of MjData in which an attribute may lie."""
    prefix = {"tendon": "ten"}.get(kind, kind)
    return [name, f"{prefix}_{name}", "sensordata" if (kind, name) == ("sensor", "data") else name]


class NamedAccess(HasFields):
    """Named views of the objects of a batch, as `mujoco.batch.Batch` has them."""

    def actuator(self, key: int | str) -> NamedView:
        """Parts of fields that belong to an actuator."""
        return NamedView(self, "actuator", key)

    def body(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a body."""
        return NamedView(self, "body", key)

    def geom(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a geom."""
        return NamedView(self, "geom", key)

    def joint(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a joint."""
        return NamedView(self, "joint", key)

    def sensor(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a sensor."""
        return NamedView(self, "sensor", key)

    def site(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a site."""
        return NamedView(self, "site", key)

    def tendon(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a tendon."""
        return NamedView(self, "tendon", key)
