"""3-vectors and 3x3 matrices as tuples; a matrix is nine numbers, by rows."""

from saltus.number.functions import MINVAL, sqrt, where
from saltus.number.kernels import kernel


@kernel(inline=True)
def add3(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel(inline=True)
def sub3(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel(inline=True)
def scale3(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@kernel(inline=True)
def add_scaled3(a, s, b):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel(inline=True)
def multiply3(a, b):
    """Componentwise product."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@kernel(inline=True)
def dot3(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inline=True)
def length3(a):
    """|a|, with a derivative of zero at zero."""
    square = dot3(a, a)
    zero = square <= 0.0
    return where(zero, 0.0 * square, sqrt(where(zero, 1.0 + 0.0 * square, square)))


@kernel(inline=True)
def cross(a, b):
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel(inline=True)
def where3(condition, a, b):
    """a where the condition holds, else b, lane by lane."""
    return where(condition, a[0], b[0]), where(condition, a[1], b[1]), where(condition, a[2], b[2])


@kernel(inline=True)
def distance_direction(p, q):
    """Distance (m) from p to q and the unit vector along it; the x-axis if the points coincide, as in MuJoCo."""
    r = sub3(q, p)
    square = dot3(r, r)
    apart = square >= MINVAL * MINVAL
    zero = 0.0 * square
    one = zero + 1.0
    distance = sqrt(where(apart, square, one))
    unit = scale3(1.0 / distance, r)
    return where(apart, distance, zero), where3(apart, unit, (one, zero, zero))


@kernel(inline=True)
def z_axis(r):
    """Third column of a rotation matrix R: the z-axis of the rotated frame."""
    return r[2], r[5], r[8]


@kernel(inline=True)
def matrix_times_vector(r, a):
    """R a."""
    return (
        r[0] * a[0] + r[1] * a[1] + r[2] * a[2],
        r[3] * a[0] + r[4] * a[1] + r[5] * a[2],
        r[6] * a[0] + r[7] * a[1] + r[8] * a[2],
    )


@kernel(inline=True)
def transpose_times_vector(r, a):
    """Rᵀ a."""
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@kernel(inline=True)
def matrix_times_matrix(a, b):
    """A B."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@kernel(inline=True)
def rotate_diagonal(r, s):
    """R S Rᵀ for a diagonal S = (xx, yy, zz), as (xx, yy, zz, xy, xz, yz)."""
    a0, a1, a2 = r[0] * s[0], r[1] * s[1], r[2] * s[2]
    b0, b1, b2 = r[3] * s[0], r[4] * s[1], r[5] * s[2]
    return (
        a0 * r[0] + a1 * r[1] + a2 * r[2],
        b0 * r[3] + b1 * r[4] + b2 * r[5],
        r[6] * r[6] * s[0] + r[7] * r[7] * s[1] + r[8] * r[8] * s[2],
        a0 * r[3] + a1 * r[4] + a2 * r[5],
        a0 * r[6] + a1 * r[7] + a2 * r[8],
        b0 * r[6] + b1 * r[7] + b2 * r[8],
    )


@kernel(inline=True)
def rotate_symmetric(r, s):
    """R S Rᵀ for a symmetric S = (xx, yy, zz, xy, xz, yz), in the same order."""
    # rows of R S
    a0 = r[0] * s[0] + r[1] * s[3] + r[2] * s[4]
    a1 = r[0] * s[3] + r[1] * s[1] + r[2] * s[5]
    a2 = r[0] * s[4] + r[1] * s[5] + r[2] * s[2]
    b0 = r[3] * s[0] + r[4] * s[3] + r[5] * s[4]
    b1 = r[3] * s[3] + r[4] * s[1] + r[5] * s[5]
    b2 = r[3] * s[4] + r[4] * s[5] + r[5] * s[2]
    c0 = r[6] * s[0] + r[7] * s[3] + r[8] * s[4]
    c1 = r[6] * s[3] + r[7] * s[1] + r[8] * s[5]
    c2 = r[6] * s[4] + r[7] * s[5] + r[8] * s[2]
    return (
        a0 * r[0] + a1 * r[1] + a2 * r[2],
        b0 * r[3] + b1 * r[4] + b2 * r[5],
        c0 * r[6] + c1 * r[7] + c2 * r[8],
        a0 * r[3] + a1 * r[4] + a2 * r[5],
        a0 * r[6] + a1 * r[7] + a2 * r[8],
        b0 * r[6] + b1 * r[7] + b2 * r[8],
    )
