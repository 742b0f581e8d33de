"""Symmetric 6x6 matrices as 21-tuples: articulated-body inertias.

Order: the lower triangle by rows, (0,0), (1,0), (1,1), (2,0), ... (5,5), in the spatial axes of `motions`.
"""

from saltus.number.kernels import kernel


@kernel(inline=True)
def symmetric_zero(like):
    """The zero matrix, in the number type of `like`."""
    z = 0.0 * like
    return z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z


@kernel(inline=True)
def symmetric_add_rigid(a, i):
    """A plus a rigid-body inertia (ten numbers)."""
    return (
        # rotational inertia in rows 0 to 2, first moment [h]×ᵀ and mass in rows 3 to 5
        a[0] + i[0],
        a[1] + i[3],
        a[2] + i[1],
        a[3] + i[4],
        a[4] + i[5],
        a[5] + i[2],
        a[6],
        a[7] + i[8],
        a[8] - i[7],
        a[9] + i[9],
        a[10] - i[8],
        a[11],
        a[12] + i[6],
        a[13],
        a[14] + i[9],
        a[15] + i[7],
        a[16] - i[6],
        a[17],
        a[18],
        a[19],
        a[20] + i[9],
    )


@kernel(inline=True)
def symmetric_times(a, v):
    """A v."""
    return (
        (a[0] * v[0] + a[1] * v[1] + a[3] * v[2]) + (a[6] * v[3] + a[10] * v[4] + a[15] * v[5]),
        (a[1] * v[0] + a[2] * v[1] + a[4] * v[2]) + (a[7] * v[3] + a[11] * v[4] + a[16] * v[5]),
        (a[3] * v[0] + a[4] * v[1] + a[5] * v[2]) + (a[8] * v[3] + a[12] * v[4] + a[17] * v[5]),
        (a[6] * v[0] + a[7] * v[1] + a[8] * v[2]) + (a[9] * v[3] + a[13] * v[4] + a[18] * v[5]),
        (a[10] * v[0] + a[11] * v[1] + a[12] * v[2]) + (a[13] * v[3] + a[14] * v[4] + a[19] * v[5]),
        (a[15] * v[0] + a[16] * v[1] + a[17] * v[2]) + (a[18] * v[3] + a[19] * v[4] + a[20] * v[5]),
    )


@kernel(inline=True)
def symmetric_minus_outer(a, u, s):
    """A - s u uᵀ: rank-one update."""
    t0, t1, t2, t3, t4, t5 = s * u[0], s * u[1], s * u[2], s * u[3], s * u[4], s * u[5]
    return (
        # lower triangle, row by row
        a[0] - t0 * u[0],
        a[1] - t1 * u[0],
        a[2] - t1 * u[1],
        a[3] - t2 * u[0],
        a[4] - t2 * u[1],
        a[5] - t2 * u[2],
        a[6] - t3 * u[0],
        a[7] - t3 * u[1],
        a[8] - t3 * u[2],
        a[9] - t3 * u[3],
        a[10] - t4 * u[0],
        a[11] - t4 * u[1],
        a[12] - t4 * u[2],
        a[13] - t4 * u[3],
        a[14] - t4 * u[4],
        a[15] - t5 * u[0],
        a[16] - t5 * u[1],
        a[17] - t5 * u[2],
        a[18] - t5 * u[3],
        a[19] - t5 * u[4],
        a[20] - t5 * u[5],
    )


@kernel(inline=True)
def symmetric_add(a, b):
    """A + B."""
    return (
        # lower triangle, row by row
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
        a[9] + b[9],
        a[10] + b[10],
        a[11] + b[11],
        a[12] + b[12],
        a[13] + b[13],
        a[14] + b[14],
        a[15] + b[15],
        a[16] + b[16],
        a[17] + b[17],
        a[18] + b[18],
        a[19] + b[19],
        a[20] + b[20],
    )
