"""`BatchStates`: the interface of a batch's states, and the threads that move them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
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

PIECES = 8  # per thread, into which work is cut whose parts differ in time
WORTH_A_THREAD = 1e-4  # s of work below which a second thread does not pay
FIELDS = (
    *("time", "qpos", "qvel", "eq_active", "act", "history", "plastic", "mocap_pos", "mocap_quat", "mocap_vel"),
    *("userdata", "control_prm", "ctrl"),
    *("qfrc_applied", "xfrc_applied", "actuation_state"),
)
#: Fields whose change voids what the integrator and the solver remember.
FORGETTING = ("time", "qpos", "qvel", "eq_active", "act", "mocap_pos", "mocap_quat")
Result = TypeVar("Result")


class BatchStates(ABC):
    """n states of a model and the means to move them on several threads; below `saltus.Batch`.

    `m`: the Model as kernels take it; `n`: number of states; `workspaces`: a Data for each of the `workers` threads;
    `pace` (s): last measured time of a step of a group.

    States lie in `groups` of `width`: `states` [groups, rows, width], `clock` [groups, width] (s, always in double
    precision). `remembered`: rows that a change of the state from outside invalidates. `forced`: whether any external
    forces are applied.
    """

    model: Model
    m: Struct
    sizes: dict[str, int]  # sizes of a Data
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
        """The rows of a state that hold a field."""

    @abstractmethod
    def restart(self, index: np.ndarray) -> None:
        """Restart the states with the given numbers from the fields that have been written."""

    @abstractmethod
    def diverged(self) -> NDArray[np.bool_]:
        """Mask of states that have diverged or could not continue [n]: a copy."""

    @abstractmethod
    def stuck(self, i: int) -> bool:
        """Whether state i stopped because step control asked for too small steps."""

    @abstractmethod
    def stop(self, index: NDArray[np.int64]) -> None:
        """Mark the states with these numbers as diverged, so that they take no steps until `restart`."""

    @abstractmethod
    def failed_step(self, i: int, h: float) -> dict[str, NDArray[np.floating]]:
        """qvel, qpos, act and time (s) after the step of h seconds in which state i diverged."""

    def of(self, i: int, field: str) -> NDArray[np.floating]:
        """A field of state i; times are in double precision."""
        group, lane = divmod(i, self.width)
        if field == "time":
            return self.clock[group, lane]
        return self.states[group, self.span(field), lane].reshape(self.shape(field))

    def fault(self, i: int) -> int | str:
        """Status of the event that could not be handled in state i, or the fault of its start; 0: none."""
        return 0

    @abstractmethod
    def take_integrator(self, integrator: Integrator) -> None:
        """Take an integrator of the same kind with other parameters."""

    @abstractmethod
    def kept(self) -> dict[str, Any]:
        """A copy of all that further steps depend on, for `go_to` of states made in the same way."""

    @abstractmethod
    def go_to(self, kept: dict[str, Any]) -> None:
        """Restore what `kept` returned."""

    # ------------------------------------------------------------ motion

    @abstractmethod
    def advance(self, n: int, h: float, chosen: NDArray[np.int64] | None = None) -> int:
        """Take n steps of h seconds; returns the worst status of the states that have not diverged.

        `chosen`: numbers of the states that take steps; None for all. States that have diverged take none; those that
        diverge now keep the state before the step that failed.
        """

    @abstractmethod
    def take_unsolved(self) -> int:
        """Number of solves that did not converge since the last call."""

    def ended(self) -> NDArray[np.bool_]:
        """Mask of states whose last steps a terminal event ended [n]."""
        return np.zeros(self.n, bool)

    # ------------------------------------------------------------ hard contact

    def events(self, simulation: int | None = None) -> EventTable:
        """The event log of all, with the number of each in the field `simulation`, or of one without this field."""
        return event_table(np.empty(0, EVENT_DTYPE if simulation is not None else numbered(EVENT_DTYPE)))

    def forget_events(self, index: np.ndarray) -> None:
        """Empty the logs of the states with the given numbers."""
        return

    def set_law(self, law: Law) -> None:
        """Take other coefficients of the contact law; OptionError if it differs in anything else."""
        raise OptionError("law: only restitution and friction of hard contact can be changed; make another Batch")

    # ------------------------------------------------------------ threads

    @abstractmethod
    def share(self, work: Callable[[int, int, int], Result], seconds: float) -> list[Result]:
        """Results of `work(worker, first group, last group)`, on all threads if it takes about so many seconds."""

    def share_among(self, work: Callable[[int, int, int], Result], count: int, seconds: float) -> list[Result]:
        """Results of `work(worker, first, last)` on `count` things, on all threads if it takes so many seconds."""
        workers = max(1, min(self._worth(seconds), count))
        if workers > 1:
            work(0, 0, 0)  # compiled before threads start, so that they do not wait for each other
        return self._shared_out(work, workers, count, min(PIECES * workers, count) if workers > 1 else 1)

    @contextmanager
    def looking(self, workspace: Struct) -> Iterator[None]:
        """Leave failed solves in a workspace uncounted within the block, since reading quantities is not a step."""
        count = workspace.views["count"]
        unsolved = int(count[NUNSOLVED])
        try:
            yield
        finally:
            count[NUNSOLVED] = unsolved

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave failed solves in all workspaces uncounted within the block."""
        with ExitStack() as all_workspaces:
            for workspace in self.workspaces:
                all_workspaces.enter_context(self.looking(workspace))
            yield

    def _worth(self, seconds: float) -> int:
        """Number of threads that pay for work of so many seconds."""
        return 1 if seconds < WORTH_A_THREAD * self.workers else self.workers

    def _shared_out(
        self, work: Callable[[int, int, int], Result], workers: int, count: int, pieces: int
    ) -> list[Result]:
        """Results of `work(worker, first, last)` for each of `pieces` pieces of `count`, in their order.

        Each worker takes the next piece when it is free, so the assignment of pieces differs from call to call.
        """
        edges = [count * k // pieces for k in range(pieces + 1)]
        waiting = iter(range(pieces))

        def take(worker: int) -> list[tuple[int, Result]]:
            return [(k, work(worker, edges[k], edges[k + 1])) for k in waiting]

        done = dict(pair for pairs in self._on_threads(take, workers) for pair in pairs)
        return [done[k] for k in range(pieces)]

    def _on_threads(self, work: Callable[[int], Any], workers: int) -> list[Any]:
        """Results of `work(worker)` for each worker, the first of which is this thread."""
        if workers == 1:
            return [work(0)]
        pool = self._threads.get()
        rest = [pool.submit(work, k) for k in range(1, workers)]
        return [work(0), *(job.result() for job in rest)]


def numbered(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
    """The event dtype with the number of the simulation in front."""
    fields = dtype.fields or {}
    return np.dtype([("simulation", "i8"), *((name, kind) for name, (kind, *_) in fields.items())])
