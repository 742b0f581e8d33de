"""An object's parts of the fields of a batch, by MuJoCo's attributes: `batch.joint("hinge").qpos`."""

from __future__ import annotations

from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.compat.mujoco_fields import MODEL_FIELDS
from saltus.errors import OptionError, UnknownName
from saltus.model.named_places import Place, Places, part_of


class HasFields(Protocol):
    """A batch whose fields are bound by name."""

    model: mujoco.MjModel
    places: Places

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
        place = self._place(name)
        if place is None:
            raise AttributeError(f"a {self._kind} has no field {name!r} here")
        if not place.of_model:
            return part_of(self._batch.bind(place.field), place)
        values = self._batch.expanded(place.field) if place.field in MODEL_FIELDS else None
        if values is None:
            own = getattr(getattr(self._batch.model, self._kind)(self.id), name)
            return np.broadcast_to(own, (self._batch.nsim, *own.shape))
        return part_of(values, place)

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        place = self._place(name)
        if place is None or (place.of_model and place.field not in MODEL_FIELDS):
            raise OptionError(f"{name} of a {self._kind} cannot differ between simulations")
        bound = self._batch.expand(place.field) if place.of_model else self._batch.bind(place.field)
        part = part_of(bound, place)
        if not part.flags.writeable:
            raise OptionError(f"{name} of a {self._kind} is computed and cannot be set")
        part[...] = value

    def _place(self, name: str) -> Place | None:
        return self._batch.places.of(self._kind, self.id, name)


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
