"""Arrays that cannot be written to, whose error tells how to change what they show."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from saltus.arguments import numbers
from saltus.errors import OptionError, ReadOnlyError


class ReadOnly(np.ndarray):
    """A read-only array of numbers. Whatever is computed from it is an ordinary array, and so is its copy.

    Assigning to its entries raises a ReadOnlyError with the remedy. `x += 1` makes a new array, as for numbers, so that
    `batch.qpos += 1` is an assignment to `batch.qpos`.
    """

    remedy: str = ""

    @classmethod
    def of(cls, values: np.ndarray, remedy: str) -> Self:
        """The memory of an array, which its owner may still write to."""
        shown = values.view(cls)
        shown.flags.writeable = False
        shown.remedy = remedy
        return shown

    def __array_finalize__(self, source: Any) -> None:
        self.remedy = getattr(source, "remedy", "")

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.flags.writeable:
            raise ReadOnlyError(self.remedy)
        super().__setitem__(key, value)  # memory of its own, as `astype` makes it

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if any(isinstance(x, ReadOnly) and not x.flags.writeable for x in out):
            raise ReadOnlyError(self.remedy)
        if out:
            options["out"] = tuple(map(_plain, out))
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        plain = tuple(map(_plain, arguments)), {name: _plain(x) for name, x in options.items()}
        return super().__array_function__(function, types, *plain)

    def copy(self, order: Any = "C") -> np.ndarray:
        """An ordinary array with the numbers."""
        return np.array(self, order=order)

    def __copy__(self) -> np.ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> np.ndarray:
        return self.copy()

    def __reduce__(self) -> Any:
        return self.copy().__reduce__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.copy().__dlpack__(**options)  # whoever takes it may write to it

    def __repr__(self) -> str:
        return repr(_plain(self))

    def __iadd__(self, other: Any) -> Any:
        return self + other

    def __isub__(self, other: Any) -> Any:
        return self - other

    def __imul__(self, other: Any) -> Any:
        return self * other

    def __itruediv__(self, other: Any) -> Any:
        return self / other


class Owner(NamedTuple):
    """Numbers that were read from an owner, and how they are read anew and written back."""

    numbers: np.ndarray
    read: Callable[[], np.ndarray]
    write: Callable[[np.ndarray], object]


class WriteThrough(ReadOnly):
    """A copy of an owner's numbers, whose entries are set in the owner as well when they are assigned to.

    The owner's later changes are not in it. `read` gives a new copy [...], and `write` sets all numbers.
    """

    owner: Owner | None = None

    @classmethod
    def copy_of(cls, read: Callable[[], np.ndarray], write: Callable[[np.ndarray], object]) -> Self:
        """The present numbers of an owner."""
        root = read()
        shown = cls.of(root, "only single entries and slices can be assigned to: x[...] = values")
        shown.owner = Owner(root, read, write)
        return shown

    def __array_finalize__(self, source: Any) -> None:
        super().__array_finalize__(source)
        self.owner = getattr(source, "owner", None)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.owner is None or not np.may_share_memory(self, self.owner.numbers):
            super().__setitem__(key, value)
            return
        values, present = numbers("the value", value), self.owner.read()
        try:
            self._part(self.owner, present)[key] = values
        except ValueError as error:
            raise OptionError(f"the value has another shape: {error}") from None
        self.owner.write(present)
        self._part(self.owner, self.owner.numbers)[key] = values

    def __iadd__(self, other: Any) -> Any:
        return self._assigned(self + other)

    def __isub__(self, other: Any) -> Any:
        return self._assigned(self - other)

    def __imul__(self, other: Any) -> Any:
        return self._assigned(self * other)

    def __itruediv__(self, other: Any) -> Any:
        return self._assigned(self / other)

    def _assigned(self, values: np.ndarray) -> Self:
        self[...] = values
        return self

    def _part(self, owner: Owner, whole: np.ndarray) -> np.ndarray:
        """The part of `whole` [...] that this array is of the owner's numbers [...]."""
        first = self.__array_interface__["data"][0] - owner.numbers.__array_interface__["data"][0]
        return np.ndarray(self.shape, whole.dtype, whole, first, self.strides)


def _plain(value: Any) -> Any:
    """An ordinary view of a read-only array; of others themselves."""
    return value.view(np.ndarray) if isinstance(value, ReadOnly) else value
