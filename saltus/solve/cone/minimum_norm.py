"""Minimum-norm least-squares solution of A z = b, for a square A of any rank.

    min |z|  over  argmin |A z - b|

Where A, apart from rows and columns of zeros, is clearly of full rank: Gaussian elimination with row pivoting.
Otherwise a complete orthogonal decomposition (Golub & Van Loan, Matrix Computations (2013), 5.4-5.5): A P = Q R by
Householder reflections with column pivoting, and reflections from the right that reduce the first rows of R to [T 0] Z,

    z = P Zᵀ [T⁻¹ (Qᵀ b)₁; 0]

Matrices are flat, A[i, j] at i n + j.
"""

from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel

RANK = 1e-12  # smallest remaining column length, relative to the longest, that counts towards the rank
PIVOT = 1e-8  # smallest pivot of an elimination, relative to the largest, that proves full rank


@kernel
def minimum_norm(p, n, a, b, x):
    """x [n] ← the shortest z of least |A z - b|; returns the rank of A and that least length.

    a [n, n] and b [n] are fields and keep their values. Overwrites hard_factor, hard_rhs, hard_column, hard_tau and
    hard_order of `p`.
    """
    return minimum_norm_of_rank(p, n, a, b, x, n, RANK)


@kernel
def minimum_norm_of_rank(p, n, a, b, x, most, small):
    """`minimum_norm` for a matrix A that is known to some error: of rank `most` at most.

    Columns shorter than `small` times the longest do not count towards the rank, once reduced by the others.
    """
    # elimination without the rows and columns of zeros
    count, missed = _load_moved(p, n, a, b)
    if count <= most and is_full_rank(p, count, maximum(PIVOT, small)):
        _substitute(p, count)
        for i in range(n):
            x[i] = 0.0
        for i in range(count):
            x[p.hard_order[i]] = p.hard_rhs[i]
        return count, sqrt(missed)
    # rank deficient: complete orthogonal decomposition
    _load(p, n, a, b)
    rank = orthogonal_decomposition(p, n, most, small)
    # least residual: the last entries of Qᵀ b
    missed = 0.0
    for i in range(rank, n):
        missed = missed + p.hard_rhs[i] * p.hard_rhs[i]
    # back substitution w = T⁻¹ (Qᵀ b)₁
    for i in range(rank - 1, -1, -1):
        total = p.hard_rhs[i]
        for j in range(i + 1, rank):
            total = total - p.hard_factor[i * n + j] * p.hard_rhs[j]
        p.hard_rhs[i] = total / p.hard_factor[i * n + i]
    # x = P Zᵀ [w; 0]
    spread(p, n, rank, x)
    return rank, sqrt(missed)


@kernel
def _load_moved(p, n, a, b):
    """hard_factor ← a, hard_rhs ← b without rows and columns of zeros; hard_order ← the indices that remain.

    Returns their number, and the sum of b² over the rows left out.
    """
    count, missed = 0, 0.0
    for i in range(n):
        moved = a[i * n + i] != 0.0
        if not moved:
            for j in range(n):
                moved = moved or a[i * n + j] != 0.0 or a[j * n + i] != 0.0
        if moved:
            p.hard_order[count] = i
            count += 1
        else:
            missed = missed + b[i] * b[i]
    for i in range(count):
        row = p.hard_order[i] * n
        for j in range(count):
            p.hard_factor[i * count + j] = a[row + p.hard_order[j]]
        p.hard_rhs[i] = b[p.hard_order[i]]
    return count, missed


@kernel
def _load(p, n, a, b):
    """hard_factor ← a, hard_rhs ← b."""
    for k in range(n * n):
        p.hard_factor[k] = a[k]
    for i in range(n):
        p.hard_rhs[i] = b[i]


@kernel
def is_full_rank(p, n, small):
    """Gaussian elimination of hard_factor with hard_rhs; False, and unfinished, if a pivot is small."""
    least = largest = 0.0
    for k in range(n):
        # partial pivoting, and the range of the pivots so far
        pivot = k
        for i in range(k + 1, n):
            if absolute(p.hard_factor[i * n + k]) > absolute(p.hard_factor[pivot * n + k]):
                pivot = i
        size = absolute(p.hard_factor[pivot * n + k])
        least = size if k == 0 or size < least else least
        largest = size if size > largest else largest
        if not least > small * largest:
            return False
        # row exchange
        if pivot != k:
            for j in range(k, n):
                other = p.hard_factor[pivot * n + j]
                p.hard_factor[pivot * n + j] = p.hard_factor[k * n + j]
                p.hard_factor[k * n + j] = other
            other = p.hard_rhs[pivot]
            p.hard_rhs[pivot] = p.hard_rhs[k]
            p.hard_rhs[k] = other
        # elimination below the pivot
        inverse = 1.0 / p.hard_factor[k * n + k]
        for i in range(k + 1, n):
            ratio = p.hard_factor[i * n + k] * inverse
            if ratio != 0.0:
                for j in range(k + 1, n):
                    p.hard_factor[i * n + j] = p.hard_factor[i * n + j] - ratio * p.hard_factor[k * n + j]
                p.hard_rhs[i] = p.hard_rhs[i] - ratio * p.hard_rhs[k]
    return True


@kernel
def _substitute(p, n):
    """hard_rhs ← the solution, by back substitution after elimination."""
    for i in range(n - 1, -1, -1):
        total = p.hard_rhs[i]
        for j in range(i + 1, n):
            total = total - p.hard_factor[i * n + j] * p.hard_rhs[j]
        p.hard_rhs[i] = total / p.hard_factor[i * n + i]


@kernel
def orthogonal_decomposition(p, n, most, small):
    """hard_factor ← T and the vectors of the reflections of Z, hard_tau ← their factors; returns the rank.

    The rank is `most` at most; `small`: see `minimum_norm_of_rank`. hard_order ← P, hard_rhs ← Qᵀ hard_rhs.
    """
    for j in range(n):
        p.hard_order[j] = j
    # A P = Q R, up to the first column that is negligible
    rank, longest = most, 0.0
    for k in range(most):
        best = _longest_column(p, n, k)
        size = sqrt(p.hard_column[best])
        longest = size if k == 0 else longest
        if not size > small * longest:
            rank = k
            break
        _swap_columns(p, n, k, best)
        _reflect_rows(p, n, k, size)
    # reflections from the right: [T 0] Z = the first rows of R
    for i in range(rank - 1, -1, -1):
        _reflect_columns(p, n, rank, i)
    return rank


@kernel
def _longest_column(p, n, k):
    """hard_column ← squared lengths, from row k on, of the columns from k on; returns the longest column."""
    for j in range(k, n):
        p.hard_column[j] = 0.0
    for i in range(k, n):
        for j in range(k, n):
            entry = p.hard_factor[i * n + j]
            p.hard_column[j] = p.hard_column[j] + entry * entry
    best = k
    for j in range(k + 1, n):
        if p.hard_column[j] > p.hard_column[best]:
            best = j
    return best


@kernel
def _swap_columns(p, n, k, best):
    if best != k:
        for i in range(n):
            entry = p.hard_factor[i * n + k]
            p.hard_factor[i * n + k] = p.hard_factor[i * n + best]
            p.hard_factor[i * n + best] = entry
        place = p.hard_order[k]
        p.hard_order[k] = p.hard_order[best]
        p.hard_order[best] = place


@kernel
def _reflect_rows(p, n, k, size):
    """Reflect the rows from k on so that column k, of length `size`, keeps only its first entry."""
    # reflector H = 1 - τ v vᵀ, v = (1, ...), that maps the column to (image, 0, ...)
    first = p.hard_factor[k * n + k]
    image = -size if first > 0.0 else size
    tau = (image - first) / image
    for i in range(k + 1, n):
        p.hard_factor[i * n + k] = p.hard_factor[i * n + k] / (first - image)
    # vᵀ b, and vᵀ A of the columns to the right
    along = p.hard_rhs[k]
    for j in range(k + 1, n):
        p.hard_column[j] = p.hard_factor[k * n + j]
    for i in range(k + 1, n):
        v = p.hard_factor[i * n + k]
        along = along + v * p.hard_rhs[i]
        for j in range(k + 1, n):
            p.hard_column[j] = p.hard_column[j] + v * p.hard_factor[i * n + j]
    # b ← H b, A ← H A
    p.hard_factor[k * n + k] = image
    p.hard_rhs[k] = p.hard_rhs[k] - tau * along
    for j in range(k + 1, n):
        p.hard_factor[k * n + j] = p.hard_factor[k * n + j] - tau * p.hard_column[j]
    for i in range(k + 1, n):
        v = tau * p.hard_factor[i * n + k]
        p.hard_rhs[i] = p.hard_rhs[i] - v * along
        for j in range(k + 1, n):
            p.hard_factor[i * n + j] = p.hard_factor[i * n + j] - v * p.hard_column[j]


@kernel
def _reflect_columns(p, n, rank, i):
    """Reflect column i with those from `rank` on so that row i vanishes in the latter."""
    first = p.hard_factor[i * n + i]
    rest = 0.0 * first
    for j in range(rank, n):
        rest = rest + p.hard_factor[i * n + j] * p.hard_factor[i * n + j]
    p.hard_tau[i] = 0.0
    if rest == 0.0:
        return
    # reflector H = 1 - τ v vᵀ on columns i and rank, ..., n - 1
    size = sqrt(first * first + rest)
    image = -size if first > 0.0 else size
    tau = (image - first) / image
    for j in range(rank, n):
        p.hard_factor[i * n + j] = p.hard_factor[i * n + j] / (first - image)
    # rows above i, times H from the right
    for h in range(i):
        along = p.hard_factor[h * n + i]
        for j in range(rank, n):
            along = along + p.hard_factor[i * n + j] * p.hard_factor[h * n + j]
        p.hard_factor[h * n + i] = p.hard_factor[h * n + i] - tau * along
        for j in range(rank, n):
            p.hard_factor[h * n + j] = p.hard_factor[h * n + j] - tau * along * p.hard_factor[i * n + j]
    p.hard_factor[i * n + i] = image
    p.hard_tau[i] = tau


@kernel
def spread(p, n, rank, x):
    """x ← P Zᵀ [w; 0], with w the first `rank` entries of hard_rhs, after `orthogonal_decomposition`."""
    for j in range(rank, n):
        p.hard_rhs[j] = 0.0
    for i in range(rank):
        along = p.hard_rhs[i]
        for j in range(rank, n):
            along = along + p.hard_factor[i * n + j] * p.hard_rhs[j]
        along = p.hard_tau[i] * along
        p.hard_rhs[i] = p.hard_rhs[i] - along
        for j in range(rank, n):
            p.hard_rhs[j] = p.hard_rhs[j] - along * p.hard_factor[i * n + j]
    for j in range(n):
        x[p.hard_order[j]] = p.hard_rhs[j]
