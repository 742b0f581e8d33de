"""Domains of a large island, which several threads factor and solve together.

An island is cut into slabs with equal numbers of trees along its longest axis. Trees of a slab that touch a higher one
form separators: without them the slabs are independent. They are eliminated last, first those of every other slab, then
the rest (domain decomposition with separators: George & Liu, Computer Solution of Large Sparse Positive Definite
Systems (1981), chapter 8). The order depends only on the island, not on the number of threads.

Groups are the domains, then the separators of each slab. Groups of a phase are independent; phases follow each other.
Threads own slabs, with all their groups.
"""

from saltus.contact.lane_turns import lane_of
from saltus.model.layout import BINS
from saltus.number.kernels import kernel
from saltus.number.threads.team import acting, meet, share
from saltus.solve.soft.trees.islands import order_dofs, trees_of

MOST = 4  # most domains
PHASES = 3
LAST = PHASES - 1


@kernel
def list_domains(m, d, island, cut):
    """Order an island's trees for elimination: island_tree by groups, which begin at group_adr; returns their number.

    There is a single group if the island is small or not to be `cut`.

    Writes phase_adr[island], the first group of each phase and one past the last; tree_group; block_trees so that the
    first one is eliminated first. Reads block_trees, xpos. Overwrites slabs_near.
    """
    first, last = trees_of(d, island)
    domains = how_many(m, last - first)
    if domains == 1 or not cut:
        one_group(d, island)
        return 1
    cut_into_slabs(m, d, island, domains)
    near = mark_separators(d, island)
    group_separators(d, island, domains)
    sort_by_groups(m, d, island)
    order_blocks(d, island)
    d.slabs_near[island] = near
    return d.phase_adr[island, PHASES]


@kernel(inline=True)
def how_many(m, trees):
    """Number of domains of an island: two, or four if separators between them are small for so many trees."""
    if trees >= 2 * MOST * m.ndomaintree:
        return MOST
    return 2 if trees >= 2 * m.ndomaintree else 1


@kernel(inline=True)
def is_cut(d, island):
    """Whether there are several domains."""
    return d.phase_adr[island, 1] > 1


@kernel(inline=True)
def one_group(d, island):
    """Make all trees of an island one group."""
    first, last = trees_of(d, island)
    set_phases(d, island, 1, 1, 1)
    d.group_adr[first], d.group_adr[first + 1] = first, last


@kernel(inline=True)
def set_phases(d, island, domains, even, odd):
    """Set phase_adr of an island: the ends of the groups of domains, and of separators of even and of odd slabs."""
    d.phase_adr[island] = (0, domains, even, odd)


@kernel
def cut_into_slabs(m, d, island, domains):
    """tree_group ← the slab of each tree, from a histogram of positions along the longest axis."""
    first, last = trees_of(d, island)
    axis, low, width = longest_axis(m, d, island)
    for k in range(BINS):
        d.bin_count[k] = 0
    for k in range(first, last):
        t = d.island_tree[k]
        along = (position(m, d, t, axis) - low) / width * BINS
        place = int(min(max(along, 0.0), BINS - 1.0))  # 0 for NaN
        d.tree_group[t] = place
        d.bin_count[place] = d.bin_count[place] + 1
    before = 0
    for k in range(BINS):
        before, d.bin_count[k] = before + d.bin_count[k], before * domains // (last - first)
    for k in range(first, last):
        t = d.island_tree[k]
        d.tree_group[t] = d.bin_count[d.tree_group[t]]


@kernel(inline=True)
def position(m, d, t, axis):
    """Coordinate of a tree's first body (m)."""
    return lane_of(d.xpos[m.dof_bodyid[m.tree_dofadr[t]], axis], 0)


@kernel
def longest_axis(m, d, island):
    """The world axis of an island's largest extent, the least coordinate, and that extent (m)."""
    first, last = trees_of(d, island)
    longest, least, reach = 0, 0.0, 0.0
    for axis in range(3):
        low = high = position(m, d, d.island_tree[first], axis)
        for k in range(first + 1, last):
            x = position(m, d, d.island_tree[k], axis)
            low, high = min(low, x), max(high, x)
        if high - low > reach:
            longest, least, reach = axis, low, high - low
    return longest, least, (reach if reach > 0.0 else 1.0)


@kernel
def mark_separators(d, island):
    """separates ← 1 for trees that touch one of a higher slab, else 0; returns whether only adjacent slabs touch."""
    near = True
    first, last = trees_of(d, island)
    for k in range(first, last):
        d.separates[d.island_tree[k]] = 0
    for k in range(d.island_blockadr[island], d.island_blockadr[island + 1]):
        one, other = d.block_trees[d.island_block[k], 0], d.block_trees[d.island_block[k], 1]
        higher = d.tree_group[other] - d.tree_group[one]
        near = near and -1 <= higher and higher <= 1
        if higher > 0:
            d.separates[one] = 1
        elif higher < 0:
            d.separates[other] = 1
    return near


@kernel
def group_separators(d, island, domains):
    """tree_group of separators ← one for each slab, even slabs first; one for all if any of a phase touch."""
    first, last = trees_of(d, island)
    even = domains + domains // 2
    for k in range(first, last):
        t = d.island_tree[k]
        if d.separates[t]:
            slab = d.tree_group[t]
            d.tree_group[t] = (domains if slab % 2 == 0 else even) + slab // 2
    set_phases(d, island, domains, even, 2 * domains - 1)
    if separators_touch(d, island, domains, even):
        for k in range(first, last):
            t = d.island_tree[k]
            d.tree_group[t] = min(d.tree_group[t], domains)
        set_phases(d, island, domains, domains + 1, domains + 1)


@kernel
def separators_touch(d, island, domains, even):
    """Whether separators of two groups of one phase touch, as in thin slabs."""
    touch = False
    for k in range(d.island_blockadr[island], d.island_blockadr[island + 1]):
        b = d.island_block[k]
        one, other = d.tree_group[d.block_trees[b, 0]], d.tree_group[d.block_trees[b, 1]]
        both = one >= domains and other >= domains and one != other
        touch = touch or (both and (one < even) == (other < even))
    return touch


@kernel
def sort_by_groups(m, d, island):
    """Sort island_tree by groups, ascending in each, by counting; sets group_adr and order of degrees of freedom."""
    first, last = trees_of(d, island)
    groups = d.phase_adr[island, PHASES]
    for g in range(groups + 1):
        d.group_adr[first + g] = 0
    for k in range(first, last):
        g = first + d.tree_group[d.island_tree[k]] + 1
        d.group_adr[g] = d.group_adr[g] + 1
    d.group_adr[first] = first
    for g in range(first, first + groups):
        d.group_adr[g + 1] = d.group_adr[g + 1] + d.group_adr[g]
    for k in range(first, last):
        d.sorted_tree[k] = d.island_tree[k]
    for k in range(last - 1, first - 1, -1):
        t = d.sorted_tree[k]
        g = first + d.tree_group[t] + 1
        d.group_adr[g] = d.group_adr[g] - 1
        d.island_tree[d.group_adr[g]] = t
    # group_adr[g + 1] is now where group g begins
    for g in range(first, first + groups):
        d.group_adr[g] = d.group_adr[g + 1]
    d.group_adr[first + groups] = last
    order_dofs(m, d, first, last)


@kernel
def order_blocks(d, island):
    """Order block_trees so that the tree that is eliminated first comes first."""
    for k in range(d.island_blockadr[island], d.island_blockadr[island + 1]):
        b = d.island_block[k]
        one, other = d.block_trees[b, 0], d.block_trees[b, 1]
        if d.tree_group[one] > d.tree_group[other]:
            d.block_trees[b] = (other, one)


# ---------------------------------------------------------------- work of threads


@kernel(inline=True)
def groups_of(m, d, island, phase):
    """Range in group_adr of this thread's groups of a phase, those of its slabs."""
    first, _ = trees_of(d, island)
    begin, end = first + d.phase_adr[island, phase], first + d.phase_adr[island, phase + 1]
    low, high = share(m, d, d.phase_adr[island, 1])
    if phase == 1:  # even slabs
        low, high = (low + 1) // 2, (high + 1) // 2
    elif phase == 2:  # odd slabs
        low, high = low // 2, high // 2
    return min(begin + low, end), min(begin + high, end)


@kernel(inline=True)
def meet_below(m, d, island, phase):
    """Wait, between adjacent phases in either order, for threads whose groups this thread's next ones need."""
    there = phase > 0 and d.phase_adr[island, phase] < d.phase_adr[island, phase + 1]
    if there and (phase == LAST or not has_both(m, d, island)):
        meet(m, d)


@kernel(inline=True)
def has_both(m, d, island):
    """Whether each thread has both slabs that separators of even slabs touch."""
    domains = d.phase_adr[island, 1]
    separate = d.phase_adr[island, PHASES] == 2 * domains - 1
    return d.slabs_near[island] and separate and domains % (2 * acting(m, d)) == 0


@kernel(inline=True)
def dofs_of_group(m, d, g):
    """Range of a group's degrees of freedom in the order of islands."""
    first, last = d.group_adr[g], d.group_adr[g + 1]
    if first == last:
        return 0, 0
    end = d.island_tree[last - 1]
    return d.island_dofadr[d.island_tree[first]], d.island_dofadr[end] + m.tree_dofnum[end]


@kernel
def sum_of_groups(d, island, which):
    """The sum of the contributions of all groups of an island."""
    first, _ = trees_of(d, island)
    total = 0.0 * d.time
    for g in range(first, first + d.phase_adr[island, PHASES]):
        total = total + d.group_sum[g, which]
    return total
