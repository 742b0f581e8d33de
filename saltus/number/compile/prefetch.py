"""Kernels that entries will call, found before they are compiled, so that free cores can begin with them.

Only kernels of model and data alone are looked for: their names tell the types of their arguments. They are compiled
one by one, those first that others call. What is found is a guess: whatever else is needed is compiled with the entry.
"""

import base64
import pickle
from contextlib import suppress
from typing import Any

from saltus.number.cache.storage import is_kept
from saltus.number.compile import worker_pool
from saltus.number.compile.worker_pool import Work
from saltus.number.conditions import live_code
from saltus.number.features import NONE, Choice, narrowed
from saltus.number.internals import Dispatcher, cache_of
from saltus.number.struct_types import StructType
from saltus.number.structs import LAYOUTS

STRUCTS = ("m", "d")
OURS = "saltus."  # modules of kernels; to import a user's may do anything


Structs = dict[str, StructType]

_soon: dict[Any, Structs] = {}  # functions that will be needed


def soon(function: Any, structs: Structs) -> None:
    """A function that calls kernels, in which structs have these names and types, will be needed."""
    if set(STRUCTS) <= structs.keys():
        _soon[function] = structs


def begin(function: Any, structs: Structs) -> None:
    """Have free cores begin with the kernels that a function, compiled now, calls, and with those needed soon."""
    soon(function, structs)
    missing: dict[str, Work] = {}
    for wanted in (function, *(other for other in _soon if other is not function)):
        if types := _soon.pop(wanted, None):
            found = _Kernels(*[types[name] for name in STRUCTS])
            found.called_in(wanted)
            missing |= found.missing
    worker_pool.offer(missing.values())


def compile_kernel(asked: str) -> None:
    """Compile what a line asks for, and keep it."""
    kernel, structs = pickle.loads(base64.b64decode(asked))
    types = tuple(StructType(layout.name, real) for layout, real in structs)
    if isinstance(kernel, Choice):
        kernel, _ = kernel.chosen(types)
    kernel.compile(types)


class _Kernels:
    """Kernels of model and data with these types that are not in the cache, those first that others call."""

    def __init__(self, m: StructType, d: StructType):
        self.missing: dict[str, Work] = {}  # by their files
        self._types = m, d
        self._below: dict[Any, tuple[str, ...]] = {}  # files that kernels need that a function calls, directly

    def called_in(self, function: Any) -> tuple[str, ...]:
        """The files of kernels that this function calls, and of those that it calls by way of others."""
        if function not in self._below:
            self._below[function] = ()  # while a kernel that calls itself is looked at
            live = live_code(function, self._types[0].features)
            values = [function.__globals__[name] for name in function.__code__.co_names if name in live.names]
            values += [cell.cell_contents for cell in function.__closure__ or ()]
            files = [file for value in values for file in self._kernel(value)]
            self._below[function] = tuple(dict.fromkeys(files))
        return self._below[function]

    def _kernel(self, value: Any) -> tuple[str, ...]:
        kernel, keep = value.chosen(self._types) if isinstance(value, Choice) else (value, NONE)
        if not isinstance(kernel, Dispatcher):
            return ()
        below, code = self.called_in(kernel.py_func), kernel.py_func.__code__
        if code.co_varnames[: code.co_argcount] != STRUCTS or not kernel.py_func.__module__.startswith(OURS):
            return below
        types = tuple(narrowed(t, kernel, keep) for t in self._types)
        name = cache_of(kernel).file_name(types)
        if not name or is_kept(name):
            return ()
        if name not in self.missing:
            with suppress(pickle.PicklingError, AttributeError, TypeError):
                work = pickle.dumps((value, [(LAYOUTS[t.layout_name], t.real) for t in types]))
                self.missing[name] = Work(name, f"kernel {base64.b64encode(work).decode()}", below)
        return (name,)
