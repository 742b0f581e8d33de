"""Samples of a run in memory, as columns that grow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.record.table.columns import COLUMNS, tables
from saltus.record.table.events import EventLog


class SampleBuffer:
    """Samples in memory, by column. An interrupt between or within two samples loses at most the last one."""

    def __init__(self, shapes: Mapping[str, tuple], room: int):
        self._columns: dict[str, NDArray[Any]] = tables(shapes, room)
        self._more = frozenset(name for name, shape in shapes.items() if not COLUMNS[name].always and 0 not in shape)
        self._count = 0
        self._end: dict[str, Any] | None = None
        self.event_log = EventLog()

    def __len__(self) -> int:
        return self._count

    @property
    def further(self) -> frozenset[str]:
        """Names of the columns with entries beyond those that every recording has."""
        return self._more

    def append(
        self,
        time: float,
        qpos: ArrayLike,
        qvel: ArrayLike,
        act: ArrayLike = (),
        ctrl: ArrayLike = (),
        energy: ArrayLike = (np.nan, np.nan),
        contact_state: ArrayLike = (),
        **more: ArrayLike,
    ) -> None:
        """Copy one sample: a row of each column of `saltus.record.table.columns.COLUMNS` that has entries.

        time s, qpos [nq], qvel [nv], act [na], ctrl [nu], energy [2] J, contact_state [n], and `more` by their names.

        Raises:
            OptionError: a column has an unknown name, or is missing.
        """
        if self._count == len(self._columns["time"]):
            self._make_room()
        row, columns = self._count, self._columns
        columns["time"][row] = time
        columns["qpos"][row] = qpos
        columns["qvel"][row] = qvel
        columns["act"][row] = act
        columns["ctrl"][row] = ctrl
        columns["energy"][row] = energy
        columns["contact_state"][row] = contact_state
        if more or self._more:
            if not self._more <= more.keys() <= columns.keys():
                raise _misfit(self._more, more, columns)
            for name in self._more:
                columns[name][row] = more[name]
        # the sample counts only once it is complete
        self._count = row + 1

    def end(self, **row: Any) -> None:
        """Record the state at the run's end, where no sample lies there; fields as in `append`."""
        self._end = {name: np.array(value) for name, value in row.items()}

    def event(self, time: float, kind: str, name: str = "", other: str = "", **about: Any) -> None:
        """Note an event ("impact", "liftoff", ...) at `time`, s; `about`: other fields of `EVENT_DTYPE`."""
        self.event_log.append(time, kind, name, other, **about)

    def events(self, events: NDArray[Any]) -> None:
        """Note many events: a structured array with fields of `EVENT_DTYPE`, at least time and kind."""
        self.event_log.extend(events)

    def _make_room(self) -> None:
        """Make room for another sample where there is none."""
        raise NotImplementedError


def _misfit(needed: Collection[str], given: Collection[str], known: Collection[str]) -> OptionError:
    """The error of a sample whose columns are not those of the recording."""
    if unknown := sorted(set(given) - set(known)):
        return OptionError.unknown("column of a recording", unknown[0], list(known))
    return OptionError(f"the sample lacks {', '.join(sorted(set(needed) - set(given)))}")
