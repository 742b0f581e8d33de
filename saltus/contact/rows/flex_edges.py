"""Constraint rows that keep the edge lengths of deformable bodies."""

from saltus.contact.counts import NBLOCK, NEDGE
from saltus.contact.rows.blocks import EQUALITY, add_block, times_block
from saltus.contact.rows.soft_law import impedance, reference, regularisation
from saltus.number.functions import absolute, sqrt
from saltus.number.kernels import kernel, only_with
from saltus.spatial.motions import velocity_at
from saltus.spatial.vectors import dot3, scale3, sub3


@only_with("flexequality")
@kernel
def edge_rows(m, d):
    """A row L - L₀ = 0 for each edge of constrained length L. Reads flexvert_xpos, cdof, qvel."""
    zero = 0.0 * d.time
    if m.edgerows_alike:
        d.count[NEDGE] = d.count[NBLOCK]
    for r in range(m.nedgerow):
        k, e = m.edgerow_eq[r], m.edgerow_edge[r]
        law = m.eq_law[k]
        b = add_block(m, d, EQUALITY, 1, m.edgerow_chain[r], law, k, zero == zero)
        row = d.block_row[b]
        violation = edge_jacobian(m, d, b, e)
        imp = impedance(m.law_impedance[law], absolute(violation))
        times_block(m, d, b, d.qvel, d.row_velocity)
        d.row_pos[row] = violation
        d.row_D[row] = 1.0 / regularisation(imp, m.edgerow_invweight[r])
        d.row_aref[row] = reference(m.law_stiffness[law], m.law_damping[law], imp, violation, d.row_velocity[row])


@kernel
def edge_jacobian(m, d, b, e):
    """Writes the Jacobian of the length of edge e, dL = u · (dx₂ - dx₁), to row_J at block b; returns L - L₀ (m)."""
    first, second = m.flexedge_vert[e, 0], m.flexedge_vert[e, 1]
    x1, x2 = d.flexvert_xpos[first], d.flexvert_xpos[second]
    # length and direction of the edge
    span = sub3(x2, x1)
    length = sqrt(dot3(span, span))
    u = scale3(1.0 / length, span)
    # vertices that only translate: the linear parts of cdof
    adr = m.chain_adr[d.block_chain[b]]
    if m.edgerows_alike:
        for c in range(d.block_num[b]):
            s = d.cdof[m.chain_dof[adr + c]]
            d.row_J[d.block_J[b] + c] = m.chain_sign[adr + c] * dot3(u, (s[3], s[4], s[5]))
        return length - m.flexedge_length0[e]
    # in general: velocities of both vertices for each degree of freedom
    arm1 = sub3(x1, d.subtree_com[m.body_rootid[m.flexvert_bodyid[first]]])
    arm2 = sub3(x2, d.subtree_com[m.body_rootid[m.flexvert_bodyid[second]]])
    for c in range(d.block_num[b]):
        s = d.cdof[m.chain_dof[adr + c]]
        sign = m.chain_sign[adr + c]
        rate = 0.0 * length
        if sign >= 0.0:
            rate = rate + dot3(u, velocity_at(s, arm2))
        if sign <= 0.0:
            rate = rate - dot3(u, velocity_at(s, arm1))
        d.row_J[d.block_J[b] + c] = rate
    return length - m.flexedge_length0[e]
