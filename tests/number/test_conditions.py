"""Of the branches of a condition on features only the one that is taken counts.

Reference: which names are reached, read from the functions by hand.
"""

import numpy as np
import pytest

from saltus.number.conditions import has, live_code, syntax_tree
from saltus.number.structs import Field, Layout, Struct

SQUARE = "square"


def first():
    """A name that a branch loads."""


def second():
    """Another."""


def third():
    """Another."""


def either(m):
    if has(m, SQUARE):
        return first()
    return second()


def neither(m):
    if not has(m, SQUARE, "cube_"):
        return third()
    elif first():
        return second()
    return third()


def both(m):
    if has(m, SQUARE) and first():
        return second()
    return third()


def expression(m):
    for _ in range(3):
        if m is None:
            break
        value = first() if has(m, SQUARE) or has(m, "cube_") else second()
    return value


def nested(m):
    if first():
        if has(m, SQUARE):
            return second()
    else:
        return second()
    return third()


def asked(m):
    known = has(m, SQUARE)
    return known + has(m, "cube_")


NAMES = {"first", "second", "third"}


@pytest.mark.parametrize(
    ("function", "features", "names", "met"),
    [
        (either, {"square", "round"}, {"first"}, {"square"}),
        (either, {"round"}, {"second"}, set()),
        (neither, set(), {"third"}, set()),
        (neither, {"cube_1", "square"}, {"first", "second", "third"}, {"cube_1", "square"}),
        (both, {"square"}, {"first", "second", "third"}, {"square"}),
        (both, set(), {"third"}, set()),
        (expression, {"cube_2"}, {"first"}, {"cube_2"}),
        (expression, {"round"}, {"second"}, set()),
        (nested, {"square"}, {"first", "second"}, {"square"}),  # nothing comes after branches that both return
        (asked, {"square", "cube_1", "round"}, set(), {"square", "cube_1"}),
    ],
)
def test_what_is_left_of_a_function(function, features, names, met):
    live = live_code(function, frozenset(features))
    assert (live.names & NAMES, live.met) == (names, met)


def test_without_a_source_everything_counts():
    namespace = {"has": has, "first": first, "second": second}
    exec("def made(m):\n    return first() if has(m, 'square') else second()", namespace)
    live = live_code(namespace["made"], frozenset({"round"}))
    assert live.names & NAMES == {"first", "second"} and live.met == {"round"}


def test_conditions_hold_in_plain_python():
    layout = Layout("Conditioned", {"n": Field("int", ())}, frozen=True, features=frozenset({"cube_1"}))
    m = Struct(layout, {"n": 2})
    assert has(m, "cube_") and has(m, "square", "cube_1") and not has(m, "square", "cube")


def test_a_file_that_has_changed_since_is_no_source(tmp_path):
    """What Python runs is what it has read: of the other text no branch may be left out."""
    file = tmp_path / "laws.py"
    text = "def law(m, d):\n    if has(m, 'event'):\n        return here(d)\n    return there(d)\n"
    file.write_text(text)
    names = {"has": has, "here": 1, "there": 2}
    exec(compile(text, str(file), "exec"), names)
    whole = frozenset({"event", "act"})
    assert live_code(names["law"], whole) == (frozenset({"here"}), frozenset({"event"}))
    for before, after in (("'event'", "'other'"), ("here(d)", "there(d)"), ("here(d)", "here(m)"), ("law", "lax")):
        file.write_text(text.replace(before, after))
        assert live_code(names["law"], whole) == (frozenset({"has", "here", "there"}), whole)
    file.write_text(text.replace("):", "):  # a comment", 1))
    assert live_code(names["law"], whole).met == {"event"}


class Laws:
    """Functions of a class, in which names are private and functions have variables around them."""

    __hidden = 1.0

    def law(self, x):
        """A docstring.

        Of several lines.
        """
        return self.__hidden * np.sin(x)


def around(gain):
    def law(x):
        return [gain * np.abs(y) for y in (x, "a\n    b")]

    return law


@pytest.mark.parametrize("function", [Laws.law, around(2.0)], ids=["method", "closure"])
def test_sources_of_functions_anywhere(function):
    assert syntax_tree(function).name == "law"
