"""The order of an iteration, from the table and without it. Reference: shuffles one after the other."""

from types import SimpleNamespace

import pytest

from saltus.number.kernels import interpret
from saltus.number.permutation import (
    BITS64,
    OCTET,
    SEED,
    TABLED_ITEMS,
    TABLED_SHUFFLES,
    shuffle,
    table_of_orders,
)
from saltus.solve.soft.dual.order import put_in_order

FIRST = 16  # place of the first item


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, TABLED_ITEMS, TABLED_ITEMS + 1])
def test_iterations_shuffle_one_after_the_other(n):
    """As many as the table has, and some more."""
    m = SimpleNamespace(table_of_orders=table_of_orders())
    d = SimpleNamespace(dual_order=[-1] * (FIRST + OCTET * -(-n // OCTET)))
    items = list(range(FIRST, FIRST + n))
    d.dual_order[FIRST : FIRST + n] = items
    order, state, expected = SEED, SEED, items.copy()
    for k in range(TABLED_SHUFFLES + 3):
        order = interpret(put_in_order)(m, d, FIRST, n, k, order) & BITS64
        state = interpret(shuffle)(expected, 0, n, state) & BITS64
        assert d.dual_order[FIRST : FIRST + n] == expected
        assert sorted(expected) == items
    assert order == state
    assert d.dual_order[:FIRST] == [-1] * FIRST
