"""What a batch asks of the states of its simulations, and the threads that move them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NUNSOLVED
from saltus.errors import OptionError
from saltus.integrate.integrator import Integrator
from saltus.model.layout import DATA
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.record.table.events import EVENT_DTYPE, EventTable, event_table
from saltus.simulate.engine.threads.pool import ThreadPool
from saltus.simulate.laws.contact import Law

WORTH_A_THREAD = 1e-4  # s of work below which a second thread costs more than it saves
FIELDS = (
    *("time", "qpos", "qvel", "act", "history", "mocap_pos", "mocap_quat", "mocap_vel"),
    *("userdata", "control_prm", "ctrl"),
    *("qfrc_applied", "xfrc_applied", "actuation_state"),
)


FORGETTING = ("qpos", "qvel", "act", "time", "mocap_pos", "mocap_quat")  # fields whose change makes a past void
Result = TypeVar("Result")


class BatchStates(ABC):
    """n states of a model and what moves them, on several threads; below `saltus.Batch`.

    `m`: the Model as kernels take it; `n`: how many states; `workspaces`: a Data for each thread, of which there are
    `workers`; `pace` (s): what a step of a group took when it was last measured.

    States lie in `groups` of `width`: `states` [groups, rows, width], `clock` [groups, width] (s, in double precision
    whatever the states are in). `remembered`: rows that are void when a state is changed from outside. `forced`:
    whether forces are applied from outside at all.
    """

    model: Model
    m: Struct
    sizes: dict[str, int]  # of a Data
    workspaces: Sequence[Struct]
    precision: str
    groups: int
    width: int
    states: NDArray[np.floating]
    clock: NDArray[np.float64]
    remembered: NDArray[np.int64]

    def __init__(self, n: int, workers: int):
        self.n, self.workers = n, workers
        self.everyone = np.arange(n)
        self.forced = False
        self.pace = 1e-6
        self._threads = ThreadPool(max(1, workers - 1))

    # ------------------------------------------------------------ state

    def shape(self, field: str) -> tuple[int, ...]:
        """The shape of a field in one state."""
        return DATA.shape(field, self.sizes)

    @abstractmethod
    def span(self, field: str) -> slice:
        """The rows of a state in which a field of it lies."""

    @abstractmethod
    def restart(self, index: np.ndarray) -> None:
        """States with the given numbers begin anew, with the fields that have been written."""

    @abstractmethod
    def diverged(self) -> NDArray[np.bool_]:
        """Which states have diverged, or could not go on [n]: a copy."""

    @abstractmethod
    def stuck(self, i: int) -> bool:
        """Whether state i could not go on since step control asked for too small steps."""

    def fault(self, i: int) -> int | str:
        """What event could not be handled in state i: its status, or what is wrong with the start; 0: none."""
        return 0

    @abstractmethod
    def take_integrator(self, integrator: Integrator) -> None:
        """Take the same integrator with other parameters."""

    @abstractmethod
    def kept(self) -> dict[str, Any]:
        """All that steps go on from, for `go_to` of states that were made in the same way."""

    @abstractmethod
    def go_to(self, kept: dict[str, Any]) -> None:
        """Go to what `kept` has described."""

    # ------------------------------------------------------------ motion

    @abstractmethod
    def advance(self, n: int, h: float, chosen: NDArray[np.int64] | None = None) -> int:
        """n steps of h seconds; returns the worst status of those that have not diverged.

        `chosen`: numbers of the states that take them; None for all.
        """

    @abstractmethod
    def take_unsolved(self) -> int:
        """How often constraint solvers did not converge since the last call."""

    def ended(self) -> NDArray[np.bool_]:
        """Which states a terminal event has ended the last steps of [n]."""
        return np.zeros(self.n, bool)

    # ------------------------------------------------------------ hard contact

    def events(self, simulation: int | None = None) -> EventTable:
        """The log of events of all, with the number of each in the field `simulation`, or of one without it."""
        return event_table(np.empty(0, EVENT_DTYPE if simulation is not None else numbered(EVENT_DTYPE)))

    def forget_events(self, index: np.ndarray) -> None:
        """Empty the logs of the states with the given numbers."""
        return

    def set_law(self, law: Law) -> None:
        """Take other numbers of the law of contact; OptionError: it is not the same in all else."""
        raise OptionError("law: only restitution and friction of hard contact can be changed; make another Batch")

    # ------------------------------------------------------------ threads

    @abstractmethod
    def share(self, work: Callable[[int, int, int], Result], seconds: float) -> list[Result]:
        """What `work(worker, first group, last group)` returns, on all threads if it takes that many seconds or so."""

    @contextmanager
    def looking(self, workspace: Struct) -> Iterator[None]:
        """While inside, solves in a workspace that do not converge are not counted: looking is not a step."""
        count = workspace.views["count"]
        unsolved = int(count[NUNSOLVED])
        try:
            yield
        finally:
            count[NUNSOLVED] = unsolved

    def _worth(self, seconds: float) -> int:
        """How many threads are worth it for work of so many seconds."""
        return 1 if seconds < WORTH_A_THREAD * self.workers else self.workers

    def _shared_out(
        self, work: Callable[[int, int, int], Result], workers: int, count: int, pieces: int
    ) -> list[Result]:
        """What `work(worker, first, last)` returns for each of so many pieces of `count`, in their order.

        Workers take the next piece as they are free, so who has done a piece differs from call to call.
        """
        edges = [count * k // pieces for k in range(pieces + 1)]
        waiting = iter(range(pieces))

        def take(worker: int) -> list[tuple[int, Result]]:
            return [(k, work(worker, edges[k], edges[k + 1])) for k in waiting]

        done = dict(pair for pairs in self._on_threads(take, workers) for pair in pairs)
        return [done[k] for k in range(pieces)]

    def _on_threads(self, work: Callable[[int], Any], workers: int) -> list[Any]:
        """What `work(worker)` returns for each worker, of which this thread is the first."""
        if workers == 1:
            return [work(0)]
        pool = self._threads.get()
        rest = [pool.submit(work, k) for k in range(1, workers)]
        return [work(0), *(job.result() for job in rest)]


def numbered(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
    """The type of events with the number of their simulation in front."""
    fields = dtype.fields or {}
    return np.dtype([("simulation", "i8"), *((name, kind) for name, (kind, *_) in fields.items())])
