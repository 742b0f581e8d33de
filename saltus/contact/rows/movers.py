"""Velocities and accelerations that moving mocap bodies (`saltus.dynamics.tree.guided`) add to constraint rows."""

from saltus.contact.counts import NBLOCK
from saltus.contact.pairs import pair_geom1, pair_geom2
from saltus.contact.rows.blocks import EQUALITY
from saltus.contact.rows.equality import anchors, orientations, turned
from saltus.contact.rows.soft_law import reference
from saltus.dynamics.tree.guided.movers import carried_motion
from saltus.model.enums import CONNECT, WELD
from saltus.number.kernels import kernel, only_with
from saltus.spatial.quaternions import quat_conjugate
from saltus.spatial.vectors import matrix_times_vector, scale3, sub3


@only_with("movers")
@kernel
def add_carried_contact(m, d, k, row, dim, motion, rows):
    """Add the motion of the bodies that carry contact k's geoms to a field of rows; `motion`: see `carried_motion`."""
    c, point = d.contact_collision[k], d.contact_pos[k]
    linear2, angular2 = carried_motion(m, d, motion, m.geom_bodyid[pair_geom2(m, d, c)], point)
    linear1, angular1 = carried_motion(m, d, motion, m.geom_bodyid[pair_geom1(m, d, c)], point)
    # relative motion in the contact frame
    frame = d.contact_frame[k]
    motion = matrix_times_vector(frame, sub3(linear2, linear1))
    turning = matrix_times_vector(frame, sub3(angular2, angular1))
    rows[row] = rows[row] + motion[0]
    if dim > 1:
        rows[row + 1] = rows[row + 1] + motion[1]
        rows[row + 2] = rows[row + 2] + motion[2]
    if dim > 3:
        rows[row + 3] = rows[row + 3] + turning[0]
    if dim > 4:
        rows[row + 4] = rows[row + 4] + turning[1]
        rows[row + 5] = rows[row + 5] + turning[2]


@only_with("movers")
@kernel
def add_carried_equality(m, d, b, motion, rows):
    """Add the motion of the bodies that carry the anchors of block b, a connect or a weld, to a field of rows.

    `motion`: see `carried_motion`.
    """
    k = d.block_id[b]
    kind = m.eq_type[k]
    if kind == CONNECT or kind == WELD:
        chain, row, dim = d.block_chain[b], d.block_row[b], d.block_dim[b]
        body1, body2 = m.chain_body2[chain], m.chain_body1[chain]
        point1, point2 = anchors(m, d, k, dim, body1, body2)
        linear1, angular1 = carried_motion(m, d, motion, body1, point1)
        linear2, angular2 = carried_motion(m, d, motion, body2, point2)
        motion = sub3(linear1, linear2)
        rows[row] = rows[row] + motion[0]
        rows[row + 1] = rows[row + 1] + motion[1]
        rows[row + 2] = rows[row + 2] + motion[2]
        if dim == 6:
            # rate of the violation: ½ s q₂* ω q₁
            quat1, quat2 = orientations(m, d, k, body1, body2)
            turn = scale3(0.5 * m.eq_data[k, 10], sub3(angular1, angular2))
            change = turned(quat_conjugate(quat2), turn, quat1)
            rows[row + 3] = rows[row + 3] + change[0]
            rows[row + 4] = rows[row + 4] + change[1]
            rows[row + 5] = rows[row + 5] + change[2]


@only_with("carriers")
@kernel
def carry_soft_equalities(m, d):
    """Velocities and reference accelerations of soft equalities with prescribed mocap bodies, after `equality_rows`."""
    for b in range(d.count[NBLOCK]):
        if d.block_kind[b] == EQUALITY:
            row, dim, law = d.block_row[b], d.block_dim[b], d.block_law[b]
            for r in range(row, row + dim):
                d.row_carried[r] = 0.0 * d.time
            add_carried_equality(m, d, b, d.mover_vel, d.row_carried)
            for r in range(row, row + dim):
                v = d.row_carried[r]
                d.row_velocity[r] = d.row_velocity[r] + v
                zero = 0.0 * v
                # the law is linear in the velocity
                d.row_aref[r] = d.row_aref[r] + reference(m.law_stiffness[law], m.law_damping[law], zero, zero, v)
                d.row_carried[r] = zero
            add_carried_equality(m, d, b, d.mover_acc, d.row_carried)
            for r in range(row, row + dim):
                d.row_aref[r] = d.row_aref[r] - d.row_carried[r]


@only_with("carriers")
@kernel
def carry_soft_contact(m, d, k, row, dim):
    """Subtract the accelerations of prescribed mocap bodies from the reference accelerations of contact k."""
    for r in range(row, row + dim):
        d.row_carried[r] = 0.0 * d.time
    add_carried_contact(m, d, k, row, dim, d.mover_acc, d.row_carried)
    for r in range(row, row + dim):
        d.row_aref[r] = d.row_aref[r] - d.row_carried[r]
