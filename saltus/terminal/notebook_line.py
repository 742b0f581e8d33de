"""One line below a notebook's cell for those who wait: what is being done, how much of it, and for how long.

Whatever begins in a cell shares its line, which appears after half a second, moves on, and at the end says what was
done and how long it took. Nothing appears where nobody waits: in a notebook that is executed as a whole, as by
nbconvert or for documentation.
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
TICK = 0.2  # s between its changes
LOOK = 2.0  # s between pictures
SHARE = 0.05  # of the time may go into pictures
FIRST = 0.1, 0.6  # s that a first picture is expected to take, where Matplotlib is loaded, and where it is not
SMALL = "font-size:12px;line-height:1.6;font-variant-numeric:tabular-nums"


class Picture:
    """A picture below the line, HTML that `make` returns, renewed as often as its share of the time allows."""

    def __init__(self, make: Callable[[], str | None]):
        self._make, self.html = make, ""
        self._began, self._due, self._spent = time.perf_counter(), LOOK, 0.0
        self._last = FIRST["matplotlib" not in sys.modules]

    def renew(self) -> None:
        """Make it again, if it is time."""
        began = time.perf_counter()
        passed = began - self._began
        if passed >= self._due and self._spent + self._last <= SHARE * passed:
            self.html = self._make() or ""
            self._last = time.perf_counter() - began
            self._spent += self._last
            self._due = passed + LOOK


@dataclass(eq=False)
class Task:
    """Something that takes time.

    several: what a number of such tasks is called, with {} for the number, and what they are summed up by; text: what
    is being done; done: what was, once it is over (None: the text); fraction: how much of it is done, if known;
    about: seconds that it takes, if known; patience: s before it is shown; picture: below the line, until it is over.
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
        """The fraction that is done, by the clock where only the time is known that it takes."""
        if self.fraction is None and self.about:
            return min((now - self.began) / self.about, 1.0)
        return self.fraction


@dataclass
class Sum:
    """What all tasks of a kind took."""

    count: int = 0
    seconds: float = 0.0
    text: str = ""


class Line:
    """The line of one cell, `context`: of the cell's thread, in which IPython keeps where output belongs."""

    def __init__(self, cell: str, context: contextvars.Context):
        self.cell, self.context = cell, context
        self.tasks: list[Task] = []
        self._id = uuid.uuid4().hex
        self._sums: dict[str, Sum] = {}
        self._shown = False
        self._picture_id, self._picture = uuid.uuid4().hex, ""  # what is below the line

    def show(self, now: float) -> None:
        """Show what goes on, if it has gone on for long enough."""
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
        """A task is over; the line settles with the last one."""
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
        """Show another picture in the place of the last one; "": none."""
        if text != self._picture:
            self._display(text or "<div></div>", "", self._picture_id, update=bool(self._picture))
            self._picture = text

    def _display(self, text: str, words: str, name: str, *, update: bool) -> None:
        from IPython.display import display

        data = {"text/html": text, "text/plain": words}
        self.context.copy().run(display, data, raw=True, display_id=name, update=update)


def live_html(words: str, fraction: float | None, seconds: float) -> str:
    """A bar with words and the time that it has taken."""
    value = "" if fraction is None else f' value="{fraction:.4f}"'
    bar = f'<progress max="1"{value} style="width:16em;vertical-align:middle"></progress>'
    return f'<div style="{SMALL}">{bar} {html.escape(words)}; {seconds:.0f} s</div>'


def _settled(entry: tuple[str, Sum]) -> str:
    several, total = entry
    words = total.text if total.count == 1 else several.format(total.count)
    return f"{words} in {total.seconds:.1f} s"


class _Clock:
    """Shows the line of the present cell at every tick, in a thread of its own, while something goes on."""

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
    """The kernel of the notebook that this process runs for; None elsewhere."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython(), "kernel", None) if ipython is not None else None


def _request(kernel: Any) -> dict[str, Any]:
    """The message that asked for the present cell to be executed."""
    try:
        return kernel.get_parent("shell") or {}
    except (AttributeError, TypeError):  # other kernels than IPython's own
        return {}


def in_notebook() -> bool:
    """Whether this is the thread of a notebook's cells."""
    return _kernel() is not None and threading.current_thread() is threading.main_thread()


def somebody_waits() -> bool:
    """Whether a person waits for the present cell: whoever runs a notebook as a whole cannot be asked for input."""
    return in_notebook() and bool(_request(_kernel()).get("content", {}).get("allow_stdin", True))


def begin(task: Task) -> Task | None:
    """A task begins, in a notebook; None if it is part of another one, which is shown already."""
    if task.several != COMPILED and _clock.busy_with_more_than_compiling():
        return None
    _clock.begin(str(_request(_kernel()).get("header", {}).get("msg_id", "")), task)
    return task


def end(task: Task) -> None:
    """The task is over."""
    _clock.end(task)
