"""A progress bar for those who wait: in a terminal, on runs that last."""

import sys
import time

from saltus.errors import OptionError

PATIENCE = 1.0  # s before a bar appears


class Progress:
    """`choice`: True, False, None (where stderr is a terminal, after a second) or a function of the fraction done."""

    def __init__(self, choice, total: float):
        if not (choice is None or isinstance(choice, bool) or callable(choice)):
            raise OptionError(f"progress must be True, False, None or a function, got {choice!r}")
        self._call = choice if callable(choice) else None
        self._wanted = choice is True or (choice is None and sys.stderr.isatty())
        self._patience = 0.0 if choice is True else PATIENCE
        self._total, self._bar, self._task = total, None, None

    def __enter__(self):
        self._began = time.perf_counter()
        return self

    def __exit__(self, *exc):
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

    def _start(self):
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("simulated {task.completed:.2f} of {task.total:g} s"), BarColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("run", total=self._total)
