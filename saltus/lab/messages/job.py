"""Background work during a simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Job(Generic[T]):
    """A function at work in a thread of its own, with what it returned or raised when it is done."""

    def __init__(self, work: Callable[[], T], name: str):
        self._work = work
        self._result: T | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=f"saltus lab {name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._work()
        except Exception as error:
            self._error = error

    @property
    def done(self) -> bool:
        """Whether it has come to its end."""
        return not self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end, at most `timeout` seconds."""
        self._thread.join(timeout)

    def result(self) -> Any:
        """What it returned; raises what it raised. Call when it is done."""
        if self._error is not None:
            raise self._error
        return self._result
