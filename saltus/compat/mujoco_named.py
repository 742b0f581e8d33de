"""An object's parts of the fields of a batch, by MuJoCo's attributes: `batch.joint("hinge").qpos`."""

from __future__ import annotations

from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.compat.mujoco_fields import MODEL_FIELDS, STATE_FIELDS, is_structure
from saltus.errors import OptionError, UnknownName, proposal
from saltus.model.named_places import Place, Places, part_of


class HasFields(Protocol):
    """A batch whose fields are bound by name."""

    model: mujoco.MjModel
    places: Places

    @property
    def nsim(self) -> int: ...

    def bind(self, name: str) -> NDArray[Any]: ...

    def expand(self, name: str) -> NDArray[Any]: ...

    def expanded(self, name: str) -> NDArray[Any] | None: ...

    @property
    def models(self) -> mujoco.MjModel | tuple[mujoco.MjModel, ...] | None: ...


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

    def __getattr__(self, name: str) -> NDArray[Any]:
        place = self._place(name)
        if place is None:
            return self._without_numbers(name)
        if not place.of_model:
            return part_of(self._batch.bind(place.field), place)
        n, models = self._batch.nsim, self._batch.models
        if models is not None:
            each = models if isinstance(models, tuple) else (models,) * n
            found = np.stack([getattr(getattr(m, self._kind)(self.id), name) for m in each])
            found.flags.writeable = False
            return found
        if place.field in MODEL_FIELDS and self._batch.expanded(place.field) is not None:
            return part_of(self._batch.expand(place.field), place)
        own = getattr(getattr(self._batch.model, self._kind)(self.id), name)
        return np.broadcast_to(own, (n, *own.shape))

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        if name in ("id", "name") or name.startswith("_"):
            raise AttributeError(f"{name} of a {self._kind} is read-only")
        place = self._place(name)
        if place is None:
            self._without_numbers(name)[...] = value
        elif not place.of_model:
            if place.field not in STATE_FIELDS:
                raise OptionError(f"{name} of a {self._kind} is computed by every call and cannot be written")
            part_of(self._batch.bind(place.field), place)[...] = value
        elif self._batch.models is not None:
            raise OptionError(f"{place.field} is of the caller's models (set_models): change them and set them again")
        elif is_structure(place.field, np.asarray(getattr(self._batch.model, place.field))):
            raise OptionError(f"{place.field} is structural: it cannot differ between simulations")
        else:
            part_of(self._batch.expand(place.field), place)[...] = value

    def _without_numbers(self, name: str) -> NDArray[Any]:
        """An empty array of an attribute that has no numbers here; AttributeError for other names without a place."""
        there: list[str] = []
        for struct in self._batch.places.structs:
            view = getattr(struct, self._kind, None)
            if view is None:
                continue
            there += [each for each in dir(view(self.id)) if not each.startswith("_")]
            part = None if name.startswith("_") else getattr(view(self.id), name, None)
            if isinstance(part, np.ndarray):
                if part.size:
                    raise AttributeError(f"{name} of a {self._kind} is not a slice of a field that the batch has")
                found = np.empty((self._batch.nsim, *part.shape), part.dtype)
                found.flags.writeable = False
                return found
        raise AttributeError(f"{name!r} is not a field of a {self._kind}{proposal(name, there)}")

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

    def camera(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a camera."""
        return NamedView(self, "camera", key)

    def equality(self, key: int | str) -> NamedView:
        """Parts of fields that belong to an equality constraint."""
        return NamedView(self, "equality", key)

    def geom(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a geom."""
        return NamedView(self, "geom", key)

    def joint(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a joint."""
        return NamedView(self, "joint", key)

    def keyframe(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a keyframe."""
        return NamedView(self, "keyframe", key)

    def light(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a light."""
        return NamedView(self, "light", key)

    def material(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a material."""
        return NamedView(self, "material", key)

    def numeric(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a custom field of numbers."""
        return NamedView(self, "numeric", key)

    def pair(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a pair of geoms."""
        return NamedView(self, "pair", key)

    def sensor(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a sensor."""
        return NamedView(self, "sensor", key)

    def site(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a site."""
        return NamedView(self, "site", key)

    def tendon(self, key: int | str) -> NamedView:
        """Parts of fields that belong to a tendon."""
        return NamedView(self, "tendon", key)
