"""Tests that run in plain Python, with few cases, and, as slow ones, compiled with all."""

import pytest

PLAIN, COMPILED = "plain", "compiled"


def plain_or_slow(test):
    """Run a test in plain Python, and compiled as a slow one; its fixture `way` says which."""
    ways = [PLAIN, pytest.param(COMPILED, marks=pytest.mark.slow)]
    return pytest.mark.usefixtures("way")(pytest.mark.parametrize("way", ways, indirect=True)(test))


def plain_or_slow_kinds(kinds):
    """`plain_or_slow` for a test of kinds of numbers, its argument `kind`: plain Python has floats alone."""

    def decorated(test):
        slow = [pytest.param(kind, COMPILED, marks=pytest.mark.slow) for kind in kinds]
        return pytest.mark.parametrize(("kind", "way"), [("float64", PLAIN), *slow], indirect=["way"])(test)

    return decorated


def some(way, every, *lists):
    """Lists of cases, in plain Python each `every`-th alone."""
    return tuple(x[::every] for x in lists) if way == PLAIN else lists
