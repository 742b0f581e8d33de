"""`BatchRecording`: recorded runs of all simulations of a batch, with one axis more than a `Trajectory`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import PlainValue
from saltus.errors import OptionError
from saltus.model.model import Model
from saltus.record.trajectory import Trajectory

COLUMNS = ("time", "qpos", "qvel", "act", "ctrl", "actuation_state", "sensordata", "signals")


class BatchRecording:
    """The recorded motion of n simulations at T samples, from `Batch.run`.

    Attributes:
        time [n, T]: s.
        qpos [n, T, nq], qvel [n, T, nv]: positions (rad, m, quaternion parts) and velocities (rad/s, m/s).
        act [n, T, na], ctrl [n, T, nu]: states of actuators, controls.
        actuation_state [n, T, k]: discrete states of actuation.
        sensordata [n, T, nsensordata]: readings of all sensors.
        signals [n, T, k]: what `record` asked for, one number after the other.
        names, units: labels and units of the columns, as of `saltus.Trajectory`.
        attrs: provenance: integrator, timestep, sample, versions, ...

    `recording[i]` is simulation i as a `saltus.Trajectory`, with files, figures and films; `recording["xpos[hand]"]` a
    quantity of all simulations [n, T, ...] by its name there. Rows after a simulation's end, by a terminal event or
    because it diverged, are nan.
    """

    time: NDArray[np.float64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    act: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    actuation_state: NDArray[np.float64]
    sensordata: NDArray[np.float64]
    signals: NDArray[np.float64]

    def __init__(
        self,
        columns: Mapping[str, NDArray[np.float64]],
        *,
        names: Mapping[str, Sequence[str]],
        units: Mapping[str, Sequence[str]],
        attrs: Mapping[str, PlainValue],
        model: Model,
    ):
        for name in COLUMNS:
            setattr(self, name, columns[name])
        self.names, self.units, self.attrs = dict(names), dict(units), dict(attrs)
        self._model = model

    def __len__(self) -> int:
        """Number of simulations."""
        return len(self.time)

    def __repr__(self) -> str:
        n, count = self.time.shape
        return f"<BatchRecording: {n} simulations, {count} samples, {self.attrs.get('integrator')}>"

    def __iter__(self) -> Iterator[Trajectory]:
        """The simulations, one after the other."""
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, which: int) -> Trajectory: ...
    @overload
    def __getitem__(self, which: str) -> NDArray[np.float64]: ...
    def __getitem__(self, which: int | str) -> Trajectory | NDArray[np.float64]:
        """Simulation number `which` as a Trajectory, or a quantity [n, T, ...] by its name.

        Raises:
            OptionError: there is no such simulation or name.
        """
        if isinstance(which, str):
            return self._of_all(which)
        if not isinstance(which, int | np.integer) or not -len(self) <= which < len(self):
            raise OptionError(f"there is no simulation {which!r}; the batch has {len(self)}, from 0")
        return self._alone(int(which))

    def _of_all(self, name: str) -> NDArray[np.float64]:
        out: NDArray[np.float64] | None = None
        for i in range(len(self)):
            values = self._alone(i)[name]
            if out is None:
                out = np.full((*self.time.shape, *values.shape[1:]), np.nan)
            out[i, np.isfinite(self.time[i])] = values
        return np.zeros((0, 0)) if out is None else out

    def _alone(self, i: int) -> Trajectory:
        rows = np.isfinite(self.time[i])
        own = {name: getattr(self, name)[i][rows] for name in COLUMNS}
        return Trajectory(**own, names=self.names, units=self.units, attrs=self.attrs, model=self._model)
