"""Blocks of the contacts of found pairs, whose degrees of freedom are listed at run time.

The lists are equal to those of models with listed pairs, for every two bodies (`saltus.model.tree.chains`).
"""

from saltus.contact.counts import NBLOCK, NFIRST, NFLEXDOF
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.blocks import add_block_of, count_to, counted
from saltus.number.kernels import kernel, only_with


@kernel
def found_block(m, d, kind, dim, law, k, active):
    """Open a block for contact k that acts in the lanes where `active` holds; returns its number.

    The block shares the list of the previous block if it has the same bodies.
    """
    b1, b2 = bodies_of(m, d, k)
    chain = m.nchain + 1 + b1 * m.nbody + b2
    before = counted(m, d, NBLOCK) - 1
    if before >= first_block(m, d) and d.block_chain[before] == chain:
        dofs = d.block_dofs[before], d.block_num[before], d.block_fill[before]
    else:
        dofs = list_dofs(m, d, b1, b2)
    return add_block_of(m, d, kind, dim, chain, dofs, law, k, active)


@only_with("threads", otherwise="0")
@kernel(inline=True)
def first_block(m, d):
    """Number of the first block of this thread."""
    return d.own_count[NFIRST] if d.part > 0 else 0


@kernel
def found_inverse(m, d, k):
    """Approximate inverse inertia (1/kg) of the relative motion at contact k."""
    b1, b2 = bodies_of(m, d, k)
    return m.broad_invweight[b1] + m.broad_invweight[b2] + 0.0 * d.time


@kernel(inline=True)
def bodies_of(m, d, k):
    """The bodies of contact k."""
    c = d.contact_collision[k]
    return m.geom_bodyid[pair_geom1(m, d, c)], m.geom_bodyid[pair_geom2(m, d, c)]


@kernel
def list_dofs(m, d, b1, b2):
    """Append the list of the degrees of freedom that move one of two bodies, but not both, in ascending order.

    Returns its place after the model's lists, its length, and whether it couples entries that are zero in M.
    """
    # from the bodies towards the root, until the paths meet: in descending order
    first, n = counted(m, d, NFLEXDOF), 0
    i, j = m.broad_lastdof[b1], m.broad_lastdof[b2]
    while i != j:
        if i > j:
            d.found_dof[first + n], d.found_sign[first + n] = i, -1
            i = m.dof_parentid[i]
        else:
            d.found_dof[first + n], d.found_sign[first + n] = j, 1
            j = m.dof_parentid[j]
        n += 1
    # reversed
    for c in range(n // 2):
        low, high = first + c, first + n - 1 - c
        dof, sign = d.found_dof[low], d.found_sign[low]
        d.found_dof[low], d.found_sign[low] = d.found_dof[high], d.found_sign[high]
        d.found_dof[high], d.found_sign[high] = dof, sign
    count_to(m, d, NFLEXDOF, first + n)
    return m.nchaindof + first, n, fills_in(m, d, first, n)


@kernel
def fills_in(m, d, first, n):
    """1 if some degree of freedom of a list is no ancestor of the next, so that M does not couple them, else 0."""
    for c in range(first + 1, first + n):
        i, lower = d.found_dof[c], d.found_dof[c - 1]
        while i > lower:
            i = m.broad_dofparent[i]
        if i != lower:
            return 1
    return 0
