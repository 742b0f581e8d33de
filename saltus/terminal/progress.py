"""Progress bars for long tasks in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

from saltus.errors import OptionError
from saltus.terminal import notebook_line
from saltus.terminal.pace import Pace

PATIENCE = 1.0  # s before a bar appears in a terminal
SIMULATED = "simulated {task.completed:.2f} of {task.total:g} s"
DRAWN = "drawn {task.completed:.0f} of {task.total:.0f} frames"


#: True, False, None (bar after a second in a terminal, after half of one in a notebook) or a function of the fraction.
ProgressChoice: TypeAlias = bool | Callable[[float], object] | None


class Listener:
    """A function of the completed fraction that also receives descriptions of the progress."""

    def __call__(self, fraction: float) -> None:
        """Receive the completed fraction, 0 to 1."""

    def hear(self, words: str) -> None:
        """Receive a description with the rate, before each call; only for progress with a unit."""

    def note(self, line: str) -> None:
        """Receive a message to show once."""


class Progress:
    """A progress bar, or calls of a function, by `choice`; `text`: the bar's text, with {task.completed} and
    {task.total}.

    `in_terminal`: whether a bar may appear in a terminal, where bars cannot be nested. `unit`: name of the items in the
    plural ("runs") to show the rate. `picture`: function that returns HTML for notebooks, called from time to time.

    Attributes:
        total: amount of work; it may change.
    """

    def __init__(
        self,
        choice: ProgressChoice,
        total: float,
        text: str = SIMULATED,
        *,
        in_terminal: bool = True,
        unit: str = "",
        picture: Callable[[], str | None] | None = None,
    ):
        if not (choice is None or isinstance(choice, bool) or callable(choice)):
            raise OptionError(f"progress must be True, False, None or a function, got {choice!r}")
        self._call = choice if callable(choice) else None
        self._in_notebook = notebook_line.in_notebook() if choice is True else notebook_line.somebody_waits()
        asked = choice is True or (choice is None and (self._in_notebook or sys.stderr.isatty()))
        self._wanted = asked and (in_terminal or self._in_notebook)
        self._at_once = choice is True
        self.total, self._text, self._bar, self._task = total, text, None, None
        self._pace = Pace(unit) if unit else None
        self._shown: notebook_line.Task | None = None
        self._picture = None if picture is None else notebook_line.Picture(picture)

    def __enter__(self) -> Progress:
        self._began = time.perf_counter()
        if self._wanted and self._in_notebook:
            patience = 0.0 if self._at_once else notebook_line.PATIENCE
            several = f"{self._text.split(' ')[0]}, {{}} times,"
            task = notebook_line.Task(several, self._words(0.0), patience=patience, picture=self._picture)
            self._shown = notebook_line.begin(task)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._shown is not None:
            notebook_line.end(self._shown)

    def note(self, line: str) -> None:
        """Show a message once: pass it to a `Listener`, or print it on stderr if progress is shown."""
        if isinstance(self._call, Listener):
            self._call.note(line)
        elif self._wanted:
            print(line, file=sys.stderr, flush=True)

    def update(self, done: float, more: str = "") -> None:
        """Report that `done` of the total is completed; `more`: additional text."""
        words = self._words(done, more)
        if self._call is not None:
            if isinstance(self._call, Listener) and self._pace is not None:
                self._call.hear(words)
            self._call(min(done / self.total, 1.0))
        if self._shown is not None:
            self._shown.text, self._shown.fraction = words, min(done / self.total, 1.0)
            if self._picture is not None and self._shown.seen:
                self._picture.renew()
        elif self._wanted and not self._in_notebook:
            patience = 0.0 if self._at_once else PATIENCE
            if self._bar is None and time.perf_counter() - self._began >= patience:
                self._start()
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=min(done, self.total), total=self.total, description=words)

    def _words(self, done: float, more: str = "") -> str:
        text = self._text.format(task=SimpleNamespace(completed=min(done, self.total), total=self.total))
        pace = "" if self._pace is None else self._pace.words(done, self.total)
        return "; ".join(filter(None, [text, more, pace]))

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(None if self._pace else 40)]
        columns += [] if self._pace else [TimeRemainingColumn()]
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("", total=self.total)
