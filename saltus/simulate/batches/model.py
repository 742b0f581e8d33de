"""The model of a batch whose simulations differ in some of its fields."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError, UnknownAttribute
from saltus.model.model import Model
from saltus.model.named_places import Place, part_of
from saltus.model.vary.fields import PREFIXES
from saltus.read_only import ReadOnly, WriteThrough
from saltus.simulate.batches.fields import READABLE, STATES
from saltus.simulate.batches.state import simulation_index
from saltus.simulate.engine.batch.lanes import Lanes
from saltus.simulate.engine.batch.states import BatchStates
from saltus.simulate.engine.batch.varied_model import VariedModel
from saltus.simulate.engine.threads.turn import Turn, in_turn
from saltus.simulate.named import places


class _HasFields(Protocol):
    """A batch whose fields are read and written."""

    shared: Model

    def read(self, name: str) -> NDArray[np.floating]: ...

    def write(self, name: str, values: ArrayLike) -> None: ...


class BatchModel:
    """MuJoCo's fields by name: [n, ...] if they vary, otherwise those of the common model.

    Values written into an array take effect with the next call of the batch, together with the constants that MuJoCo
    derives from them (`mj_setConst`). `opt` holds the options in the same way. `shared`: the common Model.
    """

    def __init__(self, shared: Model, varied: VariedModel):
        self.__dict__.update(shared=shared, _varied=varied, opt=_Options(shared, varied))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._varied.fields[name] if name in self._varied.fields else getattr(self.shared, name)

    def __setattr__(self, name: str, values: Any) -> None:
        _assign(self._varied, name, values)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self.shared), "shared"})

    def __repr__(self) -> str:
        return f"BatchModel({self.shared.name!r}, n = {self._varied.n}, vary = {', '.join(self._varied.names)})"


class _Options:
    """The options of the model of a batch."""

    def __init__(self, shared: Model, varied: VariedModel):
        self.__dict__.update(_shared=shared, _varied=varied)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        key = f"opt.{name}"
        return self._varied.fields[key] if key in self._varied.fields else getattr(self._shared.opt, name)

    def __setattr__(self, name: str, values: Any) -> None:
        _assign(self._varied, f"opt.{name}", values)


class NamedFields:
    """Fields of one object in all simulations [n, ...].

    Fields of the model that vary are views: `mass` of a body is a column of body_mass [n, nbody]. Quantities such as
    `xpos` are read as by `read`; parts of the state and the inputs are set as by `write`.
    """

    _batch: _HasFields
    _model: Model
    _varied: VariedModel | None
    _kind: str
    _name: str
    _number: int

    def __init__(self, batch: _HasFields, varied: VariedModel | None, kind: str, name: str):
        model = batch.shared
        number = model.id(kind, name)
        self.__dict__.update(_batch=batch, _varied=varied, _kind=kind, _name=name, _number=number, _model=model)

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        if name.startswith("_"):
            raise AttributeError(name)
        place = self._of_data(name)
        if place is None:
            return self._view(name)
        read, write = lambda: self._batch.read(place.field), lambda values: self._batch.write(place.field, values)
        if place.field in STATES:
            return part_of(WriteThrough.copy_of(read, write), place)
        part = np.ascontiguousarray(part_of(read(), place))
        return ReadOnly.of(part, f"{name} of {self._kind} {self._name!r} is read-only: it is computed")

    def __setattr__(self, name: str, values: Any) -> None:
        place, what = self._of_data(name), f"{self._kind} {self._name}: {name}"
        if place is None:
            view = self._view(name)
            view[...] = _spread(what, values, view.shape)
        elif place.field in STATES:
            whole = self._batch.read(place.field)
            view = part_of(whole, place)
            view[...] = _spread(what, values, view.shape)
            self._batch.write(place.field, whole)
        else:
            raise UnknownAttribute(f"{what} is computed and cannot be assigned")

    def _of_data(self, name: str) -> Place | None:
        """The place of a quantity of the state; None for fields of the model."""
        place = places(self._model).of(self._kind, self._number, name)
        return None if place is None or place.of_model or place.field not in READABLE else place

    def _view(self, name: str) -> NDArray[np.float64]:
        fields = {} if self._varied is None else self._varied.fields
        for prefix in PREFIXES[self._kind]:
            field = f"{prefix}_{name}"
            if field in fields:
                return fields[field][:, self._places(prefix)]
        names = ", ".join(self._varied.names) if self._varied is not None else "nothing"
        raise OptionError(f"{self._kind} {self._name!r}: {name} does not vary in this batch; vary has {names}")

    def _places(self, prefix: str) -> int | slice:
        if prefix not in ("dof", "qpos"):
            return self._number
        labels = self._model.dof_names() if prefix == "dof" else self._model.qpos_names()
        own = [i for i, label in enumerate(labels) if self._name in (label, label.rpartition(".")[0])]
        return own[0] if len(own) == 1 else slice(own[0], own[-1] + 1)


def _assign(varied: VariedModel, name: str, values: Any) -> None:
    if name not in varied.fields:
        raise OptionError(f"{name} does not vary in this batch; vary has {', '.join(varied.names)}")
    field = varied.fields[name]
    field[...] = _spread(name, values, field.shape)


def _spread(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    given = numbers(name, values)
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise OptionError(f"{name} has shape {shape}, not {given.shape}") from None


class ModelsOfEach:
    """Access to the models of the simulations that `lanes` hold."""

    n: int
    shared: Model
    lanes: BatchStates
    _turn: Turn

    @property
    def model(self) -> Model | BatchModel:
        """The common Model, or a `BatchModel` if fields vary."""
        varied = self._varied_model
        return self.shared if varied is None else BatchModel(self.shared, varied)

    @property
    def _varied_model(self) -> VariedModel | None:
        return self.lanes.varied_model if isinstance(self.lanes, Lanes) else None

    def body(self, name: str) -> NamedFields:
        """A body's parts [n, ...]: fields that vary, `batch.body("torso").mass`, and quantities, `.xpos`."""
        return self._named("body", name)

    def joint(self, name: str) -> NamedFields:
        """A joint's parts [n, ...]: fields that vary, `batch.joint("knee").damping`, `.qpos`, `.qvel`."""
        return self._named("joint", name)

    def geom(self, name: str) -> NamedFields:
        """The fields of a geom that vary: `batch.geom("floor").friction`."""
        return self._named("geom", name)

    def site(self, name: str) -> NamedFields:
        """The fields of a site that vary."""
        return self._named("site", name)

    def tendon(self, name: str) -> NamedFields:
        """The fields of a tendon that vary."""
        return self._named("tendon", name)

    def actuator(self, name: str) -> NamedFields:
        """An actuator's parts [n, ...]: fields that vary, `batch.actuator("hip").gainprm`, and `.ctrl`."""
        return self._named("actuator", name)

    def _named(self: Any, kind: str, name: str) -> NamedFields:
        return NamedFields(self, self._varied_model, kind, name)

    @in_turn
    def model_of(self, i: int) -> Model:
        """The model of simulation i by itself."""
        return self._model_of(simulation_index("model_of", i, self.n))

    def _model_of(self, i: int) -> Model:
        varied = self._varied_model
        return self.shared if varied is None else varied.changed_model(i)

    def _notice_model(self) -> None:
        """Apply values that were written into the model."""
        if self._varied_model is not None:
            self._varied_model.update()
