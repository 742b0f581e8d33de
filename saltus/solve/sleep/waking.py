"""Waking in a step: by limited tendons, contacts and equality constraints, in MuJoCo's order.

The wake value of an awake tree is passed to the trees that it wakes, so that all of them may fall asleep again together
(MuJoCo documentation, Simulation: Sleeping islands: Waking).
"""

from saltus.contact.counts import NCON, NPATTERN
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.dynamics.awake.lists import is_awake, list_awake
from saltus.dynamics.awake.trees import AWAKE, wake_tree
from saltus.dynamics.awake.walks import awake_equalities, awake_tendon_limits
from saltus.dynamics.smooth import position_stage
from saltus.number.kernels import kernel, only_with
from saltus.solve.constrain import detect_contacts


@only_with("sleep")
@kernel
def wake(m, d, compute_all):
    """Wake trees after `position_stage`, and find the contacts of awake trees."""
    if wake_by_tendons(m, d) > 0:
        list_again(m, d, compute_all)
    find_contacts(m, d)
    if wake_by_contacts(m, d) > 0:
        list_again(m, d, compute_all)
        # contacts of woken trees with each other, and with fixed geoms
        find_contacts(m, d)
    if wake_by_equalities(m, d) > 0:
        list_again(m, d, compute_all)


@kernel
def list_again(m, d, compute_all):
    """List awake objects again, and compute quantities that depend on positions of the woken ones."""
    list_awake(m, d)
    d.count[NPATTERN] = 0
    position_stage(m, d, compute_all)


@only_with("contact")
@kernel
def find_contacts(m, d):
    """Contact detection at the present positions."""
    detect_contacts(m, d)


@kernel
def wake_other(m, d, one, other):
    """Wake the sleeping one of two trees if the other is awake; returns the number of woken trees."""
    if is_awake(d, one) == is_awake(d, other):
        return 0
    if is_awake(d, one):
        return wake_tree(m, d, other, d.tree_asleep[one])
    return wake_tree(m, d, one, d.tree_asleep[other])


@only_with("tendon", otherwise="0")
@kernel
def wake_by_tendons(m, d):
    """Wake trees that a limited tendon, at its limit, joins with an awake one; returns their number."""
    count = 0
    for k in awake_tendon_limits(m, d):
        t = m.limit_obj[k]
        low = d.ten_length[t] - m.limit_range[k, 0]
        high = m.limit_range[k, 1] - d.ten_length[t]
        one, other = m.limit_trees[k, 0], m.limit_trees[k, 1]
        if min(low, high) < m.limit_margin[k] and one >= 0 and other >= 0:
            count += wake_other(m, d, one, other)
    return count


@only_with("contact", otherwise="0")
@kernel
def wake_by_contacts(m, d):
    """Wake trees that touch an awake one, or a body that is moved from outside; returns their number."""
    count = 0
    for k in range(d.count[NCON]):
        c = d.contact_collision[k]
        one = m.body_treeid[m.geom_bodyid[pair_geom1(m, d, c)]]
        other = m.body_treeid[m.geom_bodyid[pair_geom2(m, d, c)]]
        if one >= 0 and other >= 0:
            count += wake_other(m, d, one, other)
        else:
            count += wake_by_moved(m, d, max(one, other), min(one, other))
    return count


@kernel(inline=True)
def wake_by_moved(m, d, tree, still):
    """Wake a sleeping tree if the object that it meets, not a tree, is moved from outside; returns the number woken."""
    if tree >= 0 and still < 0 and is_awake(d, still) and not is_awake(d, tree):
        return wake_tree(m, d, tree, AWAKE)
    return 0


@kernel
def wake_by_equalities(m, d):
    """Wake trees that an equality constraint joins with an awake object; returns their number."""
    count = 0
    for k in awake_equalities(m, d):
        one, other = m.eq_trees[k, 0], m.eq_trees[k, 1]
        if one >= 0 and not is_awake(d, one) and is_awake(d, other):
            count += wake_tree(m, d, one, AWAKE)
        if other >= 0 and not is_awake(d, other) and is_awake(d, one):
            count += wake_tree(m, d, other, AWAKE)
    return count
