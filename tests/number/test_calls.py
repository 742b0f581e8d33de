"""Calls of compiled entries by address: the same numbers as through Python, of the structs that are given."""

import pytest
from numba import types

import saltus
from saltus.number.calls import caller
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
