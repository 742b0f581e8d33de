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
    """Whose turn it is: `take(False)` is whether this thread may go on, which then has to `leave()`. Nobody waits.

    The thread that has its turn may take it again, as a control function does that looks at energies.
    """

    __slots__ = ("_what", "leave", "take")

    def __init__(self, what: str):
        lock = threading.RLock()
        self._what, self.take, self.leave = what, lock.acquire, lock.release

    def __reduce__(self) -> tuple[type[Turn], tuple[str]]:
        return Turn, (self._what,)  # a copy is another object, which nobody works on

    def refusal(self) -> ConcurrencyError:
        """The error for a thread whose turn it is not."""
        return ConcurrencyError(
            f"another thread is using this {self._what}, or was when this process was forked; give each thread "
            f"its own {self._what}, or use a threading.Lock"
        )


class HasTurn(Protocol):
    """What only one thread at a time may work on."""

    _turn: Turn


def in_turn(method: Callable[Concatenate[Owner, Arguments], Result]) -> Callable[Concatenate[Owner, Arguments], Result]:
    """A method of an object with a `_turn` that refuses to run while another thread is in one of these."""

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
