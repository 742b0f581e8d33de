"""Islands of a contact problem: blocks that W couples, directly or through others.

Bodies side by side on a fixed support exchange no forces: each, with everything that it carries, is a separate problem.
The work of the solvers grows with the cube of the number of rows, and many iterations of one island need not be made
for the others. The whole scaled problem (see `saltus.solve.cone.problem`) is kept while each island replaces it in
turn.
"""

from saltus.model.enums import BLOCKS, ROWS
from saltus.number.components import is_zero
from saltus.number.kernels import kernel


@kernel
def islands_of_blocks(p):
    """hard_whole_island ← the first block of each block's island, by the scaled problem; returns their number."""
    blocks, count = p.hard_count[BLOCKS], 0
    for k in range(blocks):
        p.hard_whole_island[k] = -1
    for root in range(blocks):
        if p.hard_whole_island[root] >= 0:
            continue
        count += 1
        p.hard_whole_island[root] = root
        # blocks whose neighbours remain to be found, in hard_order
        p.hard_order[0], waiting = root, 1
        while waiting > 0:
            waiting -= 1
            k = p.hard_order[waiting]
            for other in range(root + 1, blocks):
                if p.hard_whole_island[other] < 0 and are_coupled(p, k, other):
                    p.hard_whole_island[other] = root
                    p.hard_order[waiting] = other
                    waiting += 1
    return count


@kernel
def are_coupled(p, k, other):
    """Whether a force of one of two blocks moves the other, or bounds the other's."""
    first, second = min(k, other), max(k, other)
    if p.hard_parent[second] > 0 and second - p.hard_parent[second] == first:
        return True
    n = p.hard_count[ROWS]
    for i in range(p.hard_row[k], p.hard_row[k] + p.hard_dim[k]):
        for j in range(p.hard_row[other], p.hard_row[other] + p.hard_dim[other]):
            if not (is_zero(p.hard_A[i * n + j]) and is_zero(p.hard_A[j * n + i])):
                return True
    return False


@kernel
def keep_whole(p):
    """Save the whole scaled problem."""
    blocks, n = p.hard_count[BLOCKS], p.hard_count[ROWS]
    for k in range(blocks):
        p.hard_whole_kind[k], p.hard_whole_row[k], p.hard_whole_dim[k] = p.hard_kind[k], p.hard_row[k], p.hard_dim[k]
        p.hard_whole_mu[k], p.hard_whole_bound[k] = p.hard_mu[k], p.hard_bound[k]
        p.hard_whole_parent[k] = p.hard_parent[k]
    for i in range(n):
        p.hard_whole_b[i], p.hard_whole_scale[i], p.hard_whole_z[i] = p.hard_b[i], p.hard_scale[i], p.hard_z[i]
    for i in range(n * n):
        p.hard_whole_A[i] = p.hard_A[i]


@kernel
def take_island(p, island, blocks, n):
    """Replace the whole problem, which has `blocks` blocks and n rows, by the problem of one island."""
    count = rows = 0
    for k in range(blocks):
        if p.hard_whole_island[k] != island:
            continue
        p.hard_kind[count], p.hard_row[count], p.hard_dim[count] = p.hard_whole_kind[k], rows, p.hard_whole_dim[k]
        p.hard_mu[count], p.hard_bound[count] = p.hard_whole_mu[k], p.hard_whole_bound[k]
        p.hard_parent[count] = p.hard_whole_parent[k]
        count += 1
        for i in range(p.hard_whole_row[k], p.hard_whole_row[k] + p.hard_whole_dim[k]):
            p.hard_active[rows] = i
            p.hard_b[rows], p.hard_scale[rows] = p.hard_whole_b[i], p.hard_whole_scale[i]
            p.hard_z[rows] = p.hard_whole_z[i]
            rows += 1
    for i in range(rows):
        for j in range(rows):
            p.hard_A[i * rows + j] = p.hard_whole_A[p.hard_active[i] * n + p.hard_active[j]]
    p.hard_count[BLOCKS], p.hard_count[ROWS] = count, rows


@kernel
def give_island(p, island, blocks):
    """hard_whole_z ← the forces of a solved island; the whole problem has `blocks` blocks."""
    row = 0
    for k in range(blocks):
        if p.hard_whole_island[k] == island:
            for i in range(p.hard_whole_row[k], p.hard_whole_row[k] + p.hard_whole_dim[k]):
                p.hard_whole_z[i] = p.hard_z[row]
                row += 1


@kernel
def restore_whole(p, blocks, n):
    """Restore the whole problem, with the forces of all islands; A is no longer needed."""
    for k in range(blocks):
        p.hard_kind[k], p.hard_row[k], p.hard_dim[k] = p.hard_whole_kind[k], p.hard_whole_row[k], p.hard_whole_dim[k]
        p.hard_mu[k], p.hard_bound[k] = p.hard_whole_mu[k], p.hard_whole_bound[k]
        p.hard_parent[k] = p.hard_whole_parent[k]
    for i in range(n):
        p.hard_b[i], p.hard_scale[i], p.hard_z[i] = p.hard_whole_b[i], p.hard_whole_scale[i], p.hard_whole_z[i]
    p.hard_count[BLOCKS], p.hard_count[ROWS] = blocks, n
