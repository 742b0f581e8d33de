"""The result of `saltus.inverse_dynamics`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saltus.model.enums import FREE

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RecordedForces:
    """Generalised forces of a recorded motion.

    time [n] (s). qpos [n, nq], qvel [n, nv] (m/s, rad/s), qacc [n, nv] (m/s², rad/s²): the motion as it was smoothed
    and differentiated. forces [n, nv] (N, N m): what actuators, and whatever else is not in the model or was left out,
    must have exerted. names: of the degrees of freedom. left_out: kinds of the model's constraints ("contact", "limit",
    "frictionloss") whose forces are part of `forces`, because they were not taken from the model. model: as given.
    mocap_pos [n, nmocap, 3] (m), mocap_quat [n, nmocap, 4]: as recorded.
    """

    time: Array
    qpos: Array
    qvel: Array
    qacc: Array
    forces: Array
    names: tuple[str, ...]
    left_out: tuple[str, ...]
    model: Model = field(repr=False)
    mocap_pos: Array = field(repr=False)
    mocap_quat: Array = field(repr=False)

    @property
    def residual(self) -> dict[str, Array]:
        """Forces [n] (N, N m) on free joints, by degree of freedom: no actuator explains them.

        Where all external forces are given, they are errors of the data and of the model (residual forces).
        """
        return {self.names[i]: self.forces[:, i] for i in self.free_dofs()}

    def free_dofs(self) -> NDArray[np.int64]:
        """Numbers of the degrees of freedom of free joints."""
        first = self.model.jnt_dofadr[np.asarray(self.model.jnt_type) == FREE]
        return (np.asarray(first, np.int64)[:, None] + np.arange(6)).reshape(-1)

    def __repr__(self) -> str:
        largest = abs(self.forces).max(axis=0, initial=0.0)
        unit = ["N" if text == "m/s" else "N m" for text in self.model.coordinate_units()[1]]
        lines = [f"{name}: up to {x:.4g} {u}" for name, x, u in zip(self.names, largest, unit, strict=True)]
        return "\n".join(lines + ([f"with forces of: {', '.join(self.left_out)}"] if self.left_out else []))
