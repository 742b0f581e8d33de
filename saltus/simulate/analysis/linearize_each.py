"""Derivatives of a step of each simulation of a batch."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.simulate.analysis.linearize import linearize
from saltus.simulate.engine.engine import Engine


def linearize_each(
    engines: Iterator[Engine], fields: Mapping[str, NDArray[Any]], parameters: Sequence[str] | None
) -> tuple[NDArray[np.float64], ...]:
    """A, B, and P of parameters [n, ...], at the values [n, ...] of states and inputs.

    `engines`: one for each simulation; the last of them serves those that are left.
    """
    found, engine = [], next(engines)
    for i in range(len(fields["time"])):
        if i:
            engine = next(engines, engine)
        engine.reset(None)
        for name, values in fields.items():
            given = np.ravel(values[i])
            engine.d.views[name].reshape(-1)[: given.size] = given
        found.append(tuple(linearize(engine, parameters)))
    return tuple(np.stack(parts) for parts in zip(*found, strict=True))
