"""Distributions of random numbers, by their quantile functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from saltus.arguments import number, numbers
from saltus.errors import OptionError

#: A number, or the name of the environment's parameter that holds it.
Bound: TypeAlias = float | str
#: A function that returns a parameter's values [n] in n simulations by its name.
Lookup: TypeAlias = Callable[[str], NDArray[np.floating]]


class Distribution(ABC):
    """A distribution of random numbers; made by `uniform`, `log_uniform`, `normal` and `choice`."""

    @property
    @abstractmethod
    def bounds(self) -> Mapping[str, Bound]:
        """Parameters of the distribution by their names, as `low` and `high`."""

    @abstractmethod
    def check(self, values: Mapping[str, NDArray[np.float64]]) -> str:
        """Describe what is wrong with the distribution's parameters [n] each; "" if they are valid."""

    @abstractmethod
    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Quantiles [n, count] at probabilities u in (0, 1), for parameters of the distribution [n, 1]."""

    def parameters(self) -> list[str]:
        """Names of the environment's parameters that the distribution refers to."""
        return [bound for bound in self.bounds.values() if isinstance(bound, str)]

    def draw(self, what: str, u: NDArray[np.float64], lookup: Lookup) -> NDArray[np.float64]:
        """Quantiles [n, count] at probabilities u; OptionError, beginning with `what`, if parameters are invalid."""
        values = {
            name: np.full(len(u), bound) if not isinstance(bound, str) else np.asarray(lookup(bound), np.float64)
            for name, bound in self.bounds.items()
        }
        wrong = self.check(values)
        if wrong:
            raise OptionError(f"{what}: {wrong}")
        return self.quantile(u, {name: value[:, None] for name, value in values.items()})


@dataclass(frozen=True)
class _Between(Distribution):
    """A distribution between two numbers."""

    low: Bound
    high: Bound
    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_bounds(self.name, self)

    def __repr__(self) -> str:
        return f"{self.name}({self.low!r}, {self.high!r})"

    @property
    def bounds(self) -> Mapping[str, Bound]:
        return {"low": self.low, "high": self.high}

    def check(self, values: Mapping[str, NDArray[np.float64]]) -> str:
        finite = np.isfinite(values["low"]) & np.isfinite(values["high"])
        return first_wrong(~(finite & (values["low"] <= values["high"])), f"{self!r} must be finite with low ≤ high")


@dataclass(frozen=True, repr=False)
class Uniform(_Between):
    """The uniform distribution between two numbers."""

    name = "uniform"

    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        low, high = values["low"], values["high"]
        return np.clip(low + (high - low) * u, low, high)


@dataclass(frozen=True, repr=False)
class LogUniform(_Between):
    """The log-uniform distribution between two positive numbers."""

    name = "log_uniform"

    def check(self, values: Mapping[str, NDArray[np.float64]]) -> str:
        return super().check(values) or first_wrong(values["low"] <= 0.0, f"{self!r} must be positive")

    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        low, high = values["low"], values["high"]
        return np.clip(low * np.exp(np.log(high / low) * u), low, high)


@dataclass(frozen=True, repr=False)
class Normal(Distribution):
    """The normal distribution, truncated at the limits `low` and `high`."""

    mean: Bound
    deviation: Bound
    low: Bound
    high: Bound

    def __post_init__(self) -> None:
        check_bounds("normal", self)

    def __repr__(self) -> str:
        limits = {"low": self.low, "high": self.high}
        shown = [f"{name}={value!r}" for name, value in limits.items() if isinstance(value, str) or np.isfinite(value)]
        return f"normal({', '.join([repr(self.mean), repr(self.deviation), *shown])})"

    @property
    def bounds(self) -> Mapping[str, Bound]:
        return {"mean": self.mean, "deviation": self.deviation, "low": self.low, "high": self.high}

    @property
    def limited(self) -> bool:
        """Whether the distribution is truncated."""
        return isinstance(self.low, str) or isinstance(self.high, str) or bool(np.isfinite([self.low, self.high]).any())

    def check(self, values: Mapping[str, NDArray[np.float64]]) -> str:
        mean, deviation, low, high = (values[name] for name in ("mean", "deviation", "low", "high"))
        ordered = np.isfinite(mean) & (deviation > 0.0) & np.isfinite(deviation) & (low < high)
        return first_wrong(~ordered, f"{self!r} must have a finite mean, a positive deviation and low < high")

    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        mean, deviation, low, high = (values[name] for name in ("mean", "deviation", "low", "high"))
        first, last = ndtr((low - mean) / deviation), ndtr((high - mean) / deviation)
        return np.clip(mean + deviation * ndtri(first + u * (last - first)), low, high)


@dataclass(frozen=True)
class Choice(Distribution):
    """A discrete distribution of values, with probabilities proportional to their weights."""

    values: tuple[float, ...]
    weights: tuple[float, ...]

    def __repr__(self) -> str:
        alike = len(set(self.weights)) == 1
        return f"choice({list(self.values)}{'' if alike else f', {list(self.weights)}'})"

    @property
    def bounds(self) -> Mapping[str, Bound]:
        return {}

    def check(self, values: Mapping[str, NDArray[np.float64]]) -> str:
        return ""

    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        edges = np.cumsum(self.weights) / np.sum(self.weights)
        place = np.searchsorted(edges[:-1], u, side="right")
        return np.array(self.values)[place]


def log_uniform(low: Bound, high: Bound) -> Distribution:
    """The log-uniform distribution between two positive numbers, for `Randomize` and `Push`."""
    return LogUniform(_bound("log_uniform: low", low), _bound("log_uniform: high", high))


def choice(values: Sequence[float], weights: Sequence[float] | None = None) -> Distribution:
    """A choice among values, with equal probabilities or proportional to weights; for `Randomize`."""
    given = numbers("choice: values", values)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise OptionError(f"choice: values must be a row of finite numbers, got {values!r}")
    share = np.ones(given.shape) if weights is None else numbers("choice: weights", weights)
    if share.shape != given.shape or not np.isfinite(share).all() or (share < 0).any() or not share.sum() > 0:
        raise OptionError(f"choice: weights must be {given.size} numbers ≥ 0, not all zero, got {weights!r}")
    return Choice(tuple(map(float, given)), tuple(map(float, share)))


def uniform_between(low: Bound, high: Bound) -> Distribution:
    """The uniform distribution between two numbers; see `uniform`."""
    return Uniform(_bound("uniform: low", low), _bound("uniform: high", high))


def normal_about(mean: Bound, deviation: Bound, *, low: Bound = -np.inf, high: Bound = np.inf) -> Distribution:
    """The normal distribution, truncated at limits if there are any; see `normal`."""
    given = {"mean": mean, "deviation": deviation, "low": low, "high": high}
    return Normal(*(_bound(f"normal: {name}", value) for name, value in given.items()))


def check_bounds(name: str, distribution: Distribution) -> None:
    """Raise OptionError if a distribution of numbers only, without names of parameters, is invalid."""
    if not distribution.parameters():
        wrong = distribution.check({key: np.array([value], float) for key, value in distribution.bounds.items()})
        if wrong:
            raise OptionError(wrong.partition(" in simulation")[0])


def first_wrong(wrong: NDArray[np.bool_], words: str) -> str:
    """Append to `words` the first simulation in which something is wrong; "" if nothing is."""
    return f"{words} in simulation {int(np.flatnonzero(wrong)[0])} of those that begin" if wrong.any() else ""


def _bound(name: str, value: ArrayLike | str) -> Bound:
    return value if isinstance(value, str) else number(name, value)
