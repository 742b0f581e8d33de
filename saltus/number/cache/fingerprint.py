"""What a function does, as a hash: functions with the same fingerprint compile to the same code.

Compiled code takes what a function refers to as constants. So its fingerprint is made of its bytecode and constants,
its defaults, the cells of its closure and the globals that it loads, and so on through all functions that it calls:
numbers and text as they are, arrays by type, shape and bytes. Anything else, whose value cannot be told, is refused.
The package's own functions count by their names and closures where their sources are part of the cache's key.
"""

import dis
import enum
import hashlib
import inspect
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.extending import _Intrinsic

from saltus.errors import OptionError
from saltus.number.features import Choice

PACKAGE = Path(__file__).resolve().parents[2]
# rooms whose sources are part of the cache's key
KERNEL_ROOMS = ("number", "spatial", "model", "dynamics", "contact", "solve", "integrate", "sense", "simulate")
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
KNOWN = {
    "builtins",
    "math",
    "cmath",
    "operator",
    "numpy",
    "numba",
    "llvmlite",
    "saltus",
}  # functions told by their names
MISSING = object()


def fingerprint(function: Any, room: Path | None = None) -> str:
    """Hash of a Python function and of all that it calls; empty for the package's own functions without a closure.

    `room`: a folder whose sources the caller's key covers, beside the kernels' own.

    Raises OptionError, which names what the function refers to, where that cannot be told or is not defined yet.
    """
    walk = _Walk(function, room)
    if walk.is_ours(function) and not function.__closure__:
        return ""
    return hashlib.sha256(repr(walk.described()).encode()).hexdigest()


def names_in(function: Any) -> frozenset[str]:
    """All names that a function and what it calls, but for the package's own functions, load or take from objects."""
    walk = _Walk(function, None)
    walk.described()
    return frozenset(walk.names)


class _Walk:
    """A function and what it refers to, as nested tuples of numbers and text."""

    def __init__(self, function, room: Path | None):
        self._whole, self._name = function, function.__name__
        self._seen: dict[Any, int] = {}
        self.names: set[str] = set()
        self._covered = [PACKAGE / name for name in KERNEL_ROOMS] + ([] if room is None else [room])

    def described(self) -> tuple:
        return self._function(self._whole)

    def is_ours(self, function) -> bool:
        """Whether the cache's key covers the source of a function."""
        path = Path(function.__code__.co_filename)
        return any(path.is_relative_to(folder) for folder in self._covered)

    def _function(self, function) -> tuple:
        if function in self._seen:
            return "seen", self._seen[function]
        self._seen[function] = len(self._seen)
        nonlocals = dict(zip(function.__code__.co_freevars, map(_content, function.__closure__ or ()), strict=True))
        cells = [
            (name, value.__name__ if isinstance(value, ModuleType) else self._value(name, value))
            for name, value in nonlocals.items()
            if value is not MISSING  # one that refers to itself before it is there
        ]
        if self.is_ours(function):
            return function.__module__, function.__qualname__, *cells
        defaults = [self._value("a default", x) for x in (function.__defaults__, function.__kwdefaults__)]
        code = self._code(function.__code__, function.__builtins__ | function.__globals__, nonlocals)
        return *cells, *defaults, code

    def _code(self, code: CodeType, names: dict[str, Any], nonlocals: dict[str, Any]) -> tuple:
        """Bytecode, constants and functions inside, and the globals that it loads."""
        self.names |= set(code.co_names)
        constants = [
            self._code(x, names, nonlocals) if inspect.iscode(x) else self._value("a constant", x)
            for x in code.co_consts
        ]
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        variables = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        loaded = {name: self._value(name, value) for name, value in self._loaded(code, names, nonlocals).items()}
        return code.co_code, counts, variables, *constants, *loaded.items()

    def _loaded(self, code: CodeType, names: dict[str, Any], nonlocals: dict[str, Any]) -> dict[str, Any]:
        """The globals that a code loads by name, and what it takes from modules."""
        found = {}
        name, value = "", MISSING
        for instruction in dis.get_instructions(code):
            kind, argument = instruction.opname, instruction.argval
            if kind == "EXTENDED_ARG":
                continue
            if isinstance(value, ModuleType):
                if kind not in ("LOAD_ATTR", "LOAD_METHOD"):
                    raise self._refusal(name, "a module")
                name, value = f"{name}.{argument}", getattr(value, argument, MISSING)
            elif kind == "LOAD_GLOBAL":
                name, value = argument, names.get(argument, MISSING)
            elif kind == "LOAD_DEREF" and isinstance(nonlocals.get(argument), ModuleType):
                name, value = argument, nonlocals[argument]
            else:
                continue
            if value is MISSING:
                raise self._refusal(name)
            if not isinstance(value, ModuleType):
                found[name], value = value, MISSING
        return found

    def _value(self, name: str, value: Any) -> tuple:
        if isinstance(value, PLAIN):
            return type(value).__qualname__, repr(value)
        if isinstance(value, tuple | list):
            return type(value).__qualname__, *[self._value(name, x) for x in value]
        if isinstance(value, set | frozenset):
            return type(value).__qualname__, *sorted(self._value(name, x) for x in value)
        if isinstance(value, dict):
            return "dict", *[(self._value(name, k), self._value(name, x)) for k, x in value.items()]
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            return "array", repr(value.dtype), np.shape(value), hashlib.sha256(value.tobytes()).hexdigest()
        if isinstance(value, enum.Enum):
            return type(value).__qualname__, value.name, self._value(name, value.value)
        if isinstance(value, enum.EnumMeta):
            return value.__qualname__, *[self._value(name, x) for x in value]
        return self._called(name, value)

    def _called(self, name: str, value: Any) -> tuple:
        """A function or type."""
        if isinstance(value, Dispatcher):
            options = sorted((k, repr(sorted(x) if isinstance(x, set) else x)) for k, x in value.targetoptions.items())
            return "kernel", options, self._function(value.py_func)
        if isinstance(value, Choice) or getattr(value, "py_func", None) is value:  # compiled for some models only
            return "kernel", self._function(value.py_func)
        if isinstance(value, _Intrinsic):
            function = value._defn  # noqa: SLF001 (Numba's)
            inside = () if self.is_ours(function) else self._function(function)  # views: their layouts are keys, too
            return "intrinsic", function.__module__, function.__qualname__, *inside
        if isinstance(value, types.Type):
            return "type", repr(value)
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return value.__qualname__, value._fields
        known = inspect.isroutine(value) or isinstance(value, type) or type(value).__module__ == "numpy"
        module = getattr(value, "__module__", None) or type(value).__module__
        if known and callable(value) and module.split(".")[0] in KNOWN:
            return module, value.__qualname__
        raise self._refusal(name, f"of type {type(value).__name__}")

    def _refusal(self, name: str, what: str = "") -> OptionError:
        if not what:
            return OptionError(f"{self._name} refers to {name}, which is not defined")
        return OptionError(
            f"{self._name} refers to {name}, {what}; compiled code can take in numbers, text, tuples, NumPy arrays and "
            "other kernels"
        )


def _content(cell) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING
