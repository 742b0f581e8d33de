"""A progress bar for those who wait: in a terminal, where it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeAlias

from saltus.errors import OptionError

PATIENCE = 1.0  # s before a bar appears
SIMULATED = "simulated {task.completed:.2f} of {task.total:g} s"
DRAWN = "drawn {task.completed:.0f} of {task.total:.0f} frames"


#: True, False, None (where stderr is a terminal, after a second) or a function of the fraction done.
ProgressChoice: TypeAlias = bool | Callable[[float], object] | None


class Progress:
    """A bar, or calls of a function; `choice` is which, and `text` what the bar says, in Rich's format."""

    def __init__(self, choice: ProgressChoice, total: float, text: str = SIMULATED):
        if not (choice is None or isinstance(choice, bool) or callable(choice)):
            raise OptionError(f"progress must be True, False, None or a function, got {choice!r}")
        self._call = choice if callable(choice) else None
        self._wanted = choice is True or (choice is None and sys.stderr.isatty())
        self._patience = 0.0 if choice is True else PATIENCE
        self._total, self._text, self._bar, self._task = total, text, None, None

    def __enter__(self) -> Progress:
        self._began = time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: float) -> None:
        """`done` of the total are done."""
        if self._call is not None:
            self._call(min(done / self._total, 1.0))
        if self._wanted:
            if self._bar is None and time.perf_counter() - self._began >= self._patience:
                self._start()
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=min(done, self._total))

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn(self._text), BarColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("run", total=self._total)
