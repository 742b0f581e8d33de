"""Reproducible random permutations: the orders in which MuJoCo 4.0's projected Gauss-Seidel takes the constraints.

The generator is PCG-XSH-RR with 64 bits of state (O'Neill, PCG: a family of simple fast space-efficient statistically
good algorithms for random number generation (2014)); the permutation is the Fisher-Yates shuffle. An order is shuffled
from the one before, so that it depends on the number of items and of shuffles alone, and can be looked up in a table.
"""

import functools

from saltus.number.kernels import interpret, kernel

MULTIPLIER, INCREMENT = 6364136223846793005, 1
SEED = INCREMENT  # the state after the first number from state 0
BITS64, BITS46, BITS32 = (1 << 64) - 1, (1 << 46) - 1, (1 << 32) - 1
#: Most items, and number of shuffles, whose orders are in the table; it has a byte for each item, in whole octets.
TABLED_ITEMS, TABLED_SHUFFLES = 32, 64
OCTET, BYTE = 8, 255


@kernel
def shuffle(order, first, n, state):
    """Shuffle n entries of a field `order` from `first` on; returns the next state of the generator."""
    for i in range(n - 1, 0, -1):
        # rotation of the lower bits by the top ones; integers wrap, and right shifts extend the sign
        mixed = ((((state >> 18) & BITS46) ^ state) >> 27) & BITS32
        turn = (state >> 59) & 31
        number = ((mixed >> turn) | (mixed << ((32 - turn) & 31))) & BITS32
        state = state * MULTIPLIER + INCREMENT
        j = number % (i + 1)
        one, other = order[first + i], order[first + j]
        order[first + i] = other
        order[first + j] = one
    return state


@kernel
def skip(state, n):
    """The state of the generator n numbers later (Brown, Random number generation with arbitrary strides (1994))."""
    none = 0 * state  # of the state's kind of integer, which wraps
    times, plus = none + 1, none
    factor, term = none + MULTIPLIER, none + INCREMENT
    while n > 0:
        if n & 1:
            times, plus = times * factor, plus * factor + term
        term = (factor + 1) * term
        factor = factor * factor
        n = n >> 1
    return times * state + plus


@kernel(inline=True)
def address_of_order(n, k):
    """Address in the table of the order of n items after k + 1 shuffles: orders of fewer items come before."""
    whole, rest = (n - 1) // OCTET, (n - 1) % OCTET
    before = OCTET * (whole * (whole + 1) // 2) + (whole + 1) * rest
    return TABLED_SHUFFLES * before + k * (whole + 1)


@functools.cache
def table_of_orders() -> tuple[int, ...]:
    """Orders of 1, 2, ... items, each after 1, 2, ... shuffles: octets of items, the first one in the lowest byte."""
    words: list[int] = []
    shuffled = interpret(shuffle)
    for n in range(1, TABLED_ITEMS + 1):
        order, state = list(range(n)), SEED
        for _ in range(TABLED_SHUFFLES):
            state = shuffled(order, 0, n, state) & BITS64
            octets = (bytes(order[place : place + OCTET]) for place in range(0, n, OCTET))
            words += (int.from_bytes(octet, "little") for octet in octets)
    return tuple(words)
