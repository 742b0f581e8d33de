"""A condition on features is decided when a kernel is compiled: what it leaves out need not even have a type.

Reference: the sources' arithmetic.
"""

import pytest

from saltus.number.conditions import has
from saltus.number.kernels import Entry, interpret, kernel
from saltus.number.structs import Field, Layout, Struct

FIELDS = {"n": Field("int", ())}
PAIR = Layout("FoldedPair", {"x": Field("real", ("two",))})


def layout(*features):
    name = "_".join(["Folded", *sorted(features)])
    return Layout(name, FIELDS, frozen=True, features=features, narrowed=lambda found: layout(*found))


@kernel
def chosen(m, d):
    """Each branch but the one taken names a field that there is not."""
    value = d.x[0]
    for _ in range(m.n):
        if has(m, "square") and not has(m, "round"):
            value = value * value
        elif not has(m, "cube_"):
            value = value + (d.missing[0] if has(m, "missing") else 1.0)
        else:
            value = value**3 if has(m, "cube_") or d.missing[0] else d.missing[1]
    return value


@pytest.mark.parametrize(
    ("features", "expected"), [({"square"}, 81.0), ({"square", "round"}, 5.0), ({"cube_2"}, 3.0**9), (set(), 5.0)]
)
def test_only_the_branch_that_is_taken_is_compiled(features, expected):
    m, d = Struct(layout(*features), {"n": 2}), Struct(PAIR, {"two": 2})
    d.x[:] = 3.0, 4.0
    assert interpret(chosen)(m, d) == expected
    Entry("folded", "", "d.x[0] = chosen(m, d)", chosen=chosen)(m, d)
    assert d.x[0] == expected
