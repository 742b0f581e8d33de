"""Flat structs: named arrays in one buffer, as Python and as kernels see them.

Reference: the documented arrangement (fields in order, 64-byte boundaries, integer head) and NumPy's own indexing.
"""

import numpy as np
import pytest
from numba.core.errors import TypingError
from numpy.testing import assert_array_equal

from saltus.number.components import lane_count, lane_get, lane_set
from saltus.number.kernels import Entry, kernel
from saltus.number.kinds import NTANGENT, lane32, lane64
from saltus.number.structs import LAYOUTS, Field, Layout, Struct, aligned_zeros, lane_reals
from saltus.spatial.fields import load3, load4, store3, store4

FIELDS = {
    "n": Field("int", ()),
    "switch": Field("int", ()),
    "t": Field("real", ()),
    "flat": Field("real", ("n",)),
    "count": Field("int", ("n",)),
    "rows": Field("real", ("n", 3)),
    "empty": Field("real", ("m", 2)),
    "pairs": Field("int", ("n", 2)),
    "seven": Field("real", (7,)),
    "last": Field("real", ("m2",)),
}
GARDEN = Layout("Garden", FIELDS)
WALL = Layout("Wall", {"n": Field("int", ()), "stones": Field("real", ("n", 3)), "g": Field("real", ())}, frozen=True)
SIZES = {"n": 5, "m": 0, "m2": 2, "switch": 9}
ELEMENT = {"float64": (), "float32": (), "lane64": (lane64.width,), "lane32": (lane32.width,), "dual": (2, NTANGENT)}
KINDS = list(ELEMENT)


def garden(kind="float64"):
    """A struct whose numbers all differ, also between lanes; tangents are zero."""
    d = Struct(GARDEN, SIZES, kind)
    rng = np.random.default_rng(31)
    for name in d.views:
        view = d.views[name]
        if GARDEN.fields[name].kind == "int":
            view[...] = rng.integers(0, 5, view.shape)
        elif kind == "dual":
            view[..., 0, 0] = rng.standard_normal(view.shape[:-2])
        else:
            view[...] = rng.standard_normal(view.shape)
    return d


def values(d, name):
    """A field's numbers, without tangents."""
    return d.views[name][..., 0, 0] if d.kind == "dual" and GARDEN.fields[name].kind == "real" else d.views[name]


@kernel
def digging(m, d):
    """Reads and writes of every kind of field."""
    d.t = d.t + m.g
    d.flat[0] = d.flat[1] + d.rows[2, 1]
    a, b, c = d.rows[0]
    d.rows[1] = (c, a, b)
    d.rows[2, 0] = 2.0 * b
    d.rows[3] = d.rows[4]
    d.rows[4] = m.stones[m.n - 1]
    d.count[1] = d.count[0] + d.n + d.switch
    d.pairs[2] = (d.pairs[0, 1], 7)
    d.flat[d.count[4]] = 0.5
    fill_last(d.last, d.n)
    store3(d.seven, 0, load3(d.flat, 2))
    q = load4(d.seven, 0)
    store4(d.seven, 3, (q[3], q[2], q[1], q[0]))


@kernel
def running_sum(m, d):
    """Reads memory of one lane, lane by lane."""
    for lane in range(lane_count(d.x[0])):
        for i in range(d.n):
            d.x[0] = lane_set(d.x[0], lane, lane_get(d.x[0], lane) + d.work[i])


@kernel
def fill_last(field, n):
    """Fields are arguments like any other; their numbers take plain ones."""
    field[0] = 3
    field[1] = 0.25 * n


DIG = Entry("dig", "", "digging(m, d)", digging=digging)


def dug(m, d):
    """What `digging` does, in NumPy on copies."""
    v = {name: np.array(values(d, name)) for name in d.views}
    stones, g = (x[..., 0, 0] if d.kind == "dual" else x for x in (m.stones, m.views["g"]))
    each = (1,) * (v["t"].ndim)  # lanes are the last axis
    v["t"] = v["t"] + g
    v["flat"][0] = v["flat"][1] + v["rows"][2, 1]
    row = v["rows"][0].copy()
    v["rows"][1] = row[[2, 0, 1]]
    v["rows"][2, 0] = 2 * row[1]
    v["rows"][3] = v["rows"][4]
    v["rows"][4] = stones[-1].reshape(3, *each)
    v["count"][1] = v["count"][0] + 5 + 9
    v["pairs"][2] = v["pairs"][0, 1], 7
    v["flat"][v["count"][4]] = 0.5
    v["last"][:] = np.reshape([3, 1.25], (2, *each))
    v["seven"][:3] = v["flat"][2:]
    v["seven"][3:] = v["seven"][3::-1].copy()
    return v


@pytest.mark.parametrize("kind", KINDS)
def test_fields_lie_in_order(kind):
    d = Struct(GARDEN, SIZES, kind)
    real = {"t": 1, "flat": 5, "rows": 15, "empty": 0, "seven": 7, "last": 2}
    ints = {"count": 5, "pairs": 10}
    for place, sizes, buffer in ((0, real, d.real), (len(FIELDS), ints, d.ints)):
        for name, size in sizes.items():
            assert d.ints[GARDEN.slot[name]] == place
            assert d.views[name].shape == GARDEN.shape(name, SIZES) + (ELEMENT[kind] if buffer is d.real else ())
            assert np.shares_memory(d.views[name], buffer) == (size > 0)
            place += size
        assert len(buffer) == place
    assert (d.n, d.switch, d.ints[GARDEN.slot["n"]]) == (5, 9, 5)
    assert d.real.dtype == (np.float32 if kind.endswith("32") else np.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_aligned_and_zero(kind):
    """Lanes and tangents are loaded from aligned addresses: every number starts on the boundary of its own size."""
    d = Struct(GARDEN, SIZES, kind)
    size = d.real.itemsize * int(np.prod(ELEMENT[kind], dtype=int))
    assert d.real.ctypes.data % 64 == 0 and not d.real.any()
    for name, view in d.views.items():
        if GARDEN.fields[name].kind == "real":
            assert view.ctypes.data % min(size, 64) == 0


@pytest.mark.parametrize("shape, dtype", [((3,), np.float32), ((5, 16), np.float32), ((), np.float64)])
def test_aligned_memory(shape, dtype):
    a = aligned_zeros(shape, dtype)
    assert a.shape == shape and a.dtype == dtype and not a.any() and a.ctypes.data % 64 == 0


SCRATCH = Layout(
    "Scratch", {"n": Field("int", ()), "x": Field("real", (2,)), **lane_reals("work", "rest", shape=("n",))}
)
SUM = Entry("sum", "", "running_sum(m, d)", running_sum=running_sum)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_one_lane(kind):
    """Its numbers are those of one lane, contiguous: as many as its extents say, and no lanes in them."""
    m, d = garden(kind), Struct(SCRATCH, {"n": 11}, kind)
    element = () if kind.startswith("lane") else ELEMENT[kind]
    assert d.work.shape == (11, *element) and np.shares_memory(d.work, d.real) and d.work.flags.c_contiguous
    assert not np.shares_memory(d.work, d.rest) and not np.shares_memory(d.work, d.x)
    d.fill("work", np.arange(11.0))
    SUM(m, d)
    first = d.x[0, 0, 0] if kind == "dual" else d.x[0]
    assert_array_equal(first, np.broadcast_to(55.0, np.shape(first)))
    assert not d.rest.any()
    width = ELEMENT[kind][0] if kind.startswith("lane") else 1
    assert len(d.real) == 2 + 2 * -(-11 // width)


def test_views_write_through():
    d = Struct(GARDEN, SIZES)
    d.rows[1, 2] = 4.0
    d.flat[:] = 2.0
    d.views["t"][...] = 1.0
    assert d.real[0] == 1 and (d.real[1:6] == 2).all() and d.real[6 + 5] == 4 and d.real.sum() == 15
    assert_array_equal(d.real[d.span("flat", "rows")], np.concatenate([d.flat, d.rows.ravel()]))


@pytest.mark.parametrize("kind", KINDS)
def test_fill_sets_every_lane_and_no_tangent(kind):
    d = garden(kind)
    d.real[...] = 9.0
    x = np.arange(15.0).reshape(5, 3)
    d.fill("rows", x)
    d.fill("t", 2.0)
    d.fill("count", [1, 2, 3, 4, 5])
    expected = np.zeros((5, 3, *ELEMENT[kind]))
    if kind == "dual":
        expected[..., 0, 0] = x
    else:
        expected[...] = x.reshape(x.shape + (1,) * len(ELEMENT[kind]))
    assert_array_equal(d.rows, expected)
    assert np.ravel(d.t)[0] == 2 and d.count[4] == 5 and (d.flat == 9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_see_what_python_sees(kind):
    m = Struct(WALL, {"n": 2}, {"lane64": "float64", "lane32": "float32"}.get(kind, kind))
    m.fill("stones", [[1, 2, 3], [4, 5, 6]])
    m.fill("g", -9.5)
    d = garden(kind)
    expected = dug(m, d)
    DIG(m, d)
    for name, want in expected.items():
        assert_array_equal(values(d, name), want, err_msg=name)
    if kind == "dual":
        assert not d.real[:, 1].any()


def test_frozen_layouts_cannot_be_written():
    m, d = Struct(WALL, {"n": 1}), garden()
    for statement in ("m.stones[0, 0] = 1.0", "m.stones[0] = (1.0, 2.0, 3.0)", "m.g = 1.0"):
        with pytest.raises((TypingError, TypeError)):
            Entry("trespass", "", statement)(m, d)


def test_a_name_belongs_to_one_layout():
    assert LAYOUTS["Garden"] is GARDEN
    with pytest.raises(ValueError, match="Garden"):
        Layout("Garden", {"n": Field("int", ())})
    assert LAYOUTS["Garden"] is GARDEN


def test_unknown_fields():
    d = garden()
    with pytest.raises(AttributeError):
        _ = d.weeds
    with pytest.raises(TypingError):
        Entry("weeds", "", "return d.weeds")(Struct(WALL, {"n": 1}), d)


def test_sharing():
    """All fields are the same memory but for those that are its own, in Python and in kernels."""
    d = garden()
    other = d.sharing(("count", "rows", "t"), {"switch": 11})
    other.views["rows"][:], other.views["count"][:] = 5.0, 7
    assert not (d.views["rows"] == 5.0).any() and not (d.views["count"] == 7).any()
    assert (d.switch, other.switch, other.n) == (9, 11, 5)
    other.views["flat"][2], d.views["pairs"][3, 1] = 0.125, 42
    assert d.views["flat"][2] == 0.125 and other.views["pairs"][3, 1] == 42

    add = Entry("add", "", "d.rows[1] = (d.flat[2], 1.0 * d.pairs[3, 1], 1.0 * d.count[0]); d.t = 3.5", short=("d",))
    before = d.views["t"].copy()
    add(other)
    assert other.views["rows"][1].tolist() == [0.125, 42.0, 7.0] and other.views["t"] == 3.5
    assert d.views["t"] == before
