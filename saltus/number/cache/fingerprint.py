"""Fingerprints of functions: hashes of all that they do. Functions with equal ones compile to the same code.

Compiled code takes what a function refers to as constants. So its fingerprint is made of its bytecode and constants,
its defaults, the cells of its closure and the globals that it loads, and so on through all functions that it calls:
numbers and text as they are, arrays by type, shape and bytes. Positions, comments and docstrings do not count. Anything
else, whose value cannot be told, is refused.

What no walk from a kernel can find is hashed as a whole (`base_key`): the room `number/`, the files that extend the
compiler, and how Numba is set up. Functions of `number/`, which call no others, count by their names and closures.
"""

import dis
import enum
import functools
import hashlib
import inspect
import math
import os
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numba import config, types

from saltus.errors import OptionError
from saltus.number.cache.checked import CHECKED
from saltus.number.features import Choice
from saltus.number.internals import Dispatcher, Intrinsic, code_options, defined_by

PACKAGE = Path(__file__).parents[2]  # not resolved: functions name their files so
# rooms with kernels of the physics
KERNEL_ROOMS = ("number", "spatial", "model", "dynamics", "contact", "solve", "integrate", "sense", "simulate")
#: Files outside `number/` with functions that the compiler chooses by types.
EXTENSIONS = (
    "contact/contact_tangents.py",
    "contact/mujoco/flex_collision.py",
    "contact/rows/user_compliance.py",
    "dynamics/control.py",
    "dynamics/equations.py",
    "integrate/dense/substep.py",
    "integrate/event/user_events.py",
)
#: Files of plain functions by which those choose.
CHOOSING = ("dynamics/user_laws.py",)
#: Numba's settings (environment variables NUMBA_...) on which machine code depends.
SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "USING_SVML")
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
KNOWN = {*("builtins", "math", "cmath", "operator", "numpy", "numba", "llvmlite", "saltus")}  # told by their names
MISSING = object()


@functools.cache
def base_key() -> str:
    """Hash of the sources and settings on which all compiled code depends."""
    settings = np.__version__, CHECKED, *(getattr(config, name, None) for name in SETTINGS)
    digest = hashlib.sha256(repr(settings).encode())
    others = [PACKAGE / name for name in (*EXTENSIONS, *CHOOSING)]
    for source in (*sorted((PACKAGE / "number").rglob("*.py")), *others):
        digest.update(str(source.relative_to(PACKAGE)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


@functools.cache
def _kernel_rooms() -> tuple[str, ...]:
    """Folders of kernels, as functions name them."""
    return tuple(str(PACKAGE / room) + os.sep for room in KERNEL_ROOMS)


def fingerprint(function: Any, room: Path | None = None) -> str:
    """Hash of a Python function and of all that it calls.

    `room`: a folder whose sources the caller's key covers, as `base_key` does others.

    Raises OptionError, which names what the function refers to, where that cannot be told or is not defined yet.
    """
    return _Walk(function, room).digest()


def names_in(function: Any) -> frozenset[str]:
    """All names that a function and what it calls, but for the package's kernels, load or take from objects."""
    walk = _Walk(function, None, afresh=True)
    walk.described()
    return frozenset(walk.names)


#: Digests of functions under Numba's own decorators when they were compiled, or first met if that was before.
_COMPILED: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
#: Digests of the package's own functions that only refer to its own, by the functions and the folder that is covered.
_OWN: dict[tuple[FunctionType, Path | None], str] = {}
Functions = tuple[FunctionType, ...]
Names = Mapping[str, Any]


def is_ours(function: FunctionType) -> bool:
    """Whether a function stands in a file of the package."""
    return function.__code__.co_filename.startswith(_package())


def lasts(function: Any) -> bool:
    """Whether nothing changes a function: it stands in the package, and so do the kernels in its closure."""
    return is_ours(function) and all(map(_cell_lasts, _nonlocals(function).values()))


def _cell_lasts(value: Any) -> bool:
    """Whether nothing changes a value in a closure."""
    if isinstance(value, Choice):
        return lasts(value.kernel.py_func)
    if isinstance(value, Dispatcher):
        return lasts(value.py_func)
    return isinstance(value, bool | int | float | str) or (isinstance(value, tuple) and all(map(_cell_lasts, value)))


@functools.cache
def _package() -> str:
    return str(PACKAGE) + os.sep


class _Walk:
    """A function and what it refers to, as nested tuples of numbers and text.

    `above`: the package's own functions that are being walked, down to this one; `afresh`: for names alone,
    whatever is known of those functions.
    """

    def __init__(
        self, function, room: Path | None, above: Functions = (), afresh: bool = False, checked: list | None = None
    ):
        self._checked: list[FunctionType] = [function] if checked is None else checked
        self._whole, self._name, self._room, self._afresh = function, function.__name__, room, afresh
        self._seen: dict[Any, int] = {}
        self._above: Functions = (*above, function)
        self._again: set[FunctionType] = set()  # those above that are met again
        self._foreign = False  # whether it refers to what is not the package's own, which may change
        self.names: set[str] = set()

    def described(self) -> tuple:
        return self._function(self._whole)

    def digest(self) -> str:
        found = _OWN.get((self._whole, self._room))
        if found is None or self._afresh:
            found = hashlib.sha256(repr(self.described()).encode()).hexdigest()
            lasting = not (self._foreign or self._again - {self._whole} or self._afresh)
            if lasting and lasts(self._whole):
                _OWN[self._whole, self._room] = found
        return found

    def _is_covered(self, function) -> bool:
        """Whether the cache's key covers the source of a function, or its names are not asked for."""
        path = function.__code__.co_filename
        return (
            path.startswith(_kernel_rooms()[0])
            or (self._room is not None and Path(path).is_relative_to(self._room))
            or (self._afresh and path.startswith(_kernel_rooms()))
        )

    def _function(self, function) -> tuple:
        if function in self._seen:
            return "seen", self._seen[function]
        if self._is_covered(function):
            code = function.__code__
            place = tuple(code.co_positions()) if "<lambda>" in code.co_qualname else ()  # several have that name
            return function.__module__, function.__qualname__, *place, *self._cells(function)
        if function is not self._whole and lasts(function):
            return "own", function.__module__, function.__qualname__, self._own(function)
        module = function.__module__ or ""  # files of compiled code name that of a user's function
        self._foreign = self._foreign or not module.startswith("saltus.")
        self._seen[function] = len(self._seen)
        defaults = [self._value("a default", x) for x in (function.__defaults__, function.__kwdefaults__)]
        names = ChainMap(function.__globals__, function.__builtins__)
        code = self._code(function.__code__, names, _nonlocals(function), function.__doc__)
        return module, *self._cells(function), *defaults, code

    def _own(self, function) -> str:
        """The digest of one of the package's own functions; a circle ends at the first that is met again."""
        if function in self._above:
            self._again.add(function)
            return "again"
        found = _OWN.get((function, self._room))
        if found is None or self._afresh:
            walk = _Walk(function, self._room, self._above, self._afresh)
            found = walk.digest()
            self._again |= walk._again - {function}
            self._foreign = self._foreign or walk._foreign
            self.names |= walk.names
        return found

    def _cells(self, function) -> list:
        return [
            (name, value.__name__ if isinstance(value, ModuleType) else self._value(name, value))
            for name, value in _nonlocals(function).items()
            if value is not MISSING  # one that refers to itself before it is there
        ]

    def _code(self, code: CodeType, names: Names, nonlocals: Names, doc: str | None = None) -> tuple:
        """Bytecode, constants and functions inside, and the globals that it loads."""
        self.names |= set(code.co_names)
        bytecode, constants = _without_docstring(code, doc)
        described = [
            self._code(x, names, nonlocals) if inspect.iscode(x) else self._value("a constant", x) for x in constants
        ]
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        variables = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        return bytecode, code.co_exceptiontable, counts, variables, *described, *self._globals(code, names, nonlocals)

    def _globals(self, code: CodeType, names: Names, nonlocals: Names) -> list[tuple]:
        """Globals by name, with their values."""
        if not nonlocals and lasts(self._whole):
            loaded = global_names(code)
            found = [(name, names[name]) for name in loaded if name in names]
            if len(found) == len(loaded) and not any(isinstance(value, ModuleType) for _, value in found):
                return [(name, self._value(name, value)) for name, value in found]
        return [(name, self._value(name, value)) for name, value in self._loaded(code, names, nonlocals).items()]

    def _loaded(self, code: CodeType, names: Names, nonlocals: Names) -> dict[str, Any]:
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
            return type(value).__qualname__, *_plain(value)
        if isinstance(value, tuple | list):
            return type(value).__qualname__, *[self._value(name, x) for x in value]
        if isinstance(value, set | frozenset):
            return type(value).__qualname__, *sorted(self._value(name, x) for x in value)
        if isinstance(value, dict):
            return "dict", *[(self._value(name, k), self._value(name, x)) for k, x in value.items()]
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            what = type(value).__qualname__, repr(value.dtype), np.shape(value), value.flags.fnc
            return *what, hashlib.sha256(value.tobytes()).hexdigest()
        if isinstance(value, enum.Enum):
            return type(value).__qualname__, value.name, self._value(name, value.value)
        if isinstance(value, enum.EnumMeta):
            return value.__qualname__, *[(k, self._value(name, x.value)) for k, x in value.__members__.items()]
        return self._called(name, value)

    def _called(self, name: str, value: Any) -> tuple:
        """A function or type."""
        if isinstance(value, Dispatcher):
            self._check_compiled(name, value)
            return "kernel", _options(value), self._function(value.py_func)
        if isinstance(value, Choice) or getattr(value, "py_func", None) is value:  # compiled for some models only
            return "kernel", self._function(value.py_func)
        if isinstance(value, Intrinsic):
            return "intrinsic", *self._function(defined_by(value))
        if isinstance(value, types.Type):
            return "type", repr(value)
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            defaults = getattr(value, "_field_defaults", {})
            return value.__qualname__, value._fields, self._value(name, defaults)
        if hasattr(value, "looks_at"):  # the compiler chooses what it calls
            return "choice", *self._function(value), *[(k, self._value(k, x)) for k, x in _choices(value).items()]
        if inspect.isfunction(value) and (value.__module__ or "").startswith("saltus."):
            return "function", *self._function(value)
        known = inspect.isroutine(value) or isinstance(value, type) or type(value).__module__ == "numpy"
        module = getattr(value, "__module__", None) or type(value).__module__
        if known and callable(value) and module.split(".")[0] in KNOWN and hasattr(value, "__qualname__"):
            return module, value.__qualname__
        raise self._refusal(name, f"of type {type(value).__name__}")

    def _check_compiled(self, name: str, dispatcher: Any) -> None:
        """OptionError where Numba has compiled a user's function, and a value that it refers to has changed since.

        It would call what it has compiled; kernels are compiled anew (see `saltus.number.kernels.kernel`).
        """
        function = dispatcher.py_func
        if "options" in vars(dispatcher) or is_ours(function) or function in self._checked:
            return
        self._checked.append(function)
        now = _Walk(function, self._room, checked=self._checked).digest()
        if not dispatcher.overloads:
            _COMPILED[dispatcher] = now  # it is looked at once more just before it is compiled with a caller
        elif _COMPILED.setdefault(dispatcher, now) != now:
            raise OptionError(
                f"{self._name} refers to {name}, which was compiled before a value that it refers to changed; define "
                "it anew, or make the value one of its arguments"
            )

    def _refusal(self, name: str, what: str = "") -> OptionError:
        if not what:
            return OptionError(f"{self._name} refers to {name}, which is not defined")
        return OptionError(
            f"{self._name} refers to {name}, {what}; compiled code can take in numbers, text, tuples, NumPy arrays and "
            "other kernels"
        )


def global_names(code: CodeType) -> list[str]:
    """The names of the globals that a code loads, in order; ten times as fast as by `dis.get_instructions`."""
    found: dict[str, None] = {}
    load, more, high = dis.opmap["LOAD_GLOBAL"], dis.EXTENDED_ARG, 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        if operation == more:
            high = (high | argument) << 8
            continue
        if operation == load:
            found[code.co_names[(high | argument) >> 1]] = None  # the last bit: whether it is called next
        high = 0
    return list(found)


def _nonlocals(function) -> dict[str, Any]:
    """The cells of a closure by name."""
    return dict(zip(function.__code__.co_freevars, map(_content, function.__closure__ or ()), strict=True))


def _options(dispatcher: Any) -> str:
    """Options with which a dispatcher compiles its function; other options make other code."""
    if "options" in vars(dispatcher):
        return vars(dispatcher)["options"]
    return code_options(dispatcher)


def _choices(function) -> dict[str, Any]:
    """Kernels and constants that the plain functions of a module refer to: some choose what stands for `function`."""
    wanted = (Dispatcher, Choice, np.ndarray, tuple, enum.EnumMeta, *PLAIN)
    return {name: x for name, x in _loaded_in_module(function).items() if isinstance(x, wanted)}


@functools.cache
def _loaded_in_module(function) -> dict[str, Any]:
    """The globals that the plain functions and intrinsics of a function's module load, by name."""
    own = [getattr(x, "_defn", x) for x in function.__globals__.values()]
    codes = [x.__code__ for x in own if inspect.isfunction(x) and x.__module__ == function.__module__]
    names: set[str] = set()
    while codes:
        code = codes.pop()
        names |= {x.argval for x in dis.get_instructions(code) if x.opname == "LOAD_GLOBAL"}
        codes += [x for x in code.co_consts if inspect.iscode(x)]
    return {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}


def _plain(value: Any) -> tuple:
    """A number or text as it is, also where its class shows it otherwise."""
    if isinstance(value, float):
        return float.__repr__(value), math.copysign(1.0, value)  # NaNs have signs
    if isinstance(value, complex):
        return _plain(value.real), _plain(value.imag)
    if isinstance(value, int):
        return (int.__format__(value, "x"),)
    known = next((base for base in (str, bytes) if isinstance(value, base)), type(value))
    return (known.__repr__(value),)


def _without_docstring(code: CodeType, doc: str | None) -> tuple[bytes, tuple]:
    """Bytecode and constants as they would be without the function's docstring, which is the first constant."""
    bytecode, constants = code.co_code, code.co_consts
    if doc is None or not constants or constants[0] != doc or len(constants) > 255:
        return bytecode, constants
    others = constants[1:]
    if None not in others:
        return bytecode, (None, *others)
    # without a docstring None comes first, and the constants behind it are one place nearer
    at = others.index(None) + 1
    load = dis.opmap["LOAD_CONST"]
    moved = bytearray(bytecode)
    for k in range(0, len(moved), 2):
        if moved[k] == load and moved[k + 1] >= at:
            moved[k + 1] = 0 if moved[k + 1] == at else moved[k + 1] - 1
    return bytes(moved), (None, *constants[1:at], *constants[at + 1 :])


def _content(cell) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING
