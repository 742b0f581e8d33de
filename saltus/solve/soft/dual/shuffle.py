"""Reproducible random permutation: the order in which MuJoCo 4.0's projected Gauss-Seidel takes the constraints.

The generator is PCG-XSH-RR with 64 bits of state (O'Neill, PCG: a family of simple fast space-efficient statistically
good algorithms for random number generation (2014)); the permutation is the Fisher-Yates shuffle.
"""

from saltus.number.kernels import kernel

MULTIPLIER, INCREMENT = 6364136223846793005, 1
SEED = INCREMENT  # the state after the first number from state 0
BITS46, BITS32 = (1 << 46) - 1, (1 << 32) - 1


@kernel
def shuffle(d, first, n, state):
    """Shuffle n entries of dual_order from `first` on; returns the next state of the generator."""
    for i in range(n - 1, 0, -1):
        # rotation of the lower bits by the top ones; integers wrap, and right shifts extend the sign
        mixed = ((((state >> 18) & BITS46) ^ state) >> 27) & BITS32
        turn = (state >> 59) & 31
        number = ((mixed >> turn) | (mixed << ((32 - turn) & 31))) & BITS32
        state = state * MULTIPLIER + INCREMENT
        j = number % (i + 1)
        one, other = d.dual_order[first + i], d.dual_order[first + j]
        d.dual_order[first + i] = other
        d.dual_order[first + j] = one
    return state
