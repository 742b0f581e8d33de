"""Samples of a run in memory, as columns that grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.record.table.columns import tables
from saltus.record.table.events import EventLog


class SampleBuffer:
    """Samples in memory, by column. An interrupt between or within two samples loses at most the last one."""

    def __init__(self, shapes: Mapping[str, tuple], room: int):
        self._columns: dict[str, NDArray[Any]] = tables(dict(shapes), room)
        self._count = 0
        self._end: dict[str, Any] | None = None
        self.event_log = EventLog()

    def __len__(self) -> int:
        return self._count

    def append(
        self,
        time: float,
        qpos: ArrayLike,
        qvel: ArrayLike,
        act: ArrayLike = (),
        ctrl: ArrayLike = (),
        energy: ArrayLike = (np.nan, np.nan),
        contact_state: ArrayLike = (),
        mocap_pos: ArrayLike = (),
        mocap_quat: ArrayLike = (),
        contact_mode: ArrayLike = (),
        contact_force: ArrayLike = (),
        contact_pos: ArrayLike = (),
        actuation_state: ArrayLike = (),
        ledger: ArrayLike = (),
        tree_asleep: ArrayLike = (),
        prescribed_force: ArrayLike = (),
    ) -> None:
        """Copy one sample.

        time s, qpos [nq], qvel [nv], act [na], ctrl [nu], energy [2] J, contact_state [n], mocap_pos [nmocap, 3] m,
        mocap_quat [nmocap, 4]; where there are such columns contact_mode [n], contact_force [n, 3] N, contact_pos
        [n, 3] m, actuation_state [k], ledger [n] J, tree_asleep [ntree] and prescribed_force [k] (N m, N).
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
        if columns["mocap_pos"].shape[1]:
            columns["mocap_pos"][row] = mocap_pos
            columns["mocap_quat"][row] = mocap_quat
        if columns["contact_mode"].shape[1]:
            columns["contact_mode"][row] = contact_mode
            columns["contact_force"][row] = contact_force
            columns["contact_pos"][row] = contact_pos
        if columns["actuation_state"].shape[1]:
            columns["actuation_state"][row] = actuation_state
        if columns["ledger"].shape[1]:
            columns["ledger"][row] = ledger
        if columns["tree_asleep"].shape[1]:
            columns["tree_asleep"][row] = tree_asleep
        if columns["prescribed_force"].shape[1]:
            columns["prescribed_force"][row] = prescribed_force
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
