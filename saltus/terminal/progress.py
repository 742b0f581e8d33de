"""A progress bar for those who wait: in a terminal or a notebook, where it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import TypeAlias

from saltus.errors import OptionError
from saltus.terminal import notebook_line

PATIENCE = 1.0  # s before a bar appears in a terminal
SIMULATED = "simulated {task.completed:.2f} of {task.total:g} s"
DRAWN = "drawn {task.completed:.0f} of {task.total:.0f} frames"


#: True, False, None (in a terminal after a second, in a notebook after half of one) or a function of the fraction done.
ProgressChoice: TypeAlias = bool | Callable[[float], object] | None


class Progress:
    """A bar, or calls of a function; `choice` is which, and `text` what the bar says, in Rich's format.

    `in_terminal`: whether there may be one in a terminal, where bars cannot be inside each other.
    """

    def __init__(self, choice: ProgressChoice, total: float, text: str = SIMULATED, *, in_terminal: bool = True):
        if not (choice is None or isinstance(choice, bool) or callable(choice)):
            raise OptionError(f"progress must be True, False, None or a function, got {choice!r}")
        self._call = choice if callable(choice) else None
        self._in_notebook = notebook_line.in_notebook() if choice is True else notebook_line.somebody_waits()
        asked = choice is True or (choice is None and (self._in_notebook or sys.stderr.isatty()))
        self._wanted = asked and (in_terminal or self._in_notebook)
        self._at_once = choice is True
        self._total, self._text, self._bar, self._task = total, text, None, None
        self._shown: notebook_line.Task | None = None

    def __enter__(self) -> Progress:
        self._began = time.perf_counter()
        if self._wanted and self._in_notebook:
            patience = 0.0 if self._at_once else notebook_line.PATIENCE
            several = f"{self._text.split(' ')[0]}, {{}} times,"
            self._shown = notebook_line.begin(notebook_line.Task(several, self._words(0.0), patience=patience))
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._shown is not None:
            notebook_line.end(self._shown)

    def update(self, done: float) -> None:
        """`done` of the total are done."""
        if self._call is not None:
            self._call(min(done / self._total, 1.0))
        if self._shown is not None:
            self._shown.text, self._shown.fraction = self._words(done), min(done / self._total, 1.0)
        elif self._wanted and not self._in_notebook:
            patience = 0.0 if self._at_once else PATIENCE
            if self._bar is None and time.perf_counter() - self._began >= patience:
                self._start()
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=min(done, self._total))

    def _words(self, done: float) -> str:
        return self._text.format(task=SimpleNamespace(completed=min(done, self._total), total=self._total))

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn(self._text), BarColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("run", total=self._total)
