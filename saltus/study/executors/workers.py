"""Executors on this computer: this process, or worker processes.

A worker is a fresh Python that imports only what the jobs need and nothing of the program that started it. So, unlike
with concurrent.futures, scripts need no `if __name__ == "__main__"` and notebooks no module file. Jobs and results are
pickles on its standard input and output. A worker that ends loses its own job alone, where the executors of
concurrent.futures and loky lose all that wait.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, BinaryIO

from saltus.arguments import usable_cores, whole_number
from saltus.errors import OptionError

START = "import sys; sys.path[:] = {path!r}; from saltus.study.executors.workers import serve; serve()"


class Lost(Exception):
    """A worker ended in the middle of a job; the text says how."""


def worker_count(workers: int | None) -> int:
    """Number of workers to use; None: as many as processors that this process may use."""
    return usable_cores() if workers is None else whole_number("workers", workers, least=1)


def _outcome(work: Callable[..., Any], *job: Any) -> Any:
    try:
        return work(*job)
    except Exception as error:
        return error


class Here:
    """Calls in this process, one after the other, when their result is asked for."""

    slots = 1

    def __init__(self) -> None:
        self._calls: deque[tuple[Any, Callable[..., Any], tuple[Any, ...]]] = deque()

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        self._calls.clear()

    def submit(self, tag: Any, work: Callable[..., Any], *job: Any) -> None:
        self._calls.append((tag, work, job))

    def next(self) -> tuple[Any, Any]:
        tag, work, job = self._calls.popleft()
        return tag, _outcome(work, *job)


class Processes:
    """Calls in processes of this computer: a thread and a process a worker, begun when there is something to do."""

    def __init__(self, workers: int):
        self.slots = workers
        self._done: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self._jobs: queue.Queue[tuple[Any, bytes] | None] = queue.Queue()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads: list[threading.Thread] = []
        self._closing = False
        self._open = 0  # calls that nobody has the outcome of

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:  # which nobody waits for any more
            self._kill()
        for _thread in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def submit(self, tag: Any, work: Callable[..., Any], *job: Any) -> None:
        """Have `work(*job)` called. OptionError: it cannot be sent to another process."""
        try:
            packed = pickle.dumps((work, job))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise OptionError(f"this cannot be sent to other processes ({error}); use workers=1") from error
        self._open += 1
        self._jobs.put((tag, packed))
        if len(self._threads) < self.slots:
            thread = threading.Thread(target=self._feed, daemon=True)
            self._threads.append(thread)
            thread.start()

    def next(self) -> tuple[Any, Any]:
        """The tag of a call that is over, and what it returned or raised."""
        outcome = self._done.get()
        self._open -= 1
        return outcome

    def _feed(self) -> None:
        """Give one process job after job; a new one where it ended."""
        process = None
        while (job := self._jobs.get()) is not None and not self._closing:
            process = process or self._start()
            try:
                self._done.put((job[0], _exchange(process, job[1])))
            except Exception as error:  # whatever it is, somebody waits for an answer
                self._done.put((job[0], Lost(_end_of(process, error))))
                self._processes.discard(process)
                process = None
        if process is not None:
            _stop(process)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", START.format(path=sys.path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._processes.add(process)
        if self._closing:
            process.kill()
        return process

    def _kill(self) -> None:
        """End all workers, at once."""
        self._closing = True
        for process in list(self._processes):
            process.kill()
            process.wait()


def _exchange(process: subprocess.Popen[bytes], job: bytes) -> Any:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(len(job).to_bytes(8, "little") + job)
    process.stdin.flush()
    return pickle.load(process.stdout)


def _end_of(process: subprocess.Popen[bytes], error: BaseException) -> str:
    _stop(process)
    code = process.returncode
    return f"its process ended with signal {-code}" if code < 0 else f"its process ended with code {code} ({error})"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Let a worker end: there are no more jobs."""
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


# ------------------------------------------------------------ in the worker


def serve() -> None:
    """Work until there are no more jobs. Ctrl-C is for the process that gives them; prints go to stderr."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (job := _next(sys.stdin.buffer)) is not None:
        try:
            answer = pickle.dumps(_outcome(job[0], *job[1]))
        except Exception as error:
            answer = pickle.dumps(OptionError(f"the result cannot be sent back ({error}); use workers=1"))
        answers.write(answer)
        answers.flush()


def _next(stream: BinaryIO) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    size = stream.read(8)
    return pickle.loads(stream.read(int.from_bytes(size, "little"))) if len(size) == 8 else None
