"""A random order that is always the same: of constraints, as MuJoCo 4.0's projected Gauss-Seidel takes them in turn.

The numbers are those of the generator PCG-XSH-RR with 64 bits of state (O'Neill, PCG: a family of simple fast
space-efficient statistically good algorithms for random number generation (2014)); the order is Fisher and Yates'.
"""

from saltus.number.kernels import kernel

MULTIPLIER, INCREMENT = 6364136223846793005, 1
SEED = INCREMENT  # the state after a first number from state 0
BITS46, BITS32 = (1 << 46) - 1, (1 << 32) - 1


@kernel
def shuffle(d, n, state):
    """Put the first n of dual_item into random order; returns the generator's next state."""
    for i in range(n - 1, 0, -1):
        # the top bits of the state say how far to rotate those below; integers wrap, and shifts drag the sign along
        mixed = ((((state >> 18) & BITS46) ^ state) >> 27) & BITS32
        turn = (state >> 59) & 31
        number = ((mixed >> turn) | (mixed << ((32 - turn) & 31))) & BITS32
        state = state * MULTIPLIER + INCREMENT
        j = number % (i + 1)
        one, other = d.dual_item[i], d.dual_item[j]
        d.dual_item[i] = other
        d.dual_item[j] = one
    return state
