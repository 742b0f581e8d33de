"""Kernels are compiled once for all structs that agree in the features at which they look.

Reference: the number of compiled versions, counted by hand; values by the sources' arithmetic.
"""

import copy
import itertools
import pickle

import pytest
from numba import types
from numba.core import serialize

from saltus.number import features as looking
from saltus.number.conditions import has, has_tangents
from saltus.number.features import looked_at, looks_at
from saltus.number.kernels import Entry, kernel, only_with
from saltus.number.structs import Field, Layout, Struct

FIELDS = {"n": Field("int", ())}


def layout(*features):
    """A layout of these features, as `saltus.model.layout` makes those of models."""
    name = "_".join(["Featured", *sorted(features)])
    return Layout(name, FIELDS, frozen=True, features=features, narrowed=lambda found: layout(*found))


PAIR = Layout("FeaturedPair", {"x": Field("real", ("two",))})


def use(body, *features, **namespace):
    """x[0] after the body ran on x = (3, 4) with a model of these features."""
    m, d = Struct(layout(*features), {"n": 2}), Struct(PAIR, {"two": 2})
    d.x[:] = 3.0, 4.0
    Entry("featured", "", body, **namespace)(m, d)
    return d.x[0]


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """What is compiled here is counted, so that none of it may come from the cache of an earlier run."""
    monkeypatch.setattr("saltus.number.compile.function_cache.cache_directory", lambda: tmp_path)


@only_with("square", otherwise="-x")
@kernel
def power(m, x):
    return x * x


@kernel
def higher(m, x):
    if has(m, "cube_"):
        return x * x * x
    return power(m, x)


@kernel
def plainly(m, d):
    return power(m, d.x[0]) if has_tangents(d) else d.x[1]


@looks_at("law_")
def marked(m):
    """Stands for a function that `overload` compiles by words that begin so."""


def unknown(m):
    """Of which nothing is known."""


@kernel
def sees_power(m, d):
    return power(m, d.x[0])


@kernel
def sees_higher(m, d):
    return higher(m, d.x[0])


@kernel
def sees_marked(m):
    marked(m)


@kernel
def sees_unknown(m):
    unknown(m)


@kernel
def in_a_circle(m, d):
    return second_in_a_circle(m, d)


@kernel
def second_in_a_circle(m, d):
    return third_in_a_circle(m, d) + in_a_circle(m, d)


@kernel
def third_in_a_circle(m, d):
    return power(m, d.x[0]) + second_in_a_circle(m, d)


@pytest.mark.parametrize("order", [*itertools.permutations([in_a_circle, second_in_a_circle, third_in_a_circle])])
def test_kernels_that_call_each_other_look_at_the_same(order, monkeypatch):
    """Whichever is looked into first; a field that is called like a kernel counts as a call of it."""
    monkeypatch.setattr(looking, "_LOOKED_AT", {})
    assert [looked_at(function, frozenset({"square", "round"})) for function in order] == [{"square"}] * 3


@pytest.mark.parametrize(
    ("function", "features", "expected"),
    [
        (sees_power, {"square", "round"}, {"square"}),
        (sees_power, {"round"}, set()),
        (sees_higher, {"cube_root", "square"}, {"cube_root"}),  # the other kernel is not compiled
        (sees_higher, {"square", "round"}, {"square"}),
        (sees_marked, {"round"}, set()),
        (sees_marked, {"round", "law_1"}, {"round", "law_1"}),
        (sees_unknown, {"round", "square"}, {"round", "square"}),
    ],
)
def test_what_a_kernel_looks_at(function, features, expected):
    assert looked_at(function, frozenset(features)) == expected


def test_structs_that_differ_in_other_features_share_a_kernel(compiled):
    @kernel
    def shared(m, d):
        d.x[0] = power(m, d.x[0]) + higher(m, d.x[1])

    found = [use("shared(m, d)", *features, shared=shared) for features in (("a",), ("b",), ("a", "b"), ())]
    assert found == [-7.0] * 4 and len(shared.overloads) == 1
    found = [use("shared(m, d)", *features, shared=shared) for features in (("a", "square"), ("b", "square"))]
    assert found == [25.0] * 2 and len(shared.overloads) == 2
    assert use("shared(m, d)", "cube_1", "square", shared=shared) == 9.0 + 64.0 and len(shared.overloads) == 3


def test_choices_are_called_from_entries_and_with_names():
    assert use("d.x[0] = higher(m, x=d.x[1])", "cube_1", higher=higher) == 64.0
    assert use("d.x[0] = higher(m, d.x[1])", higher=higher) == -4.0
    assert use("d.x[0] = plainly(m, d)", plainly=plainly) == 4.0


def test_choices_are_kernels_to_those_who_handle_them():
    """Pickled by name or by what they are made of, described as their kernel, never copied."""
    assert pickle.loads(pickle.dumps(power)) is power is copy.deepcopy(power)
    assert (power.__name__, power.py_func.__name__, power.__module__) == ("power", "power", __name__)

    @only_with("square", otherwise="-x")
    @kernel
    def local(m, x):
        return -x * x

    again = pickle.loads(serialize.dumps(local))
    for word, expected in (("square", -9.0), ("round", -3.0)):
        assert use("d.x[0] = law(m, d.x[0])", word, law=again) == expected


def test_constants_make_no_versions_of_their_own(compiled):
    """A count from 0 on is a constant in the compiler's first look at a loop, and a number in its second."""

    @kernel
    def scaled(x, k):
        return x * k

    @kernel
    def counted(m, k):
        return k + m.n

    body = "k = 0\nfor _ in range(3):\n    k = counted(m, k)\nd.x[0] = scaled(scaled(d.x[0], k), 2)"
    assert use(body, counted=counted, scaled=scaled) == 36.0
    assert len(counted.overloads) == len(scaled.overloads) == 1


def test_starred_arguments_are_a_tuple(compiled):
    """A file of compiled code is found by the names of the types, so that types of one name must be one."""

    @kernel
    def total(m, numbers):
        return numbers[0] + numbers[1] + m.n

    @kernel
    def starred(m, *numbers):
        return total(m, numbers)

    assert use("d.x[0] = starred(m, d.x[0], m.n) + total(m, (d.x[1], m.n))", starred=starred, total=total) == 15.0
    assert [type(numbers) for _, numbers in total.overloads] == [types.Tuple]
