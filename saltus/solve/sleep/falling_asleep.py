"""Falling asleep at the end of a step: islands of trees that have been slow for long enough (MuJoCo's `mj_sleep`)."""

from saltus.contact.counts import NBLOCK, NPATTERN
from saltus.contact.rows.blocks import chained_dof
from saltus.dynamics.awake.lists import list_awake
from saltus.dynamics.awake.trees import AWAKE, READY, lay_down, may_sleep
from saltus.dynamics.awake.walks import every_awake_tree
from saltus.number.kernels import kernel, only_with
from saltus.solve.disjoint_sets import lowest


@only_with("sleep")
@kernel
def fall_asleep(m, d):
    """Count the steps in which trees were slow, and put islands to sleep whose trees are all ready.

    Reads qvel at the start of the step, and the rows of constraints that were solved.
    """
    if d.count[NBLOCK] > 0 and not m.opt_islands:
        return  # without rows it is unknown which trees sleep together
    if count_slow_steps(m, d) > 0:
        join_trees(m, d)
        if lay_down_islands(m, d) > 0:
            list_awake(m, d)
            d.count[NPATTERN] = 0


@kernel
def count_slow_steps(m, d):
    """Update tree_asleep of all awake trees; returns the number that are ready to sleep."""
    ready = 0
    for t in every_awake_tree(m, d):
        if may_sleep(m, d, t, m.opt_sleep_tolerance[0]):
            d.tree_asleep[t] = min(d.tree_asleep[t] + 1.0, READY)
            ready += d.tree_asleep[t] == READY
        else:
            d.tree_asleep[t] = AWAKE
    return ready


@kernel
def join_trees(m, d):
    """tree_joined ← the lowest tree of each island, by union-find over the blocks of constraint rows."""
    for t in every_awake_tree(m, d):
        d.tree_joined[t] = t
    for b in range(d.count[NBLOCK]):
        first, count = d.block_dofs[b], d.block_num[b]
        for c in range(1, count):
            one = lowest(d.tree_joined, tree_of(m, chained_dof(m, d, first + c - 1)))
            other = lowest(d.tree_joined, tree_of(m, chained_dof(m, d, first + c)))
            d.tree_joined[max(one, other)] = min(one, other)
    # lower trees come first, so that their sets are known
    for t in every_awake_tree(m, d):
        d.tree_joined[t] = d.tree_joined[d.tree_joined[t]]


@kernel(inline=True)
def tree_of(m, i):
    """The tree of a degree of freedom."""
    return m.body_treeid[m.dof_bodyid[i]]


@kernel
def lay_down_islands(m, d):
    """Put islands to sleep whose trees are all ready; returns the number of trees.

    The trees of an island form a cycle in ascending order.
    """
    # islands with a tree that is not ready stay awake
    for t in every_awake_tree(m, d):
        d.tree_blocked[t] = 0
        if d.tree_asleep[t] != READY:
            d.tree_blocked[d.tree_joined[t]] = 1
    # tree_last: of each island, by its lowest tree
    count = 0
    for t in every_awake_tree(m, d):
        root = d.tree_joined[t]
        if not d.tree_blocked[root]:
            if root != t:
                lay_down(m, d, d.tree_last[root], t)
            d.tree_last[root] = t
            count += 1
    for t in every_awake_tree(m, d):
        if d.tree_joined[t] == t and not d.tree_blocked[t]:
            lay_down(m, d, d.tree_last[t], t)
    return count
