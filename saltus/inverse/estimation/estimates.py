"""Estimated states at the times of measurements, filtered or smoothed, and whether they are consistent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.control.tangent_states import State

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]


class Consistency(NamedTuple):
    """Normalised innovations squared: their sum `nis` over `dof` components, and the interval where it should lie."""

    nis: float
    dof: int
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the sum is in the interval."""
        return self.low <= self.nis <= self.high


def chi_square_interval(dof: int, probability: float) -> tuple[float, float]:
    """Ends of the central interval of a chi-square variable with `dof` degrees of freedom."""
    from scipy.stats import chi2

    tail = 0.5 * (1.0 - probability)
    return float(chi2.ppf(tail, dof)), float(chi2.ppf(1.0 - tail, dof))


@dataclass(frozen=True, eq=False)
class Innovation:
    """Outcome of a measurement: `values` [m], reading less prediction, with their predicted covariance [m, m].

    `nis` = valuesᵀ covariance⁻¹ values is chi-square with `dof` degrees of freedom, where noise and model are right
    (Bar-Shalom, Li & Kirubarajan, Estimation with Applications to Tracking and Navigation (2001), 5.4). `names` [m].
    """

    values: Array
    covariance: Array
    nis: float
    dof: int
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimated states at T times with their covariances.

    time [T] (s), qpos [T, nq], qvel [T, nv], act [T, na]; covariance [T, n, n] of errors (dq, dv, dw), n = 2 nv + na,
    with orientations as rotation vectors in body axes. `nis` [T] and `dof` [T]: of the innovations, zero where nothing
    was measured. `names` [n] are those of the errors' components.
    """

    time: Array
    qpos: Array
    qvel: Array
    act: Array
    covariance: Array
    nis: Array
    dof: NDArray[np.int64]
    names: tuple[str, ...]

    @property
    def std(self) -> Array:
        """Standard deviations [T, n]."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=1, axis2=2), 0.0))

    def consistency(self, probability: float = 0.95) -> Consistency:
        """The sum of normalised innovations squared beside the interval that holds it with this probability.

        A sum above it: the noise is larger than stated, or the model is wrong; below: the noise is smaller than stated.
        """
        from saltus.errors import OptionError

        if not isinstance(probability, (int, float)) or not 0.0 < probability < 1.0:
            raise OptionError(f"consistency: probability must be between 0 and 1, got {probability!r}")
        dof = int(self.dof.sum())
        low, high = chi_square_interval(dof, float(probability)) if dof else (0.0, 0.0)
        return Consistency(float(self.nis.sum()), dof, low, high)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.time)} times, {self.covariance.shape[-1]} components of the state)"


class Passage(NamedTuple):
    """To the next measurement: the predicted state, its covariance, and its derivatives by the state before."""

    state: State
    covariance: Array
    A: Array


@dataclass(frozen=True, eq=False, repr=False)
class Filtered(Estimates):
    """Estimates after each measurement, with the `passages` [T - 1] to the next one, which a smoother goes back."""

    passages: tuple[Passage, ...]
    model: Model
