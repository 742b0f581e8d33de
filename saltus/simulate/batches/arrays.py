"""Arrays of other libraries as NumPy's, without copies: by DLPack, the array interface or the buffer protocol."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError

REAL = (np.dtype(np.float64), np.dtype(np.float32))
IN_MEMORY = (1, 3)  # DLPack's numbers of devices with memory visible to the CPU: kDLCPU, kDLCUDAHost


class SupportsDLPack(Protocol):
    """A tensor of another library that can lend its memory (torch.Tensor, jax.Array, ...)."""

    def __dlpack__(self, *, stream: None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


#: Destination of numbers: a NumPy array, or a tensor or buffer in CPU memory.
WritableArray: TypeAlias = NDArray[np.floating] | SupportsDLPack | memoryview | bytearray


def writable(name: str, out: WritableArray, shape: tuple[int, ...]) -> np.ndarray:
    """`out` as a NumPy array to write into, of this shape and float32 or float64; otherwise OptionError."""
    found = borrowed(f"out of {name}", out)
    if found is None:
        raise OptionError(f"out of {name} must be an array or tensor, got {type(out).__name__}")
    if found.dtype not in REAL:
        raise OptionError(f"out of {name} must hold float64 or float32, not {found.dtype}")
    if found.shape != shape:
        raise OptionError(f"out of {name} must have shape {shape}, not {found.shape}")
    if not found.flags.writeable:
        raise OptionError(f"out of {name} cannot be written: this {type(out).__name__} is read-only")
    return found


def given(name: str, values: ArrayLike | SupportsDLPack) -> np.ndarray:
    """Numbers to be written to a batch, as a NumPy array: without a copy if they are real."""
    found = borrowed(name, values)
    if found is not None and found.dtype in REAL:
        return found
    return numbers(name, values if found is None else found)


def borrowed(name: str, array: Any) -> np.ndarray | None:
    """A NumPy array that shares the memory of `array`; None if it has none to share."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "__dlpack__"):
        return _by_dlpack(name, array)
    try:
        return np.asarray(array) if hasattr(array, "__array_interface__") else np.asarray(memoryview(array))
    except (TypeError, ValueError):
        return None


def _by_dlpack(name: str, tensor: Any) -> np.ndarray:
    device = tensor.__dlpack_device__()[0]
    if device not in IN_MEMORY:
        raise OptionError(
            f"{name} is a {type(tensor).__name__} on another device (DLPack's device type {int(device)}); "
            "a batch is in CPU memory: move the data there first"
        )
    try:
        seen = np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise OptionError(f"{name}: this {type(tensor).__name__} does not share its memory: {error}") from None
    if seen.flags.writeable or not hasattr(tensor, "__array__"):
        return seen
    # DLPack before 1.0 does not tell whether memory is writable; a tensor's array does
    own = np.asarray(tensor)
    same = own.ctypes.data == seen.ctypes.data and own.shape == seen.shape and own.strides == seen.strides
    return own if same else seen
