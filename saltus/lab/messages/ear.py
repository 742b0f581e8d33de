"""Warnings of Saltus in the lab's threads: each is sent to the page once, and handled as usual.

`warnings.catch_warnings` changes global state and is not thread-safe. One hook therefore serves all threads and
passes each warning to the listener of the thread that issued it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from saltus.errors import SaltusWarning

T = TypeVar("T")

_here = threading.local()
_lock = threading.Lock()


class Ear:
    """Listener to the warnings issued inside `with ear:` in the same thread; usable in any number of threads.

    tell: called once with each text.
    """

    def __init__(self, tell: Callable[[str], None]):
        self._tell = tell
        self._told: set[str] = set()

    def hear(self, text: str) -> None:
        """Pass on a warning unless it was passed on before."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def listening(self, work: Callable[[], T]) -> Callable[[], T]:
        """Return a function that does the work inside `with self:`."""

        def heard() -> T:
            with self:
                return work()

        return heard

    def __enter__(self) -> Ear:
        _put_in_hook()
        _here.ears = [*getattr(_here, "ears", ()), self]
        return self

    def __exit__(self, *exc: object) -> None:
        _here.ears = _here.ears[:-1]


def _put_in_hook() -> None:
    """Install the hook, again if something else has replaced it."""
    with _lock:
        before = warnings.showwarning
        if isinstance(before, _Hook):
            return
        warnings.showwarning = _Hook(before)


class _Hook:
    """Replacement of `warnings.showwarning`: informs the thread's listener, then calls the former function."""

    def __init__(self, before: Callable[..., None]):
        self._before = before

    def __call__(self, message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        ears = getattr(_here, "ears", ())
        if ears and issubclass(category, SaltusWarning):
            ears[-1].hear(str(message))
        self._before(message, category, *where, **more)
