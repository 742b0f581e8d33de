"""Runs that a sweep is asked for, and checks that they are possible before any of them starts."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from saltus.arguments import flag
from saltus.errors import ModelError, OptionError
from saltus.integrate.registry import find_integrator
from saltus.model.model import Model
from saltus.record.io.sweep_store import key_of
from saltus.record.table.sweep_table import text_of
from saltus.simulate.laws.contact import find_contact_law
from saltus.study.sampling import sampled
from saltus.study.settings import Start, check_path, of_state

TRIED = 20  # values of a path that are tried before the sweep begins; of more numbers, only the least and the largest


def points_of(
    values: Mapping[str, Any], together: bool, samples: int | None, sampling: str, seed: int
) -> tuple[tuple[str, ...], list[dict[str, Any]], list[str]]:
    """Names of cases, values of each run, and all paths."""
    if not isinstance(values, Mapping) or not values:
        raise OptionError("a sweep needs values: {path: values}, or {name: {path: value}}")
    if all(isinstance(value, Mapping) for value in values.values()):
        points = [dict(point) for point in values.values()]
        paths = list(dict.fromkeys(check_path(path) for point in points for path in point))
        return tuple(map(str, values)), points, paths
    paths = [check_path(path) for path in values]
    if samples is not None or any(hasattr(given, "ppf") for given in values.values()):
        return (), sampled(values, samples, sampling, seed), paths
    lists = [_listed(path, given) for path, given in values.items()]
    if flag("together", together):
        if len({len(column) for column in lists}) > 1:
            counts = ", ".join(f"{path} has {len(column)}" for path, column in zip(paths, lists, strict=True))
            raise OptionError(f"paired values must have equal numbers: {counts}")
        rows = list(zip(*lists, strict=True))
    else:
        rows = list(itertools.product(*lists))
    points = [dict(zip(paths, row, strict=True)) for row in rows]
    if len({key_of(point) for point in points}) < len(points):
        raise OptionError("a sweep has the same values twice")
    return (), points, paths


def _listed(path: str, given: Any) -> list[Any]:
    """The values of a path, from a list or an array."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError(f"{path}: expected a list of values, got {given!r}")
    found = [value.tolist() if isinstance(value, np.ndarray | np.generic) else value for value in given]
    if not found:
        raise OptionError(f"{path}: no values given")
    return found


def checked_model(start: Start, points: Sequence[dict[str, Any]], paths: Sequence[str]) -> Model:
    """Try every value alone, so that impossible ones are refused before anything runs; return the unchanged model."""
    base = start.model({})
    for path in paths:
        found = {key_of({path: point[path]}): point[path] for point in points if path in point}
        for value in _extremes(list(found.values())):
            _try(start, base, path, value)
    return base


def _extremes(values: list[Any]) -> list[Any]:
    """The values to try: all of a short list; else the least and the largest, or the first that is not finite."""
    if len(values) <= TRIED or not all(isinstance(x, int | float) for x in values):
        return values
    odd = [x for x in values if not math.isfinite(x)]
    return odd[:1] or [min(values), max(values)]


def _try(start: Start, base: Model, path: str, value: Any) -> None:
    if path == "integrator":
        find_integrator(value, base.opt.integrator)
    elif path == "contact":
        find_contact_law(value)
    else:
        try:
            start.simulation({path: value}) if of_state(path) else start.model({path: value})
        except ModelError as error:
            raise OptionError(f"{path} = {text_of(value)}: {error}") from error
