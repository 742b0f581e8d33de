"""Dispatchers of Numba that are made when they are first looked at.

Numba takes a third of a millisecond for each. The package has more than a thousand kernels, of which a run whose code
is in the cache looks at a few.
"""

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from saltus.number.internals import CPUDispatcher, become_dispatcher

KNOWN = {"py_func", "options", "__class__", "__dict__"}  # what is there before
_making = threading.RLock()


class KernelDispatcher(CPUDispatcher):
    """A dispatcher for calls by compiled code. A call from Python runs the source: there is no compiled way in.

    `interpreted` calls the kernel, and all that it calls, as plain Python.
    """

    interpreted: Callable[..., Any]

    def __call__(self, *args: Any, **kws: Any) -> Any:
        return self.interpreted(*args, **kws)

    def __repr__(self) -> str:
        return f"{CPUDispatcher.__name__}({self.py_func})"  # names of compiled functions hold it


class LateDispatcher(KernelDispatcher):
    """A function that becomes a `KernelDispatcher`, the same object, when it is called or any more is asked of it.

    `make` then does what a dispatcher's `__init__` does. `options`: by which it tells what to compile, as text.
    """

    options: str

    def __init__(self, function: FunctionType, options: str, make: Callable[[CPUDispatcher], None]):
        vars(self).update(py_func=function, options=options, _make=make)

    def __getattribute__(self, name: str) -> Any:
        if name not in KNOWN:
            _make(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _make(self)
        object.__setattr__(self, name, value)


def _make(dispatcher: LateDispatcher) -> None:
    """Once, whichever thread asks first; while it is made it is seen as it is."""
    with _making:
        own = vars(dispatcher)
        make = own.pop("_make", None)
        if make is None:
            return
        try:
            make(dispatcher)
        except BaseException:
            own["_make"] = make
            raise
        become_dispatcher(dispatcher, KernelDispatcher)
