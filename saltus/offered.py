"""Functions of higher rooms that objects of lower rooms offer as methods.

A model has a page, and a notebook shows displays of it; what makes them stands above the model. The package registers
such functions by name when it is imported, and each is loaded when it is first called.
"""

from collections.abc import Callable
from typing import Any

_LOADS: dict[str, Callable[[], Callable[..., Any]]] = {}


def offer(load: Callable[[], Callable[..., Any]]) -> Callable[[], Callable[..., Any]]:
    """Register a function that imports and returns another one, under its own name."""
    _LOADS[load.__name__] = load
    return load


def offered(name: str) -> Callable[..., Any]:
    """The function that was registered under this name. KeyError: there is none."""
    return _LOADS[name]()
