"""One thread at a time: while one thread uses a simulation or batch, others get a ConcurrencyError."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from saltus.errors import ConcurrencyError

Owner = TypeVar("Owner", bound="HasTurn")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Turn:
    """Lock without waiting: `take(False)` returns whether this thread may go on; it then has to call `leave()`.

    The thread that holds the lock may take it again, for example in a control function that reads energies.
    """

    __slots__ = ("_what", "leave", "take")

    def __init__(self, what: str):
        lock = threading.RLock()
        self._what, self.take, self.leave = what, lock.acquire, lock.release

    def __reduce__(self) -> tuple[type[Turn], tuple[str]]:
        return Turn, (self._what,)  # a copy is another object, which no thread uses yet

    def refusal(self) -> ConcurrencyError:
        """The error for a thread that may not go on."""
        return ConcurrencyError(
            f"another thread is using this {self._what}, or was when this process was forked; give each thread "
            f"its own {self._what}, or use a threading.Lock"
        )


class HasTurn(Protocol):
    """Object that only one thread at a time may use."""

    _turn: Turn


def in_turn(method: Callable[Concatenate[Owner, Arguments], Result]) -> Callable[Concatenate[Owner, Arguments], Result]:
    """Make a method of an object with a `_turn` refuse to run while another thread is in such a method."""

    @functools.wraps(method)
    def taking_turns(self: Owner, /, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        turn = self._turn
        if not turn.take(False):
            raise turn.refusal()
        try:
            return method(self, *args, **options)
        finally:
            turn.leave()

    return taking_turns
