"""A stage of a plan as its cost sees it: state, controls, places of sites and bodies, as numbers with derivatives."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from saltus.control.trajectory.quadratic_number import QuadraticNumber, numbers_of

if TYPE_CHECKING:
    from saltus.control.trajectory.stage_values import StageValues

Array: TypeAlias = "NDArray[np.float64] | NDArray[np.object_]"


class Stage:
    """The state and controls at a stage, for a cost; NumPy's functions take its arrays.

    qpos [nq], qvel [nv], act [na], ctrl [nu] (0 at the end), time (s). step: its number, from 0. final: whether the
    horizon ends here. Second derivatives of places by the positions are left out (Gauss & Newton).
    """

    def __init__(self, values: StageValues, rows: int | slice, derivatives: bool):
        self._values, self._rows = values, rows
        self._plain = isinstance(rows, int) and not derivatives
        self._derivatives = derivatives
        self.final = rows == values.last

    def _numbers(self, values: NDArray[np.float64], first: int, inputs: bool = True) -> Array:
        """Numbers [n] of values [stages, n], which are inputs from `first` on."""
        found = values[self._rows]
        if self._plain:
            return found.copy()
        return numbers_of(found.T, range(first, first + values.shape[1]), self._derivatives and inputs)

    @property
    def step(self) -> int | QuadraticNumber:
        """Number of the stage."""
        return self._rows if isinstance(self._rows, int) else self._constant(np.arange(float(self._values.last)))

    @property
    def time(self) -> float | QuadraticNumber:
        """Time (s)."""
        return (
            float(self._values.time[self._rows]) if isinstance(self._rows, int) else self._constant(self._values.time)
        )

    def _constant(self, values: NDArray[np.float64]) -> QuadraticNumber:
        return QuadraticNumber(values[self._rows], {})

    @cached_property
    def qpos(self) -> Array:
        """Positions [nq]; of quaternions along the sphere."""
        return self._numbers(self._values.qpos, self._values.first["qpos"])

    @cached_property
    def qvel(self) -> Array:
        """Velocities [nv]."""
        return self._numbers(self._values.qvel, self._values.first["qvel"])

    @cached_property
    def act(self) -> Array:
        """States of actuators [na]."""
        return self._numbers(self._values.act, self._values.first["act"])

    @cached_property
    def ctrl(self) -> Array:
        """Controls [nu]."""
        return self._numbers(self._values.ctrl, self._values.first["ctrl"], not self.final)

    def site(self, name: str) -> Array:
        """Place [3] of a site (m)."""
        return self._numbers(*self._values.place("site", name, self._derivatives))

    def body(self, name: str) -> Array:
        """Place [3] of a body's frame (m)."""
        return self._numbers(*self._values.place("body", name, self._derivatives))

    @cached_property
    def com(self) -> Array:
        """Centre of mass [3] of all bodies (m)."""
        return self._numbers(*self._values.com(self._derivatives))
