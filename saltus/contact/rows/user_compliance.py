"""User-defined compliant contact: a force for each contact as a function of gap and relative velocity.

A law is a kernel force(m, d, gap, velocity): `gap` is the gap (m), below zero; `velocity` (m/s) is that of the second
geom relative to the first, along the normal, which points to the second, and two tangents. The kernel returns the force
(N) on the second geom along the same axes. The model's feature key for it begins with `GIVEN` (see
`saltus.dynamics.user_laws`).
"""

from numba.extending import overload

from saltus.contact.counts import NCON
from saltus.contact.rows.blocks import CONE, UNILATERAL, add_transpose_block, clear_blocks
from saltus.contact.rows.contacts import contact_block, contact_jacobian, contact_velocity
from saltus.dynamics.user_laws import check_types, laws_of
from saltus.number.features import looks_at
from saltus.number.functions import where
from saltus.number.kernels import CHOICE, kernel, only_with

GIVEN = "touch_"


@looks_at(GIVEN)
def _force(m, d, gap, velocity):
    """Force (N) of the user-defined law."""


@overload(_force, strict=False, jit_options=CHOICE)
def _choose_force(m, d, gap, velocity):
    (law,) = laws_of(m, GIVEN)
    check_types("Compliant: force", law, (m, d, gap, velocity))
    return lambda m, d, gap, velocity: law(m, d, gap, velocity)


@only_with(GIVEN)
@kernel
def given_forces(m, d):
    """Add the forces of all contacts within their margin, and their generalised forces.

    Writes contact_touch [nconmax, 3] (N), in the contact frames, and qfrc_compliant [nv] (N, N m). Reads the contacts
    and qvel; leaves no blocks.
    """
    zero = 0.0 * d.time
    for i in range(m.nv):
        d.qfrc_compliant[i] = zero
    for k in range(d.count[NCON]):
        law = m.collision_law[d.contact_collision[k]]
        gap = d.contact_dist[k] - m.law_margin[law]
        given_force(m, d, k, law, gap, gap < 0.0)
    clear_blocks(m, d)


@kernel
def given_force(m, d, k, law, gap, active):
    """Compute the force of contact k, which acts in the lanes where `active` holds, and its generalised forces."""
    zero = 0.0 * d.time
    dim = 1 if m.law_dim[law] == 1 else 3
    clear_blocks(m, d)
    # Jacobian and relative velocity of the contact
    b = contact_block(m, d, UNILATERAL if dim == 1 else CONE, dim, law, k, active)
    contact_jacobian(m, d, k, b, dim)
    contact_velocity(m, d, k, b, dim)
    row = d.block_row[b]
    # user-defined law, in lanes where the contact acts
    across1 = d.row_velocity[row + 1] if dim == 3 else zero
    across2 = d.row_velocity[row + 2] if dim == 3 else zero
    force = _force(m, d, where(active, gap, zero), (d.row_velocity[row], across1, across2))
    normal = where(active, force[0] + zero, zero)
    tangent1 = where(active, force[1] + zero, zero) if dim == 3 else zero
    tangent2 = where(active, force[2] + zero, zero) if dim == 3 else zero
    d.contact_touch[k] = (normal, tangent1, tangent2)
    d.contact_block[k] = -1
    # generalised forces Jᵀ f
    d.row_force[row] = normal
    if dim == 3:
        d.row_force[row + 1] = tangent1
        d.row_force[row + 2] = tangent2
    add_transpose_block(m, d, b, d.row_force, d.qfrc_compliant)
