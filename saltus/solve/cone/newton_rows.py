"""Rows of Newton's equations F(z) = 0 for contact forces: values along a step, and derivatives by all forces."""

from saltus.model.enums import ROWS
from saltus.number.kernels import kernel


@kernel(inline=True)
def at_step(p, row, t):
    """z + t step and y + t ystep of a row."""
    return p.hard_z[row] + t * p.hard_step[row], p.hard_y[row] + t * p.hard_ystep[row]


@kernel
def is_moved(p, row):
    """Whether the row's own force changes its velocity. If not, the force of an uncoupled row is arbitrary: zero."""
    return p.hard_A[row * p.hard_count[ROWS] + row] + p.hard_proximal[0] != 0.0


@kernel
def fill_row(p, i, z, y):
    """Row i of hard_J ← z ∂z_i/∂z + y ∂y_i/∂z."""
    n = p.hard_count[ROWS]
    if y == 0.0:
        for j in range(n):
            p.hard_J[i * n + j] = 0.0
    else:
        for j in range(n):
            p.hard_J[i * n + j] = y * p.hard_A[i * n + j]
    p.hard_J[i * n + i] = p.hard_J[i * n + i] + z + y * p.hard_proximal[0]
