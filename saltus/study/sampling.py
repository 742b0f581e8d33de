"""Values of a sweep that are drawn from distributions.

A distribution is whatever has the inverse `ppf` of its cumulative distribution function: those here, and all frozen
distributions of `scipy.stats`. A list among them stands for its values with equal probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import whole_number
from saltus.errors import OptionError

METHODS = ("random", "sobol", "latin")


class Distributed(Protocol):
    """Anything with quantiles."""

    def ppf(self, q: NDArray[np.float64], /) -> ArrayLike:
        """The values below which a number lies with the probabilities `q`."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution between `low` and `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise OptionError(f"uniform({self.low}, {self.high}): expected two numbers, the smaller one first")

    def ppf(self, q: Any) -> NDArray[np.float64]:
        return self.low + (self.high - self.low) * np.asarray(q, float)


@dataclass(frozen=True)
class LogUniform:
    """Distribution whose logarithm is uniform between the logarithms of `low` and `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < math.inf:
            raise OptionError(
                f"loguniform({self.low}, {self.high}): expected two positive numbers, the smaller one first"
            )

    def ppf(self, q: Any) -> NDArray[np.float64]:
        return self.low * (self.high / self.low) ** np.asarray(q, float)


@dataclass(frozen=True)
class Normal:
    """Normal (Gaussian) distribution with a mean and standard deviation."""

    mean: float
    std: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and 0 < self.std < math.inf):
            raise OptionError(f"normal({self.mean}, {self.std}): expected the mean and a positive standard deviation")

    def ppf(self, q: Any) -> NDArray[np.float64]:
        from scipy.special import ndtri

        return self.mean + self.std * ndtri(np.asarray(q, float))


#: Distributions by their names on the command line.
DISTRIBUTIONS = {"uniform": Uniform, "loguniform": LogUniform, "normal": Normal}


def unit_points(count: int, dimensions: int, sampling: str, seed: int) -> NDArray[np.float64]:
    """Sample points in the open unit cube [count, dimensions].

    "random"; "sobol": Sobol's sequence with Owen's scrambling; "latin": a Latin hypercube. The first points of the
    first two are the same for any count, so that a sweep may be made larger.
    """
    if not isinstance(sampling, str) or sampling not in METHODS:
        raise OptionError.unknown("sampling", sampling, METHODS)
    generator = np.random.default_rng(seed)
    if sampling == "random":
        found = generator.random((count, dimensions))
    else:
        from scipy.stats import qmc

        if sampling == "sobol":
            # powers of two, for which the sequence is balanced
            power = max(0, math.ceil(math.log2(count)))
            found = qmc.Sobol(dimensions, scramble=True, rng=generator).random_base2(power)[:count]
        else:
            found = qmc.LatinHypercube(dimensions, rng=generator).random(count)
    return np.clip(found, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)


def sampled(
    values: Mapping[str, Distributed | Iterable[Any]], samples: int | None, sampling: str, seed: int
) -> list[dict[str, Any]]:
    """Values of each run, by path."""
    if samples is None:
        raise OptionError("values from distributions need samples, the number of runs")
    count = whole_number("samples", samples, least=1)
    points = unit_points(count, len(values), sampling, whole_number("seed", seed, least=0))
    columns = [_values(path, given, u) for (path, given), u in zip(values.items(), points.T, strict=True)]
    return [dict(zip(values, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(path: str, given: Any, u: NDArray[np.float64]) -> list[Any]:
    if hasattr(given, "ppf"):
        found = np.asarray(given.ppf(u), float)
        if found.shape != u.shape:
            raise OptionError(f"{path}: the distribution gave {found.shape} numbers for {u.shape}")
        return found.tolist()
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError(f"{path}: expected a distribution or a list of values, got {given!r}")
    choices = [value.tolist() if isinstance(value, np.ndarray | np.generic) else value for value in given]
    if not choices:
        raise OptionError(f"{path}: no values given")
    return [choices[k] for k in np.minimum((u * len(choices)).astype(int), len(choices) - 1)]
