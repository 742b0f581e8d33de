"""A progress line below a notebook's cell: current task, completed fraction and elapsed time.

All tasks of a cell share its line, which appears after half a second, is updated, and finally shows what was done and
how long it took. No line appears when nobody waits: in a notebook that is executed as a whole, as by nbconvert or for
documentation.
"""

from __future__ import annotations

import contextvars
import html
import sys
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 0.5  # s before a line appears
TICK = 0.2  # s between updates of the line
LOOK = 2.0  # s between pictures
SHARE = 0.05  # largest fraction of the time for pictures
FIRST = 0.1, 0.6  # expected s of the first picture, with Matplotlib loaded and without
SMALL = "font-size:12px;line-height:1.6;font-variant-numeric:tabular-nums"


class Picture:
    """A picture below the line, HTML returned by `make`, renewed as often as its share of the time allows."""

    def __init__(self, make: Callable[[], str | None]):
        self._make, self.html = make, ""
        self._began, self._due, self._spent = time.perf_counter(), LOOK, 0.0
        self._last = FIRST["matplotlib" not in sys.modules]

    def renew(self) -> None:
        """Make the picture again if it is due."""
        began = time.perf_counter()
        passed = began - self._began
        if passed >= self._due and self._spent + self._last <= SHARE * passed:
            self.html = self._make() or ""
            self._last = time.perf_counter() - began
            self._spent += self._last
            self._due = passed + LOOK


@dataclass(eq=False)
class Task:
    """A task that takes time.

    several: text for a number of such tasks, with {} for the number; equal texts are summed up; text: description while
    it runs; done: description once it is over (None: the text); fraction: completed fraction, if known; about: expected
    duration (s), if known; patience: s before it is shown; picture: shown below the line until the task is over.
    """

    several: str
    text: str
    done: str | None = None
    fraction: float | None = None
    about: float | None = None
    patience: float = PATIENCE
    picture: Picture | None = None
    began: float = field(default_factory=time.perf_counter)
    seen: bool = False

    def part(self, now: float) -> float | None:
        """The completed fraction; estimated from the elapsed time if only the expected duration is known."""
        if self.fraction is None and self.about:
            return min((now - self.began) / self.about, 1.0)
        return self.fraction


@dataclass
class Sum:
    """Number and total duration of all tasks of a kind."""

    count: int = 0
    seconds: float = 0.0
    text: str = ""


class Line:
    """The line of a cell. `context`: that of the cell's thread, in which IPython stores the output's destination."""

    def __init__(self, cell: str, context: contextvars.Context):
        self.cell, self.context = cell, context
        self.tasks: list[Task] = []
        self._id = uuid.uuid4().hex
        self._sums: dict[str, Sum] = {}
        self._shown = False
        self._picture_id, self._picture = uuid.uuid4().hex, ""  # the picture below the line

    def show(self, now: float) -> None:
        """Show the running tasks whose patience is over."""
        waiting = [task for task in self.tasks if task.seen or now - task.began >= task.patience]
        if not waiting:
            return
        for task in waiting:
            task.seen = True
        outer = waiting[0]
        words = "; ".join(task.text for task in waiting)
        self._publish(live_html(words, outer.part(now), now - outer.began), words)
        self._show_picture(outer.picture.html if outer.picture is not None else "")

    def over(self, task: Task, now: float) -> None:
        """End a task; after the last one, the line shows the final summary."""
        self.tasks.remove(task)
        if task.seen:
            total = self._sums.setdefault(task.several, Sum())
            total.count, total.seconds = total.count + 1, total.seconds + now - task.began
            total.text = task.text if task.done is None else task.done
        if self._shown and not self.tasks:
            words = "; ".join(map(_settled, self._sums.items()))
            self._publish(f'<div style="{SMALL};opacity:.65">{html.escape(words)}</div>', words)
            self._show_picture("")

    def _publish(self, text: str, words: str) -> None:
        self._display(text, words, self._id, update=self._shown)
        self._shown = True

    def _show_picture(self, text: str) -> None:
        """Replace the picture below the line; "": none."""
        if text != self._picture:
            self._display(text or "<div></div>", "", self._picture_id, update=bool(self._picture))
            self._picture = text

    def _display(self, text: str, words: str, name: str, *, update: bool) -> None:
        from IPython.display import display

        data = {"text/html": text, "text/plain": words}
        self.context.copy().run(display, data, raw=True, display_id=name, update=update)


def live_html(words: str, fraction: float | None, seconds: float) -> str:
    """HTML of a progress bar with a text and the elapsed time (s)."""
    value = "" if fraction is None else f' value="{fraction:.4f}"'
    bar = f'<progress max="1"{value} style="width:16em;vertical-align:middle"></progress>'
    return f'<div style="{SMALL}">{bar} {html.escape(words)}; {seconds:.0f} s</div>'


def _settled(entry: tuple[str, Sum]) -> str:
    several, total = entry
    words = total.text if total.count == 1 else several.format(total.count)
    return f"{words} in {total.seconds:.1f} s"


class _Clock:
    """Updates the line of the present cell at every tick, in its own thread, while tasks run."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._busy = threading.Event()
        self._line: Line | None = None
        self._thread: threading.Thread | None = None

    def begin(self, cell: str, task: Task) -> None:
        with self._lock:
            if self._line is None or self._line.cell != cell:
                self._line = Line(cell, contextvars.copy_context())
            self._line.tasks.append(task)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, daemon=True, name="saltus-progress")
                self._thread.start()
            self._busy.set()

    def end(self, task: Task) -> None:
        with self._lock:
            if self._line is not None and task in self._line.tasks:
                self._line.over(task, time.perf_counter())
                if not self._line.tasks:
                    self._busy.clear()

    def busy_with_more_than_compiling(self) -> bool:
        with self._lock:
            return self._line is not None and any(task.several != COMPILED for task in self._line.tasks)

    def _run(self) -> None:
        while True:
            self._busy.wait()
            time.sleep(TICK)
            with self._lock:
                if self._line is not None:
                    self._line.show(time.perf_counter())


COMPILED = "compiled {} functions"
_clock = _Clock()


def _kernel() -> Any:
    """The kernel of the notebook that this process serves; None elsewhere."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython(), "kernel", None) if ipython is not None else None


def _request(kernel: Any) -> dict[str, Any]:
    """The request to execute the present cell; {} if unknown."""
    try:
        return kernel.get_parent("shell") or {}
    except (AttributeError, TypeError):  # other kernels than IPython's own
        return {}


def in_notebook() -> bool:
    """Whether the caller runs in the thread of a notebook's cells."""
    return _kernel() is not None and threading.current_thread() is threading.main_thread()


def somebody_waits() -> bool:
    """Whether a person waits for the present cell: notebooks executed as a whole do not allow input."""
    return in_notebook() and bool(_request(_kernel()).get("content", {}).get("allow_stdin", True))


def begin(task: Task) -> Task | None:
    """Begin a task in a notebook; return None if it is part of another one that is already shown."""
    if task.several != COMPILED and _clock.busy_with_more_than_compiling():
        return None
    _clock.begin(str(_request(_kernel()).get("header", {}).get("msg_id", "")), task)
    return task


def end(task: Task) -> None:
    """End a task of a notebook."""
    _clock.end(task)
