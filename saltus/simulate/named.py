"""One object's parts of a simulation's fields, by name: `sim.body("hand").xpos`, `sim.joint("ball").qvel = ...`.

Attributes are those of MuJoCo's named access: `data.body("hand").xpos`, `model.body("hand").mass`.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import put
from saltus.errors import UnknownAttribute, proposal
from saltus.model.model import Model
from saltus.model.named_places import Place, Places, part_of
from saltus.simulate.engine.data import Data

_PLACES: WeakKeyDictionary[Model, Places] = WeakKeyDictionary()


def places(model: Model) -> Places:
    """The places of a model's objects, found once."""
    if model not in _PLACES:
        _PLACES[model] = Places(model.mj_model, mujoco.MjData(model.mj_model))
    return _PLACES[model]


class NamedObject:
    """One object of a simulation: attributes are its parts of the fields of `Simulation.data` and of the model.

    Parts of the state and the inputs are views to read and write; the others are read-only, always of the present
    state. Their shapes and units are those of the fields: `xpos` [3] (m), `xmat` [9], `qvel` [1] of a hinge, ...
    """

    id: int
    name: str
    _data: Data
    _model: Model
    _kind: str

    def __init__(self, data: Data, model: Model, kind: str, name: str):
        number = model.id(kind, name)
        self.__dict__.update(_data=data, _model=model, _kind=kind, id=number, name=name)

    def __repr__(self) -> str:
        return f"<{self._kind} {self.name!r}, number {self.id}: {', '.join(x for x in dir(self) if x[0] != '_')}>"

    def __dir__(self) -> list[str]:
        found = places(self._model)
        names = found.names(self._kind, self.id)
        shown = {x for x in names for place in [found.of(self._kind, self.id, x)] if place and self._is_here(place)}
        return sorted(shown | {"id", "name"})

    def _is_here(self, place: Place) -> bool:
        """Whether the simulation has the field, in MuJoCo's shape."""
        return place.of_model or getattr(getattr(self._data, place.field, None), "shape", None) == place.whole

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        if name.startswith("_"):
            raise AttributeError(name)
        place = places(self._model).of(self._kind, self.id, name)
        if place is None or not self._is_here(place):
            raise self._unknown(name)
        return part_of(getattr(self._model if place.of_model else self._data, place.field), place)

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        put(f"{name} of {self._kind} {self.name!r}", getattr(self, name), value)

    def _unknown(self, name: str) -> UnknownAttribute:
        known = [x for x in dir(self) if x not in ("id", "name")]
        text = f"{self._kind} {self.name!r} has no {name!r}{proposal(name, known)} (known: {', '.join(known)})"
        return UnknownAttribute(text)


class NamedParts:
    """Access by the names of objects, as MuJoCo's MjData has it."""

    data: Data
    model: Model

    def body(self, name: str) -> NamedObject:
        """A body's parts: `xpos`, `xquat`, `xmat`, `cvel`, `subtree_com`, `xfrc_applied`, `mass`, `inertia`, ..."""
        return NamedObject(self.data, self.model, "body", name)

    def joint(self, name: str) -> NamedObject:
        """A joint's parts: `qpos`, `qvel`, `qacc`, `qfrc_applied`, `xanchor`, `xaxis`, `range`, `damping`, ..."""
        return NamedObject(self.data, self.model, "joint", name)

    def geom(self, name: str) -> NamedObject:
        """A geom's parts: `xpos`, `xmat`, `size`, `friction`, ..."""
        return NamedObject(self.data, self.model, "geom", name)

    def site(self, name: str) -> NamedObject:
        """A site's parts: `xpos`, `xmat`, `size`, ..."""
        return NamedObject(self.data, self.model, "site", name)

    def tendon(self, name: str) -> NamedObject:
        """A tendon's parts: `length`, `velocity`, `range`, `stiffness`, ..."""
        return NamedObject(self.data, self.model, "tendon", name)

    def actuator(self, name: str) -> NamedObject:
        """An actuator's parts: `ctrl`, `act`, `length`, `velocity`, `force`, `ctrlrange`, `gear`, ..."""
        return NamedObject(self.data, self.model, "actuator", name)
