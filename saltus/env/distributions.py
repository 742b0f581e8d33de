"""Distributions of random numbers, by their quantile functions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from saltus.arguments import number, numbers
from saltus.errors import OptionError

#: A number, or the name of an environment's parameter whose value it is.
Bound: TypeAlias = float | str
#: What a distribution's numbers are in some simulations: the value of a parameter by its name [n].
Lookup: TypeAlias = Callable[[str], NDArray[np.floating]]


class Distribution(ABC):
    """What random numbers are drawn from; made by `uniform`, `log_uniform`, `normal` and `choice`."""

    @property
    @abstractmethod
    def bounds(self) -> Mapping[str, Bound]:
        """Its numbers, by what they are called."""

    @abstractmethod
    def check(self, values: Mapping[str, NDArray[np.float64]]) -> str:
        """What is wrong with its numbers [n] each, in words; nothing where they are as they should be."""

    @abstractmethod
    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Numbers [n, count] for probabilities u in (0, 1), by numbers of the distribution [n, 1]."""

    def parameters(self) -> list[str]:
        """The parameters that its numbers name."""
        return [bound for bound in self.bounds.values() if isinstance(bound, str)]

    def draw(self, what: str, u: NDArray[np.float64], lookup: Lookup) -> NDArray[np.float64]:
        """Numbers [n, count] for probabilities; OptionError, which begins with `what`, where its numbers are wrong."""
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
    """One of those between two numbers."""

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
    """Uniformly distributed between two numbers."""

    name = "uniform"

    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        low, high = values["low"], values["high"]
        return np.clip(low + (high - low) * u, low, high)


@dataclass(frozen=True, repr=False)
class LogUniform(_Between):
    """Between two positive numbers, with a logarithm that is uniformly distributed."""

    name = "log_uniform"

    def check(self, values: Mapping[str, NDArray[np.float64]]) -> str:
        return super().check(values) or first_wrong(values["low"] <= 0.0, f"{self!r} must be positive")

    def quantile(self, u: NDArray[np.float64], values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        low, high = values["low"], values["high"]
        return np.clip(low * np.exp(np.log(high / low) * u), low, high)


@dataclass(frozen=True, repr=False)
class Normal(Distribution):
    """Normally distributed, between limits if there are any: what lies beyond them is cut off the distribution."""

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
        """Whether there are limits."""
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
    """One of some values, with probabilities in the ratios of their weights."""

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
    """Between two positive numbers, with a logarithm that is uniformly distributed; for `Randomize` and `Push`."""
    return LogUniform(_bound("log_uniform: low", low), _bound("log_uniform: high", high))


def choice(values: Sequence[float], weights: Sequence[float] | None = None) -> Distribution:
    """One of some values, with equal probabilities or in the ratios of weights; for `Randomize`."""
    given = numbers("choice: values", values)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise OptionError(f"choice: values must be a row of finite numbers, got {values!r}")
    share = np.ones(given.shape) if weights is None else numbers("choice: weights", weights)
    if share.shape != given.shape or not np.isfinite(share).all() or (share < 0).any() or not share.sum() > 0:
        raise OptionError(f"choice: weights must be {given.size} numbers ≥ 0, not all zero, got {weights!r}")
    return Choice(tuple(map(float, given)), tuple(map(float, share)))


def uniform_between(low: Bound, high: Bound) -> Distribution:
    """The distribution that `uniform` gives."""
    return Uniform(_bound("uniform: low", low), _bound("uniform: high", high))


def normal_about(mean: Bound, deviation: Bound, *, low: Bound = -np.inf, high: Bound = np.inf) -> Distribution:
    """The distribution that `normal` gives."""
    given = {"mean": mean, "deviation": deviation, "low": low, "high": high}
    return Normal(*(_bound(f"normal: {name}", value) for name, value in given.items()))


def check_bounds(name: str, distribution: Distribution) -> None:
    """OptionError where the numbers of a distribution are wrong whatever the parameters are."""
    if not distribution.parameters():
        wrong = distribution.check({key: np.array([value], float) for key, value in distribution.bounds.items()})
        if wrong:
            raise OptionError(wrong.partition(" in simulation")[0])


def first_wrong(wrong: NDArray[np.bool_], words: str) -> str:
    """Words with the first simulation in which something is wrong; nothing where nothing is."""
    return f"{words} in simulation {int(np.flatnonzero(wrong)[0])} of those that begin" if wrong.any() else ""


def _bound(name: str, value: ArrayLike | str) -> Bound:
    return value if isinstance(value, str) else number(name, value)
