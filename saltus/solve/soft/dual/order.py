"""The order in which an iteration of projected Gauss-Seidel takes the unknowns: random, and always the same."""

from saltus.number.kernels import kernel
from saltus.number.permutation import (
    BYTE,
    OCTET,
    TABLED_ITEMS,
    TABLED_SHUFFLES,
    address_of_order,
    shuffle,
    skip,
)


@kernel
def put_in_order(m, d, first, n, k, state):
    """dual_order ← the order of iteration k of n items from `first` on; returns the state of the generator.

    dual_order has the order of iteration k - 1, and room for whole octets. Small numbers of items have their first
    orders in the model's table; the generator stands at its seed until they are used up.
    """
    if n > TABLED_ITEMS:
        return shuffle(d.dual_order, first, n, state)
    if k >= TABLED_SHUFFLES:
        if k == TABLED_SHUFFLES:
            state = skip(state, TABLED_SHUFFLES * (n - 1))
        return shuffle(d.dual_order, first, n, state)
    word = address_of_order(n, k)
    for place in range(first, first + n, OCTET):
        octet = m.table_of_orders[word]
        for i in range(OCTET):
            d.dual_order[place + i] = first + ((octet >> (OCTET * i)) & BYTE)
        word += 1
    return state
