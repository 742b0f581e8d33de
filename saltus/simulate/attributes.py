"""Attributes of a simulation: fields that users assign to, and what it is made with, which cannot be changed.

They are for a class that has an `engine`, and a `_turn` as `in_turn` takes it.
"""

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.simulate.engine.turn import in_turn

Number = TypeVar("Number", bound=np.generic)


class ArrayProperty(property, Generic[Number]):
    """An attribute that gives an array of a kind of number, and takes whatever NumPy can make one of.

    To type checkers a property that a function makes would be anything.
    """

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type, /) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type | None = None, /) -> NDArray[Number]: ...
        def __get__(self, instance: object, owner: type | None = None, /) -> "Self | NDArray[Number]": ...

        def __set__(self, instance: object, value: ArrayLike, /) -> None: ...


def put(name: str, view: np.ndarray, value: ArrayLike) -> None:
    """Write into a field that users set; OptionError for what is no number or has another shape."""
    values = numbers(name, value)
    try:
        view[...] = values
    except ValueError:
        raise OptionError(f"{name} has shape {view.shape}, not {values.shape}") from None


def state_property(name: str, unit: str) -> ArrayProperty[np.float64]:
    """A field of the state or the inputs as an attribute: reading gives a view, assigning writes into it."""

    def read(self: Any) -> NDArray[np.float64]:
        return self.engine.d.views[name]

    @in_turn
    def write(self: Any, value: ArrayLike) -> None:
        put(name, self.engine.d.views[name], value)

    return ArrayProperty(read, write, doc=f"{name} {unit}: a view to read and write.")


def made_with(name: str, option: str, about: str) -> Any:
    """What a simulation is made with, as an attribute that cannot be changed."""

    def write(self: Any, value: Any) -> None:
        raise OptionError(f"{name} cannot be changed; make another simulation: saltus.Simulation({option})")

    return property(lambda self: getattr(self.engine, name), write, doc=about)
