"""Generated C is C99 that compiles without a warning, and computes its expressions.

Reference: the expressions at 40 digits (mpmath), tolerances as for Python; the compiler is `cc`.
"""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
import sympy as sp
from helpers.routines import EPS, arm, arm_routine, errors, mixed, mixed_routine

from saltus.symbolic.export.c_code import c_header, c_source
from saltus.symbolic.export.python_code import function
from saltus.symbolic.export.routine import Routine, write

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-pedantic"]
TOLERANCE = 100 * EPS


def compiled(tmp_path, routine):
    """The C function as one of NumPy arrays; also compiles the header alone, and with the source."""
    source, header, library = tmp_path / "r.c", tmp_path / "r.h", tmp_path / f"{routine.name}.so"
    write(header, c_header(routine))
    write(source, '#include "r.h"\n' + c_source(routine))
    subprocess.run(["cc", *STRICT, "-O1", "-fPIC", "-shared", source, "-o", library, "-lm"], check=True)
    call = getattr(ctypes.CDLL(str(library)), routine.name)
    call.restype = None

    def run(*arguments):
        results = [np.full(shape, np.nan) for shape in routine.shapes.values()]
        arrays = [np.array(a, np.float64) for a in arguments] + results
        call(*(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
        return results

    return run


@pytest.mark.slow
def test_every_operation(tmp_path):
    symbols, expressions = mixed()
    f = compiled(tmp_path, mixed_routine())
    for seed in range(20):
        values = dict(zip(symbols, np.random.default_rng(seed).uniform(0.2, 0.9, 3), strict=True))
        assert errors(f(list(values.values()))[0], expressions, values, 20 * TOLERANCE) == []


def test_equations_of_motion(tmp_path):
    q, v, parameters, M, bias = arm()
    f = compiled(tmp_path, arm_routine())
    rng = np.random.default_rng(1)
    values = {s: rng.uniform(0.3, 1.5) for s in (*q, *v, *parameters)}
    got_M, got_bias = f(*([values[s] for s in symbols] for symbols in (q, v, parameters)))
    assert errors(got_M, M, values, TOLERANCE) == []
    assert errors(got_bias, bias, values, 20 * TOLERANCE) == []


def test_matrices_are_row_by_row_and_numbers_no_integers(tmp_path):
    x = sp.Symbol("x")
    f = compiled(tmp_path, Routine("f", {"q": [x], "unused": []}, {"A": [[1, 2, 3], [x, x / 3, sp.Rational(1, 3)]]}))
    assert np.array_equal(f([3.0], [])[0], [[1, 2, 3], [3, 1, 1 / 3]])


def test_hostile_names_and_texts(tmp_path):
    names = [
        "int",
        "register",
        "sin",
        "x0",
        "θ",
        "lambda",
        "I",
        "y0",
        "class",
        "double",
        "M",
        "f",
        "fabs",
        "a b",
        "a_b",
    ]
    symbols = [sp.Symbol(name) for name in names]
    total = sum(k * s for k, s in enumerate(symbols, 1))
    expression = total + sp.sin(total) + sp.Abs(total) ** 3
    about = "ends here: */ or /* does it? ??/\nbackslash \\"
    meanings = {symbols[0]: "*/ #error", symbols[1]: "trailing \\"}
    f = compiled(tmp_path, Routine("f", {"q": symbols}, {"M": [expression]}, about, meanings))
    values = dict(zip(symbols, np.linspace(0.1, 0.5, len(names)), strict=True))
    assert errors(f(list(values.values()))[0], [expression], values, 3 * TOLERANCE) == []


def test_header_serves_cpp(tmp_path):
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    write(tmp_path / "arm.h", c_header(arm_routine()))
    (tmp_path / "use.cpp").write_text('#include "arm.h"\n#include "arm.h"\nauto *f = arm;\n')
    subprocess.run(["c++", "-Wall", "-Wextra", "-Werror", "-c", "use.cpp", "-o", "use.o"], cwd=tmp_path, check=True)


def test_equals_python_at_random_points(tmp_path):
    f, g = compiled(tmp_path, arm_routine()), function(arm_routine())
    rng = np.random.default_rng(2)
    for _ in range(100):
        arguments = rng.normal(size=2), rng.normal(size=2), rng.uniform(0.5, 2, 5)
        for a, b in zip(f(*arguments), g(*arguments), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=100 * EPS * 100)  # one compiler may fuse a b + c
