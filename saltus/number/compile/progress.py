"""Durations of compilations, from earlier runs, for the display of those under way (`saltus.terminal.compiling`).

What took seconds on this machine is kept beside the compiled kernels; before anything was compiled here, what it took
where the package was made has to do. Code for other features takes about as long as that for the most similar ones.
"""

import gc
import json
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from saltus.number.cache.storage import cache_root, write_whole
from saltus.number.internals import event
from saltus.terminal.compiling import tell

NAME = "compile_seconds.json"
SHIPPED = Path(__file__).with_name(NAME)
SHORT = 1.0  # s that nobody needs to be told of
MOST = 500  # that are kept
WHILE_COMPILING = (50_000, 20, 1000)  # thresholds of the garbage collector


def expected_seconds(what: str, features: Iterable[str] = ()) -> float | None:
    """Seconds that it took for these features, or the most similar ones; None if it was never compiled."""
    wanted, best, seconds = set(features), -1.0, None
    for key, value in (_read(SHIPPED) | known()).items():
        name, *words = key.split()
        likeness = len(wanted.intersection(words)) / max(1, len(wanted.union(words)))
        if name == what and likeness >= best:
            best, seconds = likeness, value
    return seconds


def remember(what: str, features: Iterable[str], seconds: float) -> None:
    """Keep how long a compilation took, if that was long."""
    if seconds < SHORT:
        return
    key = " ".join([what, *sorted(features)])
    others = {k: v for k, v in known().items() if k != key}
    latest = dict(list((others | {key: max(0.1, round(seconds, 1))}).items())[-MOST:])
    with suppress(OSError):
        write_whole(_file(), json.dumps(latest, indent=0).encode())


def known() -> dict[str, float]:
    """Seconds by what was compiled on this machine and for which features, the latest last."""
    return _read(_file())


def _file() -> Path:
    """Beside the directories of all versions, so that a new one knows how long the last one took."""
    return cache_root() / NAME


def _read(file: Path) -> dict[str, float]:
    with suppress(OSError, ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {k: float(v) for k, v in found.items() if k.split() and isinstance(v, int | float) and 0 < v < 1e5}
    return {}


class _CompileClock(event.Listener):
    """Reports compilations of the package's kernels to whoever waits for them.

    Meanwhile Python looks for garbage less often: the compiler makes many objects, few of which are garbage.
    """

    def __init__(self, report):
        self._report, self._depth, self._thresholds, self._began = report, 0, gc.get_threshold(), 0.0

    def on_start(self, ev):
        if self._ours(ev):
            if self._depth == 0:
                self._thresholds = gc.get_threshold()
                if self._thresholds[0]:  # else it is switched off
                    gc.set_threshold(*map(max, self._thresholds, WHILE_COMPILING))
                self._began = time.perf_counter()
            self._depth += 1
            kernel, features = self._what(ev)
            self._report(kernel, self._depth, expected_seconds(kernel, features) if self._depth == 1 else None)

    def on_end(self, ev):
        if self._ours(ev):
            self._depth -= 1
            if self._depth == 0:
                gc.set_threshold(*self._thresholds)
                self._report(None, 0, None)
                if sys.exc_info()[0] is None:  # nor was it interrupted
                    remember(*self._what(ev), time.perf_counter() - self._began)

    @staticmethod
    def _what(ev):
        """The name of a kernel, and the features for which it is compiled."""
        dispatcher = ev.data["dispatcher"]
        features = {word for t in ev.data["args"] for word in getattr(t, "features", ())}
        return dispatcher.py_func.__name__.removeprefix("entry_"), vars(dispatcher).get("features", features)

    @staticmethod
    def _ours(ev):
        return (ev.data["dispatcher"].py_func.__module__ or "").startswith("saltus.")


def watch_the_compiler():
    """Start to report compilations, and to remember their durations."""
    event.register("numba:compile", _CompileClock(tell))
