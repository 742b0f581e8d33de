"""Calls by address: of compiled entries, with the same numbers as through Python; of functions in C, by `ctypes`."""

import ctypes

import numpy as np
import pytest
from numba import types

import saltus
from saltus.number.intrinsics.calls import c_function, caller
from saltus.number.kernels import entry
from saltus.simulate.engine import loops

_status = caller(types.int64)


@entry(structs=("d",))
def twice(d, d_real, d_ints, m_real, m_ints, address):
    """Accelerations of two states, by the entry at an address; the second has twice the velocity of the first."""
    first = _status(address, (m_real, m_ints, d_real, d_ints))
    qacc = d.qacc[0]
    d.qvel[0] = 2.0 * d.qvel[0]
    return first + _status(address, (m_real, m_ints, d_real, d_ints)), qacc, d.qacc[0]


def test_what_is_called_at_an_address():
    sim = saltus.Simulation("pendulum")
    m, d = sim.engine.m, sim.engine.d
    sim.qpos[0], sim.qvel[0] = 0.4, 3.0
    before = [sim.data.qacc[0]]
    sim.qvel[0] = 6.0
    before.append(sim.data.qacc[0])
    sim.qvel[0] = 3.0
    address = loops.forward.address(m, d, result=types.int64)
    status, *found = twice(d, m.real, m.ints, address)
    assert status == 0
    assert found == before
    # the second call sees what was changed between the two
    m.real[m.ints[m.layout.slot["opt_gravity"]] + 2] *= 0.5
    assert twice(d, m.real, m.ints, address)[1] == pytest.approx(0.5 * before[0], rel=1e-12)


def test_another_result_than_what_is_expected():
    sim = saltus.Simulation("pendulum")
    with pytest.raises(TypeError, match="forward returns int64, not none"):
        loops.forward.address(sim.engine.m, sim.engine.d, result=types.none)


# ---------------------------------------------------------------- functions in C

_mixed = c_function("double", "pointer", "int", "byte", "double")
_negative = c_function("int", "long")


@entry(structs=())
def mixed(function, array, i, flag, x):
    """Calls a function in C."""
    return _mixed(function, (array, i, flag, x))


@entry(structs=())
def negative(function, x):
    """Calls a function in C."""
    return _negative(function, (x,))


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def test_functions_in_c_get_their_numbers():
    """An address, an integer and a byte of fewer bits, a double; a constant stands for any of them."""
    array = np.arange(5.0)

    @ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_int32, ctypes.c_uint8, ctypes.c_double)
    def function(numbers, i, flag, x):
        return numbers[i] + 100.0 * flag + x

    assert mixed(address_of(function), array.ctypes.data, 3, 1, 0.5) == 103.5
    assert mixed(address_of(function), array.ctypes.data, 3 + 2**32, 256 + 2, 0.25) == 203.25


def test_an_integer_in_c_keeps_its_sign():
    @ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)
    def function(x):
        return int(-(x >> 40))

    assert negative(address_of(function), 5 << 40) == -5
