"""Checks of users' arguments: each returns the checked value, or raises an OptionError that names the argument."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from saltus.errors import OptionError, ReadOnlyError

#: Values that files hold for options and attributes: text, numbers, and lists and mappings of these.
PlainValue: TypeAlias = "str | int | float | bool | list[PlainValue] | dict[str, PlainValue] | None"


def numbers(name: str, value: Any, dtype: Any = float) -> np.ndarray:
    """Return an array of numbers; OptionError for anything else."""
    try:
        given = np.asarray(value)
        if given.dtype == object and any(x is None for x in given.flat):
            raise TypeError  # NumPy would make it a NaN
        if np.iscomplexobj(given):
            raise TypeError  # NumPy would drop the imaginary part
        return np.asarray(given, dtype)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{name} must be numbers, got {value!r}") from None


def put(name: str, view: np.ndarray, value: Any) -> None:
    """Write into a field that users set; OptionError if the value is not numeric or has another shape."""
    values = numbers(name, value)
    refuse_without_room(name, view.shape, values)
    try:
        view[...] = values
    except ReadOnlyError:
        raise
    except ValueError:
        raise OptionError(f"{name} has shape {view.shape}, not {values.shape}") from None


def refuse_without_room(name: str, shape: tuple[int, ...], values: np.ndarray) -> None:
    """OptionError for numbers that are given to a field without room for any, where NumPy would drop them."""
    if 0 in shape and values.size and (values.ndim or values != 0):
        raise OptionError(f"{name} has shape {shape}, not {values.shape}: it has no entries to set")


def number(name: str, value: Any) -> float:
    """Return one number; OptionError for anything else."""
    found = numbers(name, value)
    if found.shape:
        raise OptionError(f"{name} must be one number, got {value!r}")
    return float(found)


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """Return a whole number from `least` on; OptionError for anything else."""
    if type(value) is int and least <= value <= sys.maxsize:
        return value
    try:
        number = int(value)
        whole = bool(number == value)
    except (TypeError, ValueError, OverflowError):
        number, whole = 0, False
    if not whole or number > sys.maxsize:
        raise OptionError(f"{name} must be a whole number, got {value!r}")
    if number < least:
        what = "not be negative" if least == 0 else f"be at least {least}"
        raise OptionError(f"{name} must {what}, got {value!r}")
    return number


def positive(name: str, value: Any, unit: str = "s", *, or_zero: bool = False) -> float:
    """Return a positive number of a unit, "" for one without; OptionError for anything else."""
    kind = {"": "", "s": " of seconds"}.get(unit, f" of {unit}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must be a number{kind}, got {value!r}") from None
    if not (math.isfinite(number) and (number > 0 or (or_zero and number == 0))):
        sign = "not negative" if or_zero else "positive"
        raise OptionError(f"{name} must be {sign} and finite, got {number:g} {unit}".rstrip())
    return number


def usable_cores() -> int:
    """Number of processors that this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def thread_count(value: Any) -> int:
    """Return a number of threads; for None, as many as this process may use."""
    return usable_cores() if value is None else whole_number("threads", value, 1)


def path_of(name: str, value: Any) -> str | os.PathLike[str]:
    """Return a path, text or os.PathLike; OptionError for anything else."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise OptionError(f"{name} must be the path of a file, got {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """Return a value as True or False; OptionError where it has no truth value."""
    try:
        return bool(value)
    except ValueError:
        raise OptionError(f"{name} must be True or False, got {value!r}") from None


def text_of(name: str, value: Any) -> str:
    """Return a text; OptionError for anything else."""
    if not isinstance(value, str):
        raise OptionError(f"{name} must be text, got {value!r}")
    return value


def words(name: str, value: Any) -> list[str]:
    """Return a list of one or several texts; OptionError for anything else."""
    given = [value] if isinstance(value, str) else several(name, value)
    return [text_of(f"each of {name}", word) for word in given]


def several(name: str, value: Any) -> list[Any]:
    """Return a list of the items of an iterable; OptionError for anything else."""
    if not isinstance(value, Iterable):
        raise OptionError(f"{name} must be a list, got {value!r}")
    return list(value)


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """Return a mapping, such as a dictionary; OptionError for anything else."""
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} must be a dictionary, got {value!r}")
    return value


def function(name: str, value: Any) -> Callable[..., Any]:
    """Return a callable; OptionError for anything else."""
    if not callable(value):
        raise OptionError(f"{name} must be a function, got {value!r}")
    return value
