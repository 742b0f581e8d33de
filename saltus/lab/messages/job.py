"""Background work during a simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Job(Generic[T]):
    """A function running in its own thread, with its result or exception when it is done."""

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
        """Whether the function has returned or raised."""
        return not self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the function is done, at most `timeout` seconds."""
        self._thread.join(timeout)

    def result(self) -> Any:
        """Return the function's result or raise its exception. Call only when `done`."""
        if self._error is not None:
            raise self._error
        return self._result
