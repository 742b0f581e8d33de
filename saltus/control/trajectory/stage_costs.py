"""The cost of a trajectory, and its derivatives, from a function of a stage.

The function is called once for all stages before the end: the numbers that it computes with hold an array over these.
Where that cannot be, as the function looks at values, at the number of the stage or at the time, it is called stage by
stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.control.trajectory.quadratic_number import QuadraticNumber
from saltus.control.trajectory.stage import Stage
from saltus.errors import OptionError
from saltus.simulate.gradients.coordinates import Coordinates

if TYPE_CHECKING:
    from saltus.control.trajectory.stage_values import StageValues
    from saltus.model.model import Model

Array = NDArray[np.float64]
Cost = Callable[[Stage], QuadraticNumber | np.object_ | float]
SAME = 1e-9  # of costs of stages: more than rounding


class StageCosts:
    """A cost along trajectories of a model. `singly`: why it is evaluated stage by stage, or ""."""

    def __init__(self, model: Model, cost: Cost):
        self._cost, self._coordinates = cost, Coordinates(model)
        self.singly = ""

    def check(self, values: StageValues) -> None:
        """Compare the costs of all stages at once with those stage by stage, once."""
        together = self._together(values, False)
        if together is None:
            return
        found = np.broadcast_to(_value(together), values.last)
        single = np.array([_value(self._of(Stage(values, k, False))) for k in range(values.last)])
        if not (abs(found - single) <= SAME * (1.0 + abs(single))).all():
            self.singly = "costs of all stages at once are other than stage by stage"

    def total(self, values: StageValues) -> float:
        """The cost of a trajectory."""
        together = self._together(values, False)
        if together is None:
            costs = [_value(self._of(Stage(values, k, False))) for k in range(values.last)]
        else:
            costs = np.broadcast_to(_value(together), values.last)
        return float(np.sum(costs)) + float(_value(self._of(Stage(values, values.last, False))))

    def expand(self, values: StageValues) -> tuple[Array, Array]:
        """Slopes [T + 1, n + nu] and curves [T + 1, n + nu, n + nu] of a trajectory's cost by states and controls."""
        size = 2 * values.model.nv + values.act.shape[1] + values.ctrl.shape[1]
        slopes, curves = np.zeros((values.last + 1, size)), np.zeros((values.last + 1, size, size))
        together, end = self._together(values, True), slice(values.last, values.last + 1)
        if together is None:
            for k in range(values.last):
                self._add(values, self._of(Stage(values, k, True)), slice(k, k + 1), slopes, curves)
        else:
            self._add(values, together, slice(0, values.last), slopes, curves)
        self._add(values, self._of(Stage(values, values.last, True)), end, slopes, curves)
        return slopes, curves

    def _together(self, values: StageValues, derivatives: bool) -> Any:
        """The cost of all stages but the last at once; None if that cannot be."""
        if self.singly:
            return None
        try:
            with np.errstate(all="ignore"):
                found = self._of(Stage(values, slice(0, values.last), derivatives))
        except Exception as error:  # whatever is wrong is said of a single stage, or is not wrong there
            cause = error.__cause__ or error
            self.singly = f"{type(cause).__name__}: {cause}"
            return None
        # numbers raise errors where arrays become infinite or NaN
        return found if np.isfinite(_value(found)).all() else None

    def _of(self, stage: Stage) -> Any:
        """The cost of a stage; OptionError for what is no number, or goes through functions without derivatives."""
        try:
            found = self._cost(stage)
        except (TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise OptionError(
                f"cost: {error}; it must consist of arithmetic and NumPy's functions of numbers"
            ) from error
        if isinstance(found, np.ndarray) and found.size == 1:
            found = found.item()
        if not isinstance(found, QuadraticNumber) and not np.isscalar(found):
            raise OptionError(f"cost must return one number, not {type(found).__name__}")
        return found

    def _add(self, values: StageValues, found: Any, rows: slice, slopes: Array, curves: Array) -> None:
        """Add derivatives by inputs to those by (dq, dv, dw, du), at stages `rows`."""
        if not isinstance(found, QuadraticNumber):
            return
        ways = {key: self._way(values, key, rows) for key in found.gradient}
        for key, entry in found.gradient.items():
            where, rates = ways[key]
            slopes[rows, where] += entry if rates is None else _column(entry) * rates
        for (i, j), entry in found.hessian.items():
            (first, one), (second, two) = ways[i], ways[j]
            part = _outer(entry, one, two)
            curves[rows, first, second] += part
            if i != j:
                curves[rows, second, first] += np.swapaxes(part, 1, 2) if one is not None and two is not None else part

    def _way(self, values: StageValues, key: int, rows: slice) -> tuple[int | slice, Array | None]:
        """The direction that an input is, or directions along which it changes, and its rates along these."""
        direction = values.direction(key, self._coordinates)
        if direction is not None:
            return direction, None
        return slice(0, values.model.nv), values.rates(key, self._coordinates)[rows]


def _value(found: Any) -> Any:
    return found.value if isinstance(found, QuadraticNumber) else found


def _column(entry: Any) -> Any:
    """An entry, as a factor of rows [M, n]."""
    return entry[:, None] if isinstance(entry, np.ndarray) else entry


def _outer(entry: Any, one: Array | None, two: Array | None) -> Any:
    """An entry times rates of either input, of which either may be a direction itself."""
    if one is None or two is None:
        rates = two if one is None else one
        return entry if rates is None else _column(entry) * rates
    return (_column(entry) * one)[:, :, None] * two[:, None, :]
