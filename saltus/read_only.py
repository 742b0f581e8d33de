"""Arrays that cannot be written to, whose error tells how to change what they show."""

from typing import Any, Self

import numpy as np

from saltus.errors import ReadOnlyError


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


def _plain(value: Any) -> Any:
    """An ordinary view of a read-only array; of others themselves."""
    return value.view(np.ndarray) if isinstance(value, ReadOnly) else value
