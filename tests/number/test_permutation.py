"""Random permutations. Reference: PCG-XSH-RR 64/32 as O'Neill (2014) has it, in NumPy's integers that wrap."""

import numpy as np

from saltus.number.kernels import interpret
from saltus.number.permutation import (
    BITS64,
    INCREMENT,
    MULTIPLIER,
    OCTET,
    SEED,
    TABLED_ITEMS,
    TABLED_SHUFFLES,
    address_of_order,
    shuffle,
    skip,
    table_of_orders,
)


def shuffled(order, state):
    """The order after a shuffle, and the next state of the generator."""
    order = list(order)
    with np.errstate(over="ignore"):
        for i in range(len(order) - 1, 0, -1):
            mixed = np.uint32((((state >> np.uint64(18)) ^ state) >> np.uint64(27)) & np.uint64(2**32 - 1))
            turn = int(state >> np.uint64(59))
            number = (int(mixed) >> turn | int(mixed) << (-turn & 31)) % 2**32
            state = state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)
            j = number % (i + 1)
            order[i], order[j] = order[j], order[i]
    return order, state


def test_it_is_the_shuffle_of_the_generator():
    order, n = list(range(-3, 60)), 60
    interpret(shuffle)(order, 3, n, SEED)
    assert order == [-3, -2, -1, *shuffled(range(n), np.uint64(SEED))[0]] != list(range(-3, n))


def test_the_table_has_the_orders_of_all_shuffles():
    table, address = table_of_orders(), interpret(address_of_order)
    for n in range(1, TABLED_ITEMS + 1):
        order, state = list(range(n)), np.uint64(SEED)
        for k in range(TABLED_SHUFFLES):
            order, state = shuffled(order, state)
            begin = address(n, k)
            words = table[begin : begin + -(-n // OCTET)]
            assert [*b"".join(word.to_bytes(OCTET, "little") for word in words)][:n] == order
    assert begin + len(words) == len(table)


def test_numbers_are_skipped():
    with np.errstate(over="ignore"):
        state = np.uint64(SEED)
        for n in range(40):
            assert interpret(skip)(SEED, n) & BITS64 == state
            state = state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)
