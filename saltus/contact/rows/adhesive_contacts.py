"""Adhesive contacts: geoms with adhesion attract each other where they touch, and across the gap.

The force of a contact with adhesion δ (N) lies in its friction cone shifted down the normal by δ: it can pull with up
to δ, and friction acts even without pressure. It is the sum of a force f in the cone and a constant attraction -δ along
the normal, which counts as passive. To keep the compression of a contact without adhesion, the reference acceleration
of the normal row is raised by R δ, with R its regularisation; the edges of a pyramid share δ equally. Within the gap,
beyond the margin, only the normal row remains, without friction (MuJoCo documentation, Computation, "Adhesion"). Such a
row is called a tether here.
"""

import numpy as np

from saltus.contact.counts import NCON, NSIDE
from saltus.contact.pairs import contact_pairs, pair_law
from saltus.contact.rows.blocks import PYRAMID
from saltus.contact.rows.flex_contacts import contact_sides
from saltus.contact.rows.found_contacts import bodies_of
from saltus.contact.rows.rod_contacts import bends, torque_on_segment, twisting_dof, wrench_on_end
from saltus.dynamics.awake.walks import awake_dofs
from saltus.number.conditions import has
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import dot6, unit_wrench
from saltus.spatial.vectors import sub3


@kernel(inline=True)
def adhesion_of(m, d, k):
    """Adhesion δ (N) of contact k, equal in all lanes."""
    return m.law_adhesion[pair_law(m, d, d.contact_collision[k])]


@kernel(inline=True)
def within_reach(m, d, k):
    """Lanes in which contact k is within margin and gap."""
    return d.contact_dist[k] <= m.law_reach[pair_law(m, d, d.contact_collision[k])]


# ---------------------------------------------------------------- the attraction


@only_with("adhesive")
@kernel
def pull_contacts(m, d):
    """qfrc_adhesion [nv] (N, N m) ← the attraction of all adhesive contacts; reads the contacts and cdof."""
    for i in awake_dofs(m, d):
        d.qfrc_adhesion[i] = 0.0 * d.time
    if m.opt_adhesion:
        for k in range(d.count[NCON]):
            if adhesion_of(m, d, k) != 0.0:
                zero = 0.0 * d.time
                add_normal_force(m, d, k, where(within_reach(m, d, k), zero - adhesion_of(m, d, k), zero))


@kernel
def add_normal_force(m, d, k, force):
    """Add to qfrc_adhesion a force (N) along the normal of contact k, which pushes its two objects apart."""
    if has(m, "broad"):
        add_found_normal_force(m, d, k, force)
        return
    chain = m.collision_chain[d.contact_collision[k]]
    if chain < 0:
        add_flex_normal_force(m, d, k, force)
        return
    first = normal_wrench(m, d, k, m.chain_body1[chain])
    second = normal_wrench(m, d, k, m.chain_body2[chain])
    for c in range(m.chain_adr[chain], m.chain_adr[chain] + m.chain_num[chain]):
        i, side = m.chain_dof[c], m.chain_sign[c]
        w = second if side > 0.0 else first
        d.qfrc_adhesion[i] = d.qfrc_adhesion[i] + side * force * dot6(d.cdof[i], w)


@only_with("broad")
@kernel
def add_found_normal_force(m, d, k, force):
    """Add a force (N) along the normal of contact k of a found pair to qfrc_adhesion."""
    b1, b2 = bodies_of(m, d, k)
    first, second = normal_wrench(m, d, k, b1), normal_wrench(m, d, k, b2)
    i, j = m.broad_lastdof[b1], m.broad_lastdof[b2]
    while i != j:
        if i > j:
            d.qfrc_adhesion[i] = d.qfrc_adhesion[i] - force * dot6(d.cdof[i], first)
            i = m.dof_parentid[i]
        else:
            d.qfrc_adhesion[j] = d.qfrc_adhesion[j] + force * dot6(d.cdof[j], second)
            j = m.dof_parentid[j]


@only_with("flexcontact")
@kernel
def add_flex_normal_force(m, d, k, force):
    """Add a force (N) along the normal of contact k of a deformable body to qfrc_adhesion."""
    contact_sides(m, d, k)
    one = 0.0 * d.time + 1.0
    for s in range(d.count[NSIDE]):
        w, share = normal_wrench(m, d, k, d.side_body[s]), d.side_sign[s] * d.side_weight[s]
        if bends(m, d, s):
            w, share = wrench_on_end(m, d, k, s, 0), d.side_sign[s] * one
        i = m.body_lastdof[d.side_body[s]]
        while i >= 0:
            d.qfrc_adhesion[i] = d.qfrc_adhesion[i] + share * force * dot6(d.cdof[i], w)
            i = m.dof_parentid[i]
        i = twisting_dof(m, d, s)
        if i >= 0:
            d.qfrc_adhesion[i] = d.qfrc_adhesion[i] + d.side_sign[s] * force * torque_on_segment(d, k, s, 0)


@kernel(inline=True)
def normal_wrench(m, d, k, body):
    """Unit wrench at contact k along its normal, about the centre of mass of a body's tree."""
    f = d.contact_frame[k]
    return unit_wrench(sub3(d.contact_pos[k], d.subtree_com[m.body_rootid[body]]), (f[0], f[1], f[2]))


# ---------------------------------------------------------------- the rows


@only_with("adhesive")
@kernel
def add_adhesion(m, d):
    """Raise the reference accelerations row_aref of all adhesive contacts by R δ; reads row_D."""
    for k in range(d.count[NCON]):
        if adhesion_of(m, d, k) != 0.0:
            raise_reference(m, d, d.contact_block[k], adhesion_of(m, d, k))
            raise_reference(m, d, d.contact_tether[k], adhesion_of(m, d, k))


@kernel
def raise_reference(m, d, b, adhesion):
    """Add R δ to row_aref of the normal row of block b where it acts; b is -1 for no block."""
    if b >= 0:
        row = d.block_row[b]
        share = adhesion / (2.0 * (d.block_dim[b] - 1)) if d.block_kind[b] == PYRAMID else adhesion
        weight = d.row_D[row]
        acts = weight > 0.0
        rise = where(acts, share / where(acts, weight, 1.0 + 0.0 * weight), 0.0 * weight)
        d.row_aref[row] = d.row_aref[row] + rise


@kernel
def has_rows(m, d, k):
    """Whether contact k has rows in any lane."""
    if has(m, "adhesive"):
        return d.contact_block[k] >= 0 or d.contact_tether[k] >= 0
    return d.contact_block[k] >= 0


# ---------------------------------------------------------------- in Python


def acting_blocks(m, d, n: int) -> np.ndarray:
    """Blocks of the first n contacts of a Data without lanes, -1 for none: of their rows, or of their tethers."""
    block = d.views["contact_block"][:n]
    return np.where(block >= 0, block, d.views["contact_tether"][:n]) if m.ntether else block


def attractions(m, d, n: int) -> np.ndarray:
    """Adhesion (N) of the first n contacts of a Data, by which their net normal forces are reduced."""
    return m.views["law_adhesion"][contact_pairs(m, d).law[:n]]
