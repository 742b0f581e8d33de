"""Kernels: compiled for the numbers that they meet, called through entries, run uncompiled by `interpret`.

Reference: plain Python on the same sources; for the physics, the compiled kernels (1e-13 relative: the order of
operations is free in compiled code, so that sums of some tens of terms differ by their rounding).
"""

import threading
from fractions import Fraction

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import saltus
from saltus.dynamics.smooth import free_acceleration as acceleration
from saltus.dynamics.smooth import free_forward as forward
from saltus.model.layout import DATA, data_sizes
from saltus.number.components import is_zero, seed, tangent_of, value_of, zero_like
from saltus.number.functions import rarely, sincos
from saltus.number.kernels import Entry, interpret, kernel, only_with
from saltus.number.structs import Field, Layout, Struct
from saltus.number.symbols import SymbolicStruct, symbolic_model, trace

NOTHING = Layout("Nothing", {"n": Field("int", ())}, frozen=True)
RICH = Layout("Nothing_square", NOTHING.fields, frozen=True, features={"square"})
PAIR = Layout("Pair", {"x": Field("real", ("two",))})
FORWARD = Entry("forward", "", "forward(m, d)", forward=forward)
ACCELERATION = Entry("acceleration", "", "acceleration(m, d)", acceleration=acceleration)
SCALE, TABLE = 0.25, (1.5, (2.5, 3))


@only_with("square", otherwise="-x")
@kernel
def guarded(m, x):
    return x * x


def places(kind="float64"):
    return Struct(NOTHING, {"n": 1}), Struct(PAIR, {"two": 2}, kind)


@kernel
def scaled(x, by=0.5):
    return by * x * SCALE + TABLE[1][0]


@kernel(inline=True)
def fourth(x):
    square = x * x
    return square * square


@kernel
def composed(d, n):
    total = zero_like(d.x[0])
    for _ in range(n):
        total = total + fourth(d.x[0]) + scaled(d.x[1])
    if rarely(n > 100):
        total = -total
    return total


@kernel(strict=True)
def cancelled(a, b):
    return a * b - b * a


@kernel
def tangents(x):
    y = seed(value_of(x), 2)
    return tangent_of(y * y, 2)


@kernel
def zeros(x):
    """1 for a float of zero, 2 for a dual of zero without tangents, 4 with one, 8 for another dual, added up."""
    found = 0
    if is_zero(x):
        found += 1
    if is_zero(seed(0.0, -1)):
        found += 2
    if is_zero(seed(0.0, 7)):
        found += 4
    if is_zero(seed(x + 1.0, -1)):
        found += 8
    return found


# ---------------------------------------------------------------- entries


def test_entry_takes_arguments_and_returns():
    m, d = places()
    d.x[:] = 2.0, 3.0
    entry = Entry("composed", "n, shift", "d.x[1] = shift\nreturn composed(d, n), n + 1", composed=composed)
    assert entry(m, d, 3, 8.0) == (3 * (16 + 0.5 * 8 * 0.25 + 2.5), 4)
    assert d.x[1] == 8 and entry.compiled("Nothing", "Pair") is entry.compiled("Nothing", "Pair")


def test_entries_of_one_name_are_told_apart():
    """The same name, the same bytecode, other constants and other kernels: each has its own place in the cache."""
    m, d = places()
    d.x[:] = 2.0, 3.0
    bodies = ["return 2.0 * scaled(d.x[0])", "return 4.0 * scaled(d.x[0])"]
    for _ in range(2):
        first, second = (Entry("twins", "", body, scaled=scaled) for body in bodies)
        other = Entry("twins", "", bodies[0], scaled=fourth)
        assert (first(m, d), second(m, d), other(m, d)) == (2 * 2.75, 4 * 2.75, 32)


def test_an_entry_is_compiled_for_each_layout():
    """The same fields under another name and with a feature: what the feature guards is there, else the constant."""
    m, d = places()
    entry = Entry("guarded", "x", "return guarded(m, x)", guarded=guarded)
    rich = Struct(RICH, {"n": 1})
    assert (entry(m, d, 3.0), entry(rich, d, 3.0), entry(m, d, 5.0)) == (-3.0, 9.0, -5.0)
    assert entry.compiled("Nothing", "Pair") is not entry.compiled("Nothing_square", "Pair")


@pytest.mark.parametrize("words, result", [((), -3), (("square",), 9), (("power_2", "x"), 9), (("power", "sq"), -3)])
def test_any_of_several_words(words, result):
    @only_with("square", "power_", otherwise="-x")
    @kernel
    def several(m, x):
        return x * x

    layout = Layout("_".join(["Several", *words]), NOTHING.fields, frozen=True, features=words)
    entry = Entry("several", "x", "return several(m, x)", short=("m",), several=several)
    assert entry(Struct(layout, {"n": 1}), 3.0) == result


def test_guarded_kernels_mean_the_same_in_plain_python():
    m, _ = places()
    assert guarded(m, 3.0) == -3.0


def test_strict_kernels_keep_products_apart():
    """a b - b a is exactly 0; contracted to a fused multiply-add it would be the product's rounding error."""
    m, d = places()
    entry = Entry("cancelled", "a, b", "return cancelled(a, b)", cancelled=cancelled)
    for a, b in np.random.default_rng(91).standard_normal((50, 2)):
        assert entry(m, d, a, b) == 0


@kernel
def in_order(m, d):
    total = 0.0 * d.x[0]
    for i in range(m.n):
        total = total + d.x[i]
    return total


@kernel(sums=True)
def at_once(m, d):
    total = 0.0 * d.x[0]
    for i in range(m.n):
        total = total + d.x[i]
    return total


def test_long_sums_are_taken_several_at_once():
    """1 beside 1e16 is lost to rounding, one after the other; of 4000 ones that have sums of their own few are."""
    m, d = Struct(NOTHING, {"n": 4001}), Struct(PAIR, {"two": 4001})
    d.x[:] = 1.0
    d.x[0] = 1e16
    assert Entry("in_order", "", "return in_order(m, d)", in_order=in_order)(m, d) == 1e16
    assert 1e16 + 1000 < Entry("at_once", "", "return at_once(m, d)", at_once=at_once)(m, d) <= 1e16 + 4000


def test_entries_release_the_lock():
    """This thread goes on while another is inside compiled code; if that held the lock it could hardly look."""
    m, d = places()
    entry = Entry("busy", "n", "for _ in range(n):\n    d.x[1] = d.x[1] + 1e-9")
    entry(m, d, 1)  # compile
    thread = threading.Thread(target=entry, args=(m, d, 10**8))
    thread.start()
    looks = 0
    while thread.is_alive():
        looks += 1
    assert looks > 100


# ---------------------------------------------------------------- uncompiled


def test_interpret_is_plain_python():
    plain = interpret(composed)
    d = SymbolicStruct(PAIR, {"two": 2}, "float")
    d.fill("x", [2.0, 8.0])
    assert plain(d, 3) == 3 * (16 + 0.5 * 8 * 0.25 + 2.5)
    assert not isinstance(plain, Dispatcher) and isinstance(fourth, Dispatcher)
    assert interpret(tangents)(3.0) == 0.0  # plain numbers have no tangents


def test_interpret_converts_constants():
    """Constants in the code, in defaults and in the module's numbers and tuples; integers stay."""
    plain = interpret(scaled, Fraction)
    assert plain(Fraction(1, 3)) == Fraction(1, 3) / 8 + Fraction(5, 2) and isinstance(plain(1), Fraction)
    assert (SCALE, TABLE) == (0.25, (1.5, (2.5, 3))) and scaled.py_func.__defaults__ == (0.5,)
    assert interpret(fourth, Fraction)(Fraction(1, 2)) == Fraction(1, 16)


def test_interpret_of_closures():
    """What a source has from around it: kernels in plain Python, numbers converted."""
    scale = 0.25

    @kernel
    def around(x):
        return scale * fourth(x)

    assert interpret(around)(2.0) == 4.0
    assert interpret(around, Fraction)(Fraction(1, 2)) == Fraction(1, 64) and scale == 0.25


def test_interpret_leaves_functions_alone():
    @kernel
    def half_sine(x):
        s, _ = sincos(0.5 * x)
        return s

    assert interpret(half_sine)(1.0) == pytest.approx(np.sin(0.5), rel=1e-15)


@pytest.mark.parametrize("name", ["double_pendulum", "free_body", "top", "cart_pole", "spring"])
@pytest.mark.parametrize(
    "entry, source", [(FORWARD, forward), (ACCELERATION, acceleration)], ids=["forward", "acceleration"]
)
def test_interpreted_physics_is_the_compiled(name, entry, source):
    """Every field; the interpreted run also finds any index outside its field."""
    model = saltus.load(name)
    rng = np.random.default_rng(92)
    sizes = data_sizes(model.sizes())
    compiled, plain = Struct(DATA, sizes), SymbolicStruct(DATA, sizes, "float")
    values = model.qpos0 + rng.uniform(-1, 1, model.nq), rng.uniform(-2, 2, model.nv), rng.uniform(-1, 1, model.nu)
    for field, value in zip(("qpos", "qvel", "ctrl"), values, strict=True):
        compiled.fill(field, value)
        plain.fill(field, value)
    entry(model.struct(), compiled)
    trace(source, symbolic_model(model.struct(), "float"), plain)
    for field, view in plain.views.items():
        got, expected = np.array(view, float), compiled.views[field]
        scale = np.abs(expected).max(initial=1)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale, err_msg=field)


def test_zeros_of_duals_have_no_tangents():
    m, d = places()
    found = Entry("zeros", "x", "return zeros(x)", zeros=zeros)
    assert (found(m, d, 0.0), found(m, d, -0.0), found(m, d, 1.0)) == (3, 3, 2)
