"""Loads and stores of 3- and 4-tuples in flat fields."""

from saltus.number.kernels import kernel


@kernel(inline=True)
def load3(field, i):
    """(field[i], ..., field[i+2])."""
    return field[i], field[i + 1], field[i + 2]


@kernel(inline=True)
def load4(field, i):
    """(field[i], ..., field[i+3])."""
    return field[i], field[i + 1], field[i + 2], field[i + 3]


@kernel(inline=True)
def store3(field, i, a):
    """field[i:i+3] ← a."""
    field[i] = a[0]
    field[i + 1] = a[1]
    field[i + 2] = a[2]


@kernel(inline=True)
def store4(field, i, a):
    """field[i:i+4] ← a."""
    field[i] = a[0]
    field[i + 1] = a[1]
    field[i + 2] = a[2]
    field[i + 3] = a[3]
