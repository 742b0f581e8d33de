"""Collecting samples while a run goes on; what was collected so far is a trajectory at any moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.record.certificate import Certificate
from saltus.record.columns import row_shapes, tables
from saltus.record.trajectory import EVENT_DTYPE, Trajectory

if TYPE_CHECKING:
    from saltus.model.model import Model


class SampleBuffer:
    """Samples in memory, by column. An interrupt between or within two samples loses at most the last one."""

    def __init__(self, shapes: Mapping[str, tuple], room: int):
        self._columns: dict[str, NDArray[Any]] = tables(dict(shapes), room)
        self._count = 0
        self._end: dict[str, Any] | None = None
        self._events: list[tuple[float, str]] = []

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
    ) -> None:
        """Copy one sample.

        time s, qpos [nq], qvel [nv], act [na], ctrl [nu], energy [2] J, contact_state [n], mocap_pos [nmocap, 3] m,
        mocap_quat [nmocap, 4].
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
        # the sample counts only once it is complete
        self._count = row + 1

    def end(self, **row: Any) -> None:
        """The state at the run's end, where no sample lies there; fields as those of `append`."""
        self._end = {name: np.array(value) for name, value in row.items()}

    def event(self, time: float, kind: str) -> None:
        """Note an event ("impact", "liftoff", ...) at `time`, s."""
        self._events.append((time, kind))

    def _make_room(self) -> None:
        """There is no room for another sample: make some."""
        raise NotImplementedError


class TrajectoryBuilder(SampleBuffer):
    """Grows a trajectory sample by sample."""

    due = False  # what is held in memory has no checkpoints

    def __init__(
        self,
        nq: int,
        nv: int,
        na: int = 0,
        nu: int = 0,
        *,
        ncontact: int = 0,
        nmocap: int = 0,
        expected: int = 64,
        names: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, Sequence[str]] | None = None,
        attrs: Mapping[str, Any] | None = None,
        model: Model | None = None,
    ) -> None:
        """Room for `expected` samples is reserved; more are taken, at a growing step. The rest goes to `Trajectory`.

        Raises:
            OptionError: a size is negative.
        """
        sizes = {"nq": nq, "nv": nv, "na": na, "nu": nu, "ncontact": ncontact, "nmocap": nmocap}
        for name, size in {**sizes, "expected": expected}.items():
            if size < 0:
                raise OptionError(f"{name} cannot have a negative size, got {size}")
        super().__init__(row_shapes(**sizes), max(int(expected), 1))
        self._names, self._units, self._model = names, units, model
        self.attrs: dict[str, Any] = dict(attrs or {})

    def finish(self, status: str = "complete", *, certificate: Certificate | None = None) -> Trajectory:
        """The samples so far as a trajectory of their own; recording may go on afterwards."""
        n = self._count
        table = {name: column[:n].copy() for name, column in self._columns.items()}
        return Trajectory(
            **table,
            end=self._end,
            events=np.array(self._events, dtype=EVENT_DTYPE),
            names=self._names,
            units=self._units,
            attrs=self.attrs,
            certificate=certificate,
            model=self._model,
        )

    def commit(self, position: Mapping[str, Any], state: Mapping[str, NDArray[Any]]) -> None:
        """Nothing is kept beyond this process."""

    def certify(self, trajectory: Trajectory, certificate: Certificate | None) -> None:
        """Add the statement of accuracy to what `finish` returned."""
        trajectory.certificate = certificate

    def _make_room(self) -> None:
        """Double the room. The old columns stay in use until all the new ones are filled."""
        grown = {}
        for name, old in self._columns.items():
            grown[name] = np.empty((2 * len(old), *old.shape[1:]), dtype=old.dtype)
            grown[name][: len(old)] = old
        self._columns = grown
