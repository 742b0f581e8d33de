"""Constraint stabilisation: projection of the active set onto its constraints after a step with drift.

Positions and velocities change by the least amount in the metric of the inertia,

    Δq = -M⁻¹ Jᵀ A⁺ gap,    Δv = -M⁻¹ Jᵀ A⁺ J v,    A = J M⁻¹ Jᵀ

(Bauchau & Laulusa, Review of contemporary approaches for constraint enforcement in multibody systems (2008)).
"""

from saltus.contact.counts import NBLOCK
from saltus.dynamics.equations import joint_inertia
from saltus.dynamics.tree.com_frame import com_inertia
from saltus.dynamics.tree.factor import factor, solve
from saltus.dynamics.tree.manifold import displace
from saltus.model.enums import ROWS
from saltus.model.event_enums import CLOSED
from saltus.number.components import tangent_of
from saltus.number.conditions import has_tangents
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel, only_with
from saltus.number.kinds import NTANGENT
from saltus.solve.cone.delassus import DRIFT, assemble, clear_forces, row_matrix, spread
from saltus.solve.event.constrained_acceleration import rows_there
from saltus.solve.event.redundant_rows import least_forces

LEAST_GAP, LEAST_SPEED = 1e-14, 1e-18  # m, rad; m/s, rad/s: below this, errors are rounding
NEAR = 1e-9  # m, rad; m/s, rad/s: below this, corrections change rows and accelerations only by rounding
ROUNDS = 4  # largest number of position corrections


@only_with("event", otherwise="False")
@kernel
def project(m, d):
    """Project positions and velocities onto the active constraints; returns whether anything moved."""
    if not d.event_count[CLOSED]:
        return False
    moved = project_positions(m, d)
    return project_velocities(m, d) or moved


@kernel
def project_positions(m, d):
    """Project positions onto the active constraints, keeping their rows; returns whether anything moved."""
    moved = False
    for _ in range(ROUNDS):
        rows_there(m, d)
        if d.count[NBLOCK] == 0:
            return moved
        inverse_inertia(m, d)
        if errors(d, d.row_pos) <= LEAST_GAP:
            break
        moved = True
        correct(m, d, d.qstep)
        for k in range(m.nq):
            d.qpos_kept[k] = d.qpos[k]
        displace(m, d.qpos_kept, 1.0, d.qstep, d.qpos)
    return moved


@kernel
def project_velocities(m, d):
    """Project velocities after `project_positions`; returns whether they changed."""
    if d.count[NBLOCK] == 0 or errors(d, d.row_velocity) <= LEAST_SPEED:
        return False
    correct(m, d, d.qstep)
    for i in range(m.nv):
        d.qvel[i] = d.qvel[i] + d.qstep[i]
    return True


@only_with("event", otherwise="False")
@kernel
def project_near(m, d):
    """Project positions and velocities with the rows and row_A that the last accelerations at this state have left.

    Returns whether the correction is large enough to affect accelerations.
    """
    if not d.event_count[CLOSED] or d.count[NBLOCK] == 0:
        return False
    assemble(m, d, DRIFT)
    if not errors(d, d.row_pos) <= NEAR or not errors(d, d.row_velocity) <= NEAR:
        return project(m, d)
    # velocities, then positions
    correct(m, d, d.qstep)
    for i in range(m.nv):
        d.qvel[i] = d.qvel[i] + d.qstep[i]
    if errors(d, d.row_pos) > LEAST_GAP:
        correct(m, d, d.qstep)
        displace(m, d.qpos, 1.0, d.qstep, d.qpos)
    return False


@kernel
def inverse_inertia(m, d):
    """Factor of M, Delassus operator of all rows, and the stabilisation problem; needs `rows_there`."""
    com_inertia(m, d)
    joint_inertia(m, d)
    factor(m, d)
    row_matrix(m, d)
    assemble(m, d, DRIFT)


@kernel
def errors(d, rows):
    """hard_q ← row_pos or row_velocity of the active rows, which should be zero; returns the largest magnitude.

    Tangents of duals count: they, too, must lie in the constraints.
    """
    worst = 0.0 * d.time
    for j in range(d.hard_count[ROWS]):
        d.hard_q[j] = rows[d.hard_place[j]]
        worst = maximum(worst, absolute(d.hard_q[j]))
        if has_tangents(d):
            for k in range(NTANGENT):
                worst = maximum(worst, absolute(tangent_of(d.hard_q[j], k)))
    return worst


@kernel
def correct(m, d, change):
    """change [nv] ← -M⁻¹ Jᵀ A⁺ hard_q."""
    least_forces(m, d)
    clear_forces(d)
    spread(m, d, DRIFT)
    for i in range(m.nv):
        change[i] = -d.qfrc_constraint[i]
    solve(m, d, change)
