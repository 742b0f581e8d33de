"""Attributes that are arrays: they give an array, and take whatever NumPy can make one of."""

from typing import TYPE_CHECKING, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Number = TypeVar("Number", bound=np.generic)


class ArrayProperty(property, Generic[Number]):
    """A property of arrays of a kind of number; to type checkers one that a function makes would be anything."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type, /) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type | None = None, /) -> NDArray[Number]: ...
        def __get__(self, instance: object, owner: type | None = None, /) -> "Self | NDArray[Number]": ...

        def __set__(self, instance: object, value: ArrayLike, /) -> None: ...
