"""Units compiled beside this process, while it does something else: on cores that have nothing to do.

Each process of `saltus.number.unit_compiler` gets one unit after the other, and ends when none is left for some
seconds. What they have not begun when it is needed is compiled here; so none of them is ever needed.
"""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from saltus.number.kept import cache_directory, cache_key

MOST = 4  # processes; units are few
IDLE = 10.0  # s that a process without work is kept

_changed = threading.Condition()
_queue: list[str] = []  # files of parts whose units nobody has begun
_begun: set[str] = set()
_processes = 0


def offer(file: str) -> None:
    """The unit of a part's file will be needed soon."""
    global _processes
    with _changed:
        another = _processes < min(MOST, len(_queue) + len(_begun) + 1) and _can_start()
        if not another and _processes == 0:
            return
        _queue.append(file)
        if another:
            _processes += 1
            threading.Thread(target=_serve, name="saltus units", daemon=True).start()
        _changed.notify_all()


def wait_for(file: str) -> bool:
    """Whether another process has the unit in work, once it has ended that; if not, it will not begin with it."""
    with _changed:
        if file in _queue:
            _queue.remove(file)
        found = file in _begun
        _changed.wait_for(lambda: file not in _begun)
    return found


def _can_start() -> bool:
    """Whether a core is free, and a process would be a Python with the same cache."""
    interpreter = Path(sys.executable or "").name.startswith("python")
    return interpreter and cache_directory().name == cache_key() and _running() < _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _running() -> float:
    """How many threads of this computer run or would like to."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    with suppress(OSError, AttributeError):
        return os.getloadavg()[0]
    return 0.0


def _serve() -> None:
    """Give units to a process until there are no more."""
    global _processes
    try:
        with _start() as process:
            while file := _next():
                try:
                    answer = _asked(process, file)
                finally:
                    with _changed:
                        _begun.discard(file)
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
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "saltus.number.unit_compiler"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "SALTUS_CACHE_DIR": str(cache_directory().parent),
        },
    )


def _next() -> str | None:
    with _changed:
        _changed.wait_for(lambda: _queue, timeout=IDLE)
        if not _queue:
            return None
        _begun.add(file := _queue.pop(0))
        return file


def _asked(process: subprocess.Popen, file: str) -> bytes:
    """What the process says when it has finished; nothing where it has died."""
    process.stdin.write(file.encode() + b"\n")
    process.stdin.flush()
    return process.stdout.readline()
