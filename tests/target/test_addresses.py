"""Entries as functions of addresses: their arguments, results and symbols, in code for other machines.

Reference: the entry itself, called on this machine; the code runs as WebAssembly.
"""

import llvmlite.binding as llvm
import numpy as np
import pytest
from helpers.wasm import run_wasm
from numba import types

from saltus.number.kernels import entry
from saltus.number.structs import Field, Layout, Struct
from saltus.target.addresses import Integers, function_of
from saltus.target.web.module import module_of

BOX = Layout("TargetBox", {"n": Field("int", ()), "values": Field("real", ("n",)), "flags": Field("int", ("n",))})


@entry(structs=("d",))
def weighted(d, which, factor, out, places):
    """Writes factor values[places[k]] + flags[k], and returns how many and the last one's value."""
    for k in range(d.n):
        out[k, 0] = factor * d.values[places[k]] + d.flags[k]
        out[k, 1] = d.values[k] - which
    return d.n, out[d.n - 1, 0]


def struct():
    d = Struct(BOX, {"n": 3})
    d.views["values"][...] = [0.5, -2.0, 7.25]
    d.views["flags"][...] = [1, 0, -4]
    return d


def compiled():
    return function_of(weighted, (BOX.name,), (types.int64, types.float64, (3, 2), Integers((3,))))


def test_the_code_of_a_function_names_what_it_takes_and_returns():
    function = compiled()
    module = llvm.parse_bitcode(function.module)
    found = module.get_function(function.symbol)
    assert not found.is_declaration and found.linkage == llvm.Linkage.external
    assert function.structs == 1
    real, ints = types.CPointer(types.float64), types.CPointer(types.int64)
    assert function.arguments == (types.int64, types.float64, real, ints)
    assert [str(kind) for kind in function.result] == ["int64", "float64"]


def test_structs_arrays_and_numbers_are_where_the_addresses_say(tmp_path):
    d = struct()
    places = np.array([2, 0, 1])
    expected = np.zeros((3, 2))
    count, last = weighted(d, 5, 1.5, expected, places)
    memory = np.concatenate([d.real, d.ints.view(float), np.zeros(6), places.view(float)])
    ends = 8 * np.cumsum([0, len(d.real), len(d.ints), 6])
    real, ints, out, indices = map(str, ends)
    call = ("weighted", [real, ints, 5, 1.5, out, indices])
    results, after, _ = run_wasm(module_of({"weighted": compiled()}), [call], memory, tmp_path)
    assert results[0, :3] == pytest.approx([0, count, last], abs=0)
    assert np.array_equal(after[ends[2] // 8 : ends[3] // 8].reshape(3, 2), expected)
    assert np.array_equal(after[: len(d.real)], d.real)  # nothing else is written
