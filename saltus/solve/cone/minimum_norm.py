"""Minimum-norm least-squares solution of A z = b, for a square A of any rank.

    min |z|  over  argmin |A z - b|

If A, apart from rows and columns of zeros, is clearly of full rank, it is solved by Gaussian elimination with row
pivoting, otherwise by a complete orthogonal decomposition (Golub & Van Loan (2013), 5.4-5.5): A P = Q R by
Householder reflections with column pivoting, and reflections from the right that reduce the first rows of R to [T 0] Z,

    z = P Zᵀ [T⁻¹ (Qᵀ b)₁; 0]

A matrix of several blocks, up to the order of rows and columns, is solved block by block: contacts of bodies that do
not touch each other are islands, and the work grows with the cube of the largest.

Matrices are flat, A[i, j] at i n + j.
"""

from saltus.number.components import is_zero
from saltus.number.functions import absolute, maximum, sqrt
from saltus.number.kernels import kernel

RANK = 1e-12  # smallest remaining column length, relative to the longest, that counts towards the rank
FEW = 6  # rows of a system up to which a search for islands does not pay
PIVOT = 1e-8  # smallest pivot of an elimination, relative to the largest, that proves full rank


@kernel
def minimum_norm(p, n, a, b, x):
    """x [n] ← the shortest z of least |A z - b|; returns the rank of A and that least length.

    a [n, n] and b [n] are fields and keep their values. Overwrites hard_factor, hard_rhs, hard_column, hard_tau,
    hard_order, hard_island and hard_member of `p`.
    """
    # islands of rows and columns that are not coupled to others are separate systems
    if n <= FEW:
        return minimum_norm_of_rank(p, n, a, b, x, n, RANK)
    islands(p, n, a)
    rank, missed, first = 0, 0.0, 0
    while first < n:
        count = 1
        while first + count < n and p.hard_island[first + count] == p.hard_island[first]:
            count += 1
        some, rest = _of_members(p, n, first, count, a, b, x, count, RANK)
        rank += some
        missed = missed + rest
        first += count
    return rank, sqrt(missed)


@kernel
def minimum_norm_of_rank(p, n, a, b, x, most, small):
    """The solution of least norm for a matrix A with errors, whose rank is at most `most`.

    Columns shorter than `small` times the longest do not count towards the rank, once reduced by the others.
    """
    for i in range(n):
        p.hard_member[i] = i
    rank, missed = _of_members(p, n, 0, n, a, b, x, most, small)
    return rank, sqrt(missed)


@kernel
def islands(p, n, a):
    """hard_member [n] ← the indices, island by island, ascending in each; hard_island ← the island of each of these.

    Indices are in one island if an entry of a [n, n] couples them, directly or through others.
    """
    for i in range(n):
        p.hard_order[i] = -1  # the island of index i, for now
    placed = 0
    for root in range(n):
        if p.hard_order[root] >= 0:
            continue
        # all indices that can be reached from the first one without an island
        first = scanned = placed
        p.hard_order[root] = root
        p.hard_member[placed] = root
        placed += 1
        while scanned < placed < n:
            row = p.hard_member[scanned]
            scanned += 1
            for j in range(root + 1, n):
                if p.hard_order[j] < 0 and not (is_zero(a[row * n + j]) and is_zero(a[j * n + row])):
                    p.hard_order[j] = root
                    p.hard_member[placed] = j
                    placed += 1
        # sort the members in ascending order
        at = first
        for j in range(root, n):
            if p.hard_order[j] == root:
                p.hard_member[at] = j
                p.hard_island[at] = root
                at += 1


@kernel
def _of_members(p, n, first, count, a, b, x, most, small):
    """x ← the shortest solution for `count` indices, from `first` on in hard_member; returns the rank, squared length.

    See `minimum_norm_of_rank`. hard_member keeps its values.
    """
    # elimination without the rows and columns of zeros
    moved, missed = _load_moved(p, n, first, count, a, b)
    if moved <= most and is_full_rank(p, moved, maximum(PIVOT, small)):
        _substitute(p, moved)
        for i in range(count):
            x[p.hard_member[first + i]] = 0.0
        for i in range(moved):
            x[p.hard_order[i]] = p.hard_rhs[i]
        return moved, missed
    # rank deficient: complete orthogonal decomposition
    _load(p, n, first, count, a, b)
    rank = orthogonal_decomposition(p, count, most, small)
    # least residual: the last entries of Qᵀ b
    missed = 0.0
    for i in range(rank, count):
        missed = missed + p.hard_rhs[i] * p.hard_rhs[i]
    # back substitution w = T⁻¹ (Qᵀ b)₁
    for i in range(rank - 1, -1, -1):
        total = p.hard_rhs[i]
        for j in range(i + 1, rank):
            total = total - p.hard_factor[i * count + j] * p.hard_rhs[j]
        p.hard_rhs[i] = total / p.hard_factor[i * count + i]
    # x = P Zᵀ [w; 0]
    turn_back(p, count, rank)
    for j in range(count):
        x[p.hard_member[first + p.hard_order[j]]] = p.hard_rhs[j]
    return rank, missed


@kernel
def _load_moved(p, n, first, count, a, b):
    """hard_factor ← a, hard_rhs ← b of members, without rows and columns of zeros; hard_order ← what remains.

    Returns their number, and the sum of b² over the rows left out.
    """
    remain, missed = 0, 0.0
    for k in range(first, first + count):
        i = p.hard_member[k]
        moved = not is_zero(a[i * n + i])
        if not moved:
            for j in range(n):
                moved = moved or not (is_zero(a[i * n + j]) and is_zero(a[j * n + i]))
        if moved:
            p.hard_order[remain] = i
            remain += 1
        else:
            missed = missed + b[i] * b[i]
    for i in range(remain):
        row = p.hard_order[i] * n
        for j in range(remain):
            p.hard_factor[i * remain + j] = a[row + p.hard_order[j]]
        p.hard_rhs[i] = b[p.hard_order[i]]
    return remain, missed


@kernel
def _load(p, n, first, count, a, b):
    """hard_factor ← a, hard_rhs ← b of members."""
    for i in range(count):
        row = p.hard_member[first + i] * n
        for j in range(count):
            p.hard_factor[i * count + j] = a[row + p.hard_member[first + j]]
        p.hard_rhs[i] = b[p.hard_member[first + i]]


@kernel
def is_full_rank(p, n, small):
    """Gaussian elimination of hard_factor with hard_rhs; False, and incomplete, if a pivot is small."""
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
            if not is_zero(ratio):
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
    turn_back(p, n, rank)
    for j in range(n):
        x[p.hard_order[j]] = p.hard_rhs[j]


@kernel
def turn_back(p, n, rank):
    """hard_rhs ← Zᵀ [w; 0], with w its first `rank` entries, after `orthogonal_decomposition`."""
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
