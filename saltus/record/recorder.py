"""Collecting samples while a run goes on; what was collected so far is a trajectory at any moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.errors import OptionError
from saltus.record.certificate import Certificate
from saltus.record.trajectory import EVENT_DTYPE, Trajectory


class TrajectoryBuilder:
    """Grows a trajectory sample by sample. An interrupt between or within two samples loses at most the last one."""

    def __init__(
        self,
        nq: int,
        nv: int,
        na: int = 0,
        nu: int = 0,
        *,
        ncontact: int = 0,
        expected: int = 64,
        names: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, Sequence[str]] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        """Room for `expected` samples is reserved; more are taken, at a growing step. The rest goes to `Trajectory`.

        Raises:
            OptionError: a size is negative.
        """
        widths = {"time": None, "qpos": nq, "qvel": nv, "act": na, "ctrl": nu, "energy": 2, "contact_state": ncontact}
        for name, width in {**widths, "expected": expected}.items():
            if width is not None and width < 0:
                raise OptionError(f"{name} cannot have a negative size, got {width}")
        room = max(int(expected), 1)
        self._columns: dict[str, NDArray[Any]] = {
            name: np.empty((room,) if width is None else (room, width), dtype=_dtype(name))
            for name, width in widths.items()
        }
        self._count = 0
        self._events: list[tuple[float, str]] = []
        self._names, self._units = names, units
        self.attrs: dict[str, Any] = dict(attrs or {})

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
    ) -> None:
        """Copy one sample: time s, qpos [nq], qvel [nv], act [na], ctrl [nu], energy [2] J, contact_state [n]."""
        row = self._count
        if row == len(self._columns["time"]):
            self._grow()
        columns = self._columns
        columns["time"][row] = time
        columns["qpos"][row] = qpos
        columns["qvel"][row] = qvel
        columns["act"][row] = act
        columns["ctrl"][row] = ctrl
        columns["energy"][row] = energy
        columns["contact_state"][row] = contact_state
        # the sample counts only once it is complete
        self._count = row + 1

    def event(self, time: float, kind: str) -> None:
        """Note an event ("impact", "liftoff", ...) at `time`, s."""
        self._events.append((time, kind))

    def finish(self, *, certificate: Certificate | None = None) -> Trajectory:
        """The samples so far as a trajectory of their own; recording may go on afterwards."""
        n = self._count
        table = {name: column[:n].copy() for name, column in self._columns.items()}
        return Trajectory(
            **table,
            events=np.array(self._events, dtype=EVENT_DTYPE),
            names=self._names,
            units=self._units,
            attrs=self.attrs,
            certificate=certificate,
        )

    def _grow(self) -> None:
        """Double the room. The old columns stay in use until all the new ones are filled."""
        grown = {}
        for name, old in self._columns.items():
            grown[name] = np.empty((2 * len(old), *old.shape[1:]), dtype=old.dtype)
            grown[name][: len(old)] = old
        self._columns = grown


def _dtype(name: str) -> type:
    return np.bool_ if name == "contact_state" else np.float64
