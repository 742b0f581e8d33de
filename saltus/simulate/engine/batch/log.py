"""The events of many simulations, as compiled code has logged them."""

import numpy as np
from numpy.typing import NDArray

from saltus.model.event_enums import EVENT_WIDTH

COLUMNS = 1 + EVENT_WIDTH  # the simulation's number, then the columns of `event_log`


class BatchLog:
    """Rows [1 + EVENT_WIDTH] of n simulations: the number of one, then an event of it.

    Blocks of rows may come from several threads, those of one simulation in the order of its time. `most`: number of
    events of a simulation that are kept. Forgotten rows are skipped when the log is read, and freed occasionally.
    """

    def __init__(self, n: int, most: int | None = None):
        self._blocks: list[NDArray[np.float64]] = []
        self._since = np.zeros(n, int)  # the first block that counts for each simulation
        self._most = most
        self._kept = 0  # number of rows when they were last read

    def add(self, rows: NDArray[np.float64]) -> None:
        """Add a block, which is not copied."""
        if len(rows):
            self._blocks.append(rows)

    def forget(self, simulations: NDArray[np.integer]) -> None:
        """Forget the events of some simulations up to here."""
        self._since[simulations] = len(self._blocks)
        if sum(map(len, self._blocks)) > 2 * self._kept + 100_000:
            self.rows()

    def mark(self) -> int:
        """A place in the log, for `forget_since`, until the log is read."""
        return len(self._blocks)

    def forget_since(self, mark: int, simulations: NDArray[np.integer]) -> None:
        """Drop the events that these simulations have logged since a mark."""
        for k in range(mark, len(self._blocks)):
            block = self._blocks[k]
            self._blocks[k] = block[~np.isin(block[:, 0], simulations)]

    def rows(self) -> NDArray[np.float64]:
        """All events that are kept, sorted by simulation, then by time."""
        counts = [len(block) for block in self._blocks]
        rows = np.concatenate([np.empty((0, COLUMNS)), *self._blocks])
        simulation = rows[:, 0].astype(int)
        rows = rows[np.repeat(np.arange(len(counts)), counts) >= self._since[simulation]]
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        if self._most is not None:
            first = np.searchsorted(rows[:, 0], rows[:, 0])
            rows = rows[np.arange(len(rows)) - first < self._most]
        self._blocks, self._kept = [rows], len(rows)
        self._since[:] = 0
        return rows

    def of(self, simulation: int) -> NDArray[np.float64]:
        """Rows of one simulation."""
        rows = self.rows()
        first, last = np.searchsorted(rows[:, 0], [simulation, simulation + 1])
        return rows[first:last]
