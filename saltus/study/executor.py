"""Who runs jobs: this process, processes of this computer, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from saltus.study.workers import Here, Processes, worker_count

if TYPE_CHECKING:
    from distributed import Client

    #: How many processes (None: one a CPU), the address of a Dask scheduler, or a client of one.
    Workers: TypeAlias = int | str | Client | None
else:
    Workers: TypeAlias = Any


class Executor(Protocol):
    """Calls functions somewhere."""

    @property
    def slots(self) -> int:
        """How many calls it runs at once."""
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


def make_executor(workers: Workers, *, reproducible: bool = True) -> Executor:
    """The executor for what a user says.

    Raises:
        OptionError: a number that cannot be; no cluster there; or its workers would give other numbers than this
            process, unless `reproducible` is False.
    """
    if isinstance(workers, str) or type(workers).__module__.partition(".")[0] == "distributed":
        from saltus.study.cluster import Cluster

        return Cluster(workers, reproducible=reproducible)
    count = worker_count(cast("int | None", workers))
    return Processes(count) if count > 1 else Here()


def on_cluster(executor: Executor) -> bool:
    """Whether calls go to other computers, or may."""
    return not isinstance(executor, Here | Processes)
