"""Constrained accelerations at given contact modes, by Gauss's principle on the active set.

Among all accelerations with which closed contacts stay closed and sticking ones stick, the constrained motion has the
one nearest to the unconstrained motion in the metric of the inertia, ½ (a - a₀)ᵀ M (a - a₀) (Gauss 1829; Moreau 1966).
The multipliers are the forces: A f = -(J a₀ + J̇ v). Where rows are linearly dependent, the forces of least norm.
"""

from saltus.contact.bounding_spheres import smaller_radius
from saltus.contact.counts import NBLOCK, NROW
from saltus.contact.event.active_rows import carried_accelerations, closed_rows
from saltus.contact.event.gap_functions import closed_gaps
from saltus.contact.rows.blocks import FRICTION, chained_dof
from saltus.contact.seams import at_seam
from saltus.dynamics.equations import bias_force, joint_inertia
from saltus.dynamics.tendon.length import tendons
from saltus.dynamics.tree.com_frame import com_dof, tree_centre_of_mass
from saltus.dynamics.tree.factor import factor, solve_half, solve_rest
from saltus.dynamics.tree.guided.movers import fastest_mover
from saltus.dynamics.tree.guided.prescribed import put_prescribed, take_prescribed_at
from saltus.dynamics.tree.kinematics import kinematics
from saltus.dynamics.tree.manifold import displace
from saltus.model.enums import ROWS
from saltus.model.event_enums import CLOSED
from saltus.number.conditions import has
from saltus.number.functions import absolute, maximum
from saltus.number.kernels import kernel, only_with
from saltus.solve.cone.delassus import HELD, along, assemble, begin_forces, row_matrix, slips, spread
from saltus.solve.event.constraint_bias import is_simple, simple_drifts
from saltus.solve.event.shared_forces import closing_forces
from saltus.solve.status import OK
from saltus.spatial.vectors import dot3, sub3

MOVE = 2e-5  # rad, m: displacement for the finite differences of J̇ v
# relative to the smaller bounding radius, and m: contacts farther apart are not the same moving point
JUMP, TRAVEL = 0.05, 4.0 * MOVE


@only_with("event")
@kernel
def row_drifts(m, d):
    """row_drift [nrow] ← J̇ v, the rate of each row's velocity J v at constant v (m/s², rad/s²).

    Computed by central differences of J(q ⊕ ε v) v, which are valid for contacts of any shape and include the motion of
    the contact point; one-sided if a contact point exists only on one side. Restores the positions, but not the
    quantities computed from them.
    """
    if not d.event_count[CLOSED] or is_simple(m, d):
        return  # no active rows, or `free_rows` computes them
    speed, now = fastest_mover(m, d), d.time
    for i in range(m.nv):
        speed = maximum(speed, absolute(d.qvel[i]))
    if not speed > 0.0:
        for r in range(m.nrow_event):
            d.row_drift[r] = 0.0 * d.time
        return
    step = MOVE / speed
    for k in range(m.nq):
        d.qpos_kept[k] = d.qpos[k]
    # J v at q ⊕ ε v and q ⊖ ε v
    for s in range(m.nslot):
        d.slot_sides[s] = 0
    for side in range(2):
        displace(m, d.qpos_kept, step * (1.0 - 2.0 * side), d.qvel, d.qpos)
        if has(m, "movers"):
            d.time = now + step * (1.0 - 2.0 * side)
        rows_there(m, d)
        note_rates(m, d, side)
        for r in range(d.count[NROW]):
            if side == 0:
                d.row_drift[r] = d.row_velocity[r]
            else:
                d.row_drift[r] = (d.row_drift[r] - d.row_velocity[r]) / (2.0 * step)
    for k in range(m.nq):
        d.qpos[k] = d.qpos_kept[k]
    d.time = now
    if points_end(m, d):
        rows_there(m, d)
        drifts_at_ends(m, d, step)


@kernel
def note_rates(m, d, side):
    """slot_rate ← velocities of the rows of all contact points on one side of a position; marks these in slot_sides."""
    for b in range(d.count[NBLOCK]):
        s = d.block_item[b]
        if 0 <= s < m.nslot:
            d.slot_sides[s] = d.slot_sides[s] | (1 + side)
            for r in range(d.block_dim[b]):
                d.slot_rate[s, 6 * side + r] = d.row_velocity[d.block_row[b] + r]
            put3(d.slot_reached, s, side, d.contact_pos[d.slot_contact[s]])


@kernel
def points_end(m, d):
    """Whether a contact point exists only on one side of the position, or is a different one on a side."""
    found = False
    for s in range(m.nslot):
        sides = d.slot_sides[s]
        found = found or sides == 1 or sides == 2
        if sides == 3 and may_jump(m, s):
            found = found or is_other(m, s, get3(d.slot_reached, s, 0), get3(d.slot_reached, s, 1))
    return found


@kernel(inline=True)
def may_jump(m, s):
    """Whether the point of slot s may be a different one nearby: at a seam, or where faces overlap."""
    return m.slot_varies[m.slot_pair[s]] or at_seam(m, s)


@kernel
def is_other(m, s, place, other):
    """Whether two places (m) are too far apart for a point to have moved from one to the other."""
    c = m.slot_pair[s]
    far = JUMP * smaller_radius(m, m.collision_geom1[c], m.collision_geom2[c]) + TRAVEL
    apart = sub3(place, other)
    return dot3(apart, apart) > far * far


@kernel(inline=True)
def get3(field, s, side):
    """A vector of three numbers on one side, of slot s."""
    return field[s, 3 * side], field[s, 3 * side + 1], field[s, 3 * side + 2]


@kernel(inline=True)
def put3(field, s, side, vector):
    """Store a vector of three numbers on one side, of slot s."""
    field[s, 3 * side], field[s, 3 * side + 1], field[s, 3 * side + 2] = vector


@kernel
def drifts_at_ends(m, d, step):
    """row_drift of all contact points from slot_rate and the rows at the position itself; `step` (s): on either side.

    Rows before those of contacts are equal on both sides.
    """
    for b in range(d.count[NBLOCK]):
        s, row = d.block_item[b], d.block_row[b]
        if 0 <= s < m.nslot:
            sides, place = d.slot_sides[s], d.contact_pos[d.slot_contact[s]]
            for side in range(2):
                if may_jump(m, s) and is_other(m, s, get3(d.slot_reached, s, side), place):
                    sides = sides & (2 - side)
            for r in range(d.block_dim[b]):
                here, ahead, behind = d.row_velocity[row + r], d.slot_rate[s, r], d.slot_rate[s, 6 + r]
                change = 0.0 * here
                if sides == 3:
                    change = 0.5 * (ahead - behind)
                elif sides == 1:
                    change = ahead - here
                elif sides == 2:
                    change = here - behind
                d.row_drift[row + r] = change / step


@kernel
def rows_there(m, d):
    """Rows of the active set at the present positions, beginning with kinematics."""
    kinematics(m, d, m.keep_bodies)
    tree_centre_of_mass(m, d)
    com_dof(m, d)
    tendons(m, d)
    closed_gaps(m, d)
    closed_rows(m, d)


@kernel
def enforce_active_set(m, d):
    """Add the forces of the active set to qfrc_tau; writes row_force and qfrc_constraint. Returns a status.

    Needs the stages of `saltus.dynamics.smooth` before accelerations, and `row_drifts` before them.
    """
    for i in range(m.nv):
        d.qfrc_constraint[i] = 0.0 * d.time
    # rows of the active set
    closed_gaps(m, d)
    closed_rows(m, d)
    if d.count[NBLOCK] == 0:
        return OK
    # A f = -(J a₀ + J̇ v), least norm
    free_motion(m, d)
    row_matrix(m, d)
    assemble(m, d, HELD)
    free_rows(m, d)
    closing_forces(m, d)
    # generalised forces Jᵀ f
    spread(m, d, HELD)
    for i in range(m.nv):
        d.qfrc_tau[i] = d.qfrc_tau[i] + d.qfrc_constraint[i]
    return OK


@kernel
def free_motion(m, d):
    """Factor of M = Lᵀ D L, and L⁻ᵀ of the forces without constraints, after the rows in row_half.

    The forces include slipping dry friction, which is known.
    """
    joint_inertia(m, d)
    bias_force(m, d, d)
    factor(m, d)
    begin_forces(m, d)
    free = m.nrow_event * m.nv
    for i in range(m.nv):
        d.row_half[free + i] = d.qfrc_tau[i] - d.qfrc_bias[i] + d.qfrc_constraint[i]
    take_prescribed_at(m, d, d.row_half, free, d.M)
    solve_half(m, d, d.row_half, free)


@kernel
def free_rows(m, d):
    """hard_q ← J a₀ + J̇ v of the rows of a problem, including contributions of prescribed motions."""
    if is_simple(m, d):
        simple_drifts(m, d)
    for i in range(m.nv):
        d.row_inverse[i] = d.row_half[m.nrow_event * m.nv + i] * d.qLDiagInv[i]
    carried_accelerations(m, d)
    for j in range(d.hard_count[ROWS]):
        place = d.hard_place[j]
        d.hard_q[j] = along(m, d, place) + d.row_drift[place]
        if has(m, "prescribed"):
            d.hard_q[j] = d.hard_q[j] + along_prescribed(m, d, d.hard_block[j], place)
        if has(m, "carriers"):
            d.hard_q[j] = d.hard_q[j] + d.row_carried[place]


@kernel
def along_prescribed(m, d, b, place):
    """J_p a_p of a row of block b: the contribution (m/s², rad/s²) of prescribed joints to its acceleration."""
    total, dim = 0.0 * d.time, d.block_dim[b]
    at = d.block_J[b] + place - d.block_row[b]
    for c in range(d.block_num[b]):
        total = total + d.row_J[at + c * dim] * d.qacc_prescribed[chained_dof(m, d, d.block_dofs[b] + c)]
    return total


@kernel
def held_motion(m, d):
    """qacc [nv] with the forces that `enforce_active_set` has computed."""
    for i in range(m.nv):
        d.qacc[i] = d.row_half[m.nrow_event * m.nv + i]
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == FRICTION and slips(d, b):
            continue  # slipping dry friction is part of the free motion
        for r in range(d.block_row[b], d.block_row[b] + d.block_dim[b]):
            force = d.row_force[r]
            for i in range(m.nv):
                d.qacc[i] = d.qacc[i] + force * d.row_half[r * m.nv + i]
    solve_rest(m, d, d.qacc)
    put_prescribed(m, d, d.qacc)
