"""One kernel that calls all terms of an environment and stores their results; terms without effect."""

# pyright: reportCallIssue=false
# pyright: reportArgumentType=false
# (in kernels, calls of intrinsics omit the first argument of their definition; kernels have no types)

import functools
from typing import Any

from saltus.number.components import as_number
from saltus.number.kernels import kernel


@kernel
def nothing(m, d, e):
    """A term that does nothing."""


@kernel
def never(m, d, e):
    """A condition that is never true."""
    return 0.0 * e.steps


@kernel
def action_is_control(m, d, e):
    """Set the controls to the action."""
    for k in range(m.nu):
        d.ctrl[k] = e.action[k]


@functools.cache
def gathered(terms: tuple[tuple[Any, int, int], ...], field: str) -> Any:
    """Make a kernel f(m, d, e) that stores results in e.values or e.observation; terms: (term, index, count)."""
    made = []
    for term, place, count in terms:
        if count == 0:  # one number, no tuple
            made.append((_store_value if field == "values" else _store_observation)(term, place))
        else:
            element = _value_element if field == "values" else _observation_element
            made.append(_store_tuple(term, _in_turn([element(k, place + k) for k in range(count)], _both_elements)))
    return _in_turn(made, _both) if made else nothing


def _in_turn(kernels, both):
    """Make a kernel that calls all kernels as a binary tree, which limits the compiler's recursion."""
    if len(kernels) == 1:
        return kernels[0]
    middle = len(kernels) // 2
    return both(_in_turn(kernels[:middle], both), _in_turn(kernels[middle:], both))


def _both(one, other):
    @kernel(inline=True)
    def store(m, d, e):
        one(m, d, e)
        other(m, d, e)

    return store


def _both_elements(one, other):
    @kernel(inline=True)
    def store(result, e):
        one(result, e)
        other(result, e)

    return store


def _store_value(term, place):
    @kernel(inline=True)
    def store(m, d, e):
        e.values[place] = as_number(term(m, d, e), e.steps)

    return store


def _store_observation(term, place):
    @kernel(inline=True)
    def store(m, d, e):
        e.observation[place] = as_number(term(m, d, e), e.steps)

    return store


def _store_tuple(term, elements):
    @kernel(inline=True)
    def store(m, d, e):
        elements(term(m, d, e), e)

    return store


def _value_element(k, place):
    @kernel(inline=True)
    def store(result, e):
        e.values[place] = as_number(result[k], e.steps)

    return store


def _observation_element(k, place):
    @kernel(inline=True)
    def store(result, e):
        e.observation[place] = as_number(result[k], e.steps)

    return store
