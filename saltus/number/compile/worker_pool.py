"""Compiling beside this process, while it does something else: on cores that have nothing to do.

Each process of `saltus.number.compile.worker` gets one piece of work after the other, and ends when none is left for
some seconds. What they have not begun when it is needed is compiled here; so none of them is ever needed.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from saltus.arguments import usable_cores
from saltus.number.cache.storage import cache_directory, cache_key, is_kept

MOST = 4  # processes
IDLE = 10.0  # s that a process without work is kept


@dataclass(frozen=True)
class Work:
    """A file of the cache that will be needed: how the process is asked for it, and the files that it should find."""

    file: str
    asked: str
    after: tuple[str, ...] = ()

    def can_begin(self) -> bool:
        """Whether all that it should find is there."""
        return all(map(is_kept, self.after))


_changed = threading.Condition()
_queue: dict[str, Work] = {}  # what nobody has begun, by the files that it makes
_begun: set[str] = set()
_processes = _waiting = 0  # how many there are, and how many of them have nothing to do


def offer(works: Iterable[Work]) -> None:
    """Have free cores do work that will be needed soon, the first item first."""
    global _processes
    with _changed:
        works = [work for work in works if work.file not in _begun]
        starting = min(MOST - _processes, len(works) - _waiting, _free_cores())
        if _processes == 0 and starting <= 0:
            return
        _queue.update({work.file: work for work in works})
        for _ in range(starting):
            _processes += 1
            threading.Thread(target=_serve, name="saltus compiling aside", daemon=True).start()
        _changed.notify_all()


def wait_for(file: str) -> bool:
    """Whether another process has it in work, once it has ended that; if not, it will not begin with it."""
    with _changed:
        _queue.pop(file, None)
        found = file in _begun
        _changed.wait_for(lambda: file not in _begun)
    return found


def something_is_ready() -> None:
    """Let work go on that may have waited for a file that this process has made."""
    with _changed:
        _changed.notify_all()


def _free_cores() -> int:
    """Number of processes that would not hold up others; none where they would not be a Python with the same cache."""
    if not Path(sys.executable or "").name.lower().startswith("python") or cache_directory().name != cache_key():
        return 0
    return min(usable_cores() - 1 - _processes, usable_cores() - round(_running()))


def _running() -> float:
    """Number of threads of this computer that run or would like to."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    with suppress(OSError, AttributeError):
        return os.getloadavg()[0]
    return 0.0


def _serve() -> None:
    """Give work to a process until there is no more."""
    global _processes
    try:
        with _start() as process:
            while work := _next():
                try:
                    answer = _answer(process, work)
                finally:
                    with _changed:
                        _begun.discard(work.file)
                        _changed.notify_all()
                if not answer:
                    break
            process.stdin.close()
    except OSError:  # no process, or none any more
        pass
    finally:
        with _changed:
            _processes -= 1
            if _processes == 0:
                _queue.clear()


def _start() -> subprocess.Popen:
    """A process with the modules that this one has, whose layouts and kernels it may be asked for."""
    modules = [name for name in sys.modules if name.startswith("saltus.") and not name.endswith("__main__")]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "saltus.number.compile.worker", *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "SALTUS_CACHE_DIR": str(cache_directory().parent),
        },
    )


def _next() -> Work | None:
    """The last that can begin: this process comes from the other end."""

    def found() -> Work | None:
        return next((work for work in reversed(_queue.values()) if work.can_begin()), None)

    global _waiting
    with _changed:
        _waiting += 1
        work = _changed.wait_for(found, timeout=IDLE)
        _waiting -= 1
        if work:
            del _queue[work.file]
            _begun.add(work.file)
        return work


def _answer(process: subprocess.Popen, work: Work) -> bytes:
    """The answer of a process that has finished; nothing where it has died."""
    process.stdin.write(work.asked.encode() + b"\n")
    process.stdin.flush()
    return process.stdout.readline()
