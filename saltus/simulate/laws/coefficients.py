"""Coefficients of hard contact: numbers, or one for each simulation of a batch."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError

#: A number, or one for each simulation of a `saltus.Batch`.
Coefficient: TypeAlias = float | Sequence[float] | NDArray[np.floating]

TANGENTIAL = "tangential_restitution"
OF_PAIRS = ("restitution", "friction", TANGENTIAL)
#: Options of `Hard` that may vary between simulations.
OF_EACH = (*OF_PAIRS, "limits")


class Coefficients(NamedTuple):
    """Restitution and friction (nan: the model's) of each pair of geoms that may touch, restitution of each limit.

    Shapes for n simulations: [n, pairs], [n, pairs], [n, limits]; tangential restitution: [n, pairs].
    """

    restitution: NDArray[np.float64]
    friction: NDArray[np.float64]
    limits: NDArray[np.float64]
    tangential: NDArray[np.float64]


def number_of(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise OptionError(f"Hard: {name} must be a number, got {value!r}") from None


def coefficient_of(name: str, value: Any, most: float = np.inf) -> float | tuple[float, ...]:
    """Check a coefficient: a number, or one for each simulation."""
    if np.ndim(value):
        given = numbers(f"Hard: {name}", value)
        if given.ndim != 1 or not given.size:
            raise OptionError(f"Hard: {name} must be a number, or one for each simulation, got shape {given.shape}")
        return tuple(_one_coefficient(f"{name}[{k}]", x, most) for k, x in enumerate(given.tolist()))
    return _one_coefficient(name, value, most)


def _one_coefficient(name: str, value: Any, most: float) -> float:
    number = number_of(name, value)
    if not 0 <= number <= most or not np.isfinite(number):
        span = f"between 0 and {most:g}" if np.isfinite(most) else "finite and not negative"
        raise OptionError(f"Hard: {name} must be {span}, got {value!r}")
    return number


def column(name: str, value: Any, n: int | None) -> np.ndarray:
    """A coefficient as a column: [n, 1] for n simulations, [1, 1] for a number."""
    if not np.ndim(value):
        return np.full((1, 1), float(value))
    if n is None:
        raise OptionError(f"Hard: {name} holds {len(value)} numbers, one for each simulation of a saltus.Batch")
    if len(value) != n:
        raise OptionError(f"Hard: {name} holds {len(value)} numbers for {n} simulations")
    return np.array(value, float)[:, None]


def entry_of(value: Any, i: int) -> Any:
    """The number of simulation i, of an array with one for each or of a number for all."""
    return value[i] if np.ndim(value) else value


def pair_values(pair: Any, value: Any) -> dict[str, float | tuple[float, ...]]:
    """Restitution and friction of an entry of `pairs`."""
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
        raise OptionError(f"Hard: a key of pairs must be two names of geoms or bodies, got {pair!r}")
    given = dict(value) if isinstance(value, Mapping) else {"restitution": value}
    for name, number in given.items():
        if name not in OF_PAIRS:
            raise OptionError.unknown(f"coefficient in pairs[{pair}]", name, list(OF_PAIRS))
        given[name] = coefficient_of(f"{name} in pairs[{pair}]", number, np.inf if name == "friction" else 1.0)
    return given
