"""Parsing of values on the command line, PATH=VALUE: numbers, vectors, texts, ranges, distributions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from saltus.cli.shared.units import number_of
from saltus.errors import OptionError

DRAWN = re.compile(r"(uniform|loguniform|normal)\(([^(),]+),([^(),]+)\)$")
SPACED = re.compile(r"(linspace|geomspace)\(([^(),]+),([^(),]+),([^(),]+)\)$")


def parse_sets(sets: list[str]) -> dict[str, Any]:
    """Parse "PATH=A,B,..." texts to values by path."""
    values: dict[str, Any] = {}
    for path, given in split_sets(sets, "PATH=A,B,..., as body_mass[bob]=1,2,4"):
        values[path] = parse_values(path, given)
    return values


def split_sets(sets: list[str], expected: str) -> Iterator[tuple[str, str]]:
    """Yield path and value of each "PATH=VALUE"; OptionError for other texts and for repeated paths."""
    paths: set[str] = set()
    for text in sets:
        path, equals, given = text.partition("=")
        path = path.strip()
        if not (equals and path):
            raise OptionError(f"--set {text!r}: expected {expected}")
        if path in paths:
            raise OptionError(f"--set: {path} is given twice")
        paths.add(path)
        yield path, given.strip()


def parse_values(path: str, text: str) -> Any:
    """Parse comma-separated values, "linspace(0,1,5)" or "geomspace(1,100,3)" to a list, or a distribution.

    Blanks separate the numbers of a vector. Distributions: "uniform(1,2)", "loguniform(1,100)", "normal(0,0.1)".
    """
    from saltus.study.settings import takes_text

    if found := DRAWN.match(text.replace(" ", "")):
        return _drawn(path, text, *found.groups())
    if found := SPACED.match(text.replace(" ", "")):
        return _spaced(path, text, *found.groups())
    return [parse_value(path, part.strip(), takes_text(path)) for part in text.split(",")]


def _drawn(path: str, text: str, kind: str, first: str, second: str) -> Any:
    from saltus.study.sampling import DISTRIBUTIONS

    try:
        numbers = float(first), float(second)
    except ValueError:
        raise OptionError(f"--set {path}={text}: expected two numbers") from None
    return DISTRIBUTIONS[kind](*numbers)


def _spaced(path: str, text: str, kind: str, low: str, high: str, count: str) -> list[float]:
    import numpy as np

    try:
        ends, number = (float(low), float(high)), int(count)
        if number < 1 or (kind == "geomspace" and min(ends) <= 0):
            raise ValueError
    except ValueError:
        raise OptionError(f"--set {path}={text}: expected {kind}(FIRST,LAST,COUNT)") from None
    return [float(f"{value:.12g}") for value in getattr(np, kind)(*ends, number)]


def parse_value(path: str, text: str, as_text: bool) -> Any:
    """Parse a number, several, or text if the path allows it; an empty value removes an attribute from the file."""
    for kind in (int, float) if as_text else (int, number_of):
        try:
            return kind(text)
        except ValueError:
            continue
    if as_text:
        return text or None
    try:
        numbers = [number_of(word) for word in text.split()]
    except ValueError:
        numbers = []
    if not numbers:
        raise OptionError(f"--set {path}: {text!r} is not a number (2, 90deg, 10ms), nor several separated by blanks")
    return numbers
