"""Collection of samples during a run; the samples so far can be made a trajectory at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import PlainValue
from saltus.errors import OptionError
from saltus.record.io.sample_buffer import SampleBuffer
from saltus.record.table.certificate import Certificate
from saltus.record.table.columns import row_shapes
from saltus.record.trajectory import Trajectory

if TYPE_CHECKING:
    from saltus.model.model import Model


class TrajectoryBuilder(SampleBuffer):
    """Grows a trajectory sample by sample."""

    resumable = due = False  # recordings in memory have no checkpoints

    def __init__(
        self,
        nq: int,
        nv: int,
        *,
        expected: int = 64,
        names: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, Sequence[str]] | None = None,
        attrs: Mapping[str, PlainValue] | None = None,
        model: Model | None = None,
        **sizes: int,
    ) -> None:
        """Reserve room for `expected` samples; more are taken, at a growing step. Other arguments go to `Trajectory`.

        `sizes`: further ones, such as na and nu, of `saltus.record.table.columns.row_shapes`.

        Raises:
            OptionError: a size is unknown or negative.
        """
        sizes |= {"nq": nq, "nv": nv}
        for name, size in {**sizes, "expected": expected}.items():
            if size < 0:
                raise OptionError(f"{name} cannot have a negative size, got {size}")
        super().__init__(row_shapes(**sizes), max(int(expected), 1))
        self._names, self._units, self._model = names, units, model
        self.attrs: dict[str, PlainValue] = dict(attrs or {})

    def finish(self, status: str = "complete", *, certificate: Certificate | None = None) -> Trajectory:
        """Return the samples so far as a trajectory of their own; recording may go on afterwards."""
        n = self._count
        table = {name: column[:n].copy() for name, column in self._columns.items()}
        return Trajectory(
            **table,
            end=self._end,
            events=self.event_log.array(),
            names=self._names,
            units=self._units,
            attrs=self.attrs,
            certificate=certificate,
            model=self._model,
        )

    def commit(self, position: Mapping[str, Any], state: Mapping[str, NDArray[Any]]) -> None:
        """Do nothing: samples in memory do not outlive this process."""

    def certify(self, trajectory: Trajectory, certificate: Certificate | None) -> None:
        """Add the statement of accuracy to the trajectory that `finish` returned."""
        trajectory.certificate = certificate

    def _make_room(self) -> None:
        """Double the room. The old columns stay in use until all the new ones are filled."""
        grown = {}
        for name, old in self._columns.items():
            grown[name] = np.empty((2 * len(old), *old.shape[1:]), dtype=old.dtype)
            grown[name][: len(old)] = old
        self._columns = grown
