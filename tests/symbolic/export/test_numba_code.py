"""Generated modules for Numba compute what the Python ones do, write into the arrays given and allocate nothing.

Tolerance: 100 roundings of terms of the order of 20, as fused operations differ.
"""

import importlib.util

import numpy as np
from helpers.routines import EPS, arm_routine, mixed_routine

from saltus.symbolic.export.numba_code import numba_source
from saltus.symbolic.export.python_code import function
from saltus.symbolic.export.routine import write


def loaded(tmp_path, routine):
    """The module of a generated file."""
    path = tmp_path / f"{routine.name}_generated.py"
    write(path, numba_source(routine))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_equations_of_motion(tmp_path):
    module, python = loaded(tmp_path, arm_routine()), function(arm_routine())
    rng = np.random.default_rng(3)
    M, bias = np.full((2, 2), np.nan), np.full(2, np.nan)
    for _ in range(20):
        arguments = rng.normal(size=2), rng.normal(size=2), rng.uniform(0.5, 2, 5)
        module.arm_into(*arguments, M, bias)
        for a, b, c in zip(python(*arguments), (M, bias), module.arm(*map(list, arguments)), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=2000 * EPS)
            assert np.array_equal(b, c)
    assert list((tmp_path / "__pycache__").glob("*.nbc"))  # compiled once for all processes
    (signature,) = module.arm_into.signatures
    assert "NRT_Allocate" not in module.arm_into.inspect_llvm(signature)


def test_every_operation(tmp_path):
    module, python = loaded(tmp_path, mixed_routine()), function(mixed_routine())
    for seed in range(20):
        x = np.random.default_rng(seed).uniform(0.2, 0.9, 3)
        np.testing.assert_allclose(module.mixed(x), python(x), rtol=100 * EPS, atol=2000 * EPS)
