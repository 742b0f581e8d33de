"""Workers, processes that try mutants: one that takes too long, or has crashed, is replaced."""

import contextlib
import itertools
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

from helpers.soaking.kinds import kind_of
from helpers.soaking.outcomes import Outcome, outcome
from saltus.terminal.compiling import compile_progress

MOST = 500  # mutants of a worker: no process ever frees what it has compiled
PATIENCE = 900.0  # s until all that mutants begin with is made and compiled
BUSY = 10.0  # times the limit that a mutant may take if other programs kept the processor from it
Task = tuple[str, int]


def serve(pipe: Connection) -> None:
    """Try the mutants (kind, seed) that come through a pipe; say when each begins, when kernels compile, how it ends.

    Compilation is said by True when it begins and by False when it has ended, for it may take longer than the limit.
    """
    with contextlib.suppress(AttributeError, OSError):  # elsewhere than on POSIX
        os.setsid()  # what it has started ends with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with compile_progress(lambda kernel, nested, about: pipe.send(kernel is not None)), contextlib.suppress(EOFError):
        while True:
            name, seed = pipe.recv()
            kind = kind_of(name)
            kind.prepare()
            pipe.send("begun")
            pipe.send(outcome(kind, seed))


def processor_time(process: int | None) -> float:
    """Seconds that a process has had of the processor; inf where the system does not say it in /proc."""
    try:
        numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")  # of the program, of the system for it
    except (OSError, AttributeError, ValueError, IndexError):
        return math.inf


class Worker:
    """A process that tries one mutant after another."""

    def __init__(self, limit: float) -> None:
        self.limit, self.tried = limit, 0
        self.task: Task = ("", 0)
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,))
        self.process.start()
        other.close()
        self.begun = self.worked = self.deadline = 0.0

    def give(self, task: Task) -> None:
        """Begin with a mutant."""
        self.task, self.deadline = task, time.monotonic() + PATIENCE
        self.tried += 1
        with contextlib.suppress(OSError):  # it has died, which `read` sees
            self.pipe.send(task)

    def read(self) -> Outcome | None:
        """The outcome of the mutant, if it has one by now."""
        try:
            while self.pipe.poll():
                message = self.pipe.recv()
                if isinstance(message, Outcome):
                    return message
                self.begun, self.worked = time.monotonic(), processor_time(self.process.pid)
                self.deadline = self.begun + (PATIENCE if message is True else self.limit)
        except (EOFError, OSError):
            self.process.join(10)
            return Outcome("crash", f"exit code {self.process.exitcode}")
        now = time.monotonic()
        if now <= self.deadline:
            return None
        left = self.limit - (processor_time(self.process.pid) - self.worked)
        if left > 0.0 and now < self.begun + BUSY * self.limit:
            self.deadline = now + left  # at the earliest
            return None
        return Outcome("hang", f"longer than {self.limit:g} s")

    def end(self) -> None:
        """Kill the process and what it has started."""
        with contextlib.suppress(AttributeError, OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def attempts(tasks: Iterator[Task], count: int, limit: float, until: float) -> Iterator[tuple[Task, Outcome]]:
    """Outcomes of mutants in the order in which they end, from `count` workers, until there are no more or time is up.

    `limit` (s): longer than that of the processor without compiling, or BUSY times that by the clock, is a hang.
    `until`: of `time.monotonic`; what is not done then is given up and not counted. What hangs is tried once more in a
    new process: the first may have waited for kernels that are compiled without a report, or by another process.
    """
    slow: set[Task] = set()
    busy: list[Worker] = []
    idle = [Worker(limit) for _ in range(count)]
    try:
        while time.monotonic() < until:
            while idle and (task := next(tasks, None)) is not None:
                busy.append(idle.pop())
                busy[-1].give(task)
            if not busy:
                return
            wait([worker.pipe for worker in busy], timeout=0.1)
            for worker in list(busy):
                if (found := worker.read()) is None:
                    continue
                task, again = worker.task, found.result == "hang" and worker.task not in slow
                busy.remove(worker)
                if found.result in ("crash", "hang") or worker.tried >= MOST:
                    worker.end()
                    worker = Worker(limit)
                idle.append(worker)
                if again:
                    slow.add(task)
                    tasks = itertools.chain([task], tasks)
                else:
                    yield task, found
    finally:
        for worker in busy + idle:
            worker.end()
