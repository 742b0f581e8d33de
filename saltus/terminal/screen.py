"""Output of commands: results on stdout; progress, warnings and errors on stderr."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from saltus.errors import SaltusWarning
from saltus.terminal.compiling import compile_progress, in_words
from saltus.terminal.compiling import purpose as purpose
from saltus.terminal.display import count as count
from saltus.terminal.progress import Listener

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0  # s before the progress of a run is shown
INTERRUPTED = 130  # exit code of a command ended by Ctrl-C
WIDTH = 120  # columns if the output is not a terminal
TEXT = 72  # columns of text beside a bar
SHOWN = 4  # names shown before "and N more"


def console(at_least: int = 0) -> Console:
    """The console for results on stdout; `at_least`: least number of columns, even if the terminal wraps lines."""
    from rich.console import Console

    fixed = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH
    found = Console(width=fixed, highlight=False, emoji=False, markup=False)
    found.width = max(found.width, at_least)
    return found


def print_facts(facts: list[tuple[str, str]]) -> None:
    """Print names and values in two columns on stdout."""
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    indent = max(len(name) for name, _ in facts) + 2
    for name, value in facts:
        lines = [
            part
            for line in value.splitlines()
            for part in textwrap.wrap(line, max(width - indent, 30), break_long_words=False, break_on_hyphens=False)
        ]
        for i, line in enumerate(lines):
            print(f"{'' if i else name:{indent}}{line}")


def some(names: Iterable[str]) -> str:
    """The first few names and the number of others."""
    names = list(names)
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def ignored_facts(ignored: Iterable[str]) -> list[tuple[str, str]]:
    """Facts about ignored features, given as "kind: thing", with a line for each kind."""
    kinds: dict[str, list[str]] = {}
    for text in ignored:
        kind, _, thing = text.partition(": ")
        kinds.setdefault(kind, []).append(thing)
    return [("ignored", f"{kind}: {some(things)}") for kind, things in kinds.items()]


def say(text: str) -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr, flush=True)


def say_error(text: str) -> None:
    """Print an error on stderr, "error: ..."; the word is red in a terminal."""
    say(f"{_coloured('error:', 31)} {text}")


def say_warning(text: str) -> None:
    """Print a warning on stderr, "warning: ..."; the word is yellow in a terminal."""
    say(f"{_coloured('warning:', 33)} {text}")


def _coloured(word: str, colour: int) -> str:
    """The word in one of ANSI's colours; plain where no terminal shows it, or NO_COLOR is set (no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty():
        return word
    return f"\033[{colour}m{word}\033[0m"


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Inside the context, collect warnings of Saltus in a list; other warnings are issued afterwards."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SaltusWarning)
        try:
            yield found
        finally:
            found += dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SaltusWarning))
    for w in caught:
        if not issubclass(w.category, SaltusWarning):
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


class Activity:
    """Shows running tasks: in a terminal as a live line, elsewhere as plain lines."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._live: Any = None
        self._tasks: dict[str, Any] = {}
        self._compiling: str | None = None
        self._began, self._text = 0.0, ""
        self.compiled: list[tuple[str, float]] = []  # purposes and compile times (s)

    def __enter__(self) -> Activity:
        self._listener = compile_progress(self._on_compile)
        self._listener.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._listener.__exit__(*exc)
        if self._live is not None:
            self._live.stop()
        elif self._compiling is not None:
            say("")

    def progress(self, what: str) -> Callable[[float], None]:
        """Return a function of the completed fraction that shows it if the task takes longer than PATIENCE s."""
        return _Shown(self, what)

    def update(self, what: str, began: float, fraction: float, words: str) -> None:
        """Show the completed fraction of `what` if it began more than PATIENCE s ago; `words`: description, or ""."""
        if self._terminal and (what in self._tasks or time.perf_counter() - began > PATIENCE):
            self._update(what, fraction)
            if words:
                self._live.update(self._tasks[what], description=words)

    def note(self, line: str) -> None:
        """Print a line on stderr, above the live line."""
        if self._live is not None:
            self._live.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            say(line)

    def show(self, what: str) -> None:
        """Show a task without a fraction in the terminal until `end`."""
        if self._terminal:
            self._update(what, None)

    def end(self, what: str) -> None:
        """End a task and remove it from the display."""
        task = self._tasks.pop(what, None)
        if task is not None:
            self._live.remove_task(task)

    def _update(self, what: str, fraction: float | None) -> None:
        if self._live is None:
            self._live = _live_line()
        if what not in self._tasks:
            self._tasks[what] = self._live.add_task(what, total=None if fraction is None else 1.0)
        if fraction is not None:
            self._live.update(self._tasks[what], completed=fraction)

    def _on_compile(self, kernel: str | None, depth: int, about: float | None) -> None:
        if kernel is not None and depth == 1:
            self._compiling, self._began = purpose(kernel), time.perf_counter()
            self._text = f"compiling (once per machine{in_words(about)}): {self._compiling}"
            if self._terminal:
                self._update(self._text, None)
            else:
                print(f"{self._text} ... ", end="", file=sys.stderr, flush=True)
        elif kernel is None and self._compiling is not None:
            seconds = time.perf_counter() - self._began
            self.compiled.append((self._compiling, seconds))
            if self._terminal:
                self.end(self._text)
            else:
                say(f"{seconds:.1f} s")
            self._compiling = None


class _Shown(Listener):
    """Passes the progress of a task on to an Activity."""

    def __init__(self, activity: Activity, what: str):
        self._activity, self._what = activity, what
        self._began, self._words = time.perf_counter(), ""

    def __call__(self, fraction: float) -> None:
        self._activity.update(self._what, self._began, fraction, self._words)

    def hear(self, words: str) -> None:
        self._words = words

    def note(self, line: str) -> None:
        self._activity.note(line)


def _live_line() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    width = min(max(console.width - TEXT, 8), 30)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=width), TimeElapsedColumn())
    live = Progress(*columns, console=console, transient=True)
    live.start()
    return live
