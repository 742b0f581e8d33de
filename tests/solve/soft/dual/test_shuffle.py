"""A random permutation. Reference: PCG-XSH-RR 64/32 as O'Neill (2014) has it, in NumPy's integers that wrap."""

from types import SimpleNamespace

import numpy as np

from saltus.number.kernels import interpret
from saltus.solve.soft.dual.shuffle import INCREMENT, MULTIPLIER, SEED, shuffle


def test_it_is_the_shuffle_of_the_generator():
    d, n, state = SimpleNamespace(dual_order=list(range(-3, 60))), 60, np.uint64(SEED)
    interpret(shuffle)(d, 3, n, SEED)
    expected = list(range(n))
    with np.errstate(over="ignore"):
        for i in range(n - 1, 0, -1):
            mixed = np.uint32((((state >> np.uint64(18)) ^ state) >> np.uint64(27)) & np.uint64(2**32 - 1))
            turn = int(state >> np.uint64(59))
            number = (int(mixed) >> turn | int(mixed) << (-turn & 31)) % 2**32
            state = state * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)
            j = number % (i + 1)
            expected[i], expected[j] = expected[j], expected[i]
    assert d.dual_order == [-3, -2, -1, *expected] != list(range(-3, n))
