"""One object's parts of a simulation's fields, by name: `sim.body("hand").xpos`, `sim.joint("ball").qvel = ...`.

Attributes are those of MuJoCo's named access: `data.body("hand").xpos`, `model.body("hand").mass`.
"""

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import put
from saltus.errors import UnknownAttribute, proposal
from saltus.model.model import Model
from saltus.simulate.engine.data import Data


class Place(NamedTuple):
    """An object's part of a field: its numbers from `first` on, in a shape; of the model's field or the data's."""

    field: str
    first: int
    shape: tuple[int, ...]
    whole: tuple[int, ...]  # the field's shape
    of_model: bool


class Places:
    """The parts of a model's objects, found in MuJoCo's own named access to its structs, whose memory they share."""

    def __init__(self, model: Model):
        self._structs = mujoco.MjData(model.mj_model), model.mj_model
        self._found: dict[tuple[str, int, str], Place | None] = {}

    def of(self, kind: str, number: int, name: str) -> Place | None:
        """The place of an object's attribute; None if it has none."""
        key = kind, number, name
        if key not in self._found:
            self._found[key] = next(filter(None, (self._in(s, *key) for s in self._structs)), None)
        return self._found[key]

    def names(self, kind: str, number: int) -> list[str]:
        """The attributes of an object that have a place."""
        names = {x for struct in self._structs for x in dir(getattr(struct, kind)(number)) if x[0] != "_"}
        return sorted(x for x in names if self.of(kind, number, x))

    def _in(self, struct: Any, kind: str, number: int, name: str) -> Place | None:
        part = getattr(getattr(struct, kind)(number), name, None)
        if not isinstance(part, np.ndarray) or not part.size:
            return None
        for field in _fields(kind, name):
            whole = getattr(struct, field, None)
            if isinstance(whole, np.ndarray) and np.may_share_memory(part, whole):
                first = (part.ctypes.data - whole.ctypes.data) // whole.itemsize
                return Place(field, first, part.shape, whole.shape, struct is self._structs[1])
        return None


#: Beginnings of the names of fields in which the parts of a kind lie.
BEGINNINGS = {"joint": ("jnt_", "dof_", "qpos_"), "tendon": ("ten_", "tendon_"), "sensor": ("sensor_", "sensor")}


def _fields(kind: str, name: str) -> list[str]:
    return [name, *(f"{begin}{name}" for begin in BEGINNINGS.get(kind, (f"{kind}_",)))]


def places(model: Model) -> Places:
    """The places of a model's objects, found once."""
    known = vars(model)
    if "_places" not in known:
        known["_places"] = Places(model)
    return known["_places"]


def part_of(whole: np.ndarray, place: Place) -> np.ndarray:
    """A place's numbers as a view of its field [...], or of the field in many simulations [n, ...]."""
    size = int(np.prod(place.shape))
    many = whole.shape[: whole.ndim - len(place.whole)]
    return whole.reshape(*many, -1)[..., place.first : place.first + size].reshape(*many, *place.shape)


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
