"""Executors of jobs: this process, processes of this computer, or a Dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, cast

from saltus.study.executors.workers import Here, Lost, Processes, worker_count

TRIES = 2  # of a job whose process ended


class DaskClient(Protocol):
    """A `distributed.Client`."""

    @property
    def dashboard_link(self) -> str | None:
        """The address of the scheduler's page."""
        ...


#: Number of processes (None: one a CPU), the address of a Dask scheduler, or a client of one.
Workers: TypeAlias = int | str | DaskClient | None


class Executor(Protocol):
    """Calls functions somewhere."""

    @property
    def slots(self) -> int:
        """Number of calls that it runs at once."""
        ...

    def submit(self, tag: Any, work: Callable[..., Any], *job: Any) -> None:
        """Have `work(*job)` called, a function of a module. OptionError: it cannot be sent."""
        ...

    def next(self) -> tuple[Any, Any]:
        """The tag of a call that is over, and what it returned; the exception, where it raised one.

        `Lost`: its process ended. It waits.
        """
        ...

    def __enter__(self) -> Executor: ...

    def __exit__(self, *_: object) -> None: ...


def results(executor: Executor, work: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Number and result of each job, as they come: what `work`, a function of a module, returns or raises.

    A job whose process ended is tried again; its result is `Lost` where that happens each time.

    Raises:
        OptionError: a job cannot be sent to another process.
    """
    left, tried = deque(range(len(jobs))), [0] * len(jobs)
    open_jobs = 0
    while left or open_jobs:
        while left and open_jobs < 2 * executor.slots:
            k = left.popleft()
            executor.submit(k, work, jobs[k])
            tried[k] += 1
            open_jobs += 1
        k, result = executor.next()
        open_jobs -= 1
        if isinstance(result, Lost) and tried[k] < TRIES:
            left.append(k)
        else:
            yield k, result


def make_executor(workers: Workers, *, reproducible: bool = True) -> Executor:
    """The executor for what a user says.

    Raises:
        OptionError: a number that cannot be; no cluster there; or its workers would give other numbers than this
            process, unless `reproducible` is False.
    """
    if isinstance(workers, str) or type(workers).__module__.partition(".")[0] == "distributed":
        from saltus.study.executors.cluster import Cluster

        return Cluster(workers, reproducible=reproducible)
    count = worker_count(cast("int | None", workers))
    return Processes(count) if count > 1 else Here()


def on_cluster(executor: Executor) -> bool:
    """Whether calls go to other computers, or may."""
    return not isinstance(executor, Here | Processes)
