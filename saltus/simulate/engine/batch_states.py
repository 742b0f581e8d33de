"""What a batch asks of the states of its simulations, and the threads that move them."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.errors import OptionError
from saltus.model.layout import DATA
from saltus.number.structs import Struct
from saltus.record.table.events import EVENT_DTYPE, EventTable, event_table
from saltus.simulate.laws.contact import Law

WORTH_A_THREAD = 1e-4  # s of work below which a second thread costs more than it saves
FIELDS = (
    *("time", "qpos", "qvel", "act", "history", "mocap_pos", "mocap_quat", "userdata", "control_prm", "ctrl"),
    *("qfrc_applied", "xfrc_applied", "actuation_state"),
)


class BatchStates(ABC):
    """n states of a model and what moves them, on several threads; below `saltus.Batch`.

    `m`: the Model as kernels take it; `n`: how many states; `workers`: how many threads at most; `pace` (s): what a
    step of what is handed out by one took when it was last measured.
    """

    m: Struct
    sizes: dict[str, int]  # of a Data

    def __init__(self, n: int, workers: int):
        self.n, self.workers = n, workers
        self.pace = 1e-6
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0  # whose threads these are

    # ------------------------------------------------------------ state

    def shape(self, field: str) -> tuple[int, ...]:
        """The shape of a field in one state."""
        return DATA.shape(field, self.sizes)

    @abstractmethod
    def read(self, field: str) -> NDArray[np.floating]:
        """A copy of a field of all states [n, ...]."""

    @abstractmethod
    def write(self, field: str, values: np.ndarray, index: np.ndarray) -> None:
        """Set a field of the states with the given numbers to values that broadcast; ValueError: they do not."""

    @abstractmethod
    def reset(self, index: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
        """Set all fields of the states with the given numbers, to zero but for `values`, with no past."""

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
    def kept(self) -> dict[str, Any]:
        """All that steps go on from, for `go_to` of states that were made in the same way."""

    @abstractmethod
    def go_to(self, kept: dict[str, Any]) -> None:
        """Go to what `kept` has described."""

    # ------------------------------------------------------------ motion

    @abstractmethod
    def advance(self, n: int, h: float) -> int:
        """n steps of h seconds; returns the worst status of those that have not diverged."""

    @abstractmethod
    def take_unsolved(self) -> int:
        """How often constraint solvers did not converge since the last call."""

    @abstractmethod
    def sensordata(self, timestep: float | None) -> NDArray[np.floating]:
        """Readings of all sensors of all states [n, nsensordata]."""

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

    def _worth(self, steps: int) -> int:
        """How many threads are worth it for so many steps of what is handed out."""
        return 1 if self.pace * steps < WORTH_A_THREAD * self.workers else self.workers

    def _on_threads(self, work: Callable[[int], Any], workers: int) -> list[Any]:
        """What `work(worker)` returns for each worker, of which this thread is the first."""
        if workers == 1:
            return [work(0)]
        pool = self._threads()
        rest = [pool.submit(work, k) for k in range(1, workers)]
        return [work(0), *(job.result() for job in rest)]

    def _threads(self) -> ThreadPoolExecutor:
        """The pool; another one in a process that was forked since, which has none of its parent's threads."""
        if self._pool is None or self._pool_process != os.getpid():
            self._pool = ThreadPoolExecutor(self.workers - 1, thread_name_prefix="saltus")
            self._pool_process = os.getpid()
        return self._pool


def numbered(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
    """The type of events with the number of their simulation in front."""
    fields = dtype.fields or {}
    return np.dtype([("simulation", "i8"), *((name, kind) for name, (kind, *_) in fields.items())])
