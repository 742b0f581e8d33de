"""Functions as a WebAssembly module: numbers with the digits of this machine, memory, what is refused.

References: exact rational arithmetic for what is rounded once; this machine's kernels for sine and cosine; the engine's
own validation of modules.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.wasm import run_wasm
from numba import types

from saltus.errors import OptionError
from saltus.number.functions import atan2, fma, sincos
from saltus.number.kernels import entry
from saltus.target.addresses import function_of
from saltus.target.web.module import module_of

COUNT = 300


@entry(structs=())
def fused(a, b, c):
    """a b + c with one rounding."""
    return fma(a, b, c)


@entry(structs=())
def trigonometry(x, y):
    """(sin x, cos x, angle of (x, y))."""
    s, c = sincos(x)
    return s, c, atan2(y, x)


@entry(structs=())
def power(x, y):
    """x to the power y."""
    return x**y


@entry(structs=())
def hyperbolic(x):
    """The area tangent, which kernels do not use."""
    return math.atanh(x)


@entry(structs=())
def total(n, values):
    """The sum of the first n values, whole numbers of 64 bits counted on the way."""
    s, count = 0.0, 0
    for k in range(n):
        s += values[k]
        count += 1 << 40
    return s, count


REALS = (types.float64,) * 3


def test_what_relies_on_one_rounding_is_rounded_once(tmp_path):
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, COUNT)) * 10.0 ** rng.integers(-3, 4, (2, COUNT))
    c = np.where(
        rng.random(COUNT) < 0.7, -a * b * (1.0 + rng.integers(-3, 4, COUNT) * 2.0**-52), rng.normal(size=COUNT)
    )
    rows = np.stack([a, b, c], axis=1)
    module = module_of({"fused": function_of(fused, (), REALS)})
    results, _, _ = run_wasm(module, [("fused", list(row)) for row in rows], np.zeros(1), tmp_path)
    exact = [float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in rows]
    assert np.array_equal(results[:, 1], exact)
    assert np.count_nonzero(results[:, 1] != a * b + c) > COUNT / 4  # two roundings would be seen


def test_sine_cosine_and_angles_have_the_digits_of_this_machine(tmp_path):
    """To the last two digits: polynomials without fused multiply-adds round once more in each step."""
    rng = np.random.default_rng(6)
    x, y = rng.uniform(-1e4, 1e4, COUNT), rng.uniform(-20, 20, COUNT)
    x[:3], y[:3] = [0.0, math.pi / 2, 3e9], [1.0, 0.0, -1.0]  # and beyond what is reduced here
    module = module_of({"trigonometry": function_of(trigonometry, (), REALS[:2])})
    results, _, _ = run_wasm(
        module, [("trigonometry", [*pair]) for pair in zip(x, y, strict=True)], np.zeros(1), tmp_path
    )
    here = np.array([trigonometry(*pair) for pair in zip(x, y, strict=True)])
    assert np.abs(results[:, 1:4] - here).max() <= 2 * np.spacing(math.pi)
    assert np.all(results[:, 0] == 0)


def test_functions_of_the_engine_are_imported(tmp_path):
    module = module_of({"power": function_of(power, (), REALS[:2])})
    results, _, exports = run_wasm(module, [("power", [2.5, 1.7])], np.zeros(1), tmp_path)
    assert results[0, 1] == pytest.approx(2.5**1.7, rel=4 * np.finfo(float).eps)
    assert set(exports) == {"power", "results_at", "memory", "heap"}


def test_whole_numbers_keep_64_bits(tmp_path):
    module = module_of({"total": function_of(total, (), (types.int64, (4,)))})
    results, _, _ = run_wasm(module, [("total", [3, "0"])], [1.0, 2.0, 4.0, 8.0], tmp_path)
    assert list(results[0, :3]) == [0.0, 7.0, 3.0 * 2**40]


def test_what_a_browser_does_not_have_is_refused_by_name():
    with pytest.raises(OptionError, match="the code calls atanh, which a browser does not have"):
        module_of({"hyperbolic": function_of(hyperbolic, (), REALS[:1])})


def test_two_functions_share_a_module(tmp_path):
    module = module_of({"one": function_of(fused, (), REALS), "other": function_of(power, (), REALS[:2])})
    results, _, _ = run_wasm(module, [("one", [2.0, 3.0, 1.0]), ("other", [3.0, 2.0])], np.zeros(1), tmp_path)
    assert list(results[:, 1]) == [7.0, 9.0]
