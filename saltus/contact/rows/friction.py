"""Constraint rows of dry friction in joints: a bounded force against the motion."""

from saltus.contact.rows.blocks import FRICTION, add_block
from saltus.contact.rows.soft_law import impedance, regularisation
from saltus.dynamics.awake.walks import awake_dof_frictions
from saltus.number.kernels import kernel


@kernel
def friction_rows(m, d):
    """Rows of dry friction: reference acceleration -B v, with a force of at most friction_loss (N, N m)."""
    for k in awake_dof_frictions(m, d):
        law = m.friction_law[k]
        chain = m.friction_chain[k]
        zero = 0.0 * d.time
        b = add_block(m, d, FRICTION, 1, chain, law, k, zero == zero)
        row = d.block_row[b]
        imp = impedance(m.law_impedance[law], zero)
        d.row_J[d.block_J[b]] = zero + 1.0
        d.row_pos[row] = zero
        d.row_D[row] = 1.0 / regularisation(imp, m.friction_invweight[k])
        d.row_aref[row] = -m.law_damping[law] * d.qvel[m.chain_dof[m.chain_adr[chain]]]
        d.row_loss[row] = zero + m.friction_loss[k]
