"""The bits of what the program computes do not change, but on purpose.

Reference: hashes of what it computed before (see `helpers.bits`), on a machine of the same kind.
"""

import pytest
from helpers import bits

pytestmark = pytest.mark.slow
RECORDED, CASES = bits.recorded(), dict(bits.cases())


@pytest.mark.parametrize("name", CASES)
def test_bits_are_those_that_were_recorded(name):
    if not RECORDED:
        pytest.skip(f"no bits were recorded on a machine like this: {bits.machine()}")
    if name not in RECORDED:
        pytest.skip("its bits have changed on purpose, and are not recorded on a machine like this yet")
    assert bits.hashes(CASES[name]) == RECORDED[name]


def test_a_change_of_the_last_bit_is_seen():
    one = 1.0
    assert bits.hash_of(one) != bits.hash_of(one + 2.0**-52)
