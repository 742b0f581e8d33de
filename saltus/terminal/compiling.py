"""What is being compiled, and for about how long, for those who wait for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# called with the kernel's name or None, how many kernels wait for one another, and the seconds that the first of them
# took before, where known
Report = Callable[[str | None, int, float | None], None]

_reports: list[Report] = []  # the last one is told


@contextmanager
def compile_progress(report: Report) -> Iterator[None]:
    """While inside, call `report` when a kernel starts to compile, and with None when all have finished."""
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)


def in_words(about: float | None) -> str:
    """How long it takes, to follow what is compiled; "" where that is not known."""
    return "" if about is None else f", about {about:.0f} s"


def tell(name: str | None, depth: int, about: float | None) -> None:
    """Pass on what compiles: to those who asked, or else to a person at a terminal."""
    if _reports:
        _reports[-1](name, depth, about)
    elif sys.stderr.isatty():
        _announce(name, depth, about)


def _announce(name: str | None, depth: int, about: float | None) -> None:
    """A line in the terminal while the outermost kernel compiles."""
    if depth == 1:
        sys.stderr.write(f"saltus: compiling {name}, once for this machine{in_words(about)} ...")
    elif depth == 0:
        sys.stderr.write("\r\033[K")
    sys.stderr.flush()
