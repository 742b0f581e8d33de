"""Warnings of Saltus in the lab's threads: each is sent to the page once, and handled as usual.

Python's own way of catching warnings replaces what all threads share, and threads that do so at the same time do not
put it back. So there is one hook for all of them, which looks who listens in the thread that warns.
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
    """Listens to the warnings that are given inside `with ear:`, in the thread that does so; for any number of threads.

    tell: called with each text, once.
    """

    def __init__(self, tell: Callable[[str], None]):
        self._tell = tell
        self._told: set[str] = set()

    def hear(self, text: str) -> None:
        """Tell this, unless it was told before."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def listening(self, work: Callable[[], T]) -> Callable[[], T]:
        """The same work, listened to."""

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
    """Have warnings come by here, if something else took the hook's place since the last time."""
    with _lock:
        before = warnings.showwarning
        if isinstance(before, _Hook):
            return
        warnings.showwarning = _Hook(before)


class _Hook:
    """Takes the place of `warnings.showwarning`: tells who listens, then does what was done before."""

    def __init__(self, before: Callable[..., None]):
        self._before = before

    def __call__(self, message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        ears = getattr(_here, "ears", ())
        if ears and issubclass(category, SaltusWarning):
            ears[-1].hear(str(message))
        self._before(message, category, *where, **more)
