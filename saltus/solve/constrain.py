"""Constraint forces: assemble and solve them, then add them to the other forces."""

from saltus.contact.collide import collide, collider_frames
from saltus.contact.counts import NBLOCK, NLOST, NUNSOLVED
from saltus.contact.rows.adhesion import adhesion_moments
from saltus.contact.rows.adhesive_contacts import pull_contacts
from saltus.contact.rows.blocks import clear_blocks
from saltus.contact.rows.contacts import contact_rows
from saltus.contact.rows.equality import edge_rows, equality_rows
from saltus.contact.rows.joints import friction_rows, limit_rows
from saltus.contact.rows.movers import carry_soft_equalities
from saltus.contact.rows.tendons import tendon_equality_rows, tendon_friction_rows, tendon_limit_rows
from saltus.contact.rows.user_compliance import GIVEN, given_forces
from saltus.dynamics.awake.walks import awake_dofs
from saltus.dynamics.equations import bias_force, joint_inertia
from saltus.dynamics.tree.factor import factor
from saltus.dynamics.tree.guided.prescribed import solve_hybrid
from saltus.number.conditions import has
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.solve.event.constrained_acceleration import enforce_active_set
from saltus.solve.soft.choice import solve_constraints
from saltus.solve.status import CONTACTS_FULL, OK, UNSOLVED


@kernel
def constrain(m, d):
    """Add the constraint forces to those of `force_stage`; returns a status.

    Writes qfrc_constraint [nv] (N, N m) and adds it to qfrc_tau, so that the later stages yield the constrained
    accelerations. Lanes without active rows keep their values bit for bit. With events located, the active set is
    enforced exactly.
    """
    if has(m, "event"):
        return enforce_active_set(m, d)
    if not has(m, "constraint"):
        return OK
    user_contact_forces(m, d)
    add_touch(m, d, d.qfrc_tau)
    status = solve_soft_rows(m, d)
    add_touch(m, d, d.qfrc_constraint)
    return CONTACTS_FULL if d.count[NLOST] > 0 else status


@only_with(GIVEN)
@kernel
def user_contact_forces(m, d):
    """qfrc_compliant [nv] ← contact forces of the user-defined compliance law (N, N m)."""
    find_contacts(m, d)
    given_forces(m, d)


@only_with(GIVEN)
@kernel
def add_touch(m, d, force):
    """force [nv] ← force + qfrc_compliant."""
    for i in awake_dofs(m, d):
        force[i] = force[i] + d.qfrc_compliant[i]


@kernel
def solve_soft_rows(m, d):
    """Forces of all constraint rows under the soft law; returns a status."""
    find_rows(m, d)
    if d.count[NBLOCK] == 0:
        for i in awake_dofs(m, d):
            d.qfrc_constraint[i] = 0.0 * d.time
        return OK
    joint_inertia(m, d)
    bias_force(m, d, d)
    if not m.opt_warmstart:
        cold_start(m, d)
    unconverged = solve_constraints(m, d)
    for i in awake_dofs(m, d):
        d.qfrc_tau[i] = d.qfrc_tau[i] + d.qfrc_constraint[i]
    if unconverged:
        d.count[NUNSOLVED] = d.count[NUNSOLVED] + 1
        return UNSOLVED
    return OK


@kernel
def cold_start(m, d):
    """qacc_warmstart ← the unconstrained accelerations, in the lanes with active rows."""
    factor(m, d)
    for i in awake_dofs(m, d):
        d.qacc_smooth[i] = d.qfrc_tau[i] - d.qfrc_bias[i]
    solve_hybrid(m, d, d.qacc_smooth)
    for i in awake_dofs(m, d):
        d.qacc_warmstart[i] = where(d.constrained > 0.5, d.qacc_smooth[i], d.qacc_warmstart[i])


@kernel
def find_rows(m, d):
    """All constraint rows at the present state, in MuJoCo's order: equality, dry friction, limit, contact."""
    rows_without_contacts(m, d)
    if has(m, GIVEN):  # contacts follow the user-defined law, without rows
        return
    find_contacts(m, d)
    contact_rows(m, d)


@kernel
def rows_without_contacts(m, d):
    """Rows of equalities, dry friction and limits."""
    clear_blocks(m, d)
    equality_rows(m, d)
    carry_soft_equalities(m, d)
    edge_rows(m, d)
    tendon_equality_rows(m, d)
    friction_rows(m, d)
    tendon_friction_rows(m, d)
    limit_rows(m, d)
    tendon_limit_rows(m, d)


@kernel
def find_contacts(m, d):
    """Contact detection at the present positions, unless `grip` or `saltus.solve.sleep.waking` has done it."""
    if not has(m, "adhere", "adhesive", "sleep"):
        detect_contacts(m, d)


@only_with("contact")
@kernel
def detect_contacts(m, d):
    """Contact detection at the present positions."""
    d.count[NLOST] = 0
    collider_frames(m, d)
    collide(m, d)


@only_with("adhere", "adhesive")
@kernel
def grip(m, d):
    """Contact detection for the moment arms of adhesion actuators, and the attraction of adhesive contacts.

    Needs `position_stage`; call it before the forces.
    """
    if not has(m, "sleep"):
        detect_contacts(m, d)
    adhesion_moments(m, d)
    pull_contacts(m, d)
