"""Lanes fill a register and duals lie in memory as their sizes say. Reference: LLVM's layout for this machine."""

import pytest
from numba.core.registry import cpu_target

from saltus.number import kinds
from saltus.number.processor import register_bits


@pytest.mark.parametrize("kind", [kinds.lane64, kinds.lane32, kinds.dual], ids=str)
def test_sizes_are_those_of_the_machine(kind):
    context = cpu_target.target_context
    assert context.get_abi_sizeof(context.get_data_type(kind)) == kind.nbytes


@pytest.mark.parametrize("lane", kinds.LANES.values(), ids=str)
def test_a_lane_fills_a_register(lane):
    assert 8 * lane.nbytes == lane.bits * lane.width == register_bits()
    assert lane.mask.ir_type.count == lane.ir_type.count == lane.width
