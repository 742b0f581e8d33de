"""Compiled loops as plain Python: whole simulations without a compiler, for tests that look at many kernels at once.

Within `plain_python()` every entry, such as the time loop of an integrator, calls its kernels as Python functions on
NumPy's floats. What is computed is the same but for rounding; a step of a small world takes some hundredths of a
second, and nothing is compiled. MuJoCo's functions in C are called by way of ctypes. Floats and duals have this, and
lanes do not.
"""

import contextlib
import ctypes
import functools
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
from numba import types as numba_types
from numba.core.typing.templates import builtin_registry

from helpers.plain_duals import FUNCTIONS, PARTS, Duals
from helpers.selves.exact import MEMORY, Area, meanings
from saltus.number import kernels
from saltus.number.components import trailing_zeros
from saltus.number.intrinsics import memory
from saltus.number.intrinsics.blocks import higher_of_block
from saltus.number.intrinsics.calls import c_function, caller
from saltus.number.jets.functions_of_time import JOINT, POSE, call_body, call_joint
from saltus.number.kernels import Entry
from saltus.number.kinds import dual
from saltus.number.structs import Layout, Struct

_views: "weakref.WeakKeyDictionary[Struct, Any]" = weakref.WeakKeyDictionary()


# ---------------------------------------------------------------- structs


class _Rows:
    """A field of rows: one index gives a row as a tuple, which later changes leave alone; two give a number of it."""

    def __init__(self, array: np.ndarray):
        self._array = array

    def __getitem__(self, index: Any) -> Any:
        value = self._array[index]
        return value if value.ndim == 0 else tuple(value)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value

    def __len__(self) -> int:
        return len(self._array)


@functools.cache
def _fields_of(layout: Layout, duals: bool) -> type:
    """Fields of a layout as kernels see them: scalars are numbers, not views, and those that are real are assigned."""

    def number(name, kind):
        if kind == "int":
            return property(lambda self: int(self.head[layout.slot[name]]))
        return property(lambda self: self.arrays[name][()], lambda self, x: self.arrays[name].__setitem__((), x))

    scalars = {name: number(name, field.kind) for name, field in layout.fields.items() if not field.shape}
    buffer = {
        "__getitem__": lambda self, k: self.buffer[k],
        "__setitem__": lambda self, k, x: _put_in(self.buffer, k, x),
    }
    return type(layout.name, (), scalars | buffer | {"layout": layout, "real": dual if duals else None})


def _put_in(buffer: np.ndarray, k: Any, x: Any) -> None:
    buffer[k] = x


def fields(struct: Struct) -> Any:
    """The struct for kernels in plain Python, on the same memory; with indices it is the buffer of its real numbers."""
    found = _views.get(struct)
    if found is None or found.layout is not struct.layout:
        if struct.kind not in ("float64", "dual"):
            raise NotImplementedError(f"{struct.kind} has no meaning in plain Python")
        found = _fields_of(struct.layout, struct.kind == "dual")()
        kinds = {name: field.kind for name, field in struct.layout.fields.items()}
        real = Duals if struct.kind == "dual" else lambda view: view if view.ndim < 2 else _Rows(view)
        found.arrays = {
            name: (_Rows(view) if view.ndim > 1 else view) if kinds[name] == "int" else real(view)
            for name, view in struct.views.items()
        }
        found.head, found.buffer = struct.ints, struct.real
        for name, array in found.arrays.items():
            if struct.layout.fields[name].shape:
                setattr(found, name, array)
        _views[struct] = found
    return found


# ---------------------------------------------------------------- functions


@functools.cache
def _known() -> dict[Any, Any]:
    """Meanings of functions that only compiled code has; bits are looked at in Python's whole numbers."""
    bits = kernels.PLAIN[trailing_zeros]
    own = {**PARTS, trailing_zeros: lambda x: bits(int(x)), higher_of_block: _highest, memory.put_lanes: _put}
    own |= {memory.get: _get, memory.put: _put, memory.get_int: _get_int}
    own |= {caller(result): _call_at for result in (numba_types.none, numba_types.int64)}
    own |= {c_function(*words): functools.partial(_call_in_c, words) for words in C_FUNCTIONS}
    own |= {call_joint: functools.partial(_call_motion, JOINT), call_body: functools.partial(_call_motion, POSE)}
    return {**kernels.PLAIN, **MEMORY, **own}


#: Results and arguments of the functions in C that kernels call: collisions, rays, distances, deformable bodies.
C_FUNCTIONS = (
    ("int", "pointer", "pointer", "pointer", "int", "int", "double"),
    ("double", *["pointer"] * 5, "byte", "int", "pointer", "pointer"),
    ("double", "pointer", "pointer", "int", "int", "double", "pointer"),
    ("long", "long"),
)
C_TYPES = {"double": ctypes.c_double, "long": ctypes.c_int64, "int": ctypes.c_int32, "byte": ctypes.c_uint8}
C_TYPES["pointer"] = ctypes.c_void_p


def _call_in_c(words, address, arguments):
    result, *taken = (C_TYPES[word] for word in words)
    given = [float(x) if word == "double" else int(x) for word, x in zip(words[1:], arguments, strict=True)]
    return ctypes.CFUNCTYPE(result, *taken)(int(address))(*given)


def _call_motion(count, address, arguments):
    """Numbers of a prescribed motion, which is compiled: Numba's functions return a status, and write the result."""
    numbers, raised = (ctypes.c_double * count)(), ctypes.c_void_p()
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double)(int(address))
    status = function(ctypes.addressof(numbers), ctypes.addressof(raised), float(arguments[0]))
    return tuple(np.array(numbers) if status == 0 else np.full(count, np.nan))


def _get(address, i):
    return address.get(i) if isinstance(address, Area) else np.float64(_in_memory(ctypes.c_double, address, i).value)


def _get_int(address, i):
    return address.get(i) if isinstance(address, Area) else _in_memory(ctypes.c_int64, address, i).value


def _put(address, i, value):
    if isinstance(address, Area):
        address.put(i, value)
    else:
        _in_memory(ctypes.c_double, address, i).value = value


def _in_memory(kind, address, i):
    return kind.from_address(int(address) + 8 * int(i))


def _highest(star, block, x, y, z, least):
    heights = np.array((x, y, z)) @ np.reshape(star[block], (3, -1))
    k = int(np.argmax(heights))
    return (k, heights[k]) if heights[k] > least else (-1, least)


@functools.cache
def _choices() -> dict[Any, Any]:
    """Functions that the compiler replaces by one that is chosen by the structs' features, and what chooses it."""
    found = {}
    for function, kind in builtin_registry.globals:
        chooser = getattr(getattr(kind, "templates", [None])[0], "_overload_func", None)
        if (
            chooser is not None
            and (chooser.__module__ or "").startswith("saltus.")
            and "m" in chooser.__code__.co_varnames[:1]
        ):
            found[function] = chooser
    return found


def plain(function: Any) -> Any:
    """A kernel, and all that it calls, as plain Python on NumPy's floats."""
    return _plain(getattr(function, "py_func", function))


@functools.cache
def _plain(source: types.FunctionType) -> Any:
    made = meanings(types.SimpleNamespace(py_func=source), _known(), np.float64)
    seen, left = set(), [made]
    while left:
        function = left.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        named = function.__globals__
        for name in function.__code__.co_names:
            if name in named:
                named[name] = _called_by_name(named[name])
                left += [named[name]] if _is_copy(named[name]) else []
        inside = [cell.cell_contents for cell in function.__closure__ or ()]
        left += [value for value in inside if _is_copy(value)]
    return made


def _is_copy(value: Any) -> bool:
    """Whether a function is one that `meanings` made, which has global names of its own."""
    return isinstance(value, types.FunctionType) and "__builtins__" in value.__globals__ and _copied(value)


def _copied(function: types.FunctionType) -> bool:
    module = sys.modules.get(function.__module__ or "")
    return module is not None and function.__globals__ is not vars(module)


class _Module:
    """A module whose kernels are plain Python."""

    def __init__(self, module: types.ModuleType):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        found = plain(value) if hasattr(value, "py_func") else value
        setattr(self, name, found)
        return found


def _called_by_name(value: Any) -> Any:
    if isinstance(value, types.FunctionType) and value in FUNCTIONS:
        return FUNCTIONS[value]
    if isinstance(value, types.ModuleType) and value.__name__.startswith("saltus."):
        return _Module(value)
    if isinstance(value, types.FunctionType) and value in _choices():
        chooser, made = _choices()[value], {}

        def chosen(m, *arguments):
            key = m.layout, tuple(len(x) if isinstance(x, tuple) else 0 for x in arguments)
            if key not in made:
                # plain Python has no types to check
                with mock.patch.dict(chooser.__globals__, {"check_types": lambda *arguments: None}):
                    made[key] = plain(chooser(m, *arguments))
            return made[key](m, *arguments)

        return chosen
    return value


# ---------------------------------------------------------------- entries

_functions: dict[Any, Any] = {}  # by entry and layouts


def plain_function(entry: Entry, layouts: tuple[str, ...]) -> Any:
    """The entry as a Python function of `fields` and its arguments."""
    if (entry, layouts) not in _functions:
        _functions[entry, layouts] = plain(entry.function(layouts, view=lambda layout: lambda real, ints: real))
    return _functions[entry, layouts]


def _called(entry: Entry, *arguments: Any) -> Any:
    structs = arguments[: len(arguments) - len(entry.arguments)]
    function = plain_function(entry, tuple(s.layout.name for s in structs))
    given = [x for s in structs for x in (fields(s), s.ints)]
    with np.errstate(all="ignore"):
        return function(*given, *map(_number, arguments[len(structs) :]))


def _number(x: Any) -> Any:
    return np.float64(x) if isinstance(x, float) else x


def _bound(entry: Entry, *structs: Any) -> Any:
    return functools.partial(_called, entry, *structs)


_addressed: list[tuple[Entry, tuple[Struct, ...]]] = []  # entries with their structs, by their addresses


def _address(entry: Entry, *arguments: Any, result: Any) -> int:
    """A number in place of an entry's address; one without structs, such as a prescribed motion, is compiled."""
    count = len(arguments) - len(entry.arguments)
    if count == 0:
        return _compiled_address(entry, *arguments, result=result)
    _addressed.append((entry, arguments[:count]))
    return len(_addressed) - 1


_compiled_address = Entry.address


def _call_at(address: int, arguments: tuple[Any, ...]) -> Any:
    """Call an entry by its number with the buffers of the structs of which its address was asked for."""
    entry, structs = _addressed[address]
    for struct, buffer in zip(structs, arguments[: 2 * len(structs) : 2], strict=True):
        if getattr(buffer, "buffer", buffer) is not struct.real:
            raise NotImplementedError("in plain Python an entry is called by its address with its own structs alone")
    return _called(entry, *structs, *arguments[2 * len(structs) :])


@contextlib.contextmanager
def plain_python() -> Iterator[None]:
    """Within the block, entries of floats and of duals run in plain Python."""
    other = {"__call__": _called, "bound": _bound, "soon": lambda self, *structs: None, "address": _address}
    with mock.patch.multiple(Entry, **other):
        yield
